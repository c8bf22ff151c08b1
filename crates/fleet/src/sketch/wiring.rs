//! What a sketch says of links, networks and gangs.

use std::sync::Arc;

use super::line::Line;
use super::{SketchError, WordFault};
use crate::attachment::{Attachment, Uplink};
use crate::id::DeviceIndex;
use crate::job::Gang;
use crate::parse::ParseError;
use crate::topology::{Link, Topology};
use crate::units::Bandwidth;

/// Takes `gang`, `pernode=` and `under=`.
pub(super) fn gang(line: &mut Line<'_>) -> Result<Option<Gang>, SketchError> {
    let gang = Gang { tasks_per_node: line.number("pernode")?, switches: line.number("under")? };
    if !line.flag("gang") {
        return match gang == Gang::default() {
            true => Ok(None),
            false => Err(line.fault(line.item(), WordFault::Missing { what: "gang" })),
        };
    }
    Ok(Some(gang))
}

/// Takes `nic=` and `switch=NAME:10GB/s,NAME`, the nearest first.
pub(super) fn attachment(line: &mut Line<'_>) -> Result<Option<Arc<Attachment>>, SketchError> {
    let interface: Option<Bandwidth> = line.quantity("nic")?;
    let word = line.value("switch")?;
    if interface.is_none() && word.is_none() {
        return Ok(None);
    }
    let mut switches = Vec::new();
    for word in word.into_iter().flat_map(|word| word.split(',')) {
        let (name, bandwidth) = match word.split_once(':') {
            None => (word, None),
            Some((name, text)) => {
                let parsed = text.parse();
                let fault = |source: ParseError| line.fault(text, source.into());
                (name, Some(parsed.map_err(fault)?))
            }
        };
        switches.push(Uplink { switch: name.to_owned(), bandwidth });
    }
    Ok(Some(Arc::new(Attachment { interface, switches })))
}

/// Takes `links=0-1:25GB/s,…` and `host=`.
pub(super) fn topology(line: &mut Line<'_>) -> Result<Option<Arc<Topology>>, SketchError> {
    let host: Option<Bandwidth> = line.quantity("host")?;
    let words = line.value("links")?;
    let Some(host) = host.filter(|host| !host.is_zero()) else {
        return match words {
            Some(_) => Err(line.fault("links", WordFault::Missing { what: "host=" })),
            None => Ok(None),
        };
    };
    let mut links = Vec::new();
    for word in words.into_iter().flat_map(|words| words.split(',')) {
        let example = "links=0-1:25GB/s,0-2:50GB/s";
        let fault = || line.fault(word, WordFault::Malformed { what: "a link", example });
        let (ends, bandwidth) = word.split_once(':').ok_or_else(fault)?;
        let (one, other) = ends.split_once('-').ok_or_else(fault)?;
        let (one, other): (u16, u16) = (line.whole(one)?, line.whole(other)?);
        let bandwidth =
            bandwidth.parse().map_err(|source: ParseError| line.fault(bandwidth, source.into()))?;
        if one == other {
            return Err(fault());
        }
        let ends = (DeviceIndex(one.min(other)), DeviceIndex(one.max(other)));
        links.push(Link { ends, bandwidth });
    }
    links.sort_unstable();
    Ok(Some(Arc::new(Topology { links, host, ..Topology::default() })))
}

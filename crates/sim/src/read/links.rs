//! Links between the devices of a node, as fleet files write them.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Bandwidth, DeviceIndex, Link, Topology};
use serde::Deserialize;

use super::error::{Within, Wrong};
use super::fault::Fault;
use super::raw::{Raw, Strict, optional, whole};

/// `{ between = [0, 1], bandwidth = "50GB/s" }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkText {
    between: Option<Vec<Raw>>,
    bandwidth: Option<Raw>,
}

/// What is known of the inside of a node with so many devices; nothing where nothing is said.
pub(super) fn topology(
    links: Option<&[Strict<LinkText>]>,
    host: Option<&Raw>,
    devices: usize,
) -> Result<Option<Arc<Topology>>, Wrong> {
    let host: Option<Bandwidth> = optional(host, "host_bandwidth")?;
    let advice = "give what devices without a link share, such as \"12GB/s\"";
    let host = match (host, links) {
        (None, None) => return Ok(None),
        (None, Some(_)) => return Err(Wrong::at("host_bandwidth", Fault::Missing { advice })),
        (Some(host), _) => host,
    };
    if host.is_zero() {
        let wanted = "a bandwidth above zero";
        return Err(Wrong::at("host_bandwidth", Fault::Range { given: host.to_string(), wanted }));
    }
    let mut joined: BTreeMap<(DeviceIndex, DeviceIndex), Bandwidth> = BTreeMap::new();
    for (position, Strict(text)) in links.unwrap_or(&[]).iter().enumerate() {
        let Link { ends, bandwidth } = link(text, devices).within_item(position).within("links")?;
        if joined.insert(ends, bandwidth).is_some() {
            let reason = "these two devices have a link already; add the bandwidths up";
            let wrong = Wrong::at("between", Fault::Idle { reason });
            return Err(wrong).within_item(position).within("links");
        }
    }
    let links = joined.into_iter().map(|(ends, bandwidth)| Link { ends, bandwidth }).collect();
    Ok(Some(Arc::new(Topology { links, host, ..Topology::default() })))
}

fn link(text: &LinkText, devices: usize) -> Result<Link, Wrong> {
    let advice = "name the two devices by their numbers, like [0, 1]";
    let between = text.between.as_deref();
    let between = between.ok_or_else(|| Wrong::at("between", Fault::Missing { advice }))?;
    let [one, other] = between else {
        let (given, wanted) = (format!("{} numbers", between.len()), "the numbers of two devices");
        return Err(Wrong::at("between", Fault::Range { given, wanted }));
    };
    let wanted = "the number of a device of this node, from 0";
    let end = |raw: &Raw| match whole(raw, 0_u16, wanted)? {
        number if usize::from(number) < devices => Ok(DeviceIndex(number)),
        number => Err(Wrong::here(Fault::Range { given: number.to_string(), wanted })),
    };
    let (one, other) = (end(one).within("between")?, end(other).within("between")?);
    if one == other {
        let (given, wanted) = (format!("{one} twice"), "two different devices");
        return Err(Wrong::at("between", Fault::Range { given, wanted }));
    }
    let advice = "give what passes in each direction, like \"25GB/s\"";
    let bandwidth: Option<Bandwidth> = optional(text.bandwidth.as_ref(), "bandwidth")?;
    let bandwidth = bandwidth.ok_or_else(|| Wrong::at("bandwidth", Fault::Missing { advice }))?;
    if bandwidth.is_zero() {
        let wanted = "a bandwidth above zero";
        let given = bandwidth.to_string();
        return Err(Wrong::at("bandwidth", Fault::Range { given, wanted }));
    }
    Ok(Link { ends: (one.min(other), one.max(other)), bandwidth })
}

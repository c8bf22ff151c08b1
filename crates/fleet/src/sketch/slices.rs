//! What a sketch says of slices: the profiles of a class, and where a run has one.

use super::line::Line;
use super::{SketchError, WordFault};
use crate::device::{Classes, Profile, SLOTS_MAX, Slots};
use crate::parse::ParseError;
use crate::units::{Bytes, Milli};

const EXAMPLE: &str = "profiles=3g.20gb:0.428:20Gi:4:0+4";

/// Takes `profiles=`.
pub(super) fn profiles(line: &mut Line<'_>) -> Result<Vec<Profile>, SketchError> {
    let words = line.value("profiles")?;
    words.into_iter().flat_map(|words| words.split(',')).map(|word| profile(line, word)).collect()
}

fn profile(line: &Line<'_>, word: &str) -> Result<Profile, SketchError> {
    let parts: Vec<&str> = word.split(':').collect();
    let [name, share, memory, slots, places] = parts[..] else {
        let fault = WordFault::Malformed { what: "a profile", example: EXAMPLE };
        return Err(line.fault(word, fault));
    };
    let quantity = |source: ParseError| line.fault(word, source.into());
    let share: Milli = share.parse().map_err(quantity)?;
    let memory: Bytes = memory.parse().map_err(quantity)?;
    let slots: u8 = line.whole(slots)?;
    let places = places.split('+').map(|place| line.whole(place));
    let places: Vec<u8> = places.collect::<Result<_, _>>()?;
    let fits = |first: &u8| slots > 0 && u16::from(*first) + u16::from(slots) <= SLOTS_MAX.into();
    if !places.iter().all(fits) {
        let fault = WordFault::Malformed { what: "within 16 slots", example: EXAMPLE };
        return Err(line.fault(word, fault));
    }
    Ok(Profile { name: name.to_owned(), share, memory, slots, places })
}

/// Takes `profile=`, and finds its share and memory in the classes above.
pub(super) fn asked(
    line: &mut Line<'_>,
    classes: &Classes,
) -> Result<Option<(String, Milli, Bytes)>, SketchError> {
    let Some(name) = line.value("profile")? else { return Ok(None) };
    let found = classes.iter().find_map(|(_, class)| class.profile(name));
    let fault = WordFault::NotAbove { what: "profile" };
    let found = found.ok_or_else(|| line.fault(name, fault))?;
    Ok(Some((name.to_owned(), found.share, found.memory)))
}

/// The device and the slots of `INDEX@FIRST`; no slots without the second.
pub(super) fn held(
    line: &Line<'_>,
    word: &str,
    slots: Option<u8>,
) -> Result<(u16, Slots), SketchError> {
    match (word.split_once('@'), slots) {
        (Some((device, first)), Some(slots)) => {
            Ok((line.whole(device)?, Slots::span(line.whole(first)?, slots)))
        }
        (None, Some(_)) => {
            let fault = WordFault::Malformed { what: "the place of a slice", example: "dev=0@4" };
            Err(line.fault(word, fault))
        }
        (_, None) => Ok((line.whole(word)?, Slots::default())),
    }
}

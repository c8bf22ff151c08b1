//! A set of distinct shapes, of any size.
//!
//! First come the distinct shapes of the openb pod list `default`, the most
//! frequent first. What is wanted beyond them is made: a pod of the other
//! lists is drawn, so that a shape that is frequent there is drawn often, and
//! its cores, its memory and, where it asks for a part of a device, that share
//! are each scaled by 50 to 150 %, drawn apart from each other. Devices in
//! number and model stay. What is in the set already, or would fit no node of
//! the list even when empty, is drawn again. The dice have one seed, so that
//! the set is always the same, and a smaller set is the start of a larger one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use fleet::{Alternative, Bytes, Classes, Milli, MilliCores, Node};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::dice;

/// How often each shape is asked for.
pub type Frequency = BTreeMap<Alternative, u64>;

/// Draws what is made.
const SEED: u64 = 42;

/// How many draws in a row may come to nothing before there is held to be nothing more.
const DRAWS_MAX: u32 = 10_000;

/// What made cores, memory and shares are rounded to, so that they look like what people ask for.
const CORES_STEP: u64 = 100;
const MEMORY_STEP: u64 = 256 << 20;
const SHARE_STEP: u64 = 10;

/// This many of the frequent shapes, the most frequent first; equally frequent ones in their own
/// order.
#[must_use]
pub fn most_frequent(frequency: &Frequency, count: usize) -> Vec<Alternative> {
    let mut sorted: Vec<_> = frequency.iter().collect();
    sorted.sort_by_key(|(_, times)| Reverse(**times));
    sorted.into_iter().take(count).map(|(shape, _)| shape.clone()).collect()
}

/// Adds made shapes to the set until it has this many. `bases` has at least one.
///
/// # Errors
/// If there are not so many that fit a node of the list.
pub fn extend(
    set: &mut Vec<Alternative>,
    count: usize,
    bases: &Frequency,
    list: (&[Node], &Classes),
) -> anyhow::Result<()> {
    let mut dice = ChaCha8Rng::seed_from_u64(SEED);
    let mut known: BTreeSet<Alternative> = set.iter().cloned().collect();
    let mut up_to = Vec::with_capacity(bases.len());
    let mut all = 0;
    for (shape, times) in bases {
        all += usize::try_from(*times)?;
        up_to.push((all, shape));
    }
    let mut draws = 0;
    while set.len() < count {
        ensure!(draws < DRAWS_MAX, "make {count} shapes: no more than {} were found", set.len());
        draws += 1;
        let drawn = dice::below(&mut dice, all);
        let base = up_to.partition_point(|(up_to, _)| *up_to <= drawn);
        let shape = varied(up_to[base].1, &mut dice);
        if !known.contains(&shape) && fits_any(&shape, list) {
            known.insert(shape.clone());
            set.push(shape);
            draws = 0;
        }
    }
    Ok(())
}

fn varied(base: &Alternative, dice: &mut ChaCha8Rng) -> Alternative {
    let mut shape = base.clone();
    let request = &mut shape.request;
    request.cores = MilliCores(scaled(request.cores.0, CORES_STEP, dice));
    request.memory = Bytes(scaled(request.memory.0, MEMORY_STEP, dice));
    if let Some(devices) = &mut request.devices
        && devices.share < Milli::WHOLE
    {
        let share = scaled(u64::from(devices.share.0), SHARE_STEP, dice);
        let most = u64::from(Milli::WHOLE.0) - SHARE_STEP;
        devices.share = Milli(u32::try_from(share.min(most)).expect("less than a whole one"));
    }
    shape
}

/// An amount scaled by 50 to 150 %, in whole steps, at least one.
fn scaled(amount: u64, step: u64, dice: &mut ChaCha8Rng) -> u64 {
    let percent = 50 + dice::below(dice, 101) as u64;
    (amount * percent / 100 / step).max(1) * step
}

/// Whether a node of the list could take the shape when nothing runs there.
fn fits_any(shape: &Alternative, (nodes, classes): (&[Node], &Classes)) -> bool {
    let request = &shape.request;
    nodes.iter().any(|node| {
        let has_devices = request.devices.as_ref().is_none_or(|devices| {
            let accepted = |class: &&fleet::ClassId| devices.accepts(classes.get(**class));
            node.devices.iter().filter(accepted).count() >= devices.count as usize
        });
        has_devices && request.cores <= node.cores && request.memory <= node.memory
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{classes, pod, site};

    fn frequency() -> Frequency {
        let with_memory = |mut shape: Alternative| {
            shape.request.memory = Bytes(512 << 20);
            shape
        };
        let shapes = [pod(4000, 1, 500), pod(7000, 2, 1000), pod(2000, 0, 0)];
        shapes.map(with_memory).into_iter().zip([7, 9, 7]).collect()
    }

    #[test]
    fn frequent_shapes_come_first_and_equal_ones_in_their_order() {
        let frequency = frequency();
        let cores = |count| -> Vec<u64> {
            let set = most_frequent(&frequency, count);
            set.iter().map(|shape| shape.request.cores.0).collect()
        };
        assert_eq!(cores(2), [7000, 2000]);
        assert_eq!(cores(9), [7000, 2000, 4000]);
    }

    #[test]
    fn made_shapes_are_distinct_fit_a_node_and_are_always_the_same() {
        let node = Node::clone(&site(8000, 8000, &[1000, 1000]).node);
        let list = [node];
        let made = |count| {
            let mut set = most_frequent(&frequency(), 3);
            extend(&mut set, count, &frequency(), (&list, &classes())).unwrap();
            set
        };
        let set = made(200);
        assert_eq!(set.iter().collect::<BTreeSet<_>>().len(), 200);
        assert!(set.iter().all(|shape| fits_any(shape, (&list, &classes()))));
        assert_eq!(set, made(200));
        assert!(set.starts_with(&made(60)));
        // Whole devices stay whole, and nothing asks for less than half or more than half again.
        let whole = |shape: &&Alternative| {
            shape.request.devices.as_ref().is_some_and(|devices| devices.share == Milli::WHOLE)
        };
        assert!(set.iter().filter(whole).all(|shape| {
            (3500..=8000).contains(&shape.request.cores.0)
                && shape.request.devices.as_ref().unwrap().count == 2
        }));
    }

    #[test]
    fn set_that_cannot_be_had_is_refused() {
        let node = Node::clone(&site(8000, 8000, &[1000, 1000]).node);
        let bases = Frequency::from([(pod(100, 0, 0), 1)]);
        let mut set = Vec::new();
        let error = extend(&mut set, 20, &bases, (&[node], &classes())).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("make 20 shapes: no more than {} were found", set.len())
        );
    }
}

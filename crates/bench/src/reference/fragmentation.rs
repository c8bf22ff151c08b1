//! Fragmentation gradient (FGD, ATC'23): the least free capacity made useless for what arrives.
//!
//! F of a node is the expected free share that a typical pod cannot use: all of
//! it where the pod asks for no device, or for another model, or does not fit;
//! else what is free on devices with less than the pod asks of each. The score
//! is trunc(100 sigmoid((F before − F after) ÷ 1000)). A task that shares a
//! device tries each; the first with the best score is its device.

use fleet::{ClassId, Milli};

use super::ask::{Ask, Kind};
use super::site::Site;
use super::truncate;
use super::typical::{Typical, TypicalPod};

/// The expected free share, in thousandths, that a typical pod cannot use on such a node.
#[must_use]
pub fn amount(typical: &Typical, cores: u64, shares: &[u32], class: Option<ClassId>) -> f64 {
    let Some(class) = class else { return 0.0 };
    let free: u32 = shares.iter().sum();
    let mut sum = 0.0;
    for pod in &typical.pods {
        sum += pod.weight * f64::from(unusable(pod, cores, shares, (class, free)));
    }
    sum
}

/// The score of a task on a node that has room for it, and the device where it shares one.
#[must_use]
pub fn best(typical: &Typical, ask: &Ask, site: &Site) -> (i64, Option<usize>) {
    let before = amount(typical, site.free.cores.0, &site.shares, site.class);
    let cores = site.free.cores.0 - ask.cores;
    let mut shares = site.shares.clone();
    if ask.kind() != Kind::Share {
        take_whole(&mut shares, ask.count);
        return (score(before - amount(typical, cores, &shares, site.class)), None);
    }
    let mut best: Option<(i64, usize)> = None;
    for device in 0..shares.len() {
        // A device like an earlier one scores the same, and the earlier one wins.
        let is_new = !site.shares[..device].contains(&site.shares[device]);
        if site.shares[device] < ask.share || !is_new {
            continue;
        }
        shares[device] -= ask.share;
        let found = score(before - amount(typical, cores, &shares, site.class));
        shares[device] += ask.share;
        if best.is_none_or(|(score, _)| found > score) {
            best = Some((found, device));
        }
    }
    let (score, device) = best.expect("the node has room");
    (score, Some(device))
}

/// The free share of a node that a typical pod cannot use.
fn unusable(pod: &TypicalPod, cores: u64, shares: &[u32], (class, free): (ClassId, u32)) -> u32 {
    if pod.count == 0 || cores < pod.cores || !pod.accepts(class) {
        return free;
    }
    let (mut devices, mut usable) = (0, 0);
    for share in shares {
        if *share >= pod.share {
            devices += 1;
            usable += *share;
        }
    }
    if devices >= pod.count { free - usable } else { free }
}

fn take_whole(shares: &mut [u32], count: u32) {
    let whole = shares.iter_mut().filter(|share| **share == Milli::WHOLE.0);
    for share in whole.take(count as usize) {
        *share = 0;
    }
}

fn score(gained: f64) -> i64 {
    truncate(100.0 / (1.0 + libm::exp(-gained / 1000.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{classes, pod, site};

    fn half_shared_half_whole() -> Typical {
        Typical::of([pod(4000, 1, 500), pod(8000, 1, 1000)].iter(), &classes())
    }

    #[test]
    fn what_is_too_small_or_lacks_cores_is_unusable() {
        let typical = half_shared_half_whole();
        let class = Some(ClassId(1));
        let amount = |cores, shares: &[u32]| amount(&typical, cores, shares, class);
        // The shared pod can use both devices, the whole one can use the first.
        assert_eq!(amount(8000, &[1000, 600]), 0.5 * 600.0);
        // Too few cores for the whole pod, so all is lost to it.
        assert_eq!(amount(4000, &[1000, 400]), 0.5 * 400.0 + 0.5 * 1400.0);
        assert_eq!(amount(3999, &[1000, 400]), 1400.0);
    }

    #[test]
    fn pod_without_devices_counts_everything_as_unusable() {
        let typical = Typical::of([pod(1000, 0, 0)].iter(), &classes());
        assert_eq!(amount(&typical, 8000, &[1000, 200], Some(ClassId(1))), 1200.0);
    }

    #[test]
    fn shared_task_takes_the_device_that_leaves_the_most_usable() {
        let typical = half_shared_half_whole();
        let node = site(32_000, 32_000, &[1000, 500]);
        // On the second device: F falls from 250 to 0; sigmoid(0.25) = 0.5621.
        assert_eq!(best(&typical, &Ask::new(&pod(1000, 1, 500)), &node), (56, Some(1)));
    }

    #[test]
    fn task_that_changes_nothing_scores_half() {
        let typical = half_shared_half_whole();
        let node = site(32_000, 32_000, &[1000, 300]);
        assert_eq!(best(&typical, &Ask::new(&pod(1000, 0, 0)), &node), (50, None));
    }
}

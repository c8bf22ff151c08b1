//! PWR (CCGrid'25): the least power added.
//!
//! A device draws its busy power as soon as any share of it is held. Real
//! cores are half the virtual ones, sockets have 16 of them, and a socket with
//! a core in use draws its busy power: real cores ÷ 16 rounded up less idle
//! cores. Every node is reckoned with one model of processor, as the trace
//! names none. The score is the watts added, negative, without their fraction,
//! stretched to 0..=100 over the nodes that have room.

use fleet::{Milli, Milliwatts};

use super::ask::{Ask, Kind};
use super::site::Site;

/// Idle and busy power of one Xeon E5-2682v4, and its real cores.
const SOCKET_IDLE: u64 = 15_000;
const SOCKET_BUSY: u64 = 120_000;
const SOCKET_CORES: u64 = 16;

/// What a node draws.
#[must_use]
pub fn draw(site: &Site) -> Milliwatts {
    let device = |share: &u32| {
        if *share < Milli::WHOLE.0 { site.power.busy } else { site.power.idle }
    };
    cores_draw(site.node.cores.0, site.free.cores.0) + site.shares.iter().map(device).sum()
}

/// The score of a task on a node that has room for it, not yet stretched, and the device where it
/// shares one: the first with the best score.
#[must_use]
pub fn best(ask: &Ask, site: &Site) -> (i64, Option<usize>) {
    let (all, free) = (site.node.cores.0, site.free.cores.0);
    let cores = cores_draw(all, free - ask.cores) - cores_draw(all, free);
    let woken = site.power.extra();
    if ask.kind() != Kind::Share {
        return (score(cores + woken.saturating_mul(u64::from(ask.count))), None);
    }
    let whole = Milli::WHOLE.0;
    let suffices = |share: &u32| *share >= ask.share;
    let used = site.shares.iter().position(|share| suffices(share) && *share < whole);
    match used {
        Some(device) => (score(cores), Some(device)),
        None => {
            let device = site.shares.iter().position(suffices).expect("the node has room");
            (score(cores + woken), Some(device))
        }
    }
}

fn cores_draw(all: u64, free: u64) -> Milliwatts {
    let real = all.div_ceil(2000);
    let idle = free / 2000;
    let sockets = real.div_ceil(SOCKET_CORES);
    let active = real.saturating_sub(idle).div_ceil(SOCKET_CORES);
    Milliwatts(active * SOCKET_BUSY + (sockets - active) * SOCKET_IDLE)
}

fn score(added: Milliwatts) -> i64 {
    -i64::try_from(added.0 / 1000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{pod, site};

    #[test]
    fn draw_counts_sockets_and_woken_devices() {
        // 96 virtual cores are 48 real ones on three sockets; two free devices.
        assert_eq!(draw(&site(96_000, 96_000, &[1000, 1000])).0, 3 * 15_000 + 2 * 30_000);
        // One real core in use wakes one socket.
        assert_eq!(draw(&site(96_000, 95_000, &[1000, 1])).0, 120_000 + 2 * 15_000 + 330_000);
    }

    #[test]
    fn shared_task_takes_an_awake_device_where_it_fits() {
        let node = site(96_000, 90_000, &[1000, 600]);
        assert_eq!(best(&Ask::new(&pod(1000, 1, 500)), &node), (0, Some(1)));
        assert_eq!(best(&Ask::new(&pod(1000, 1, 700)), &node), (-270, Some(0)));
        assert_eq!(best(&Ask::new(&pod(32_000, 1, 1000)), &node), (-375, None));
    }
}

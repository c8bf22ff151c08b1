//! GpuPacking: used devices first, then free devices of used nodes, then small free nodes.
//!
//! Zero for a task without devices. Where all n devices of the node are free:
//! max(33 − n, n). Where k devices would be woken on a used node: max(50 − k,
//! 33). Where only used devices are taken: max(100 − their free percent ÷ 10, 50).

use fleet::Milli;

use super::ask::{Ask, Kind};
use super::site::Site;

/// The score of a task on a node that has room for it.
#[must_use]
pub fn score(ask: &Ask, site: &Site) -> i64 {
    let whole = Milli::WHOLE.0;
    let kind = ask.kind();
    if kind == Kind::Cores {
        return 0;
    }
    if site.shares.iter().all(|share| *share == whole) {
        let count = i64::try_from(site.shares.len()).unwrap_or(i64::MAX);
        return (33 - count).max(count);
    }
    let best = site.shares.iter().copied().filter(|share| *share >= ask.share).min();
    match (kind, best) {
        (Kind::Share, Some(share)) if share < whole => (100 - i64::from(share / 10) / 10).max(50),
        _ => (50 - i64::from(ask.count)).max(33),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{pod, site};

    #[test]
    fn used_devices_come_before_free_ones_and_small_nodes_before_large() {
        let share = Ask::new(&pod(1000, 1, 400));
        let pair = Ask::new(&pod(1000, 2, 1000));
        assert_eq!(score(&share, &site(8000, 8000, &[1000, 1000])), 31);
        assert_eq!(score(&share, &site(8000, 8000, &[1000; 8])), 25);
        assert_eq!(score(&share, &site(8000, 8000, &[1000, 300])), 49);
        assert_eq!(score(&pair, &site(8000, 8000, &[1000, 300, 1000])), 48);
        assert_eq!(score(&share, &site(8000, 8000, &[1000, 460])), 96);
    }
}

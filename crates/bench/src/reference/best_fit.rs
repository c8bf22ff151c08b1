//! BestFit: the least left over.
//!
//! trunc(100 (1 − ½ (c − C) ÷ 128000 − ½ (g − r) ÷ 8000)), stretched to 0..=100
//! over the nodes that have room.

use super::ask::Ask;
use super::site::Site;
use super::{CORES_MAX, SHARE_MAX, truncate};

/// The score of a task on a node that has room for it, not yet stretched.
#[must_use]
pub fn score(ask: &Ask, site: &Site) -> i64 {
    let cores = (site.free.cores.0 - ask.cores) as f64 / CORES_MAX;
    let share = (site.share() - ask.total()) as f64 / SHARE_MAX;
    truncate(100.0 * (1.0 - (0.5 * cores + 0.5 * share)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{pod, site};

    #[test]
    fn score_falls_with_what_is_left_over() {
        let node = site(64_000, 64_000, &[1000, 500]);
        // ½ · 32000 ÷ 128000 + ½ · 1000 ÷ 8000 = 0.1875
        assert_eq!(score(&Ask::new(&pod(32_000, 1, 500)), &node), 81);
    }
}

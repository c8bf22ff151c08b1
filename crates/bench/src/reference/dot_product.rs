//! DotProd: the less alike what a node has free and what the task asks are large, the better.
//!
//! trunc(100 (1 − (c C ÷ 128000² + g r ÷ 8000²) ÷ 2)), with c and g what is
//! free of cores and devices, and C and r what is asked.

use super::ask::Ask;
use super::site::Site;
use super::{CORES_MAX, SHARE_MAX, truncate};

/// The score of a task on a node that has room for it.
#[must_use]
pub fn score(ask: &Ask, site: &Site) -> i64 {
    let cores = (site.free.cores.0 as f64 / CORES_MAX) * (ask.cores as f64 / CORES_MAX);
    let share = (site.share() as f64 / SHARE_MAX) * (ask.total() as f64 / SHARE_MAX);
    truncate(100.0 * (1.0 - (cores + share) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{pod, site};

    #[test]
    fn score_falls_with_the_product_of_free_and_asked() {
        let node = site(64_000, 64_000, &[1000, 1000, 1000, 1000]);
        // ½ (½ · ¼ + ½ · ½) = 0.1875
        assert_eq!(score(&Ask::new(&pod(32_000, 4, 1000)), &node), 81);
        // ½ (½ · ¼) = 0.0625
        assert_eq!(score(&Ask::new(&pod(32_000, 0, 0)), &node), 93);
    }
}

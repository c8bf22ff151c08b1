//! GpuClustering: tasks of one kind together.
//!
//! Zero for a task without devices. Else floor(25 (8000 − g) ÷ 8000), and 75
//! more where the node holds tasks of this kind only, 50 where among others, 25
//! where it holds none with devices, nothing where it holds only other kinds.

use super::ask::{Ask, Kind};
use super::site::Site;

/// The score of a task on a node that has room for it.
#[must_use]
pub fn score(ask: &Ask, site: &Site) -> i64 {
    let kind = ask.kind();
    if kind == Kind::Cores {
        return 0;
    }
    let held = 8000_u64.saturating_sub(site.share());
    let base = i64::try_from(25 * held / 8000).unwrap_or(0);
    let mut kinds = site.kinds.keys().filter(|held| **held != Kind::Cores).peekable();
    if kinds.peek().is_none() {
        return base + 25;
    }
    let (mut own, mut others) = (false, false);
    for held in kinds {
        own |= *held == kind;
        others |= *held != kind;
    }
    match (own, others) {
        (true, false) => base + 75,
        (true, true) => base + 50,
        (false, _) => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::{pod, site};

    #[test]
    fn score_likes_company_of_the_same_kind() {
        let mut node = site(64_000, 64_000, &[1000, 1000]);
        let share = Ask::new(&pod(1000, 1, 500));
        // 25 · 6000 ÷ 8000 = 18
        assert_eq!(score(&share, &node), 18 + 25);
        node.kinds.insert(Kind::Cores, 3);
        assert_eq!(score(&share, &node), 18 + 25);
        node.kinds.insert(Kind::Share, 1);
        assert_eq!(score(&share, &node), 18 + 75);
        node.kinds.insert(Kind::Whole(1), 1);
        assert_eq!(score(&share, &node), 18 + 50);
        assert_eq!(score(&Ask::new(&pod(1000, 2, 1000)), &node), 18);
        assert_eq!(score(&Ask::new(&pod(1000, 0, 0)), &node), 0);
    }
}

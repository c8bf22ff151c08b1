//! FirstFit: the first node by name.

use super::site::Site;

/// The score of any task on this node.
#[must_use]
pub fn score(site: &Site) -> i64 {
    -i64::from(site.rank)
}

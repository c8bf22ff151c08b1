//! What has arrived so far, by shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::{Mix, MixShape};
use fleet::{Alternative, Job};

/// The most distinct shapes that are counted; what arrives beyond them in a new shape is not.
const SHAPES_MAX: usize = 1024;

/// The most shapes that are published, the most frequent ones.
const PUBLISHED_MAX: usize = 64;

/// Counts of arrivals, and the mix last published.
///
/// A new mix makes what a planner remembers about fragmentation useless, so one
/// is published only when arrivals have grown by an eighth since the last.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    counts: BTreeMap<Alternative, u64>,
    total: u64,
    published_total: u64,
    published: Arc<Mix>,
}

impl Arrivals {
    pub(super) fn count(&mut self, job: &Job) {
        let Some(shape) = job.alternatives.first() else { return };
        let tasks = u64::from(job.tasks);
        if let Some(count) = self.counts.get_mut(shape) {
            *count = count.saturating_add(tasks);
        } else if self.counts.len() < SHAPES_MAX {
            self.counts.insert(shape.clone(), tasks);
        } else {
            return;
        }
        self.total = self.total.saturating_add(tasks);
    }

    /// The mix to plan with.
    pub(super) fn mix(&mut self) -> Arc<Mix> {
        let due = self.published_total.saturating_add(self.published_total / 8);
        if self.total > due {
            self.published = Arc::new(self.publish());
            self.published_total = self.total;
        }
        Arc::clone(&self.published)
    }

    fn publish(&self) -> Mix {
        let shape =
            |(shape, count): (&Alternative, &u64)| MixShape { count: *count, shape: shape.clone() };
        let mut shapes: Vec<_> = self.counts.iter().map(shape).collect();
        shapes.sort_by(|one, next| {
            next.count.cmp(&one.count).then_with(|| one.shape.cmp(&next.shape))
        });
        shapes.truncate(PUBLISHED_MAX);
        Mix { shapes }
    }
}

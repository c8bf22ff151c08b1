//! What has arrived so far, by shape.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::{Mix, MixShape, MixSource};
use fleet::{Alternative, Job};

use super::image::ArrivalsImage;

/// The most distinct shapes that are counted; what arrives beyond them in a new shape is not.
const SHAPES_MAX: usize = 1024;

/// The most shapes that are published, the most frequent ones.
const PUBLISHED_MAX: usize = 64;

/// The most that one shape counts in a declared mix, so that sums over shapes stay in range.
const COUNT_MAX: u64 = u64::MAX / 1024;

/// Counts of arrivals, and the mix last published.
///
/// A new mix makes what a planner remembers about fragmentation useless, so one
/// is published only when arrivals have grown by an eighth since the last. A
/// mix that was declared stays until another one is.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    counts: BTreeMap<Alternative, u64>,
    total: u64,
    published_total: u64,
    published: Arc<Mix>,
    declared: Option<Arc<Mix>>,
}

impl Arrivals {
    /// Plans with this mix from now on, in place of the one learnt.
    pub(super) fn declare(&mut self, shapes: impl IntoIterator<Item = MixShape>) {
        let mut counts: BTreeMap<Alternative, u64> = BTreeMap::new();
        for MixShape { count, shape } in shapes {
            let sum = counts.entry(shape).or_default();
            *sum = sum.saturating_add(count).min(COUNT_MAX);
        }
        counts.retain(|_, count| *count > 0);
        self.declared = Some(Arc::new(publish(MixSource::Declared, &counts)));
    }

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

    pub(super) fn image(&self) -> ArrivalsImage {
        let counts = self.counts.iter().map(|(shape, count)| (shape.clone(), *count));
        ArrivalsImage {
            counts: counts.collect(),
            total: self.total,
            published_total: self.published_total,
            published: Arc::clone(&self.published),
            declared: self.declared.clone(),
        }
    }

    pub(super) fn of_image(stored: ArrivalsImage) -> Self {
        let ArrivalsImage { counts, total, published_total, published, declared } = stored;
        let counts = counts.into_iter().collect();
        Self { counts, total, published_total, published, declared }
    }

    /// The mix to plan with, and whether it is another one than the last time.
    pub(super) fn mix(&mut self) -> (Arc<Mix>, bool) {
        if let Some(declared) = &self.declared {
            return (Arc::clone(declared), false);
        }
        let due = self.published_total.saturating_add(self.published_total / 8);
        let is_due = self.total > due;
        if is_due {
            self.published = Arc::new(publish(MixSource::Learnt, &self.counts));
            self.published_total = self.total;
        }
        (Arc::clone(&self.published), is_due)
    }
}

fn publish(source: MixSource, counts: &BTreeMap<Alternative, u64>) -> Mix {
    let shape =
        |(shape, count): (&Alternative, &u64)| MixShape { count: *count, shape: shape.clone() };
    let mut shapes: Vec<_> = counts.iter().map(shape).collect();
    shapes.sort_by(|one, next| next.count.cmp(&one.count).then_with(|| one.shape.cmp(&next.shape)));
    shapes.truncate(PUBLISHED_MAX);
    Mix { source, shapes }
}

//! Gavel's mechanism: shares of time, kept up by priorities round by round.
//!
//! A policy says which share of its time each job should have on each class.
//! In each round a job's priority on a class is its share over the part of that
//! class's time that it has had since the last reset; classes are filled one
//! after the other, by priority. Shares are reckoned anew only after a lag, and
//! until then who has arrived since holds devices without running on them. All
//! of that is as in the published simulator, oddities included; the lag can be
//! left out.

use super::case::Case;
use super::clock::{Placed, ROUND_SECONDS, Ran, Scene};
use super::reference::Reference;
use super::shuffle::Shuffler;

/// The least time between two resets, in seconds.
pub const LAG_SECONDS: f64 = 1920.0;
/// What a job counts as having had when it starts, in seconds.
const INITIAL_SECONDS: f64 = ROUND_SECONDS / 2.0;
/// What a share counts for where a job had no time yet.
const UNSERVED: f64 = 1e9;

/// The mechanism with one policy.
pub struct Mechanism {
    policy: Reference,
    lag_seconds: f64,
    reset_at: f64,
    /// What each job of the case is due and has had, from its arrival to its end.
    books: Vec<Option<Book>>,
    /// Seconds that all jobs had on each class since the last reset.
    class_seconds: Vec<f64>,
    is_due: bool,
    shuffler: Shuffler,
}

/// What one job is due and has had, by class.
struct Book {
    had: Vec<f64>,
    deficit: Vec<f64>,
    /// None until the first reset after its arrival.
    share: Option<Vec<f64>>,
}

impl Mechanism {
    /// A new one, with the published seed.
    #[must_use]
    pub fn new(policy: Reference, case: &Case, lag_seconds: f64) -> Self {
        Self {
            policy,
            lag_seconds,
            reset_at: 0.0,
            books: case.jobs.iter().map(|_| None).collect(),
            class_seconds: vec![0.0; case.capacity.len()],
            is_due: false,
            shuffler: Shuffler::published(),
        }
    }

    /// Who runs in this round.
    pub fn choose(&mut self, scene: &Scene<'_>) -> Vec<Placed> {
        let classes = scene.case.capacity.len();
        for one in scene.active {
            self.books[one.job].get_or_insert_with(|| Book {
                had: vec![INITIAL_SECONDS; classes],
                deficit: vec![0.0; classes],
                share: None,
            });
        }
        self.is_due |= scene.has_changed;
        if self.is_due && (self.reset_at == 0.0 || scene.now >= self.reset_at + self.lag_seconds) {
            self.reset(scene);
        }
        let mut order: Vec<usize> = (0..classes).collect();
        if self.policy.draws_order() {
            self.shuffler.shuffle(&mut order);
        }
        let mut taken = vec![false; scene.active.len()];
        let mut placed = Vec::new();
        for class in order {
            let mut room = scene.case.capacity[class];
            for (active, has_share) in self.queue(scene, class) {
                let devices = scene.case.jobs[scene.active[active].job].devices;
                if taken[active] || devices > room {
                    continue;
                }
                room -= devices;
                taken[active] = true;
                if has_share {
                    placed.push(Placed { active, class });
                }
            }
        }
        placed
    }

    /// What came of it.
    pub fn account(&mut self, ran: &[Ran]) {
        for one in ran {
            self.class_seconds[one.class] += one.seconds;
            if one.is_done {
                self.books[one.job] = None;
            } else if let Some(book) = &mut self.books[one.job] {
                book.had[one.class] += one.seconds;
            }
        }
    }

    /// Nothing runs and nothing will arrive: the next round reckons anew.
    pub fn force(&mut self) {
        self.reset_at = 0.0;
    }

    fn reset(&mut self, scene: &Scene<'_>) {
        let elapsed = scene.now - self.reset_at;
        self.class_seconds.fill(0.0);
        for book in self.books.iter_mut().flatten() {
            for class in 0..scene.case.capacity.len() {
                let share = book.share.as_ref().map_or(0.0, |shares| shares[class]);
                book.deficit[class] += share * elapsed - (book.had[class] - INITIAL_SECONDS);
                book.had[class] = INITIAL_SECONDS;
                self.class_seconds[class] += INITIAL_SECONDS;
            }
        }
        self.reset_at = scene.now;
        let jobs: Vec<_> = scene.active.iter().map(|one| &scene.case.jobs[one.job]).collect();
        let shares = self.policy.shares(&jobs, &scene.case.capacity);
        for (one, shares) in scene.active.iter().zip(shares) {
            if let Some(book) = &mut self.books[one.job] {
                book.share = Some(shares);
            }
        }
        self.is_due = false;
    }

    /// The jobs in the order in which this class takes them, with whether each has shares.
    fn queue(&self, scene: &Scene<'_>, class: usize) -> Vec<(usize, bool)> {
        let mut entries = Vec::new();
        for (active, one) in scene.active.iter().enumerate() {
            let Some(book) = &self.books[one.job] else { continue };
            let share = book.share.as_ref().map_or(0.0, |shares| shares[class]);
            let fraction = match self.class_seconds[class] {
                seconds if seconds > 0.0 => book.had[class] / seconds,
                _ => 0.0,
            };
            let can_run = scene.case.jobs[one.job].rates[class] > 0.0;
            let priority = match () {
                () if !can_run || share == 0.0 => 0.0,
                () if fraction > 0.0 => share / fraction,
                () => share * UNSERVED,
            };
            if can_run && (priority > 0.0 || self.policy.fills()) {
                let key = [priority, book.deficit[class], share];
                entries.push((key, active, book.share.is_some()));
            }
        }
        let order = |one: &[f64; 3], other: &[f64; 3]| {
            let pairs = one.iter().zip(other);
            pairs.map(|(one, other)| other.total_cmp(one)).find(|order| order.is_ne())
        };
        entries.sort_by(|one, other| order(&one.0, &other.0).unwrap_or(std::cmp::Ordering::Equal));
        entries.into_iter().map(|(_, active, has_share)| (active, has_share)).collect()
    }
}

//! The order in which jobs are looked at.
//!
//! Jobs that are unseen in this round go before all others; see
//! [`crate::round`]. Within each of the two parts the policy orders.
//! Keys before `fair-share` sort jobs into bands; within a band the tenant
//! that holds the least goes first, counted anew after each placement; keys
//! after it, and the job's id, order the jobs of one tenant. Without
//! `fair-share` there is one line.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fleet::policy::OrderKey;
use fleet::snapshot::{Amounts, Waiting};
use fleet::{Job, JobId, Snapshot, Tenant};

/// Jobs in the order in which they are looked at.
pub(crate) struct Queue<'a> {
    /// Jobs that go before all others.
    preferred: VecDeque<&'a Waiting>,
    bands: VecDeque<Band<'a>>,
    by_priority: bool,
    /// How many of the bands are of jobs that are unseen in this round; counted at first.
    unseen_bands: usize,
    fair: bool,
    held: BTreeMap<Tenant, Amounts>,
    capacity: Amounts,
}

/// Jobs that are equal in every key before `fair-share`.
struct Band<'a> {
    lines: BTreeMap<&'a Tenant, VecDeque<&'a Waiting>>,
}

impl<'a> Queue<'a> {
    pub(crate) fn new(jobs: &[&'a Waiting], order: &[OrderKey], snapshot: &Snapshot) -> Self {
        let fair_at = order.iter().position(|key| *key == OrderKey::FairShare);
        let (before, after) = match fair_at {
            Some(at) => (&order[..at], &order[at + 1..]),
            None => (order, &[] as &[OrderKey]),
        };
        let mut sorted = jobs.to_vec();
        sorted.sort_by(|one, other| {
            compare(one, other, before)
                .then_with(|| compare(one, other, after))
                .then_with(|| one.job.id.cmp(&other.job.id))
        });
        let mut queue = Self {
            preferred: VecDeque::new(),
            bands: VecDeque::new(),
            by_priority: order.contains(&OrderKey::Priority),
            unseen_bands: 0,
            fair: fair_at.is_some(),
            held: if fair_at.is_some() { (*snapshot.tenants).clone() } else { BTreeMap::new() },
            capacity: snapshot.capacity,
        };
        let unseen = &snapshot.memory.unseen;
        let (first, others): (Vec<&Waiting>, Vec<&Waiting>) =
            sorted.into_iter().partition(|waiting| unseen.binary_search(&waiting.job.id).is_ok());
        queue.fill(&first, before);
        queue.unseen_bands = queue.bands.len();
        queue.fill(&others, before);
        queue
    }

    /// The first of the jobs with room, as `wants` says, of together at most so many tasks, and of
    /// equal priority where the policy orders by it. Tenants take turns where the policy is fair to
    /// them.
    pub(crate) fn first_tasks(
        &self,
        most: u32,
        mut wants: impl FnMut(&'a Waiting) -> bool,
    ) -> Vec<&'a Waiting> {
        let mut found: Vec<&Waiting> = Vec::new();
        let mut tasks = 0;
        // What is unseen in this round goes first, and by itself.
        let bands = if self.unseen_bands > 0 { self.unseen_bands } else { self.bands.len() };
        for band in self.bands.iter().take(bands) {
            let longest = band.lines.values().map(VecDeque::len).max().unwrap_or(0);
            let turn = |turn: usize| band.lines.values().filter_map(move |line| line.get(turn));
            for waiting in (0..longest).flat_map(turn) {
                let is_equal = found.first().is_none_or(|first| {
                    !self.by_priority || first.job.priority == waiting.job.priority
                });
                if tasks >= most {
                    return found;
                }
                if !wants(waiting) {
                    continue;
                }
                // Nobody passes by one who has room and is of higher priority or too large.
                if !is_equal || waiting.count() > most - tasks {
                    return found;
                }
                tasks += waiting.count();
                found.push(waiting);
            }
        }
        found
    }

    /// Looks at these jobs before all others, in this order.
    pub(crate) fn prefer(&mut self, jobs: Vec<&'a Waiting>) {
        let ids: BTreeSet<JobId> = jobs.iter().map(|waiting| waiting.job.id).collect();
        for band in &mut self.bands {
            for line in band.lines.values_mut() {
                line.retain(|waiting| !ids.contains(&waiting.job.id));
            }
            band.lines.retain(|_, line| !line.is_empty());
        }
        self.preferred = jobs.into();
    }

    /// The job to look at now. The same one until it is dropped, or another tenant holds less.
    pub(crate) fn front(&mut self) -> Option<&'a Waiting> {
        if let Some(waiting) = self.preferred.front() {
            return Some(waiting);
        }
        while self.bands.front().is_some_and(|band| band.lines.is_empty()) {
            self.bands.pop_front();
        }
        let tenant = self.first_tenant()?;
        self.bands.front()?.lines.get(tenant)?.front().copied()
    }

    /// Looks no more at the front job.
    pub(crate) fn drop_front(&mut self) {
        if self.preferred.pop_front().is_some() {
            return;
        }
        let Some(tenant) = self.first_tenant() else { return };
        let Some(band) = self.bands.front_mut() else { return };
        let Some(line) = band.lines.get_mut(tenant) else { return };
        line.pop_front();
        if line.is_empty() {
            band.lines.remove(tenant);
        }
    }

    /// Counts a placement for the front job's tenant.
    pub(crate) fn charge(&mut self, tenant: &Tenant, amounts: Amounts) {
        if self.fair {
            self.held.entry(tenant.clone()).or_default().add(amounts);
        }
    }

    fn fill(&mut self, sorted: &[&'a Waiting], before: &[OrderKey]) {
        let mut last: Option<&Waiting> = None;
        for waiting in sorted {
            let new_band = match last {
                None => true,
                Some(last) => !self.fair || compare(last, waiting, before) != Ordering::Equal,
            };
            // Without fair share one band holds one tenant's stretch of the line.
            let same_line =
                !self.fair && last.is_some_and(|last| last.job.tenant == waiting.job.tenant);
            if new_band && !same_line {
                self.bands.push_back(Band { lines: BTreeMap::new() });
            }
            let band = self.bands.back_mut().expect("the first job opened a band");
            band.lines.entry(&waiting.job.tenant).or_default().push_back(waiting);
            last = Some(waiting);
        }
    }

    fn first_tenant(&self) -> Option<&'a Tenant> {
        let lines = &self.bands.front()?.lines;
        if !self.fair || lines.len() == 1 {
            return lines.keys().next().copied();
        }
        let share = |tenant: &Tenant| {
            self.held.get(tenant).map_or(0, |held| held.dominant_of(&self.capacity))
        };
        lines.keys().copied().min_by_key(|tenant| (share(tenant), *tenant))
    }
}

fn compare(one: &Waiting, other: &Waiting, keys: &[OrderKey]) -> Ordering {
    let by = |key: &OrderKey| compare_jobs(&one.job, &other.job, *key);
    keys.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Which of two jobs goes first by a key that says so of the jobs alone.
pub(crate) fn compare_jobs(one: &Job, other: &Job, key: OrderKey) -> Ordering {
    match key {
        OrderKey::FirstIn => one.arrival.cmp(&other.arrival),
        OrderKey::Priority => Reverse(one.priority).cmp(&Reverse(other.priority)),
        OrderKey::FairShare => Ordering::Equal,
    }
}

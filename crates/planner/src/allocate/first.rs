//! Who is placed before others: the jobs for which room was made on nodes.

use std::collections::BTreeSet;

use fleet::JobId;
use fleet::snapshot::{Allotment, Nomination, Way};

use super::entrants::Entrant;
use super::granted;
use super::lots::Lots;

/// The jobs that are placed now, and what others do not get meanwhile.
pub(super) struct First<'a> {
    pub(super) jobs: BTreeSet<JobId>,
    /// The lots of which the nodes on which room is made have something.
    reserved: BTreeSet<usize>,
    lots: &'a Lots<'a>,
}

impl<'a> First<'a> {
    /// Of the nominated jobs those that want most, if there are any: smaller ones could take what
    /// was made free for them.
    pub(super) fn of(
        allotment: &Allotment,
        (entrants, lots): (&[Entrant<'_>], &'a Lots<'a>),
        snapshot: &fleet::Snapshot,
    ) -> Option<Self> {
        let amount = |entrant: &Entrant<'_>| {
            let way = granted(allotment, entrant).filter(|_| entrant.held.is_none());
            way.map(|way| lots.amount(entrant, way).1 / u64::from(entrant.tasks.max(1)))
        };
        let is_nominated =
            |entrant: &&Entrant<'_>| allotment.nominated.contains_key(&entrant.job.id);
        let nominated = entrants.iter().filter(is_nominated);
        let amounts: Vec<(u64, JobId)> =
            nominated.filter_map(|entrant| Some((amount(entrant)?, entrant.job.id))).collect();
        let most = amounts.iter().map(|(amount, _)| *amount).max()?;
        let jobs = amounts.into_iter().filter(|(amount, _)| *amount == most);
        let nodes = allotment.nominated.values().flat_map(|nomination| &nomination.nodes);
        let entries = nodes.filter_map(|node| snapshot.nodes.get(node.index()));
        let classes = entries.flat_map(|entry| entry.node.devices.iter().chain([&entry.node.cpu]));
        Some(Self {
            jobs: jobs.map(|(_, job)| job).collect(),
            reserved: classes.filter_map(|class| lots.lot(*class)).collect(),
            lots,
        })
    }

    /// Which of its tasks are placed now, if it is one of these jobs.
    pub(super) fn nomination<'b>(
        &self,
        allotment: &'b Allotment,
        job: JobId,
    ) -> Option<&'b Nomination> {
        allotment.nominated.get(&job).filter(|_| self.jobs.contains(&job))
    }

    /// Whether a job waits for them with what it was granted.
    pub(super) fn holds_up(&self, job: JobId, way: Way) -> bool {
        let lot = self.lots.lot(way.class);
        !self.jobs.contains(&job) && lot.is_some_and(|lot| self.reserved.contains(&lot))
    }

    /// Takes the nomination from those who were placed, and from those who were not and do not
    /// stay. Whether there were any: then others are next.
    pub(super) fn seat(&self, allotment: &mut Allotment, stay: &BTreeSet<JobId>) -> bool {
        let before = allotment.nominated.len();
        allotment.nominated.retain(|job, _| !self.jobs.contains(job) || stay.contains(job));
        allotment.nominated.len() < before
    }
}

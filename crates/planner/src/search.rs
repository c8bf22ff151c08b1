//! Search: greedy. Job by job in the order of the queue, each task takes the best choice there is.
//!
//! What does not fit is passed over and the next job is looked at. A shape
//! that found no room is not looked at again in the same plan, because room
//! only shrinks. Every alternative weighed on a group of equal nodes is one
//! step: on every group when a kind of job is first looked at in the plan, and
//! from then on, where its choices are ranked, on the groups only that the
//! plan has changed since. What earlier plans remembered makes no difference.
//! When the next job would pass the effort, it and all after it wait, and go
//! first in the next plan.
//!
//! A job that waits for a node with its inputs is put aside, and looked at again once all others
//! were: until nothing more is placed, so that its reason holds for the plan as a whole.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::ops::Range;

use fleet::explanation::{Choice as Chosen, Locality, RunnerUp, Score, TierInForce};
use fleet::policy::Pick;
use fleet::snapshot::{Amounts, Waiting};
use fleet::{
    Attempt, Gang, Job, JobId, Mark, NodeId, Phase, Placement, Policy, RunId, Snapshot, TaskIndex,
    Time, Work,
};

use crate::batch::{self, Gate};
use crate::dice::Dice;
use crate::expected::Expected;
use crate::lookahead;
use crate::queue::Queue;
use crate::reconcile::Agenda;
use crate::shapes::JobShape;
use crate::weigh::{Candidate, Weighed, Weigher};
use crate::{Effort, Scratch, gang, weigh};

/// What the search came to.
pub(crate) struct Found<'a> {
    pub(crate) placements: Vec<Placement>,
    pub(crate) choices: Vec<Chosen>,
    /// Jobs with tasks that still wait, ascending by id.
    pub(crate) left: Vec<Left<'a>>,
    pub(crate) rotation: Option<NodeId>,
    pub(crate) steps: u64,
    /// Gangs that start again once all of what they have has stopped.
    pub(crate) recalled: BTreeSet<JobId>,
    /// Jobs that are held back.
    pub(crate) held_back: Option<Gate>,
    /// See [`fleet::snapshot::Memory::released`].
    pub(crate) released: Option<Time>,
    /// Jobs that wait for a node with their inputs.
    pub(crate) waits: BTreeMap<JobId, Locality>,
    pub(crate) weigher: Weigher<'a>,
}

/// A job with tasks that still wait.
pub(crate) struct Left<'a> {
    pub(crate) waiting: &'a Waiting,
    pub(crate) tasks: u32,
    /// Whether the effort ran out before it was looked at to the end.
    pub(crate) unseen: bool,
}

pub(crate) fn search<'a>(
    agenda: &Agenda<'a>,
    (snapshot, policy, tiers): (&'a Snapshot, &'a Policy, &'a [TierInForce]),
    effort: Effort,
    scratch: &mut Scratch,
    mark: &mut Mark<'_>,
) -> Found<'a> {
    let (held_back, released) = batch::gate(snapshot, policy);
    let is_held = |waiting: &&&Waiting| held_back.is_some_and(|gate| gate.holds(&waiting.job));
    let free: Vec<&Waiting> = agenda.place.iter().filter(|one| !is_held(one)).copied().collect();
    let mut search = Search {
        queue: Queue::new(&free, &policy.order, snapshot),
        full: BTreeSet::new(),
        full_gangs: BTreeSet::new(),
        placed: BTreeMap::new(),
        unseen: BTreeSet::new(),
        looked: BTreeMap::new(),
        dice: Dice::new(effort, snapshot),
        aside: BTreeMap::new(),
        expected: None,
        spent: false,
        mark,
        found: Found {
            placements: Vec::new(),
            choices: Vec::new(),
            left: Vec::new(),
            rotation: snapshot.memory.rotation,
            steps: 0,
            recalled: agenda.recalled.iter().map(|waiting| waiting.job.id).collect(),
            held_back,
            released,
            waits: BTreeMap::new(),
            weigher: Weigher::new(snapshot, policy, tiers),
        },
    };
    // Look-ahead places tasks one by one, so that it leaves gangs and what waits beside them alone.
    let has_gangs = agenda.place.iter().any(|waiting| waiting.job.gang.is_some());
    if let Some(batch) = policy.batch.filter(|_| !has_gangs) {
        search.look_ahead(batch.max_jobs, effort, scratch);
    }
    while let Some(waiting) = search.queue.front() {
        search.look_at(waiting, effort, scratch);
    }
    search.settle(effort, scratch);
    let Search { mut found, placed, unseen, .. } = search;
    let all = agenda.place.iter().chain(&agenda.recalled);
    found.left = all.filter_map(|waiting| left(waiting, &placed, &unseen)).collect();
    found.left.sort_by_key(|left| left.waiting.job.id);
    assert_eq!(found.placements.len(), found.choices.len(), "every placement has its reason");
    assert!(found.steps <= effort.steps, "steps stay within effort");
    found
}

struct Search<'a, 'm> {
    queue: Queue<'a>,
    /// Shapes of jobs that found no room in this plan.
    full: BTreeSet<JobShape>,
    /// Gangs that found no room, by shape, count of tasks and limits.
    full_gangs: BTreeSet<(JobShape, u32, Gang)>,
    placed: BTreeMap<JobId, Progress<'a>>,
    unseen: BTreeSet<JobId>,
    /// How many tasks were placed when a kind of job was last looked at.
    looked: BTreeMap<(JobShape, Option<Work>), usize>,
    dice: Dice,
    /// Jobs that wait for a node with their inputs, as far as is known.
    aside: BTreeMap<JobId, &'a Waiting>,
    /// What is expected of nodes, once somebody asks.
    expected: Option<Expected<'a>>,
    /// Whether the effort ran out.
    spent: bool,
    mark: &'m mut Mark<'m>,
    found: Found<'a>,
}

/// How far the placing of one job has got.
struct Progress<'a> {
    again: btree_map::Iter<'a, TaskIndex, Attempt>,
    fresh: Range<u32>,
    placed: u32,
}

impl<'a> Progress<'a> {
    fn new(waiting: &'a Waiting) -> Self {
        Self { again: waiting.again.iter(), fresh: waiting.fresh.clone(), placed: 0 }
    }

    /// The tasks in the order of [`Waiting::tasks`], one by one.
    fn next_task(&mut self) -> Option<(TaskIndex, Attempt)> {
        self.placed += 1;
        match self.again.next() {
            Some((task, attempt)) => Some((*task, *attempt)),
            None => self.fresh.next().map(|task| (TaskIndex(task), Attempt(0))),
        }
    }
}

impl<'a> Search<'a, '_> {
    /// Places one task of the job at the front of the queue, or drops the job from it.
    fn look_at(&mut self, waiting: &'a Waiting, effort: Effort, scratch: &mut Scratch) {
        let job = &waiting.job;
        let shape = scratch.shapes.of(job);
        if self.full.contains(&shape) {
            self.queue.drop_front();
            return;
        }
        let steps = shape.len() as u64 * self.groups_to_weigh(job, &shape, scratch);
        self.spent |= steps > effort.steps - self.found.steps;
        if self.spent {
            self.unseen.insert(job.id);
            self.queue.drop_front();
            return;
        }
        self.found.steps += steps;
        self.looked.insert((JobShape::clone(&shape), job.work), self.found.placements.len());
        if let Some(gang) = job.gang {
            self.look_at_gang(waiting, (shape, gang), scratch);
            return;
        }
        let mut weighed = self.weigh(waiting, &shape, scratch);
        if weighed.nodes == 0 {
            self.full.insert(shape);
        }
        match weighed.best.take() {
            Some(_) if self.waits_for_inputs(waiting, 1, scratch).is_some() => {
                self.forget_promises();
                self.aside.insert(job.id, waiting);
                self.queue.drop_front();
            }
            Some(best) => {
                if self.place(waiting, best, &weighed, scratch) {
                    self.queue.drop_front();
                }
                self.queue.charge(&job.tenant, self.last_amounts());
            }
            None => self.queue.drop_front(),
        }
    }

    /// Places all tasks of the gang at the front of the queue, or none, and drops it from there.
    fn look_at_gang(
        &mut self,
        waiting: &'a Waiting,
        (shape, gang): (JobShape, Gang),
        scratch: &mut Scratch,
    ) {
        let key = (JobShape::clone(&shape), waiting.count(), gang);
        if self.full_gangs.contains(&key) {
            self.queue.drop_front();
            return;
        }
        shape.iter().for_each(|one| scratch.shapes.refresh(*one, &scratch.groups));
        let nodes = weigh::roomy(&shape, scratch);
        let gathered = gang::gather(&self.found.weigher, waiting, (&shape, gang), scratch);
        if gathered.members.is_empty() {
            self.full_gangs.insert(key);
        }
        self.queue.drop_front();
        for member in gathered.members {
            let weighed = Weighed { nodes, ..Weighed::default() };
            self.place(waiting, member, &weighed, scratch);
            self.queue.charge(&waiting.job.tenant, self.last_amounts());
        }
    }

    /// Looks again at the jobs that were put aside, in the order of their ids, until all that are
    /// left wait in the plan as it is then.
    fn settle(&mut self, effort: Effort, scratch: &mut Scratch) {
        while !self.aside.is_empty() {
            self.found.waits.clear();
            self.forget_promises();
            let jobs: Vec<&'a Waiting> = self.aside.values().copied().collect();
            if !jobs.into_iter().any(|waiting| self.moves(waiting, effort, scratch)) {
                return;
            }
        }
    }

    /// Places a task of a job that was put aside if it waits no more; whether it did.
    fn moves(&mut self, waiting: &'a Waiting, effort: Effort, scratch: &mut Scratch) -> bool {
        let job = &waiting.job;
        let shape = scratch.shapes.of(job);
        let steps = shape.len() as u64 * self.groups_to_weigh(job, &shape, scratch);
        self.spent |= steps > effort.steps - self.found.steps;
        if self.spent {
            self.unseen.insert(job.id);
            return false;
        }
        self.found.steps += steps;
        let left = waiting.count() - self.placed.get(&job.id).map_or(0, |one| one.placed);
        if let Some(wait) = self.waits_for_inputs(waiting, left, scratch) {
            self.found.waits.insert(job.id, wait);
            return false;
        }
        let mut weighed = self.weigh(waiting, &shape, scratch);
        let Some(best) = weighed.best.take() else { return false };
        if self.place(waiting, best, &weighed, scratch) {
            self.aside.remove(&job.id);
        }
        true
    }

    /// Weighs all that would do for one task of a job.
    fn weigh(&mut self, waiting: &Waiting, shape: &JobShape, scratch: &mut Scratch) -> Weighed {
        (self.mark)(Phase::Decide);
        let Found { rotation, weigher, .. } = &self.found;
        let weighed = weigher.weigh(waiting, shape, *rotation, &mut self.dice, scratch);
        (self.mark)(Phase::Match);
        weighed
    }

    /// Why so many tasks of a job wait for a node with its inputs, if they do.
    fn waits_for_inputs(
        &mut self,
        waiting: &Waiting,
        tasks: u32,
        scratch: &mut Scratch,
    ) -> Option<Locality> {
        if waiting.job.inputs().is_empty() {
            return None;
        }
        let Found { placements, weigher, .. } = &self.found;
        let expected = self.expected.get_or_insert_with(|| {
            let mut expected = Expected::new(weigher.snapshot);
            placements.iter().for_each(|placement| expected.place(placement));
            expected
        });
        weigher.locality(waiting, tasks, expected, scratch)
    }

    fn forget_promises(&mut self) {
        if let Some(expected) = &mut self.expected {
            expected.forget_promises();
        }
    }

    /// How many nodes hold an input of a job, each of which is weighed for itself.
    fn holders(&self, job: &Job) -> u64 {
        let catalogue = &self.found.weigher.snapshot.catalogue;
        let holdings = job.inputs().iter().filter_map(|input| catalogue.get(&input.name));
        holdings.map(|holding| holding.nodes.len() as u64).sum()
    }

    /// Puts the first jobs that have room into the order in which they are best placed, as far as
    /// the effort goes.
    fn look_ahead(&mut self, most: u32, effort: Effort, scratch: &mut Scratch) {
        let has_room = |waiting: &'a Waiting| {
            let shape = scratch.shapes.of(&waiting.job);
            shape.iter().fold(false, |found, one| {
                scratch.shapes.refresh(*one, &scratch.groups);
                found || scratch.shapes.roomy(*one) > 0
            })
        };
        let jobs = self.queue.first_tasks(most, has_room);
        if jobs.len() < 2 {
            return;
        }
        let members: Vec<(&'a Waiting, JobShape)> =
            jobs.iter().map(|waiting| (*waiting, scratch.shapes.of(&waiting.job))).collect();
        let all = scratch.groups.count().max(1);
        let tasks: u64 = jobs.iter().map(|waiting| u64::from(waiting.count())).sum();
        // The listing of choices, and what the search will need to place all of them.
        let (mut steps, mut reserve) = (0, 0);
        for (waiting, shape) in &members {
            let (job, width) = (&waiting.job, shape.len() as u64);
            steps += width * self.groups_to_weigh(job, shape, scratch);
            self.looked.insert((JobShape::clone(shape), job.work), 0);
            let is_ranked = self.found.weigher.is_ranked(job);
            let changed =
                if is_ranked { (2 * tasks).clamp(1, all) } else { all + self.holders(job) };
            reserve += width * (u64::from(waiting.count()) + 1) * changed;
        }
        let Some(left) = effort.steps.checked_sub(steps + reserve) else {
            self.looked.clear();
            return;
        };
        let (order, tried) = lookahead::order(&members, &self.found.weigher, left, scratch);
        self.found.steps += steps + tried;
        let by_id: BTreeMap<JobId, &'a Waiting> =
            jobs.into_iter().map(|waiting| (waiting.job.id, waiting)).collect();
        self.queue.prefer(order.iter().map(|id| by_id[id]).collect());
    }

    /// On how many groups the job must be weighed that were not weighed for its kind already.
    fn groups_to_weigh(&self, job: &Job, shape: &JobShape, scratch: &Scratch) -> u64 {
        let all = scratch.groups.count() + self.holders(job);
        let weigher = &self.found.weigher;
        let is_ranked = weigher.policy.pick == Pick::Weighted && weigher.is_ranked(job);
        match self.looked.get(&(JobShape::clone(shape), job.work)) {
            // A placement changes two groups: the one that a node leaves and the one it enters.
            Some(placed) if is_ranked && job.gang.is_none() => {
                let changed = 2 * (self.found.placements.len() - placed) as u64;
                changed.clamp(1, all.max(1))
            }
            _ => all,
        }
    }

    /// Places the next task of a job; whether it was the last.
    fn place(
        &mut self,
        waiting: &'a Waiting,
        best: Candidate,
        weighed: &Weighed,
        scratch: &mut Scratch,
    ) -> bool {
        let job = &waiting.job;
        let progress = self.placed.entry(job.id).or_insert_with(|| Progress::new(waiting));
        let (task, attempt) = progress.next_task().expect("a job leaves with its last task");
        let is_last = progress.placed == waiting.count();
        let run = RunId { job: job.id, task, attempt };
        self.found.choices.push(self.chosen(run, &best, weighed));
        scratch.groups.take(best.node, &best.grant);
        self.found.rotation = Some(best.node);
        let placement = placement(run, best);
        if let Some(expected) = &mut self.expected {
            expected.place(&placement);
        }
        self.found.placements.push(placement);
        is_last
    }

    /// What the last placement takes.
    fn last_amounts(&self) -> Amounts {
        self.found.placements.last().map(|last| Amounts::of_grant(&last.grant)).unwrap_or_default()
    }

    fn chosen(&self, run: RunId, best: &Candidate, weighed: &Weighed) -> Chosen {
        let score = |candidate: &Candidate| Score {
            tiers: candidate.tiers[..self.found.weigher.tiers.len()].to_vec(),
            parts: candidate.parts,
        };
        let runner_up = weighed.runner_up.as_ref().map(|candidate| RunnerUp {
            alternative: candidate.alternative,
            node: candidate.node,
            class: candidate.class,
            score: score(candidate),
        });
        Chosen { run, score: score(best), nodes: weighed.nodes, runner_up }
    }
}

fn placement(run: RunId, best: Candidate) -> Placement {
    let Candidate { alternative, node, class, grant, rate, duration, .. } = best;
    Placement { run, alternative, node, class, grant, rate, duration }
}

fn left<'a>(
    waiting: &'a Waiting,
    placed: &BTreeMap<JobId, Progress<'_>>,
    unseen: &BTreeSet<JobId>,
) -> Option<Left<'a>> {
    let id = waiting.job.id;
    let tasks = waiting.count() - placed.get(&id).map_or(0, |progress| progress.placed);
    (tasks > 0).then(|| Left { waiting, tasks, unseen: unseen.contains(&id) })
}

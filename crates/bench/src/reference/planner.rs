//! What all reference policies share: from a snapshot to a decision.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::{Choice, Reason, Score, StillWaiting, Tally};
use fleet::node::choose_devices;
use fleet::policy::Objective;
use fleet::snapshot::Waiting;
use fleet::{
    Alternative, Classes, Decision, DeviceGrant, DeviceIndex, Explanation, Grant, Job, Micro,
    Milli, NodeId, Placement, Plan, RunId, Serial, Snapshot,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::ask::{Ask, Kind};
use super::site::Site;
use super::table::{Candidate, Scene, Table};
use super::typical::Typical;
use super::{Devices, Reference, Term, Ties};
use crate::dice;

/// A reference policy with what it knows of nodes and shapes. Give the same one to every turn.
pub struct Planner {
    reference: Reference,
    typical: Arc<Typical>,
    ties: Ties,
    dice: ChaCha8Rng,
    serial: Option<Serial>,
    classes: Arc<Classes>,
    sites: Vec<Site>,
    positions: BTreeMap<Alternative, usize>,
    tables: Vec<Table>,
}

/// A decision as it grows.
#[derive(Default)]
struct Draft {
    plan: Plan,
    explanation: Explanation,
}

impl Planner {
    /// A planner that has seen nothing yet. The seed is for what is drawn; ties of a policy without
    /// terms are always drawn.
    #[must_use]
    pub fn new(reference: Reference, typical: Arc<Typical>, ties: Ties, seed: u64) -> Self {
        let ties = if reference.terms.is_empty() { Ties::Drawn } else { ties };
        Self {
            reference,
            typical,
            ties,
            dice: ChaCha8Rng::seed_from_u64(seed),
            serial: None,
            classes: Arc::default(),
            sites: Vec::new(),
            positions: BTreeMap::new(),
            tables: Vec::new(),
        }
    }

    /// Places every waiting task that finds room, job by job in order of id.
    #[must_use]
    pub fn plan(&mut self, snapshot: &Snapshot) -> Decision {
        self.sync(snapshot);
        let mut draft = Draft::default();
        draft.plan.serial = snapshot.serial;
        draft.plan.memory = snapshot.memory.clone();
        draft.explanation.busy = snapshot.held.busy(&snapshot.capacity);
        for waiting in snapshot.backlog.values() {
            self.place_tasks(waiting, &mut draft);
        }
        Decision { plan: draft.plan, explanation: draft.explanation }
    }

    /// Takes in what changed.
    fn sync(&mut self, snapshot: &Snapshot) {
        let same_fleet = Arc::ptr_eq(&self.classes, &snapshot.classes)
            && self.sites.len() == snapshot.nodes.len();
        let follows = self.serial.is_some() && snapshot.changes.since == self.serial;
        if follows && same_fleet {
            for id in &snapshot.changes.nodes {
                self.read_again(*id, snapshot);
            }
        } else {
            self.read_all(snapshot);
        }
        self.serial = Some(snapshot.serial);
    }

    fn read_all(&mut self, snapshot: &Snapshot) {
        self.classes = Arc::clone(&snapshot.classes);
        self.tables.clear();
        self.positions.clear();
        let mut by_name: Vec<_> = snapshot.nodes.iter().map(|entry| &entry.node).collect();
        by_name.sort_by(|one, other| one.name.cmp(&other.name));
        let ranks: BTreeMap<NodeId, u32> =
            (0..).zip(by_name).map(|(rank, node)| (node.id, rank)).collect();
        let site = |entry: &Arc<fleet::NodeEntry>| {
            Site::new(entry, &snapshot.classes, ranks[&entry.node.id], 0)
        };
        self.sites = snapshot.nodes.iter().map(site).collect();
        for run in snapshot.runs.values() {
            let kind = Kind::of_grant(&run.placement.grant);
            let site = &mut self.sites[run.placement.node.index()];
            *site.kinds.entry(kind).or_default() += 1;
        }
    }

    /// Reads a node that may differ. Where it is what the last plan made of it, nothing is lost.
    fn read_again(&mut self, id: NodeId, snapshot: &Snapshot) {
        let entry = snapshot.node(id);
        let site = &self.sites[id.index()];
        if site.up == entry.up && site.free == entry.free && Arc::ptr_eq(&site.node, &entry.node) {
            return;
        }
        let mut site = Site::new(entry, &snapshot.classes, site.rank, site.version + 1);
        // Only this formula reads which runs are there, and finding them costs a look at all.
        if self.reference.terms.iter().any(|(term, _)| *term == Term::Clustering) {
            for run in snapshot.runs.values().filter(|run| run.placement.node == id) {
                *site.kinds.entry(Kind::of_grant(&run.placement.grant)).or_default() += 1;
            }
        }
        self.sites[id.index()] = site;
    }

    fn place_tasks(&mut self, waiting: &Waiting, draft: &mut Draft) {
        let job = &waiting.job;
        let mut left = waiting.count();
        for (task, attempt) in waiting.tasks() {
            let run = RunId { job: job.id, task, attempt };
            if !self.place(job, run, draft) {
                break;
            }
            left -= 1;
        }
        if left > 0 {
            let reason = Arc::new(Reason::NoRoom(self.tallies(job)));
            draft.explanation.waiting.push(StillWaiting { job: job.id, tasks: left, reason });
        }
    }

    /// Places one task by the first alternative that finds room; false where none does.
    fn place(&mut self, job: &Job, run: RunId, draft: &mut Draft) -> bool {
        for (number, alternative) in (0..=u16::MAX).zip(job.alternatives.iter()) {
            let table = self.table(alternative);
            draft.explanation.steps += self.sites.len() as u64;
            let (candidates, nodes) = self.tables[table].best(&self.reference);
            let Some(chosen) = self.pick(&candidates) else { continue };
            let placement = self.placement(job, run, number, chosen);
            self.sites[chosen.position].take(&placement.grant);
            draft.plan.placements.push(placement);
            let score = Score { tiers: Vec::new(), parts: [Micro::ONE; Objective::COUNT] };
            draft.explanation.choices.push(Choice { run, score, nodes, runner_up: None });
            return true;
        }
        false
    }

    /// The position of the shape's table, brought up to date.
    fn table(&mut self, alternative: &Alternative) -> usize {
        let position = match self.positions.get(alternative) {
            Some(position) => *position,
            None => {
                self.positions.insert(alternative.clone(), self.tables.len());
                self.tables.push(Table::new(Ask::new(alternative)));
                self.tables.len() - 1
            }
        };
        let scene =
            Scene { reference: &self.reference, typical: &self.typical, classes: &self.classes };
        self.tables[position].refresh(&self.sites, &scene);
        position
    }

    fn pick(&mut self, candidates: &[Candidate]) -> Option<Candidate> {
        match self.ties {
            Ties::LowestId => candidates.first().copied(),
            Ties::Drawn if candidates.is_empty() => None,
            Ties::Drawn => Some(candidates[dice::below(&mut self.dice, candidates.len())]),
        }
    }

    fn placement(&mut self, job: &Job, run: RunId, number: u16, chosen: Candidate) -> Placement {
        let alternative = &job.alternatives[usize::from(number)];
        let devices = self.devices(alternative, chosen);
        let site = &self.sites[chosen.position];
        let class = match alternative.request.devices {
            Some(_) => site.class.expect("a node that has room has devices"),
            None => site.node.cpu,
        };
        let request = &alternative.request;
        let rate = alternative.rate(&self.classes.get(class).model);
        let rate = rate.expect("a node that has room has a rate");
        Placement {
            run,
            alternative: number,
            node: site.node.id,
            class,
            grant: Grant {
                cores: request.cores,
                memory: request.memory,
                devices,
                ..Grant::default()
            },
            rate,
            duration: job.work.and_then(|work| work.duration(rate)),
        }
    }

    fn devices(&mut self, alternative: &Alternative, chosen: Candidate) -> Vec<DeviceGrant> {
        let Some(request) = &alternative.request.devices else { return Vec::new() };
        let is_drawn = self.reference.devices == Devices::Drawn && request.share < Milli::WHOLE;
        let device = if is_drawn { self.draw_device(request, chosen) } else { chosen.device };
        let site = &self.sites[chosen.position];
        if let Some(device) = device {
            let device = DeviceIndex(u16::try_from(device).expect("a node has few devices"));
            return vec![DeviceGrant {
                device,
                share: request.share,
                memory: request.memory,
                ..DeviceGrant::default()
            }];
        }
        let class = site.class.expect("a node that has room has devices");
        choose_devices(&site.node, &site.free, &self.classes, request, class)
            .expect("the node has room")
            .grants(&site.node, &site.free, request, class)
    }

    fn draw_device(&mut self, request: &fleet::DeviceRequest, chosen: Candidate) -> Option<usize> {
        let devices = self.sites[chosen.position].free.devices.iter().enumerate();
        let suits =
            |left: &fleet::DeviceFree| left.share >= request.share && left.memory >= request.memory;
        let suited: Vec<usize> =
            devices.filter(|(_, left)| suits(left)).map(|(device, _)| device).collect();
        Some(suited[dice::below(&mut self.dice, suited.len())])
    }

    fn tallies(&mut self, job: &Job) -> Vec<Tally> {
        let mut tallies = Vec::with_capacity(job.alternatives.len());
        for (number, alternative) in (0..=u16::MAX).zip(job.alternatives.iter()) {
            let table = self.table(alternative);
            tallies.push(Tally { alternative: number, fell_out: self.tables[table].fell_out() });
        }
        tallies
    }
}

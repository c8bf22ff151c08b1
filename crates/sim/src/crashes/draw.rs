//! What is drawn from the seed: fleet, jobs, what users ask and when, faults.
//!
//! Every job fits on some node if that is empty, so that at the end every job
//! has to have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller::Request as Ask;
use fleet::{
    Alternative, Bandwidth, Bytes, ClassId, Classes, Dependency, DeviceClass, DeviceKind,
    DeviceRequest, Ending, Gang, Job, JobId, Milli, MilliCores, Milliwatts, Node, NodeId, Power,
    Request, Restart, ShareRule, Span, Tenant, Time, Work,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::faults::Faults;
use crate::workload::{Inventory, Truth};

const GIB: u64 = 1 << 30;

/// The stream of what is drawn here; worlds and lines have others of the same seed.
const STREAM: u64 = 7;

/// When the last job arrives, in seconds.
const ARRIVALS: u32 = 60;

/// Dice.
pub(super) struct Dice(ChaCha8Rng);

/// What a simulation is made of.
pub(super) struct Scene {
    pub(super) fleet: Inventory,
    pub(super) jobs: Vec<Arc<Job>>,
    pub(super) truth: Truth,
    /// What is asked when, in that order.
    pub(super) asks: Vec<(Time, Ask)>,
    pub(super) faults: Faults,
    pub(super) resync_every: u32,
    /// How many of a thousand turns end with the death of the program, or begin with a full disk.
    pub(super) deaths: u32,
    pub(super) full_disks: u32,
}

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(STREAM);
        Self(dice)
    }

    pub(super) fn within(&mut self, least: u32, most: u32) -> u32 {
        least + self.0.next_u32() % (most - least + 1)
    }

    pub(super) fn one_in(&mut self, many: u32) -> bool {
        self.within(1, many) == 1
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.0.next_u32() as usize % items.len()]
    }

    fn amount(&mut self, least: u32, most: u32) -> u64 {
        u64::from(self.within(least, most))
    }
}

impl Scene {
    pub(super) fn draw(dice: &mut Dice, seed: u64) -> Self {
        let fleet = fleet(dice);
        let jobs: Vec<_> = (1..=dice.amount(3, 12)).map(|id| job(dice, &fleet, id)).collect();
        let faults = faults(dice, seed);
        let asks = asks(dice, &fleet, &jobs, faults.until);
        let truth = Truth {
            rate_error: Milli(300),
            failing: Milli(*dice.pick(&[0, 50, 250])),
            ..Truth::default()
        };
        let resync_every = dice.within(1, 6);
        let (deaths, full_disks) = (dice.within(30, 300), *dice.pick(&[0, 20, 80]));
        Self { fleet, jobs, truth, asks, faults, resync_every, deaths, full_disks }
    }
}

fn fleet(dice: &mut Dice) -> Inventory {
    let power = Power { idle: Milliwatts(1000), busy: Milliwatts(2000) };
    let class = |model: &str, kind, gibibytes: u64| DeviceClass {
        model: model.to_owned(),
        kind,
        memory: Bytes(gibibytes * GIB),
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: ShareRule::Milli,
        profiles: Vec::new(),
        power,
    };
    let nodes = (0..dice.within(1, 4)).map(|id| Node {
        id: NodeId(id),
        name: format!("node{id}"),
        cpu: ClassId(0),
        cores: MilliCores(1000 * dice.amount(2, 8)),
        memory: Bytes(GIB * dice.amount(4, 16)),
        devices: vec![ClassId(1); dice.within(0, 2) as usize],
        labels: BTreeMap::new(),
        power,
        socket: MilliCores::ZERO,
        network: Bandwidth::ZERO,
        topology: None,
        attachment: None,
    });
    let nodes = nodes.collect();
    let classes = vec![class("EPYC", DeviceKind::Cpu, 0), class("A100", DeviceKind::Gpu, 40)];
    Inventory { classes: Classes(classes), nodes }
}

fn job(dice: &mut Dice, fleet: &Inventory, id: u64) -> Arc<Job> {
    let is_gang = dice.one_in(5);
    let fits = dice.pick(&fleet.nodes).clone();
    let cores = dice.within(1, 2);
    let most = if is_gang { fits.cores.0 / u64::from(1000 * cores) } else { 4 };
    let tasks = dice.within(1, u32::try_from(most.min(4)).unwrap_or(1));
    let device = (!is_gang && !fits.devices.is_empty() && dice.one_in(2)).then(|| DeviceRequest {
        kind: DeviceKind::Gpu,
        count: 1,
        share: Milli(100 * dice.within(1, 10)),
        memory: Bytes(GIB * dice.amount(1, 4)),
        models: Vec::new(),
        compute_units: 0,
        capability: None,
        profile: None,
    });
    let request = Request {
        cores: MilliCores(1000 * u64::from(cores)),
        memory: Bytes(GIB),
        devices: device,
        ..Request::default()
    };
    let (labels, rates) = (BTreeMap::new(), BTreeMap::new());
    let endings = [Ending::Done, Ending::Done, Ending::NotDone, Ending::Any];
    let after = (id > 1 && dice.one_in(4)).then(|| Dependency {
        job: JobId(dice.amount(1, u32::try_from(id - 1).unwrap_or(1))),
        ending: *dice.pick(&endings),
    });
    Arc::new(Job {
        id: JobId(id),
        name: format!("job{id}"),
        tenant: Tenant::new(dice.pick::<&str>(&["ada", "bob"])),
        priority: *dice.pick(&[0, 1]),
        arrival: Time::seconds(dice.amount(0, ARRIVALS)),
        tasks,
        gang: is_gang.then(Gang::default),
        work: Some(Work(1_000_000 * dice.amount(1, 30))),
        deadline: None,
        alternatives: Arc::new(vec![Alternative { request, labels, rates, communication: None }]),
        datasets: None,
        program: None,
        restart: Restart { retries: dice.within(0, 2), requeue: !dice.one_in(4) },
        after: after.into_iter().collect(),
    })
}

/// Every job, and changes of mind about some; at the end everything that is kept back is let go.
fn asks(dice: &mut Dice, fleet: &Inventory, jobs: &[Arc<Job>], until: Time) -> Vec<(Time, Ask)> {
    let mut asks: Vec<(Time, Ask)> =
        jobs.iter().map(|job| (job.arrival, Ask::Submit(Arc::clone(job)))).collect();
    let end = until.max(Time::seconds(u64::from(ARRIVALS) + 90));
    for job in jobs {
        let later = |dice: &mut Dice| job.arrival.after(Span::seconds(dice.amount(0, 40)));
        if dice.one_in(4) {
            asks.push((later(dice), Ask::Hold(job.id)));
            asks.push((later(dice), Ask::Release(job.id)));
            asks.push((end, Ask::Release(job.id)));
        }
        if dice.one_in(8) {
            asks.push((later(dice), Ask::Cancel(job.id)));
        }
    }
    for node in fleet.nodes.iter().map(|node| node.id) {
        if dice.one_in(4) {
            let at = dice.amount(0, ARRIVALS);
            asks.push((Time::seconds(at), Ask::Drain(node)));
            asks.push((Time::seconds(at + dice.amount(0, 40)), Ask::Resume(node)));
            asks.push((end, Ask::Resume(node)));
        }
    }
    // What is asked at the same time stays in the order in which it was drawn.
    asks.sort_by_key(|(at, _)| *at);
    asks
}

fn faults(dice: &mut Dice, seed: u64) -> Faults {
    let mut up_to = |most: u32| Milli(dice.within(0, most));
    Faults {
        seed,
        refused: up_to(150),
        doubled: up_to(200),
        late: up_to(200),
        repeated: up_to(200),
        lost: up_to(200),
        delayed: up_to(200),
        deaf: up_to(200),
        until: Time::seconds(dice.amount(30, 150)),
        crashes: dice.within(0, 3),
        partitions: dice.within(0, 3),
    }
}

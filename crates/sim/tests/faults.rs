//! Seeded simulations of small random fleets in which much goes wrong, with
//! every checker on every turn.
//!
//! `MOTLEY_SEED=17 cargo test -p sim --test faults` repeats one of them;
//! `MOTLEY_SEEDS=10000` before the same command runs so many instead of 500.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller::policy_file::{SHIPPED, shipped};
use fleet::device::mig_profiles;
use fleet::{
    Alternative, Attachment, Bandwidth, Bytes, Catalogue, ClassId, Classes, Communication, Dataset,
    Datasets, DeviceClass, DeviceIndex, DeviceKind, DeviceRequest, Holding, Job, JobId, Link,
    Milli, MilliCores, Milliwatts, Node, NodeId, Pattern, Power, Profile, Rate, Reason, Request,
    Restart, ShareRule, Span, Tenant, Time, Topology, Uplink, Work,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sim::checkers::Checks;
use sim::faults::{FaultKind, Faults, Hits};
use sim::scenario::{Ending, Options, Outcome, motley, run};
use sim::world::Event;
use sim::{Inventory, Truth, Workload};

const SEEDS: u64 = 500;
const GIB: u64 = 1 << 30;
const ZONES: [&str; 2] = ["a", "b"];
const NAMES: [&str; 3] = ["images", "words", "genome"];

/// Models: name, kind, memory in GiB, share rule.
const MODELS: [(&str, DeviceKind, u64, ShareRule); 7] = [
    ("EPYC", DeviceKind::Cpu, 0, ShareRule::Milli),
    ("XEON", DeviceKind::Cpu, 0, ShareRule::Milli),
    ("A100", DeviceKind::Gpu, 40, ShareRule::Milli),
    ("V100", DeviceKind::Gpu, 16, ShareRule::Milli),
    ("K80", DeviceKind::Gpu, 12, ShareRule::Exclusive),
    ("U280", DeviceKind::Fpga, 8, ShareRule::Exclusive),
    ("A100-40GB", DeviceKind::Gpu, 40, ShareRule::Slices),
];

#[test]
fn whatever_goes_wrong_every_law_holds_and_all_that_can_run_runs() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let only = number("MOTLEY_SEED");
    let seeds = only.map_or(0..number("MOTLEY_SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let (mut hits, mut refused, mut turns, mut cancelled) = (Hits::new(), 0, 0, 0);
    let mut fetched = 0;
    for seed in seeds {
        let (outcome, given_up) = simulate(seed);
        cancelled += given_up;
        for (kind, count) in outcome.hits {
            *hits.entry(kind).or_default() += count;
        }
        let is_refusal = |event: &Event| matches!(event, Event::Refused { .. });
        let fetches =
            |event: &Event| matches!(event, Event::Started(start) if !start.staging.is_zero());
        fetched += outcome.log.iter().filter(|entry| fetches(&entry.event)).count();
        refused += outcome.log.iter().filter(|entry| is_refusal(&entry.event)).count();
        turns += outcome.turns;
    }
    println!("{turns} turns, {refused} orders refused by the world, {cancelled} tasks cancelled");
    println!("faults {hits:?}");
    println!("{fetched} runs fetched their inputs");
    if only.is_none() {
        assert!(fetched > 0, "no run ever fetched anything");
        // Receipts are lost and delayed where programs die, in `crashes.rs`.
        let is_drawn = |kind: &FaultKind| !matches!(kind, FaultKind::Lost | FaultKind::Delayed);
        for kind in FaultKind::ALL.into_iter().filter(is_drawn) {
            assert!(hits.get(&kind).is_some_and(|count| *count > 0), "{kind:?} never happened");
        }
        assert!(refused > 0, "the world never refused an order");
        assert!(cancelled > 0, "no task was ever given up because its job was cancelled");
    }
}

/// What comes of this seed, and how many tasks are not done because their job was cancelled.
fn simulate(seed: u64) -> (Outcome, usize) {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
    let fleet = random_fleet(&mut dice);
    let mut workload = random_workload(&mut dice);
    let policy = shipped(dice.pick(SHIPPED).0).expect("it is shipped");
    // Who stops tasks at the end of a round does so where their work is kept.
    let keeps = policy.allocate.is_some() || dice.below(4) == 0;
    if policy.allocate.is_some() {
        // Who waits for a service to end would be given a turn again and again.
        let ends = |job: &Arc<Job>| job.work.is_some();
        workload.jobs.retain(ends);
    }
    workload.truth.restart = keeps.then(|| Span::seconds(u64::from(dice.below(40))));
    workload.truth.work_error = Milli(1000 + 1000 * dice.below(2));
    let cancels = random_cancels(&mut dice, &workload);
    let repeat = format!("MOTLEY_SEED={seed} cargo test -p sim --test faults");
    let options = Options {
        seed,
        checks: Checks::Thorough,
        faults: random_faults(&mut dice, seed),
        cancels: cancels.clone(),
        resync_every: dice.below(9),
        turns_max: 20_000,
        catalogue: random_catalogue(&mut dice, &fleet),
        repeat: repeat.clone(),
        ..Options::default()
    };
    let outcome = run(&fleet, &workload, &policy, options, &mut motley());
    let violations: Vec<_> = outcome.violations.iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    let has_ended = matches!(outcome.ending, Ending::Finished | Ending::Standstill);
    assert!(has_ended, "ended as {:?}; repeat with `{repeat}`", outcome.ending);
    let cancelled: BTreeSet<JobId> = cancels.iter().map(|(_, job)| *job).collect();
    let given_up = not_done(&workload, &outcome, |job| cancelled.contains(&job));
    let spared: Vec<_> =
        workload.jobs.iter().filter(|job| !cancelled.contains(&job.id)).cloned().collect();
    let workload = Workload { jobs: spared, ..workload };
    assert_all_that_can_run_runs(&fleet, &workload, &outcome, &repeat);
    let still = outcome.waiting.iter().find(|waiting| cancelled.contains(&waiting.job));
    assert!(still.is_none(), "a cancelled job waits: {still:?}; repeat with `{repeat}`");
    (outcome, given_up)
}

/// How many tasks of these jobs were not done.
fn not_done(workload: &Workload, outcome: &Outcome, counts: impl Fn(JobId) -> bool) -> usize {
    let tasks: usize =
        workload.jobs.iter().filter(|job| counts(job.id)).map(|job| job.tasks as usize).sum();
    let done: BTreeSet<_> = outcome
        .log
        .iter()
        .filter_map(|entry| match entry.event {
            Event::Done { run, .. } => Some((run.job, run.task)),
            _ => None,
        })
        .collect();
    tasks - done.iter().filter(|(job, _)| counts(*job)).count()
}

/// What waits at the end waits for room that nothing will ever give back, or can run nowhere.
fn assert_all_that_can_run_runs(
    fleet: &Inventory,
    workload: &Workload,
    outcome: &Outcome,
    repeat: &str,
) {
    let has_services = workload.jobs.iter().any(|job| job.work.is_none());
    let waiting: BTreeMap<JobId, &Reason> =
        outcome.waiting.iter().map(|waiting| (waiting.job, &*waiting.reason)).collect();
    for job in &workload.jobs {
        let could_run = match job.gang {
            None => fleet.nodes.iter().any(|node| could_run(job, node, &fleet.classes)),
            Some(_) => could_gather(job, fleet),
        };
        let left = not_done(workload, outcome, |id| id == job.id);
        if could_run && !has_services {
            assert_eq!(left, 0, "job {} is not done; repeat with `{repeat}`", job.id);
        }
        let reason = waiting.get(&job.id);
        let is_told = match reason {
            None | Some(Reason::NoRoom(_)) => true,
            Some(Reason::Gang(_)) => job.gang.is_some(),
            Some(_) => false,
        };
        assert!(is_told, "job {} waits for {reason:?}; repeat with `{repeat}`", job.id);
        if !could_run {
            assert!(reason.is_some(), "job {} is not explained; repeat with `{repeat}`", job.id);
        }
    }
}

/// Whether a task of the job could run on this node if it were empty.
fn could_run(job: &Job, node: &Node, classes: &Classes) -> bool {
    let fits = |way: &Alternative| {
        let request = &way.request;
        let has_labels = way.labels.iter().all(|(key, value)| node.labels.get(key) == Some(value));
        let has_devices = match &request.devices {
            None => way.rate(&classes.get(node.cpu).model).is_some(),
            Some(asked) => node.devices.iter().any(|id| {
                let class = classes.get(*id);
                let count = node.devices.iter().filter(|other| *other == id).count();
                asked.accepts(class)
                    && divides(asked, class)
                    && way.rate(&class.model).is_some()
                    && count >= asked.count as usize
            }),
        };
        has_labels && has_devices && request.cores <= node.cores && request.memory <= node.memory
    };
    job.alternatives.iter().any(fits)
}

/// Whether such a part of a device can be had of the class. A profile is accepted or not elsewhere;
/// of one profile as many slices have places as share and memory suffice for.
fn divides(asked: &DeviceRequest, class: &DeviceClass) -> bool {
    let is_whole = asked.share == Milli::WHOLE;
    is_whole || asked.profile.is_some() || class.share == ShareRule::Milli
}

/// Whether all tasks of the gang could run at the same time, in one way, if everything were empty.
fn could_gather(job: &Job, fleet: &Inventory) -> bool {
    let classes = &fleet.classes;
    let on_node = |way: &Alternative, class: ClassId, node: &Node| -> u64 {
        let one_way = Job { alternatives: Arc::new(vec![way.clone()]), ..job.clone() };
        if !could_run(&one_way, node, classes) || way.rate(&classes.get(class).model).is_none() {
            return 0;
        }
        let request = &way.request;
        let by = |has: u64, asks: u64| has.checked_div(asks).unwrap_or(u64::MAX);
        let rest = by(node.cores.0, request.cores.0).min(by(node.memory.0, request.memory.0));
        let Some(asked) = &request.devices else {
            return if node.cpu == class { rest } else { 0 };
        };
        let model = classes.get(class);
        if !asked.accepts(model) || !divides(asked, model) {
            return 0;
        }
        let devices = node.devices.iter().filter(|other| **other == class).count() as u64;
        let on_one = by(1000, asked.share.0.into()).min(by(model.memory.0, asked.memory.0));
        let on_all = match asked.share == Milli::WHOLE {
            true => devices / u64::from(asked.count),
            false => devices * on_one,
        };
        rest.min(on_all)
    };
    job.alternatives.iter().any(|way| {
        classes.iter().any(|(class, _)| {
            let tasks = fleet.nodes.iter().map(|node| on_node(way, class, node));
            tasks.fold(0, u64::saturating_add) >= u64::from(job.tasks)
        })
    })
}

/// Dice for generators.
struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0.next_u32() % end
    }

    fn within(&mut self, least: u32, most: u32) -> u32 {
        least + self.below(most - least + 1)
    }

    /// The same, wider.
    fn amount(&mut self, least: u32, most: u32) -> u64 {
        u64::from(self.within(least, most))
    }

    fn one_in(&mut self, many: u32) -> bool {
        self.below(many) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.0.next_u32() as usize % items.len()]
    }
}

fn random_fleet(dice: &mut Dice) -> Inventory {
    let class = |(model, kind, memory, share): &(&str, DeviceKind, u64, ShareRule)| DeviceClass {
        profiles: match share {
            ShareRule::Slices => mig_profiles(model, Bytes(memory * GIB)).expect("an A100"),
            ShareRule::Exclusive | ShareRule::Milli => Vec::new(),
        },
        model: (*model).to_owned(),
        kind: *kind,
        memory: Bytes(memory * GIB),
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: *share,
        power: Power { idle: Milliwatts(20_000), busy: Milliwatts(300_000) },
    };
    let nodes = dice.within(1, 6);
    let nodes = (0..nodes).map(|id| {
        let mut devices = Vec::new();
        for _ in 0..dice.below(3) {
            let class = ClassId(*dice.pick(&[2, 3, 4, 5, 6, 6]));
            devices.extend(std::iter::repeat_n(class, dice.within(1, 2) as usize));
        }
        Node {
            id: NodeId(id),
            name: format!("node{id}"),
            cpu: ClassId(*dice.pick(&[0, 1])),
            cores: MilliCores(1000 * dice.amount(1, 16)),
            memory: Bytes(GIB * dice.amount(4, 64)),
            devices,
            labels: BTreeMap::from([("zone".to_owned(), (*dice.pick(&ZONES)).to_owned())]),
            power: Power { idle: Milliwatts(100_000), busy: Milliwatts(200_000) },
            socket: MilliCores::ZERO,
            network: Bandwidth(u64::from(dice.within(0, 3)) * 1_000_000_000),
            topology: dice.one_in(3).then(|| Arc::new(random_topology(dice))),
            attachment: dice.one_in(2).then(|| Arc::new(random_attachment(dice))),
        }
    });
    let nodes = nodes.collect();
    Inventory { classes: Classes(MODELS.iter().map(class).collect()), nodes }
}

/// Links between the first devices; the node may have fewer.
fn random_topology(dice: &mut Dice) -> Topology {
    let giga = |dice: &mut Dice| Bandwidth(1_000_000_000 * dice.amount(1, 50));
    let link = |other| Link { ends: (DeviceIndex(0), DeviceIndex(other)), bandwidth: giga(dice) };
    let links = (1..3).map(link).collect();
    Topology { links, host: giga(dice), ..Topology::default() }
}

/// Under one of two switches.
fn random_attachment(dice: &mut Dice) -> Attachment {
    let giga = |dice: &mut Dice| {
        let bandwidth = Bandwidth(1_000_000_000 * dice.amount(1, 10));
        (!dice.one_in(3)).then_some(bandwidth)
    };
    let (switch, bandwidth) = match dice.one_in(2) {
        true => ("left", Some(Bandwidth(5_000_000_000))),
        false => ("right", None),
    };
    let switches = vec![Uplink { switch: switch.to_owned(), bandwidth }];
    Attachment { interface: giga(dice), switches }
}

/// Some datasets on some nodes.
fn random_catalogue(dice: &mut Dice, fleet: &Inventory) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for name in NAMES {
        let nodes = fleet.nodes.iter().map(|node| node.id).filter(|_| dice.one_in(3));
        let (nodes, size) = (nodes.collect(), Bytes(dice.amount(1, 60) * 1_000_000_000));
        catalogue.holdings.insert(name.into(), Arc::new(Holding { size, nodes }));
    }
    catalogue
}

/// What the tasks of a job read and write: some of what there is, and of what others write.
fn random_datasets(dice: &mut Dice) -> Option<Arc<Datasets>> {
    let dataset = |name: &str, dice: &mut Dice| Dataset {
        name: name.into(),
        size: Bytes(dice.amount(1, 60) * 1_000_000_000),
    };
    let mut datasets = Datasets::default();
    for name in NAMES.into_iter().chain(["made", "made.0"]) {
        if dice.one_in(5) {
            datasets.inputs.push(dataset(name, dice));
        }
    }
    for name in ["made", NAMES[0]] {
        if dice.one_in(5) {
            datasets.outputs.push(dataset(name, dice));
        }
    }
    (datasets != Datasets::default()).then(|| Arc::new(datasets))
}

fn random_workload(dice: &mut Dice) -> Workload {
    let has_services = dice.one_in(8);
    let mut jobs: Vec<Job> = (0..dice.amount(3, 24))
        .map(|id| {
            let is_service = has_services && dice.one_in(4);
            Job {
                id: JobId(id),
                name: format!("job{id}"),
                tenant: Tenant::new(dice.pick::<&str>(&["ada", "bob", "eve"])),
                priority: *dice.pick(&[-1, 0, 1]),
                arrival: Time::seconds(dice.amount(0, 89)),
                tasks: dice.within(1, 4),
                gang: dice.one_in(4).then(fleet::Gang::default),
                work: (!is_service).then(|| Work(1_000_000 * dice.amount(1, 40))),
                deadline: dice.one_in(3).then(|| Time::seconds(dice.amount(10, 300))),
                alternatives: Arc::new((0..dice.within(1, 2)).map(|_| random_way(dice)).collect()),
                datasets: random_datasets(dice),
                program: None,
                restart: Restart::default(),
                after: Vec::new(),
            }
        })
        .collect();
    jobs.sort_by_key(|job| (job.arrival, job.id));
    let truth = Truth { rate_error: Milli(300), ..Truth::default() };
    Workload { jobs: jobs.into_iter().map(Arc::new).collect(), truth, outages: Vec::new() }
}

fn random_way(dice: &mut Dice) -> Alternative {
    let devices = dice.one_in(2).then(|| {
        let is_shared = dice.one_in(2);
        let wants_models = dice.one_in(3);
        let request = DeviceRequest {
            kind: if dice.one_in(6) { DeviceKind::Fpga } else { DeviceKind::Gpu },
            count: if is_shared { 1 } else { dice.within(1, 2) },
            share: Milli(if is_shared { 100 * dice.within(1, 9) } else { 1000 }),
            memory: Bytes(GIB * dice.amount(0, 13)),
            models: if wants_models { vec![dice.pick(&MODELS).0.to_owned()] } else { Vec::new() },
            compute_units: 0,
            capability: None,
            profile: None,
        };
        if !dice.one_in(3) {
            return request;
        }
        let known = mig_profiles("A100-40GB", Bytes(40 * GIB)).expect("an A100");
        let Profile { name, share, memory, .. } = dice.pick(&known).clone();
        let (kind, models) = (DeviceKind::Gpu, Vec::new());
        DeviceRequest { kind, models, count: 1, share, memory, profile: Some(name), ..request }
    });
    let mut rates = BTreeMap::new();
    if dice.one_in(2) {
        for (model, ..) in MODELS {
            if !dice.one_in(4) {
                rates.insert(model.to_owned(), Rate(250_000 * dice.amount(1, 8)));
            }
        }
    }
    let mut labels = BTreeMap::new();
    if dice.one_in(6) {
        labels.insert("zone".to_owned(), (*dice.pick(&ZONES)).to_owned());
    }
    let request = Request {
        cores: MilliCores(500 * dice.amount(1, 8)),
        memory: Bytes(GIB * dice.amount(1, 8)),
        devices,
        ..Request::default()
    };
    let communication = dice.one_in(3).then(|| Communication {
        pattern: *dice.pick(&Pattern::ALL),
        bytes: Bytes(1_000_000 * dice.amount(1, 500)),
    });
    Alternative { request, labels, rates, communication }
}

/// Some jobs, each cancelled at its arrival or later. A job that has not arrived is not cancelled.
fn random_cancels(dice: &mut Dice, workload: &Workload) -> Vec<(Time, JobId)> {
    if dice.one_in(2) {
        return Vec::new();
    }
    let mut cancels = Vec::new();
    for job in &workload.jobs {
        if dice.one_in(6) {
            cancels.push((job.arrival.after(Span::seconds(dice.amount(0, 40))), job.id));
        }
    }
    cancels
}

fn random_faults(dice: &mut Dice, seed: u64) -> Faults {
    let mut thousandths = |most: u32| Milli(dice.below(most));
    let (refused, doubled, late, repeated, deaf) =
        (thousandths(200), thousandths(300), thousandths(300), thousandths(300), thousandths(300));
    // Only where everything is seen now and then is it noticed that a receipt is missing.
    let (lost, delayed) = (Milli::ZERO, Milli::ZERO);
    Faults {
        seed,
        until: Time::seconds(dice.amount(20, 240)),
        crashes: dice.below(4),
        partitions: dice.below(5),
        refused,
        doubled,
        late,
        repeated,
        lost,
        delayed,
        deaf,
    }
}

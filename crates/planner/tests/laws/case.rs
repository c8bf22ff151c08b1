//! Random cases: small mixed fleets, partly held, with a backlog and a policy.
//!
//! Rates are powers of two and work is a multiple of eight, so that durations
//! are whole seconds and another unit of time changes nothing by rounding.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::device::{Power, ShareRule};
use fleet::policy::{
    Allocate, Batch, ByUtilisation, EXTERNALS_MAX, Objective, OrderKey, Pick, Regime, Scale,
    Weighting, Weights,
};
use fleet::snapshot::{Memory, Mix, MixShape, Parts, Progress, Waiting};
use fleet::{
    Alternative, Attachment, Attempt, Bandwidth, Bytes, Catalogue, ClassId, Classes, Communication,
    Dataset, Datasets, DeviceClass, DeviceGrant, DeviceIndex, DeviceKind, DeviceRequest, Free,
    Gang, Generation, Grant, Holding, Job, JobId, Level, Link, Micro, Milli, MilliCores,
    Millijoules, Milliwatts, Node, NodeId, Pattern, Placement, Policy, Powers, Profile, Rate,
    Reach, Request, Restart, Run, RunId, Serial, Signal, Signals, Slots, Span, Stage, TaskIndex,
    Tenant, Time, Topology, Uplink, Work,
};
use planner::Effort;

use crate::dice::Dice;
use crate::inside;

/// What a law is tried on.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) parts: Parts,
    pub(crate) policy: Policy,
    /// Mostly plenty; now and then next to nothing.
    pub(crate) effort: Effort,
    /// What a warm scratch planned before: other turns of the fleet, and another fleet.
    pub(crate) earlier: Vec<Parts>,
    /// For what a law itself draws.
    pub(crate) seed: u64,
}

const GIB: u64 = 1 << 30;

/// Tasks that have gone through the fleet get jobs from here up.
const GONE: u64 = 1000;

impl Case {
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let policy = policy(dice);
        let plenty = Effort::DEFAULT;
        let effort = if dice.percent(20) {
            Effort { steps: dice.below(40).into(), ..plenty }
        } else {
            plenty
        };
        let seed = u64::from(dice.below(u32::MAX));
        let nodes = nodes(dice);
        let shapes = shapes(dice);
        let parts = |serial, dice: &mut Dice| parts(Serial(serial), &nodes, &shapes, dice);
        let now = parts(4, dice);
        let mut earlier = vec![parts(1, dice), parts(2, dice)];
        let other = self::nodes(dice);
        let at = dice.index(earlier.len() + 1);
        earlier.insert(at, self::parts(Serial(3), &other, &shapes, dice));
        Self { parts: now, policy, effort, earlier, seed }
    }
}

/// The device classes of every case.
pub(crate) fn classes() -> Classes {
    let class = |model: &str, kind, memory, compute_units, capabilities: &[&str], milli| {
        let watts = |watts: u64| Milliwatts(1000 * watts);
        let capabilities = capabilities.iter().map(|name| (*name).to_owned()).collect();
        let share = if milli { ShareRule::Milli } else { ShareRule::Exclusive };
        let power = match kind {
            DeviceKind::Cpu => Power::default(),
            _ => Power { idle: watts(20), busy: watts(20 + u64::from(compute_units) / 20) },
        };
        let memory = Bytes(memory * GIB);
        let model = model.to_owned();
        let profiles = Vec::new();
        DeviceClass { model, kind, memory, compute_units, capabilities, share, profiles, power }
    };
    Classes(vec![
        class("epyc", DeviceKind::Cpu, 0, 0, &[], false),
        class("arm", DeviceKind::Cpu, 0, 0, &[], false),
        class("t4", DeviceKind::Gpu, 16, 2560, &["sm_75"], true),
        class("a100", DeviceKind::Gpu, 40, 6912, &["sm_75", "sm_80"], true),
        class("h100", DeviceKind::Gpu, 80, 16896, &["sm_75", "sm_80", "sm_90"], false),
        class("v4", DeviceKind::Tpu, 32, 0, &[], false),
        class("u280", DeviceKind::Fpga, 0, 1304, &["xdma"], true),
        DeviceClass {
            share: ShareRule::Slices,
            profiles: inside::profiles(),
            ..class("mig", DeviceKind::Gpu, 40, 6912, &["sm_80"], false)
        },
    ])
}

const MODELS: [&str; 8] = ["epyc", "arm", "t4", "a100", "h100", "v4", "u280", "mig"];

fn nodes(dice: &mut Dice) -> Vec<Node> {
    let makes: Vec<Node> = (0..=dice.below(3)).map(|_| make(dice)).collect();
    let node = |id: u32, dice: &mut Dice| {
        let make = dice.pick(&makes);
        Node { id: NodeId(id), name: format!("n{id}"), ..make }
    };
    (0..dice.pick(&[3, 0, 1, 2, 4, 5, 6, 8])).map(|id| node(id, dice)).collect()
}

fn make(dice: &mut Dice) -> Node {
    let zone = dice.pick(&[None, Some("a"), Some("b")]);
    let label = |zone: &str| ("zone".to_owned(), zone.to_owned());
    let kinds = 1 + dice.below(2);
    let kinds: Vec<_> = (0..kinds)
        .map(|_| ClassId(2 + dice.pick(&[1_u16, 0, 2, 1, 0, 2, 3, 4, 5, 5, 5, 5, 5])))
        .collect();
    let node = Node {
        id: NodeId(0),
        name: String::new(),
        cpu: ClassId(dice.pick(&[0, 0, 1])),
        cores: MilliCores(dice.pick(&[4000, 8000, 8000, 16_000, 2000, 16_000, 0])),
        memory: Bytes(dice.pick(&[32, 64, 128, 64, 8]) * GIB),
        devices: (0..dice.pick(&[2, 0, 1, 4, 4, 3])).map(|_| dice.pick(&kinds)).collect(),
        labels: zone.map(label).into_iter().collect(),
        power: Power {
            idle: Milliwatts(dice.pick(&[80_000, 120_000])),
            busy: Milliwatts(dice.pick(&[240_000, 360_000, 120_000])),
        },
        socket: MilliCores(dice.pick(&[0, 4000, 6000])),
        network: Bandwidth(dice.pick(&[0, 4, 1, 2]) * 1_800_000_000),
        topology: dice.percent(40).then(|| Arc::new(wiring(dice))),
        attachment: dice.percent(40).then(|| Arc::new(attachment(dice))),
    };
    if dice.percent(50) {
        return node;
    }
    let Topology { links, host, .. } = node.topology.as_deref().cloned().unwrap_or_default();
    let topology = Topology { links, host, ..inside::topology(&node, dice) };
    Node { topology: Some(Arc::new(topology)), ..node }
}

/// Links between some of the first devices; the node may have fewer.
fn wiring(dice: &mut Dice) -> Topology {
    let mut links = Vec::new();
    for ends in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        if dice.percent(60) {
            let ends = (DeviceIndex(ends.0), DeviceIndex(ends.1));
            links.push(Link { ends, bandwidth: Bandwidth(dice.pick(&[25, 50]) * 1_000_000_000) });
        }
    }
    Topology { links, host: Bandwidth(12_000_000_000), ..Topology::default() }
}

/// Under one of two switches, which may be under a third.
fn attachment(dice: &mut Dice) -> Attachment {
    let uplink = |switch: &str, giga: Option<u64>| Uplink {
        switch: switch.to_owned(),
        bandwidth: giga.map(|giga| Bandwidth(giga * 1_000_000_000)),
    };
    let lower = match dice.percent(50) {
        true => uplink("left", Some(10)),
        false => uplink("right", None),
    };
    let mut switches = vec![lower];
    if dice.percent(50) {
        switches.push(uplink("top", Some(40)));
    }
    Attachment { interface: dice.pick(&[None, Some(Bandwidth(5_000_000_000))]), switches }
}

fn gang(dice: &mut Dice) -> Option<Gang> {
    let tasks_per_node = dice.pick(&[None, None, Some(1), Some(2)]);
    let switches = dice.pick(&[None, None, Some(1)]);
    dice.percent(20).then_some(Gang { tasks_per_node, switches })
}

fn shapes(dice: &mut Dice) -> Vec<Alternative> {
    (0..=dice.below(8)).map(|_| shape(dice)).collect()
}

fn shape(dice: &mut Dice) -> Alternative {
    let devices = if dice.percent(65) { Some(device_request(dice)) } else { None };
    let mut rates = BTreeMap::new();
    if dice.percent(70) {
        for model in MODELS {
            if dice.percent(80) {
                let rate = dice.pick(&[1_000_000, 8_000_000, 4_000_000, 125_000, 500_000, 0]);
                rates.insert(model.to_owned(), Rate(rate));
            }
        }
    }
    let mut labels = BTreeMap::new();
    if dice.percent(15) {
        labels.insert("zone".to_owned(), dice.pick(&["a", "b"]).to_owned());
    }
    let request = Request {
        cores: MilliCores(dice.pick(&[1000, 2000, 500, 500, 1000, 4000, 0])),
        memory: Bytes(dice.pick(&[0, 4, 4, 1, 16, 40]) * GIB),
        devices,
        reach: dice.pick(&[Reach::Any, Reach::Any, Reach::Single]),
        traffic: inside::traffic(dice),
    };
    let communication = dice.percent(25).then(|| Communication {
        pattern: dice.pick(&Pattern::ALL),
        bytes: Bytes(dice.pick(&[100_000_000, 1_000_000, 0])),
    });
    Alternative { request, labels, rates, communication }
}

fn device_request(dice: &mut Dice) -> DeviceRequest {
    use DeviceKind::{Fpga, Gpu, Tpu};
    let kinds = [Gpu, Gpu, Gpu, Gpu, Gpu, Gpu, Tpu, Fpga];
    let kind = dice.pick(&kinds);
    let shares = dice.percent(55);
    let models: Vec<String> = match (kind, dice.below(9)) {
        (Gpu, 4) => vec!["a100".to_owned()],
        (Gpu, 5) => vec!["h100".to_owned(), "t4".to_owned()],
        _ => Vec::new(),
    };
    let request = DeviceRequest {
        kind,
        count: if shares { 1 } else { dice.pick(&[1, 1, 2, 1, 4]) },
        share: if shares { Milli(dice.pick(&[500, 250, 300, 700])) } else { Milli::WHOLE },
        memory: Bytes(dice.pick(&[0, 0, 8, 4, 0, 20, 50]) * GIB),
        models,
        compute_units: dice.pick(&[0, 0, 0, 0, 0, 3000, 8000]),
        capability: dice.pick(&[None, None, None, None, None, Some("sm_80".to_owned())]),
        profile: None,
    };
    if kind != Gpu || !dice.percent(40) {
        return request;
    }
    let Profile { name, share, memory, .. } =
        inside::profiles().swap_remove(dice.pick(&[0, 2, 0, 2, 1, 3]));
    // Now and then one that no device has.
    let name = if dice.percent(10) { "1g.small".to_owned() } else { name };
    let models = if dice.percent(70) { Vec::new() } else { request.models };
    DeviceRequest { count: 1, share, memory, models, profile: Some(name), ..request }
}

/// One turn of the fleet: who holds what, what waits, what has arrived, what is remembered.
fn parts(serial: Serial, nodes: &[Node], shapes: &[Alternative], dice: &mut Dice) -> Parts {
    let classes = classes();
    let mut draw = Draw {
        at: Time::seconds(1000 + u64::from(dice.below(1000))),
        free: nodes.iter().map(|node| node.capacity(&classes)).collect(),
        nodes,
        runs: Vec::new(),
        backlog: Vec::new(),
        jobs: Vec::new(),
    };
    for id in 0..dice.pick(&[4_u64, 0, 2, 8, 12, 16, 1]) {
        let job = job(JobId(id), draw.at, shapes, dice);
        draw.tasks(&job, dice);
    }
    for id in 0..dice.below(6) {
        let job = Arc::new(job(JobId(GONE + u64::from(id)), draw.at, shapes, dice));
        draw.jobs.push(Arc::clone(&job));
        use Stage::{Cancelled, Ordered, Running, Stopping, Stray};
        let stage = dice.pick(&[Running, Stray, Stopping, Ordered, Cancelled]);
        draw.run(&job, RunId { job: job.id, ..RunId::default() }, stage, dice);
    }
    let count = nodes.len();
    let nodes = nodes.iter().map(|node| (node.clone(), !dice.percent(15))).collect();
    let Draw { at, runs, backlog, jobs, .. } = draw;
    let progress = progress(&backlog, &runs, at, dice);
    let (mix, memory) = (mix(shapes, dice), memory(dice));
    let catalogue = catalogue(count, &runs, dice);
    Parts {
        serial,
        at,
        classes,
        nodes,
        backlog,
        runs,
        mix,
        catalogue,
        signals: signals(count, dice),
        jobs,
        progress,
        memory,
    }
}

/// How far some tasks have got.
fn progress(
    backlog: &[Waiting],
    runs: &[Run],
    at: Time,
    dice: &mut Dice,
) -> BTreeMap<JobId, BTreeMap<TaskIndex, Progress>> {
    let waiting =
        backlog.iter().flat_map(|waiting| waiting.again.keys().map(|task| (waiting.job.id, *task)));
    let all = waiting.chain(runs.iter().map(|run| (run.id().job, run.id().task)));
    let mut found: BTreeMap<JobId, BTreeMap<TaskIndex, Progress>> = BTreeMap::new();
    for (job, task) in all.collect::<Vec<_>>() {
        if dice.percent(20) {
            let done = Work(dice.pick(&[1, 10, 100, 1000]) * 1_000_000);
            let at = Time(at.0 - dice.pick(&[1, 30, 500]) * 1_000_000);
            found.entry(job).or_default().insert(task, Progress { done, at, kept: done });
        }
    }
    found
}

fn job(id: JobId, at: Time, shapes: &[Alternative], dice: &mut Dice) -> Job {
    let work = dice.pick(&[Some(40), Some(160), Some(800), Some(8), Some(800), Some(0), None]);
    let deadline = dice.pick(&[None, None, Some(60), Some(500), Some(-20)]);
    let moment = |offset: i64| Time(at.0.saturating_add_signed(offset * 1_000_000));
    Job {
        id,
        name: format!("job{id}"),
        tenant: Tenant::new(dice.pick(&["ann", "bob", "eve"])),
        priority: dice.pick(&[0, 0, 5, -3]),
        arrival: Time(at.0 - dice.pick(&[0_u64, 10, 100, 900, 3, 1]) * 1_000_000),
        tasks: dice.pick(&[1, 2, 4, 9, 5]),
        gang: gang(dice),
        work: work.map(|units| Work(units * 1_000_000)),
        deadline: deadline.map(moment),
        alternatives: Arc::new((0..=dice.below(3)).map(|_| dice.pick(shapes)).collect()),
        datasets: if dice.percent(60) { Some(Arc::new(datasets(dice))) } else { None },
        program: None,
        restart: Restart::default(),
        after: Vec::new(),
    }
}

const NAMES: [&str; 4] = ["images", "words", "genome", "nowhere"];

/// Sizes and networks are such that fetching takes whole seconds.
fn datasets(dice: &mut Dice) -> Datasets {
    let dataset = |name: &str, dice: &mut Dice| Dataset {
        name: name.into(),
        size: Bytes(dice.pick(&[1800, 360, 3600]) * 1_000_000_000),
    };
    let mut inputs = Vec::new();
    for name in NAMES {
        if dice.percent(40) {
            inputs.push(dataset(name, dice));
        }
    }
    Datasets { inputs, outputs: Vec::new() }
}

/// Numbers of some of so many nodes, and of some classes.
fn signals(nodes: usize, dice: &mut Dice) -> Signals {
    let mut signals = Signals::default();
    for name in ["noise", "other"] {
        let mut signal = Signal { default: Level(1_500_000), ..Signal::default() };
        for node in (0..nodes).map(|node| NodeId(u32::try_from(node).expect("few nodes"))) {
            if dice.percent(40) {
                signal.nodes.insert(node, Level(dice.pick(&[0, 1, 7]) * 1_000_000));
            }
        }
        for class in (0..7).map(ClassId) {
            if dice.percent(20) {
                signal.classes.insert(class, Level(dice.pick(&[0, 3]) * 1_000_000));
            }
        }
        signals.by_name.insert(name.into(), signal);
    }
    signals
}

/// Some datasets on some of so many nodes, mostly on busy ones, and on one that is not there.
fn catalogue(nodes: usize, runs: &[Run], dice: &mut Dice) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for name in &NAMES[..3] {
        let is_busy = |node: NodeId| runs.iter().any(|run| run.placement.node == node);
        let nodes = (0..=nodes).map(|node| NodeId(u32::try_from(node).expect("few nodes")));
        let nodes =
            nodes.filter(|node| dice.percent(if is_busy(*node) { 60 } else { 10 })).collect();
        let size = Bytes(dice.pick(&[3600, 720]) * 1_000_000_000);
        catalogue.holdings.insert((*name).into(), Arc::new(Holding { size, nodes }));
    }
    catalogue
}

/// A turn as far as it is drawn.
struct Draw<'a> {
    at: Time,
    nodes: &'a [Node],
    free: Vec<Free>,
    runs: Vec<Run>,
    backlog: Vec<Waiting>,
    jobs: Vec<Arc<Job>>,
}

impl Draw<'_> {
    /// Lets each task of a job wait, wait again (with a stray of its last attempt about), run, or
    /// be done.
    fn tasks(&mut self, job: &Job, dice: &mut Dice) {
        let job = Arc::new(job.clone());
        self.jobs.push(Arc::clone(&job));
        let start = if dice.percent(40) { dice.below(job.tasks + 1) } else { 0 };
        let fresh = start..job.tasks;
        let mut again = BTreeMap::new();
        for task in 0..fresh.start {
            let attempt = Attempt(dice.below(3));
            let id = RunId { job: job.id, task: TaskIndex(task), attempt };
            let fate = dice.below(4);
            let runs = match fate {
                0 => self.run(&job, id, Stage::Running, dice),
                1 => self.run(&job, id, Stage::Ordered, dice),
                2 => self.run(&job, id, Stage::Stray, dice),
                _ => false,
            };
            if fate == 2 || (fate < 2 && !runs) {
                again.insert(id.task, Attempt(attempt.0 + 1));
            }
        }
        if !fresh.is_empty() || !again.is_empty() {
            self.backlog.push(Waiting { job, fresh, again });
        }
    }

    /// Starts a run where there is room for its job's first alternative; whether there is.
    fn run(&mut self, job: &Job, id: RunId, stage: Stage, dice: &mut Dice) -> bool {
        let alternative = &job.alternatives[0];
        let first = dice.index(self.nodes.len());
        let order = (0..self.nodes.len()).map(|offset| (first + offset) % self.nodes.len());
        let found = order.into_iter().find_map(|position| {
            let at = dice.below(8) as usize;
            let (node, free) = (&self.nodes[position], &self.free[position]);
            let devices = some_devices(alternative, (node, free), at)?;
            let request = &alternative.request;
            let domains = inside::some_domains(alternative, node, &self.free[position])?;
            let channels = inside::some_channels(node, dice.below(4));
            let grant =
                Grant { cores: request.cores, memory: request.memory, devices, domains, channels };
            self.free[position].has_room_for(&grant).then_some((position, grant))
        });
        let Some((position, grant)) = found else { return false };
        self.free[position].take(&grant);
        let node = &self.nodes[position];
        let times = dice.pick(&[1, 10, 2]);
        let class =
            grant.devices.first().map_or(node.cpu, |held| node.devices[held.device.index()]);
        let placement = Placement {
            run: id,
            alternative: 0,
            node: node.id,
            class,
            grant,
            rate: Rate(1_000_000),
            duration: job.work.map(|work| Span(work.0 * times)),
        };
        let since = Time(self.at.0 - 1_000_000 * u64::from(dice.below(100)));
        let (tenant, generation) = (job.tenant.clone(), Generation(1));
        self.runs.push(Run { placement, tenant, stage, since, generation });
        true
    }
}

/// Any devices that would hold what is asked, whatever their class, and any places of slices: a
/// body may have chosen them.
fn some_devices(
    alternative: &Alternative,
    (node, free): (&Node, &Free),
    at: usize,
) -> Option<Vec<DeviceGrant>> {
    let Some(request) = &alternative.request.devices else { return Some(Vec::new()) };
    let classes = classes();
    let grant = |index: usize| {
        let left = free.devices[index];
        let class = classes.get(node.devices[index]);
        let placed = match &request.profile {
            Some(name) => {
                let places = class.profile(name)?.placements();
                let open: Vec<Slots> = places.filter(|one| !one.overlap(left.slots)).collect();
                *open.get(at % open.len().max(1))?
            }
            None => Slots::default(),
        };
        let device = DeviceIndex(u16::try_from(index).expect("few devices"));
        let (share, memory) = (request.share, request.memory);
        let fits = left.share >= share && left.memory >= memory;
        fits.then_some(DeviceGrant { device, share, memory, slots: placed })
    };
    let wanted = request.count as usize;
    let found: Vec<_> = (0..node.devices.len()).filter_map(grant).take(wanted).collect();
    (found.len() == wanted).then_some(found)
}

fn mix(shapes: &[Alternative], dice: &mut Dice) -> Mix {
    let mut counts: BTreeMap<Alternative, u64> = BTreeMap::new();
    for shape in shapes {
        let count = dice.below(20);
        if count > 0 {
            counts.insert(shape.clone(), count.into());
        }
    }
    let mut shapes: Vec<_> =
        counts.into_iter().map(|(shape, count)| MixShape { count, shape }).collect();
    shapes.sort_by_key(|shape| std::cmp::Reverse(shape.count));
    Mix { shapes, ..Mix::default() }
}

fn memory(dice: &mut Dice) -> Memory {
    let regimes = [Regime::Between, Regime::Below, Regime::Above];
    Memory {
        regimes: (0..dice.below(3)).map(|_| dice.pick(&regimes)).collect(),
        rotation: dice.pick(&[None, Some(NodeId(0)), Some(NodeId(3)), Some(NodeId(7))]),
        unseen: if dice.percent(30) { unseen(dice) } else { Vec::new() },
        round: Serial(dice.pick(&[0, 4, 9])),
        released: dice.pick(&[None, Some(Time::seconds(5)), Some(Time::seconds(40))]),
        allotment: None,
    }
}

/// Some jobs that may wait, and one that does not any more.
fn unseen(dice: &mut Dice) -> Vec<JobId> {
    let waiting = (0..16).filter(|_| dice.percent(30)).map(JobId);
    waiting.chain([JobId(GONE - 1)]).collect()
}

fn allocate(dice: &mut Dice) -> Allocate {
    let spans = [None, Some(Span::seconds(360)), Some(Span::seconds(10))];
    Allocate {
        rounds: dice.pick(&spans),
        powers: Powers {
            fitness: dice.pick(&[1000, 0, 2000]),
            brevity: dice.pick(&[0, 400, -1000]),
            lack: dice.pick(&[0, 1000]),
            slowdown: dice.pick(&[0, 1000]),
        },
        moving: Span::seconds(dice.pick(&[0, 30])),
        starvation: dice.pick(&[None, Some(Span::seconds(900))]),
    }
}

fn policy(dice: &mut Dice) -> Policy {
    let mut order = vec![OrderKey::FirstIn, OrderKey::Priority, OrderKey::FairShare];
    dice.shuffle(&mut order);
    order.truncate(dice.index(4));
    let weighted = [Pick::Weighted; 6];
    let picks = [weighted.as_slice(), &[Pick::Rotation, Pick::Spread, Pick::Knee]].concat();
    let pick = dice.pick(&picks);
    let allocate = (pick.weighs() && dice.percent(15)).then(|| allocate(dice));
    Policy {
        name: "drawn".to_owned(),
        description: String::new(),
        order,
        pick,
        externals: dice
            .pick(&[&[][..], &["noise"], &[], &["price", "noise"]])
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
        tiers: (0..=dice.below(2)).map(|_| weighting(dice)).collect(),
        patience: Milli(dice.pick(&[0, 1000, 500, 2000, 4000]) * u32::from(allocate.is_none())),
        oversubscribe: Milli(dice.pick(&[1000, 1000, 1500])),
        scale: Scale {
            completion: Span::seconds(dice.pick(&[60, 10, 600])),
            utilisation: Milli(dice.pick(&[100, 500])),
            fragmentation: Milli(dice.pick(&[1000, 100])),
            companion: Milli(dice.pick(&[1000, 100])),
            rarity: Milli(dice.pick(&[10_000, 1000])),
            energy: Millijoules(dice.pick(&[100_000_000, 1_000_000])),
            deadline: Micro(dice.pick(&[50_000, 200_000])),
            locality: Bytes(dice.pick(&[10, 100]) * 1_000_000_000),
            interference: Span::seconds(dice.pick(&[60, 5])),
            externals: [Level(dice.pick(&[1, 4]) * 1_000_000); EXTERNALS_MAX],
        },
        allocate,
        batch: (dice.percent(25) && allocate.is_none()).then(|| Batch {
            max_jobs: dice.pick(&[2, 8, 32]),
            max_delay: Span::seconds(dice.pick(&[10, 100, 1000])),
        }),
    }
}

fn weighting(dice: &mut Dice) -> Weighting {
    if dice.percent(60) {
        return Weighting::Fixed(weights(dice));
    }
    if dice.percent(40) {
        return Weighting::Limits(weights(dice));
    }
    Weighting::ByUtilisation(ByUtilisation {
        low: Milli(dice.pick(&[300, 500])),
        high: Milli(dice.pick(&[800, 600])),
        hysteresis: Milli(dice.pick(&[50, 0])),
        below: weights(dice),
        between: weights(dice),
        above: weights(dice),
    })
}

fn weights(dice: &mut Dice) -> Weights {
    [0; Objective::COUNT].map(|_| Milli(dice.pick(&[0, 0, 100, 300, 1000])))
}

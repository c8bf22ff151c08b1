//! What the dice draw: small fleets, jobs for them, policies and efforts.

use std::fmt::Write as _;

use controller::Request;
use fleet::policy::EXTERNALS_MAX;
use fleet::policy::{Batch, ByUtilisation, Objective, OrderKey, Pick, Scale, Weighting};
use fleet::snapshot::Parts;
use fleet::{Bytes, JobId, Level, Micro, Milli, Millijoules, NodeId, Policy, Span, sketch};
use planner::Effort;

const CLASSES: &str = "
    class epyc cpu
    class arm cpu
    class t4 gpu mem=16Gi share=milli idle=10W busy=70W
    class a100 gpu mem=40Gi share=milli idle=50W busy=400W
    class h100 gpu mem=80Gi idle=60W busy=700W
";

/// Numbers that steer the turns; zero where they have ended.
pub(crate) struct Dice(pub(crate) std::vec::IntoIter<u32>);

impl Dice {
    pub(crate) fn has_more(&self) -> bool {
        self.0.len() > 0
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % count.max(1)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// One to five makes of nodes, of one or two nodes each, and as many kinds of job. The first of
/// each suit each other, so that something can run in every fleet.
pub(crate) fn parts(dice: &mut Dice) -> Parts {
    let mut text = CLASSES.to_owned();
    let mut add = |line: String| writeln!(text, "{line}").expect("it is a string");
    add("node first cores=8 mem=64Gi idle=100W busy=300W dev=t4*2,a100 x2".to_owned());
    for make in 0..dice.below(5) {
        let cores = dice.pick(&["8", "16", "4", "2"]);
        let memory = dice.pick(&["64Gi", "32Gi", "8Gi"]);
        let cpu = dice.pick(&["epyc", "arm"]);
        let devices = dice.pick(&["", "dev=t4*4", "dev=a100*2,h100*2", "dev=h100", "dev=t4,a100"]);
        let count = 1 + dice.below(2);
        add(format!(
            "node m{make} cores={cores} mem={memory} cpu={cpu} idle=50W busy=200W {devices} \
             label.zone={} {} x{count}",
            dice.pick(&["a", "b"]),
            dice.pick(&["", "net=1GB/s", "net=2GB/s"])
        ));
    }
    add("data images 9GB first-1".to_owned());
    add("job first work=40 cores=1 gpu=1 share=0.5 devmem=8Gi rate.t4=1 rate.a100=4".to_owned());
    for job in 0..1 + dice.below(6) {
        let tasks = 1 + dice.below(4);
        let tenant = dice.pick(&["ml", "web", "lab"]);
        let priority = dice.pick(&["0", "3"]);
        let data =
            dice.pick(&["", "", "in=made:5GB", "out=made:5GB", "in=images:9GB out=made:9GB"]);
        let ends = dice.pick(&["work=80", "work=20", "", "work=60 deadline=2m"]);
        add(format!(
            "job j{job} tasks={tasks} tenant={tenant} prio={priority} {ends} {data} {}",
            alternative(dice)
        ));
        if dice.below(3) == 2 {
            add(format!("  or {}", alternative(dice)));
        }
    }
    sketch::parts(&text).expect("the sketch can be read")
}

fn alternative(dice: &mut Dice) -> String {
    let cores = dice.pick(&["1", "2", "4", "0.5", "9"]);
    let devices = dice.pick(&[
        "",
        "gpu=1 rate.h100=8 rate.a100=4 rate.t4=1",
        "mem=4Gi rate.epyc=0.5 rate.arm=0.25",
        "gpu=2",
        "gpu=1 share=0.5 devmem=8Gi rate.t4=1 rate.a100=4",
        "label.zone=a",
        "gpu=1 share=0.3 model=a100",
    ]);
    format!("cores={cores} {devices}")
}

/// Mostly plenty; now and then enough for a few jobs, or for none.
pub(crate) fn effort(dice: &mut Dice) -> Effort {
    match dice.below(4) {
        3 => Effort { steps: dice.below(60) as u64, ..Effort::DEFAULT },
        _ => Effort::DEFAULT,
    }
}

/// Now and then something else is asked than to run a job.
pub(crate) fn change(dice: &mut Dice, jobs: u64, nodes: usize) -> Option<Request> {
    let number = dice.below(64);
    let job = JobId(number as u64 % (jobs + 1));
    let node = NodeId(u32::try_from(number % nodes).expect("a few nodes"));
    match dice.below(24) {
        19 => Some(Request::Cancel(job)),
        20 => Some(Request::Hold(job)),
        21 => Some(Request::Release(job)),
        22 => Some(Request::Drain(node)),
        23 => Some(Request::Resume(node)),
        _ => None,
    }
}

pub(crate) fn policy(dice: &mut Dice) -> Policy {
    let weights = |own: usize| {
        let mut weights = [Milli(200); Objective::COUNT];
        weights[own] = Milli(1000);
        weights
    };
    let moving = ByUtilisation {
        low: Milli(300),
        high: Milli(600),
        hysteresis: Milli(50),
        below: weights(3),
        between: weights(0),
        above: weights(2),
    };
    let (fixed, moving) = (Weighting::Fixed(weights(0)), Weighting::ByUtilisation(moving));
    Policy {
        name: "drawn".to_owned(),
        description: String::new(),
        order: vec![OrderKey::Priority, OrderKey::FairShare, OrderKey::FirstIn],
        pick: [Pick::Weighted, Pick::Weighted, Pick::Rotation, Pick::Spread][dice.below(4)],
        externals: Vec::new(),
        tiers: [vec![fixed.clone()], vec![moving.clone()], vec![fixed, moving]][dice.below(3)]
            .clone(),
        patience: Milli(u32::try_from(dice.below(2) * 1000).expect("small")),
        oversubscribe: Milli::WHOLE,
        scale: Scale {
            completion: Span::seconds(60),
            utilisation: Milli(100),
            fragmentation: Milli(1000),
            companion: Milli(1000),
            rarity: Milli(10_000),
            energy: Millijoules(10_000_000),
            deadline: Micro(50_000),
            locality: Bytes(10_000_000_000),
            interference: Span::seconds(60),
            externals: [Level(1_000_000); EXTERNALS_MAX],
        },
        allocate: None,
        batch: (dice.below(3) == 0).then(|| Batch {
            max_jobs: 2 + u32::try_from(dice.below(7)).expect("small"),
            max_delay: Span::seconds(1 + dice.below(20) as u64),
        }),
    }
}

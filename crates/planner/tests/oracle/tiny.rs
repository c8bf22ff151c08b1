//! Tiny cases: up to three nodes, up to four jobs of one task, one tier of fixed weights.

use std::fmt::Write;

use fleet::policy::{EXTERNALS_MAX, Objective, OrderKey, Pick, Scale, Weighting};
use fleet::{Bytes, Level, Micro, Milli, Millijoules, Policy, Snapshot, Span, sketch};

use crate::dice::Dice;

const CLASSES: &str = "
    at 100s
    class epyc cpu
    class t4 gpu mem=16Gi units=2560 share=milli idle=10W busy=70W
    class a100 gpu mem=40Gi units=6912 cap=sm_80 share=milli idle=50W busy=400W
    class h100 gpu mem=80Gi units=16896 cap=sm_80 idle=60W busy=700W
    class cut gpu mem=40Gi idle=50W busy=400W share=slices \
        profiles=quarter:0.25:10Gi:1:0+1+2+3,half:0.5:20Gi:2:0+2,most:0.7:30Gi:3:0
";

const FLAT: [&str; 6] = [
    "cores=4 mem=16Gi idle=50W busy=150W dev=t4*2 label.zone=a",
    "cores=8 mem=32Gi idle=100W busy=300W dev=a100*2",
    "cores=4 mem=16Gi idle=80W busy=260W",
    "cores=8 mem=32Gi idle=100W busy=300W dev=h100,a100",
    "cores=2 mem=64Gi idle=40W busy=90W dev=t4",
    "cores=6 mem=24Gi idle=90W busy=200W dev=h100*2 label.zone=a",
];

/// Nodes of which it is known what they are like inside.
const INSIDE: [&str; 2] = [
    "cores=8 mem=32Gi idle=100W busy=300W dev=a100*2
     domain cores=4 mem=16Gi dev=0 bw=20GB/s
     domain cores=4 mem=16Gi dev=1 bw=20GB/s
     distances 10,21 21,10",
    "cores=6 mem=24Gi idle=80W busy=240W dev=t4
     domain cores=4 mem=4Gi dev=0 bw=40GB/s
     domain cores=2 mem=20Gi bw=20GB/s
     distances 10,32 32,10",
];

const ALTERNATIVES: [&str; 10] = [
    "cores=1 gpu=1 share=0.5 devmem=8Gi rate.t4=1 rate.a100=4",
    "cores=2 gpu=1 rate.t4=1 rate.a100=4 rate.h100=8",
    "cores=2 gpu=2 rate.a100=8 rate.h100=16",
    "cores=4 mem=8Gi rate.epyc=0.5",
    "cores=2 mem=16Gi rate.epyc=0.25",
    "cores=1 gpu=1 share=0.3 rate.t4=0.5 rate.a100=1",
    "cores=1 gpu=1 cap=sm_80 rate.a100=2 rate.h100=2",
    "cores=1 gpu=1 units=3000 model=a100",
    "cores=3",
    "cores=1 gpu=1 label.zone=a rate.t4=2 rate.h100=4",
];

/// What tasks ask that look inside.
const LOOKING: [&str; 4] = [
    "cores=3 mem=8Gi membw=10GB/s",
    "cores=1 mem=4Gi membw=18GB/s",
    "cores=2 mem=4Gi numa=single",
    "cores=2 mem=4Gi gpu=1 numa=single membw=5GB/s rate.t4=1 rate.a100=4 rate.h100=8",
];

/// A case in which nothing is known of the inside of nodes.
pub(crate) fn flat(dice: &mut Dice) -> (Snapshot, Policy) {
    case(&FLAT, &ALTERNATIVES, dice)
}

/// Nodes with a device that is cut into slices.
const CUT: [&str; 2] = [
    "cores=8 mem=32Gi idle=100W busy=300W dev=cut",
    "cores=4 mem=16Gi idle=60W busy=160W dev=cut,t4",
];

/// What tasks ask that get slices.
const SLICES: [&str; 3] = [
    "cores=1 gpu=1 profile=quarter rate.cut=1",
    "cores=1 gpu=1 profile=half rate.cut=4",
    "cores=2 gpu=1 profile=most",
];

/// A case in which most of the nodes and jobs are about slices.
pub(crate) fn sliced(dice: &mut Dice) -> (Snapshot, Policy) {
    let nodes: Vec<&str> = FLAT[..1].iter().chain(&CUT).copied().collect();
    let alternatives: Vec<&str> = ALTERNATIVES[..1].iter().chain(&SLICES).copied().collect();
    case(&nodes, &alternatives, dice)
}

/// A case in which half of the nodes and jobs are such as look inside.
pub(crate) fn inside(dice: &mut Dice) -> (Snapshot, Policy) {
    let nodes: Vec<&str> = FLAT[..2].iter().chain(&INSIDE).copied().collect();
    let alternatives: Vec<&str> = ALTERNATIVES[..4].iter().chain(&LOOKING).copied().collect();
    case(&nodes, &alternatives, dice)
}

fn case(nodes: &[&str], alternatives: &[&str], dice: &mut Dice) -> (Snapshot, Policy) {
    let mut text = CLASSES.to_owned();
    for id in 0..=dice.below(3) {
        let node = dice.pick(nodes);
        // The words of the node itself are on its first line; its domains follow.
        let (own, inside) = node.split_once('\n').unwrap_or((node, ""));
        writeln!(text, "node n{id} {own} net=1GB/s\n{inside}").expect("a string takes all");
    }
    writeln!(text, "data images 30GB n0").expect("a string takes all");
    writeln!(text, "signal noise default=2 node.n0={} class.a100=0.5", dice.below(5))
        .expect("a string takes all");
    for id in 0..=1 + dice.below(3) {
        let (work, at) = (dice.pick(&[40, 8, 400]), dice.pick(&[100, 50, 90]));
        let deadline = dice.pick(&["", "deadline=2m", "deadline=150s"]);
        let reads = dice.pick(&["", "", "in=images:30GB", "in=images:5GB,others:2GB"]);
        let first = dice.pick(alternatives);
        writeln!(
            text,
            "job j{id} at={at}s work={work} prio={} {deadline} {reads} {first}",
            dice.below(2)
        )
        .expect("a string takes all");
        if dice.percent(50) {
            writeln!(text, "or {}", dice.pick(alternatives)).expect("a string takes all");
        }
    }
    (sketch::snapshot(&text).expect("a sketch"), policy(dice))
}

fn policy(dice: &mut Dice) -> Policy {
    let mut weights = [0; Objective::COUNT].map(|_| Milli(dice.pick(&[0, 100, 300, 500])));
    if weights.iter().all(|weight| weight.is_zero()) {
        weights[0] = Milli::WHOLE;
    }
    let mut order = vec![OrderKey::FirstIn, OrderKey::Priority];
    dice.shuffle(&mut order);
    Policy {
        name: "tiny".to_owned(),
        description: String::new(),
        order,
        pick: Pick::Weighted,
        externals: vec!["noise".to_owned()],
        tiers: vec![Weighting::Fixed(weights)],
        patience: Milli::ZERO,
        oversubscribe: Milli(dice.pick(&[1000, 2000])),
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
        batch: None,
        allocate: None,
    }
}

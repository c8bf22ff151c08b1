//! Tiny cases: up to three nodes, up to four jobs of one task, one tier of fixed weights.

use std::fmt::Write;

use fleet::policy::{Objective, OrderKey, Pick, Scale, Weighting};
use fleet::{Bytes, Micro, Milli, Millijoules, Policy, Snapshot, Span, sketch};

use crate::dice::Dice;

const CLASSES: &str = "
    at 100s
    class epyc cpu
    class t4 gpu mem=16Gi units=2560 share=milli idle=10W busy=70W
    class a100 gpu mem=40Gi units=6912 cap=sm_80 share=milli idle=50W busy=400W
    class h100 gpu mem=80Gi units=16896 cap=sm_80 idle=60W busy=700W
";

const NODES: [&str; 6] = [
    "cores=4 mem=16Gi idle=50W busy=150W dev=t4*2 label.zone=a",
    "cores=8 mem=32Gi idle=100W busy=300W dev=a100*2",
    "cores=4 mem=16Gi idle=80W busy=260W",
    "cores=8 mem=32Gi idle=100W busy=300W dev=h100,a100",
    "cores=2 mem=64Gi idle=40W busy=90W dev=t4",
    "cores=6 mem=24Gi idle=90W busy=200W dev=h100*2 label.zone=a",
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

pub(crate) fn case(dice: &mut Dice) -> (Snapshot, Policy) {
    let mut text = CLASSES.to_owned();
    for id in 0..=dice.below(3) {
        let node = dice.pick(&NODES);
        writeln!(text, "node n{id} {node} net=1GB/s").expect("a string takes all");
    }
    writeln!(text, "data images 30GB n0").expect("a string takes all");
    for id in 0..=1 + dice.below(3) {
        let (work, at) = (dice.pick(&[40, 8, 400]), dice.pick(&[100, 50, 90]));
        let deadline = dice.pick(&["", "deadline=2m", "deadline=150s"]);
        let reads = dice.pick(&["", "", "in=images:30GB", "in=images:5GB,others:2GB"]);
        let first = dice.pick(&ALTERNATIVES);
        writeln!(
            text,
            "job j{id} at={at}s work={work} prio={} {deadline} {reads} {first}",
            dice.below(2)
        )
        .expect("a string takes all");
        if dice.percent(50) {
            writeln!(text, "or {}", dice.pick(&ALTERNATIVES)).expect("a string takes all");
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
        tiers: vec![Weighting::Fixed(weights)],
        patience: Milli::ZERO,
        scale: Scale {
            completion: Span::seconds(60),
            utilisation: Milli(100),
            fragmentation: Milli(1000),
            companion: Milli(1000),
            rarity: Milli(10_000),
            energy: Millijoules(10_000_000),
            deadline: Micro(50_000),
            locality: Bytes(10_000_000_000),
        },
        batch: None,
    }
}

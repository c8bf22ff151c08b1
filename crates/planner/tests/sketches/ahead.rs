//! Look-ahead with little effort, with rounds, and with a scratch that has seen other things.

use fleet::policy::{Batch, Objective, OrderKey};
use fleet::{Policy, Span, sketch};
use planner::{Effort, Scratch, plan};

use crate::rules::by;

fn batches(max_jobs: u32) -> Policy {
    let batch = Batch { max_jobs, max_delay: Span::seconds(1) };
    Policy { batch: Some(batch), ..by(Objective::Fragmentation) }
}

const NODES: &str = "
    class epyc cpu
    node a cores=4 mem=8Gi
    node b cores=5 mem=8Gi
    node c cores=6 mem=8Gi
    node d cores=7 mem=8Gi
";

/// A job that has too many tasks for a batch is not overtaken by those of lower priority.
#[test]
fn priority_inversion() {
    let policy = Policy { order: vec![OrderKey::Priority, OrderKey::FirstIn], ..batches(2) };
    let s = sketch::snapshot(
        "at 10s\nclass epyc cpu\nnode n cores=3 mem=8Gi\n
        job high prio=9 tasks=3 cores=1\njob l1 cores=1\njob l2 cores=1",
    )
    .unwrap();
    let d = plan(&s, &policy, Effort::DEFAULT, &mut Scratch::default());
    let text = sketch::plan_text(&s, &d.plan);
    assert!(text.starts_with("start high/0.0"), "{text}");
}

/// Looking ahead leaves the search what it needs.
#[test]
fn lookahead_eats_the_effort() {
    for steps in 0..40 {
        let effort = Effort { steps, seed: None };
        let jobs = "job x at=1s cores=1\njob y at=1s cores=2";
        let mut s = sketch::snapshot(&format!("at 10s\n{NODES}{jobs}")).unwrap();
        s.serial.0 = 1;
        s.changed = s.serial;
        let mut scratch = Scratch::default();
        let greedy =
            plan(&s, &Policy { batch: None, ..batches(2) }, effort, &mut Scratch::default());
        let mut turns = 0;
        loop {
            let d = plan(&s, &batches(2), effort, &mut scratch);
            if !d.plan.placements.is_empty() {
                break;
            }
            if d.plan.wake.is_none() || turns > 50 {
                if !greedy.plan.placements.is_empty() {
                    panic!("stuck at {steps}");
                }
                break;
            }
            turns += 1;
            s.memory = d.plan.memory.clone();
            s.at = d.plan.wake.unwrap();
            s.serial.0 += 1;
        }
    }
}

/// A job that is released without a change, and not come to, is come to later.
#[test]
fn released_and_unseen() {
    let jobs = "job large at=10s cores=100\njob small at=10s cores=1";
    let mut s = sketch::snapshot(&format!("at 10s\n{NODES}{jobs}")).unwrap();
    let policy = batches(9);
    let effort = Effort { steps: 4, seed: None };
    s.serial.0 = 1;
    s.changed = s.serial;
    let mut scratch = Scratch::default();
    for _ in 0..10 {
        let d = plan(&s, &policy, effort, &mut scratch);
        if !d.plan.placements.is_empty() {
            return;
        }
        let Some(wake) = d.plan.wake else { panic!("small is never looked at") };
        s.memory = d.plan.memory.clone();
        s.at = wake;
        s.serial.0 += 1;
    }
}

/// Jobs that are unseen in a round go first though others are a batch.
#[test]
fn unseen_first() {
    let nodes = "class epyc cpu\nclass big gpu\nclass old gpu\nnode a cores=4 mem=8Gi dev=big*1\nnode b cores=5 mem=8Gi dev=old*1\nnode c cores=6 mem=8Gi dev=old*1\n";
    let jobs = "job p1 at=10s work=1000 gpu=1 rate.big=10 rate.old=1
      job p2 at=10s work=2000 gpu=1 rate.big=10 rate.old=1
      job hold work=1 gpu=1 model=big
      job many at=10s tasks=3 cores=1
      run hold/0.0 a dev=0";
    let mut s = sketch::snapshot(&format!("at 11s\n{nodes}{jobs}")).unwrap();
    let policy = Policy { patience: fleet::Milli(1000), ..batches(2) };
    s.serial.0 = 1;
    s.changed = s.serial;
    for steps in 4..30 {
        let effort = Effort { steps, seed: None };
        let greedy = {
            let mut s = s.clone();
            let mut n = 0;
            let mut scratch = Scratch::default();
            loop {
                let d = plan(&s, &Policy { batch: None, ..policy.clone() }, effort, &mut scratch);
                if !d.plan.placements.is_empty() || n > 9 {
                    break n;
                }
                n += 1;
                s.memory = d.plan.memory.clone();
                s.at = s.at.after(Span(1));
                s.serial.0 += 1;
            }
        };
        let mut s = s.clone();
        let mut scratch = Scratch::default();
        let mut placed = None;
        for turn in 0..10 {
            let d = plan(&s, &policy, effort, &mut scratch);
            if !d.plan.placements.is_empty() {
                placed = Some(turn);
                break;
            }
            s.memory = d.plan.memory.clone();
            s.at = s.at.after(Span(1));
            s.serial.0 += 1;
        }
        assert!(placed.is_some() || greedy > 9, "steps {steps}: greedy places after {greedy}");
    }
}

/// What a batch makes unusable is told by the mix of now, whatever was weighed before.
#[test]
fn growth_after_another_policy() {
    let mut differ = 0;
    for serial in 1..200u64 {
        let text = "at 10s\nclass epyc cpu\nclass g gpu share=milli
        node a cores=4 mem=8Gi dev=g*2
        node b cores=9 mem=8Gi dev=g*3
        mix 5 cores=4 gpu=1 share=0.5
        mix 3 cores=1 gpu=2
        job x at=1s cores=2 gpu=1 share=0.4
        job y at=1s cores=1 gpu=1
        job z at=1s cores=3 gpu=1 share=0.6
        job v at=1s cores=1 gpu=1 share=0.3
        job w at=1s cores=4 gpu=1 share=0.7";
        let mut one = sketch::snapshot(text).unwrap();
        one.serial.0 = serial;
        let mut two = one.clone();
        two.serial.0 = serial + 1;
        two.changes.since = Some(one.serial);
        let mut warm = Scratch::default();
        let _ = plan(&one, &batches(9), Effort::DEFAULT, &mut warm);
        let policy = Policy { batch: batches(9).batch, ..by(Objective::Completion) };
        let w = plan(&two, &policy, Effort::DEFAULT, &mut warm);
        let c = plan(&two, &policy, Effort::DEFAULT, &mut Scratch::default());
        let mut same = Scratch::default();
        let _ = plan(&one, &policy, Effort::DEFAULT, &mut same);
        assert_eq!(plan(&two, &policy, Effort::DEFAULT, &mut same), c, "control");
        differ += u32::from(w.plan != c.plan);
    }
    assert_eq!(differ, 0);
}

/// A group that was weighed twice is listed once.
#[test]
fn twins_in_the_ranking() {
    let mut nodes = String::from("class epyc cpu\nclass g gpu\n");
    for n in 0..14 {
        nodes += &format!("node n{n} cores={} mem=8Gi dev=g*1\n", 4 + n);
    }
    let k = "job k at=1s tasks=2 cores=1 gpu=1\njob m at=1s cores=2 gpu=1";
    let policy = Policy { batch: batches(3).batch, ..by(Objective::Utilisation) };
    let (mut steps, mut plans) = (0, 0);
    for first in 1..60u64 {
        let mut warm = Scratch::default();
        let mut last = None;
        let mut classes = None;
        let other = "job l at=1s cores=1.5 gpu=1";
        for (serial, jobs) in (first..).zip([k, other, other, other, k]) {
            let mut s = sketch::snapshot(&format!("at 10s\n{nodes}{jobs}")).unwrap();
            s.serial.0 = serial;
            match &classes {
                None => classes = Some(s.classes.clone()),
                Some(known) => s.classes = known.clone(),
            }
            s.changes.since = last;
            last = Some(s.serial);
            let w = plan(&s, &policy, Effort::DEFAULT, &mut warm);
            let c = plan(&s, &policy, Effort::DEFAULT, &mut Scratch::default());
            if w.explanation.steps != c.explanation.steps {
                steps += 1;
            }
            plans += u32::from(w.plan != c.plan);
        }
    }
    assert_eq!((steps, plans), (0, 0));
}

//! The knee against all choices there are, on tiny fleets, reckoned without rounding.

use fleet::Policy;
use fleet::policy::{Objective, Pick, Weights};
use planner::{Effort, Scratch, plan};

use crate::dice::Dice;
use crate::reckoning::{Choice, Reckoning, weights};
use crate::tiny;

/// Scores are rounded to millionths, and a range may be as small as a few of them.
const NEAR: f64 = 5e-5;

/// What differs by less does not count.
const LEAST_RANGE: f64 = 1e-3;

/// What a choice falls short of one by each objective that weighs.
fn costs(choice: &Choice, weights: &Weights) -> Vec<f64> {
    let weighed = Objective::ALL.iter().filter(|one| !weights[one.position()].is_zero());
    weighed.map(|one| 1.0 - choice.parts[one.position()]).collect()
}

fn dominates(one: &[f64], other: &[f64]) -> bool {
    let pairs = || one.iter().zip(other);
    pairs().all(|(one, other)| *one <= other + NEAR)
        && pairs().any(|(one, other)| *one < other - NEAR)
}

/// By how much the choices of a front differ in each cost.
fn ranges(front: &[&Vec<f64>]) -> Vec<(f64, f64)> {
    let end = |index: usize, pick: fn(f64, f64) -> f64| {
        front.iter().map(|one| one[index]).reduce(pick).expect("a front has choices")
    };
    (0..front[0].len()).map(|index| (end(index, f64::min), end(index, f64::max))).collect()
}

/// How far before the plane a choice lies, and whether it gives nothing up, on this front.
fn standing(costs: &[f64], front: &[&Vec<f64>]) -> (bool, f64) {
    let (mut gives_up, mut sum) = (false, 0.0);
    for (cost, (least, most)) in costs.iter().zip(ranges(front)) {
        if most - least >= LEAST_RANGE {
            gives_up |= *cost > most - NEAR;
            sum += (cost - least) / (most - least);
        }
    }
    (!gives_up, -sum)
}

#[test]
fn the_knee_is_never_dominated_and_lies_farthest_before_the_plane() {
    let (mut knees, mut compared) = (0, 0);
    for seed in 0..4000 {
        let (snapshot, policy) = tiny::flat(&mut Dice::of_seed(seed));
        let policy = Policy { pick: Pick::Knee, ..policy };
        let weights = weights(&policy);
        let mut reckoning = Reckoning::new(&snapshot, &policy);
        let decision = plan(&snapshot, &policy, Effort::DEFAULT, &mut Scratch::default());
        for placement in &decision.plan.placements {
            let job = &snapshot.backlog[&placement.run.job].job;
            let choices = reckoning.choices(job);
            let all: Vec<Vec<f64>> = choices.iter().map(|one| costs(one, weights)).collect();
            let chosen = choices.iter().position(|one| {
                (one.node, one.class, &one.grant)
                    == (placement.node, placement.class, &placement.grant)
                    && one.alternative == usize::from(placement.alternative)
            });
            let own = &all[chosen.expect("what is chosen is possible")];
            assert!(!all.iter().any(|other| dominates(other, own)), "seed {seed}: {own:?}");
            let is_free = |one: &&Vec<f64>| !all.iter().any(|other| dominates(other, one));
            let front: Vec<&Vec<f64>> = all.iter().filter(is_free).collect();
            let best = front.iter().map(|one| standing(one, &front));
            let best = best.filter(|(gives_nothing_up, _)| *gives_nothing_up);
            let farthest = best.map(|(_, before)| before).fold(f64::NEG_INFINITY, f64::max);
            // Where a range is just about the least that counts rounding decides whether it does.
            let is_clear = |(least, most): &(f64, f64)| (most - least - LEAST_RANGE).abs() > NEAR;
            let counts = |(least, most): &(f64, f64)| most - least >= LEAST_RANGE;
            let ranges = ranges(&front);
            let is_told = ranges.iter().all(is_clear) && ranges.iter().any(counts);
            if farthest > f64::NEG_INFINITY && is_told {
                let (gives_nothing_up, before) = standing(own, &front);
                assert!(gives_nothing_up, "seed {seed}: {own:?} of {front:?}");
                // A range of some millionths magnifies what rounding takes away.
                assert!(before > farthest - 0.05, "seed {seed}: {before} of {farthest}");
                knees += 1;
            }
            compared += 1;
            reckoning.take(placement.node, &placement.grant);
        }
    }
    println!("{compared} placements, {knees} of them at a knee");
    assert!(knees > 50, "{knees}");
}

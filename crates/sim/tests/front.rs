//! Fronts against every plan there is, on tiny fleets.
//!
//! One task, or two that are alike, on up to five unlike nodes. What each plan
//! would take and cost is reckoned here from the fleet alone; which plans
//! nothing dominates is found by trying all pairs.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::convert::Infallible;

use fleet::policy::Objective;
use fleet::{Milli, Policy};
use sim::front::{Front, Origin, Question, explore};
use sim::read::{self, inventory_from, workload_from};
use sim::report::summarise;
use sim::scenario::{self, Options};

/// A model: rate, and watts that it adds.
type Model = (u32, u32);

/// Seconds and joules of a plan.
type Costs = (f64, f64);

const WORK: u32 = 1200;

fn fleet(models: &[Model]) -> String {
    let device = |(index, (_, watts)): (usize, &Model)| {
        format!(
            "[device.m{index}]\nkind = \"gpu\"\npower = {{ idle = \"0W\", busy = \"{watts}W\" }}\n"
        )
    };
    let node = |(index, _): (usize, &Model)| {
        format!(
            "[[node]]\nname = \"n{index}\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\n\
             devices = {{ m{index} = 1 }}\n"
        )
    };
    let devices: String = models.iter().enumerate().map(device).collect();
    let nodes: String = models.iter().enumerate().map(node).collect();
    format!("format = 1\n[device.epyc]\nkind = \"cpu\"\n{devices}{nodes}")
}

fn jobs(models: &[Model], count: usize) -> String {
    let rates: Vec<String> =
        models.iter().enumerate().map(|(index, (rate, _))| format!("m{index} = {rate}")).collect();
    let rates = rates.join(", ");
    let job = |index: usize| {
        format!(
            "[[job]]\nname = \"j{index}\"\nwork = {WORK}\n[[job.alternative]]\ncores = 1\n\
             device = {{ kind = \"gpu\" }}\nrates = {{ {rates} }}\n"
        )
    };
    format!("format = 1\n{}", (0..count).map(job).collect::<String>())
}

/// The policy whose variants are tried: completion alone.
fn policy() -> Policy {
    let mut policy = controller::policy_file::shipped("default").unwrap();
    policy.patience = Milli::ZERO;
    let mut weights = fleet::policy::Weights::default();
    weights[0] = Milli::WHOLE;
    policy.tiers = vec![fleet::policy::Weighting::Fixed(weights)];
    policy
}

fn explored(models: &[Model], count: usize, points: usize) -> Front {
    let options = read::Options::default();
    let inventory = inventory_from(fleet(models).as_bytes(), "fleet", &options).unwrap().value;
    let jobs = jobs(models, count);
    let workload = workload_from(jobs.as_bytes(), "jobs", &inventory, &options).unwrap().value;
    let objectives = [Objective::Completion, Objective::Energy];
    let base = policy();
    let question = Question { base: &base, objectives: &objectives, points };
    let front = explore(question, &mut |policy| {
        let mut planning = scenario::motley();
        let outcome =
            scenario::run(&inventory, &workload, policy, Options::default(), &mut planning);
        Ok::<_, Infallible>(summarise(&inventory, &workload, &outcome))
    });
    front.unwrap()
}

/// Mean completion and energy of every plan that leaves no chosen node idle before it is done: each
/// task on another node, or one after the other on the same.
fn every_plan(models: &[Model], count: usize) -> Vec<Costs> {
    let one = |(rate, watts): &Model| {
        let seconds = f64::from(WORK) / f64::from(*rate);
        (seconds, seconds * f64::from(*watts))
    };
    let single: Vec<Costs> = models.iter().map(one).collect();
    if count == 1 {
        return single;
    }
    let pairs = (0..single.len()).flat_map(|one| (0..=one).map(move |other| (one, other)));
    let both = |(one, other): (usize, usize)| {
        let (one, other): (Costs, Costs) = (single[one], single[other]);
        let ends = if one == other { 3.0 * one.0 } else { one.0 + other.0 };
        (ends / 2.0, one.1 + other.1)
    };
    pairs.map(both).collect()
}

fn front_of(plans: &[Costs]) -> Vec<Costs> {
    let dominates = |one: &Costs, other: &Costs| {
        one.0 <= other.0 && one.1 <= other.1 && (one.0 < other.0 || one.1 < other.1)
    };
    let mut front: Vec<Costs> = plans.to_vec();
    front.retain(|plan| !plans.iter().any(|other| dominates(other, plan)));
    front.sort_by(|one, other| one.0.total_cmp(&other.0));
    front.dedup();
    front
}

fn found(front: &Front) -> Vec<Costs> {
    let values = |position: &usize| {
        let values = &front.points[*position].values;
        (values[0].unwrap(), values[1].unwrap())
    };
    front.front.iter().map(values).collect()
}

/// Three to six models of other rates, drawn from a seed: fast ones mostly take more for the work.
fn models(seed: u64) -> Vec<Model> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |count: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u32::try_from(state % count).unwrap()
    };
    let mut models: Vec<Model> = (1..=6).map(|rate| (rate, 5 * rate * (rate + below(6)))).collect();
    for _ in 0..below(4) {
        models.remove(below(models.len() as u64) as usize);
    }
    models
}

#[test]
fn the_front_of_one_task_is_that_of_every_plan() {
    let (mut sizes, mut bulges) = (0, 0);
    for seed in 0..60 {
        let models = models(seed);
        let expected = front_of(&every_plan(&models, 1));
        let front = explored(&models, 1, 60);
        assert_eq!(found(&front), expected, "seed {seed}: {models:?}");
        sizes += expected.len();
        let by_limits = |one: &&usize| matches!(front.points[**one].origin, Origin::Limits { .. });
        bulges += front.front.iter().filter(by_limits).count();
    }
    println!("{sizes} plans on 60 fronts, {bulges} of them by limits alone");
    assert!(sizes > 150 && bulges > 5, "{sizes} {bulges}");
}

/// A policy has one rule for all tasks, so that it cannot come to every plan.
#[test]
fn the_front_of_two_tasks_is_of_plans_and_has_most_of_that_of_every_plan() {
    let (mut on_front, mut reached) = (0, 0);
    for seed in 0..40 {
        let models = models(seed);
        let plans = every_plan(&models, 2);
        let best = front_of(&plans);
        let found = found(&explored(&models, 2, 60));
        assert!(found.iter().all(|one| plans.contains(one)), "seed {seed}: {found:?}");
        assert_eq!(found[0], best[0], "seed {seed}");
        on_front += best.len();
        reached += best.iter().filter(|one| found.contains(one)).count();
    }
    println!("{reached} of {on_front} plans on 40 fronts are reached");
    // Measured: 139 of 183.
    assert!(10 * reached >= 7 * on_front, "{reached} of {on_front}");
}

#[test]
fn weights_never_find_the_plan_on_a_bulge_and_limits_do() {
    let front = explored(&[(6, 1000), (3, 450), (1, 25)], 1, 60);
    let by_weights = |one: &sim::front::Point| matches!(one.origin, Origin::Weights { .. });
    let middle = Some(400.0);
    let weighed: Vec<_> = front.points.iter().filter(|one| by_weights(one)).collect();
    assert!(weighed.len() >= 15);
    assert!(weighed.iter().all(|one| one.values[0] != middle));
    assert_eq!(found(&front), [(200.0, 200_000.0), (400.0, 180_000.0), (1200.0, 30_000.0)]);
    let origin = &front.points[front.front[1]].origin;
    assert!(matches!(origin, Origin::Knee | Origin::Limits { .. }), "{origin:?}");
    assert_eq!(front.knee, Some(front.front[1]));
    assert!(front.hypervolume > front.hypervolume_by_weights, "{front:?}");
}

//! The opening claim, on the bundled fleet and jobs: schedulers that do not read rates put jobs
//! that compute and jobs that wait for memory on the wrong devices, and Motley's default policy
//! does not.
//!
//! The default policy differs from the baselines in order, score and patience. Without patience
//! it differs in order and score alone, and part of the claim must still hold; the energy it saves
//! it mostly owes to patience.

use controller::policy_file;
use fleet::{Milli, Policy};
use sim::bundled;
use sim::report::{Summary, summarise};
use sim::scenario::{self, Options};

/// Seeds that the default policy was not tuned on; see `docs/results/bundled.md`.
const SEEDS: std::ops::RangeInclusive<u64> = 101..=150;

const BASELINES: [&str; 3] = ["round-robin", "priority", "fair-share"];

fn shipped(name: &str) -> Policy {
    policy_file::shipped(name).expect("the policy is shipped")
}

fn simulate(policy: &Policy, seed: u64, rate_error: Milli) -> Summary {
    let inventory = bundled::inventory();
    let mut workload = bundled::workload(seed);
    workload.truth.rate_error = rate_error;
    let options = Options { seed, ..Options::default() };
    let outcome = scenario::run(&inventory, &workload, policy, options, &mut scenario::motley());
    assert_eq!(outcome.violations, [], "seed {seed} under {}", policy.name);
    let summary = summarise(&inventory, &workload, &outcome);
    assert_eq!(summary.tasks_done, summary.tasks_submitted, "seed {seed} under {}", policy.name);
    summary
}

fn completion(summary: &Summary) -> f64 {
    summary.completion_seconds.expect("jobs were done").mean
}

fn the_claim_holds(rate_error: Milli) {
    let ours = shipped("default");
    let hasty = Policy { patience: Milli::ZERO, ..ours.clone() };
    for seed in SEEDS {
        let [ours, hasty] = [&ours, &hasty].map(|policy| simulate(policy, seed, rate_error));
        for baseline in BASELINES {
            let theirs = simulate(&shipped(baseline), seed, rate_error);
            let case = format!("against {baseline} on seed {seed}");
            let ratio = completion(&ours) / completion(&theirs);
            assert!(ratio < 0.9, "completion {ratio:.2} {case}");
            assert!(ours.work_per_joule > theirs.work_per_joule, "work per joule {case}");
            assert!(2 * ours.tasks_misplaced <= theirs.tasks_misplaced, "tasks misplaced {case}");
            assert!(ours.deadline_misses < theirs.deadline_misses, "deadline misses {case}");

            let case = format!("{case}, without patience");
            let ratio = completion(&hasty) / completion(&theirs);
            assert!(ratio < 1.0, "completion {ratio:.2} {case}");
            assert!(hasty.tasks_misplaced < theirs.tasks_misplaced, "tasks misplaced {case}");
            assert!(hasty.deadline_misses < theirs.deadline_misses, "deadline misses {case}");
        }
    }
}

#[test]
fn the_default_policy_beats_every_baseline_on_every_seed() {
    the_claim_holds(Milli::ZERO);
}

#[test]
fn the_default_policy_beats_every_baseline_with_rates_wrong_by_thirty_percent() {
    the_claim_holds(Milli(300));
}

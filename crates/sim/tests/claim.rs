//! The opening claim, on the bundled fleet and jobs: schedulers that do not read rates put jobs that
//! compute and jobs that wait for memory on the wrong devices, and Motley's default policy does not.

use controller::policy_file;
use fleet::Milli;
use sim::bundled;
use sim::report::{Summary, summarise};
use sim::scenario::{self, Options};

/// Seeds that the default policy was not tuned on; see `docs/results/bundled.md`.
const SEEDS: std::ops::RangeInclusive<u64> = 101..=150;

const BASELINES: [&str; 3] = ["round-robin", "priority", "fair-share"];

fn simulate(policy: &str, seed: u64, rate_error: Milli) -> Summary {
    let policy = policy_file::shipped(policy).expect("the policy is shipped");
    let inventory = bundled::inventory();
    let mut workload = bundled::workload(seed);
    workload.truth.rate_error = rate_error;
    let options = Options { seed, ..Options::default() };
    let outcome = scenario::run(&inventory, &workload, &policy, options, &mut scenario::motley());
    assert_eq!(outcome.violations, [], "seed {seed} under {}", policy.name);
    summarise(&inventory, &workload, &outcome)
}

fn the_claim_holds(rate_error: Milli) {
    for seed in SEEDS {
        let ours = simulate("default", seed, rate_error);
        assert_eq!(ours.tasks_done, ours.tasks_submitted, "seed {seed}");
        for baseline in BASELINES {
            let theirs = simulate(baseline, seed, rate_error);
            let case = format!("against {baseline} on seed {seed}");
            let completion = ours.completion_seconds.mean / theirs.completion_seconds.mean;
            assert!(completion < 0.9, "completion {completion:.2} {case}");
            assert!(ours.work_per_joule > theirs.work_per_joule, "work per joule {case}");
            assert!(2 * ours.tasks_misplaced < theirs.tasks_misplaced, "tasks misplaced {case}");
            assert!(ours.deadline_misses < theirs.deadline_misses, "deadline misses {case}");
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

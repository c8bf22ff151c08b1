//! Which weights are in force.

use fleet::policy::{ByUtilisation, Objective, Weighting, Weights};
use fleet::{Milli, Policy};

use crate::rules::{by, by_utilisation, moving, only};
use crate::{check, check_choices};

const TWO: &str = "
    class epyc cpu
    class t4 gpu idle=10W busy=70W
    class a100 gpu idle=50W busy=400W
    node fast cores=8 mem=64Gi dev=a100
    node slow cores=8 mem=8Gi dev=t4
    job a work=100 cores=1 gpu=1 rate.t4=1 rate.a100=2
";

fn tiers(tiers: &[Weights]) -> Policy {
    let tiers = tiers.iter().map(|weights| Weighting::Fixed(*weights)).collect();
    Policy { tiers, ..by(Objective::Completion) }
}

#[test]
fn the_first_tier_decides_before_the_second() {
    let (fast, frugal) = (only(Objective::Completion), only(Objective::Energy));
    check(&tiers(&[fast, frugal]), TWO, "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=50s");
    check(&tiers(&[frugal, fast]), TWO, "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s");
}

#[test]
fn the_second_tier_decides_where_the_first_is_equal() {
    let (indifferent, frugal) = (only(Objective::Deadline), only(Objective::Energy));
    check(&tiers(&[indifferent]), TWO, "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=50s");
    check(&tiers(&[indifferent, frugal]), TWO, "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s");
    check_choices(
        &tiers(&[indifferent, frugal]),
        TWO,
        "choice a/0.0 of 2 score=1,1 next alt=0 fast a100 score=1,0.378378",
    );
}

#[test]
fn weights_are_a_mean() {
    let mut weights = only(Objective::Completion);
    weights[Objective::Energy.position()] = Milli(100);
    check(&tiers(&[weights]), TWO, "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=50s");
    weights[Objective::Energy.position()] = Milli(3000);
    check(&tiers(&[weights]), TWO, "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s");
}

/// A third node of which so many of its twenty cores are held, and what the last plan remembered.
fn busy(cores: u32, regime: &str) -> String {
    let held = if cores == 0 {
        String::new()
    } else {
        format!("job before cores={cores}\nrun before/0.0 rest\n")
    };
    let two = TWO.replace("cores=8", "cores=0.5").replace("cores=1 ", "cores=0.5 mem=8Gi ");
    format!("{two}node rest cores=19 mem=64Gi\n{held}regimes {regime}\n")
}

#[test]
fn an_idle_fleet_saves_energy_and_a_busy_one_does_not() {
    let policy = by_utilisation(moving());
    check(
        &policy,
        &busy(5, "between"),
        "start a/0.0 slow alt=0 t4 cores=0.5 mem=8Gi dev=0 for=1m40s",
    );
    check(
        &policy,
        &busy(7, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
}

#[test]
fn a_full_fleet_strands_nothing() {
    let policy = by_utilisation(moving());
    check(
        &policy,
        &busy(16, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
    check(
        &policy,
        &busy(17, "between"),
        "start a/0.0 slow alt=0 t4 cores=0.5 mem=8Gi dev=0 for=1m40s",
    );
}

#[test]
fn a_regime_lasts_until_its_threshold_is_passed_by_the_hysteresis() {
    let policy = by_utilisation(moving());
    check(
        &policy,
        &busy(6, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
    check(
        &policy,
        &busy(6, "below"),
        "start a/0.0 slow alt=0 t4 cores=0.5 mem=8Gi dev=0 for=1m40s",
    );
    check(
        &policy,
        &busy(16, "above"),
        "start a/0.0 slow alt=0 t4 cores=0.5 mem=8Gi dev=0 for=1m40s",
    );
    let rigid = by_utilisation(ByUtilisation { hysteresis: Milli::ZERO, ..moving() });
    check(&rigid, &busy(6, "below"), "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s");
    check(
        &rigid,
        &busy(16, "above"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
}

#[test]
fn thresholds_and_weights_of_regimes_are_the_policys() {
    let early = by_utilisation(ByUtilisation { low: Milli(200), ..moving() });
    check(
        &early,
        &busy(5, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
    let late = by_utilisation(ByUtilisation { high: Milli(900), ..moving() });
    check(
        &late,
        &busy(17, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
    let hasty = by_utilisation(ByUtilisation { below: only(Objective::Completion), ..moving() });
    check(
        &hasty,
        &busy(5, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
    let frugal = by_utilisation(ByUtilisation { between: only(Objective::Energy), ..moving() });
    check(
        &frugal,
        &busy(7, "between"),
        "start a/0.0 slow alt=0 t4 cores=0.5 mem=8Gi dev=0 for=1m40s",
    );
    let brisk = by_utilisation(ByUtilisation { above: only(Objective::Completion), ..moving() });
    check(
        &brisk,
        &busy(17, "between"),
        "start a/0.0 fast alt=0 a100 cores=0.5 mem=8Gi dev=0 for=50s",
    );
}

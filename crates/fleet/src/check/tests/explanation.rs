//! Faults of an explanation that show in its form.

use super::*;
use crate::explanation::RunnerUp;
use crate::id::{ClassId, JobId, NodeId};

/// Gives the jobs that wait in the sound decision these reasons: of `train`, with two alternatives
/// on three nodes, and `wide`.
fn with_reason(reason: Reason) -> Vec<String> {
    faults_of(|decision| decision.explanation.waiting[0].reason = Arc::new(reason))
}

const UP: (Constraint, u32, u64, u64) = (Constraint::Up, 1, 1, 0);

#[test]
fn choice_missing() {
    let faults = faults_of(|decision| decision.explanation.choices.truncate(4));
    assert_eq!(faults, ["start of run j3/0.0 is not explained"]);
}

#[test]
fn choice_of_none() {
    let faults = faults_of(|decision| {
        let again = decision.explanation.choices[0].clone();
        decision.explanation.choices.push(again);
    });
    assert_eq!(faults, ["run j0/0.0 is explained and not started"]);
}

#[test]
fn choice_of_another() {
    let faults = faults_of(|decision| decision.explanation.choices.swap(2, 3));
    assert_eq!(
        faults,
        [
            "start of run j1/0.0 is explained by the choice of j2/0.1",
            "start of run j2/0.1 is explained by the choice of j1/0.0",
        ]
    );
}

#[test]
fn score_out_of_range() {
    let faults = faults_of(|decision| {
        let choices = &mut decision.explanation.choices;
        choices[0].score.tiers[0] = Micro(0);
        choices[1].score.parts[4] = Micro(1_000_001);
        let score = Score { tiers: vec![Micro(0)], ..choices[2].score.clone() };
        let next = RunnerUp { alternative: 0, node: NodeId(1), class: ClassId(3), score };
        choices[2].runner_up = Some(next);
    });
    assert_eq!(
        faults,
        [
            "choice of run j0/0.0 has a score of 0 millionths",
            "choice of run j0/1.0 has a score of 1000001 millionths",
            "choice of run j1/0.0 has a score of 0 millionths",
        ]
    );
}

/// A runner-up of the third choice, which scored one.
fn with_runner_up(breaking: impl FnOnce(&mut RunnerUp)) -> Vec<String> {
    faults_of(|decision| {
        let choice = &mut decision.explanation.choices[2];
        let score = choice.score.clone();
        let mut next = RunnerUp { alternative: 0, node: NodeId(1), class: ClassId(3), score };
        choice.score.tiers = vec![Micro(900_000)];
        next.score.tiers = vec![Micro(900_000)];
        breaking(&mut next);
        choice.runner_up = Some(next);
    })
}

#[test]
fn runner_up_that_is_not_there_or_better() {
    assert_eq!(with_runner_up(|_| ()), [""; 0]);
    let faults = with_runner_up(|next| next.node = NodeId(3));
    assert_eq!(faults, ["runner-up of run j1/0.0 is on node n3, which is not there"]);
    let faults = with_runner_up(|next| next.alternative = 1);
    assert_eq!(faults, ["runner-up of run j1/0.0 is alternative 1 of a job with 1"]);
    let faults = with_runner_up(|next| next.score.tiers = vec![Micro(900_001)]);
    let fault = "choice of run j1/0.0 scored [Micro(900000)], and its runner-up [Micro(900001)]";
    assert_eq!(faults, [fault]);
}

#[test]
fn reason_missing() {
    let faults = faults_of(|decision| decision.explanation.waiting.truncate(1));
    assert_eq!(
        faults,
        ["job j2 has 1 tasks waiting and no reason", "job j3 has 1 tasks waiting and no reason"]
    );
}

#[test]
fn reason_of_a_job_that_does_not_wait_any_more() {
    let reason = |job| StillWaiting { job: JobId(job), tasks: 1, reason: Reason::Effort.into() };
    let faults = faults_of(|decision| {
        decision.explanation.waiting.insert(1, reason(1));
        decision.explanation.waiting.push(reason(9));
    });
    assert_eq!(
        faults,
        ["job j1 has a reason and no task waiting", "job j9 has a reason and no task waiting"]
    );
}

#[test]
fn reason_out_of_order_or_twice() {
    let faults = faults_of(|decision| {
        let again = decision.explanation.waiting[0].clone();
        decision.explanation.waiting.insert(1, again);
    });
    assert_eq!(faults, ["reason of job j0 is out of order or given twice"]);
    let faults = faults_of(|decision| decision.explanation.waiting.swap(0, 1));
    assert_eq!(
        faults,
        [
            "reason of job j0 is out of order or given twice",
            "job j0 has 2 tasks waiting and no reason",
        ]
    );
}

#[test]
fn reason_with_another_count() {
    let faults = faults_of(|decision| decision.explanation.waiting[0].tasks = 3);
    assert_eq!(faults, ["job j0 is said to have 3 tasks waiting, and has 2"]);
}

#[test]
fn tallies_of_other_alternatives() {
    let rows = [UP, (Constraint::FreeShare, 2, 500, 0)];
    assert!(with_reason(no_room(&[&rows, &rows])).is_empty());
    let faults = with_reason(no_room(&[&rows]));
    assert_eq!(faults, ["job j0 with 2 alternatives has tallies of [0]"]);
}

#[test]
fn tally_that_does_not_add_up() {
    let rows = [UP, (Constraint::FreeShare, 2, 500, 0)];
    let faults = with_reason(no_room(&[&rows, &[UP]]));
    assert_eq!(faults, ["tally of job j0, alternative 1, counts 1 nodes of 3"]);
}

#[test]
fn tally_out_of_order() {
    let rows = [UP, (Constraint::FreeShare, 2, 500, 0)];
    let swapped = [rows[1], rows[0]];
    let faults = with_reason(no_room(&[&rows, &swapped]));
    assert_eq!(faults, ["tally of job j0, alternative 1, has Up out of order"]);
    let twice = [UP, UP, (Constraint::FreeShare, 1, 500, 0)];
    let faults = with_reason(no_room(&[&rows, &twice]));
    assert_eq!(faults, ["tally of job j0, alternative 1, has Up out of order"]);
}

#[test]
fn tally_of_a_constraint_at_which_nothing_falls_out() {
    let rows = [UP, (Constraint::FreeShare, 2, 500, 0)];
    for (row, words) in [
        ((Constraint::FreeCores, 2, 500, 500), "2 nodes out at FreeCores with 500 asked and 500"),
        ((Constraint::Model, 2, 1, 1), "2 nodes out at Model with 1 asked and 1"),
        ((Constraint::Rate, 2, 5, 0), "2 nodes out at Rate with 5 asked and 0"),
    ] {
        let faults = with_reason(no_room(&[&rows, &[UP, row]]));
        assert_eq!(faults, [format!("tally of job j0, alternative 1, has {words} offered")]);
    }
    let none = [UP, (Constraint::Labels, 0, 1, 0), (Constraint::FreeShare, 2, 500, 0)];
    let faults = with_reason(no_room(&[&rows, &none]));
    let fault =
        "tally of job j0, alternative 1, has 0 nodes out at Labels with 1 asked and 0 offered";
    assert_eq!(faults, [fault]);
}

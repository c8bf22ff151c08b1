//! What reports make of simulations whose course is known.

mod world_fixtures;

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::{Job, JobId, NodeId, Span, Tenant, Time, Work};
use sim::report::{Comparison, Figure, Summary, compare, paired, summarise};
use sim::scenario::{Ending, Options, Outcome, motley, run};
use sim::{Outage, OutageKind, Workload};
use world_fixtures::{inventory, job};

#[test]
fn summary_measures_what_happened() {
    let due = |job: Job, seconds| Job { deadline: Some(Time::seconds(seconds)), ..job };
    let jobs = [due(job(1, 2000, 10), 10), due(job(2, 1000, 10), 15)];
    let workload = workload(&jobs, &[]);
    let summary = summarise(&inventory(1), &workload, &simulate(1, &workload));
    assert_eq!((summary.jobs_done, summary.tasks_done), (2, 2));
    assert_eq!(summary.makespan_seconds, Some(20.0));
    let (wait, completion) = (summary.wait_seconds.unwrap(), summary.completion_seconds.unwrap());
    assert_eq!((wait.mean, wait.max), (5.0, 10.0));
    assert_eq!((completion.mean, completion.p50), (15.0, 10.0));
    assert_eq!(summary.slowdown_mean, Some(1.5));
    assert_eq!((summary.gpu_utilisation, summary.core_utilisation), (Some(0.75), Some(0.25)));
    // 100 W idle and 50 W for one of four cores; GPUs at 400 W allocated and 50 W idle.
    assert_eq!(summary.energy_joules, 10.0 * (150.0 + 800.0) + 10.0 * (150.0 + 450.0));
    assert_eq!(summary.work_per_joule, Some(20.0 / summary.energy_joules));
    assert_eq!((summary.deadlines, summary.deadline_misses), (2, 1));
    assert_eq!((summary.fairness, summary.fairness_jain), (Some(1.0), Some(1.0)));
    let gpu = &summary.classes[1];
    assert_eq!((gpu.count, gpu.utilisation, gpu.tasks_done), (2, 0.75, 2));
    assert_eq!((gpu.wait_seconds_mean, gpu.work_done), (5.0, 20.0));
}

#[test]
fn work_and_slowdown_are_measured_by_the_truth_and_not_by_what_was_declared() {
    let mut workload = workload(&[job(1, 2000, 10)], &[]);
    workload.truth.work.insert(JobId(1), Work(4_000_000));
    let summary = summarise(&inventory(1), &workload, &simulate(1, &workload));
    assert_eq!(summary.makespan_seconds, Some(4.0));
    assert_eq!((summary.classes[1].work_done, summary.slowdown_mean), (4.0, Some(1.0)));
}

#[test]
fn time_in_which_a_node_is_lost_is_neither_available_nor_paid_for() {
    let workload = workload(&[job(1, 2000, 10)], &[outage(4, 6, OutageKind::Crash)]);
    let summary = summarise(&inventory(1), &workload, &simulate(1, &workload));
    assert_eq!(
        (summary.makespan_seconds, summary.runs_restarted, summary.nodes_lost),
        (Some(20.0), 1, 1)
    );
    assert_eq!((summary.device_utilisation, summary.gpu_utilisation), (Some(1.0), Some(0.7)));
    assert_eq!(summary.energy_joules, 14.0 * 950.0);
}

#[test]
fn comparison_names_the_best_and_pairs_go_seed_by_seed() {
    let (small, large) = (inventory(1), inventory(2));
    let workload = workload(&[job(1, 2000, 10), job(2, 2000, 10)], &[]);
    let slow = summarise(&small, &workload, &simulate(1, &workload));
    let fast = summarise(&large, &workload, &simulate(2, &workload));
    let pair = [slow, fast];
    let compared = compare(&pair);
    let makespan = compared.iter().find(|one| one.figure == "makespan_seconds").unwrap();
    assert_eq!((makespan.best, &makespan.of_best[..]), (Some(1), &[Some(2.0), Some(1.0)][..]));
    let paired = paired(&pair[1..], &pair[..1]);
    let makespan = paired.iter().find(|one| one.figure == "makespan_seconds").unwrap();
    let difference = makespan.difference.unwrap();
    assert_eq!(difference.interval, None, "one seed says nothing of how seeds differ");
    assert_eq!((difference.mean, difference.seeds_won, makespan.seeds), (-10.0, 1, 1));
}

#[test]
fn nothing_to_measure_is_no_value_and_wins_nothing() {
    let idle = summary(1, &[job(1, 3000, 10)], None);
    assert_eq!((idle.tasks_done, idle.jobs_never_placed()), (0, 1));
    let busy = summary(1, &[job(1, 1000, 10)], None);
    let compared = compare(&[idle.clone(), busy.clone()]);
    for (name, best) in [
        ("completion_seconds_mean", None),
        ("slowdown_mean", None),
        ("makespan_seconds", None),
        ("energy_joules", None),
        ("tasks_misplaced", None),
        ("work_per_joule", Some(1)),
        ("fairness", Some(1)),
        ("deadline_misses", None),
        ("tasks_done", Some(1)),
        ("jobs_never_placed", Some(1)),
    ] {
        assert_eq!(figure(&compared, name).best, best, "{name}");
    }
    let completion = figure(&compared, "completion_seconds_mean");
    assert_eq!((&completion.values[..], completion.can_compare), (&[None, Some(10.0)][..], false));
    let written = serde_json::to_value(completion).unwrap();
    assert!(written["best"].is_null() && written["values"][0].is_null(), "{written}");
    assert!(Figure::named("fairness").unwrap().wins(&busy, &idle));
    assert!(!Figure::named("fairness").unwrap().wins(&idle, &busy));
}

#[test]
fn policies_that_did_not_do_equally_many_tasks_are_not_compared_by_what_was_done() {
    let one = summary(1, &[job(1, 1000, 10), job(2, 3000, 10)], None);
    let two = summary(1, &[job(1, 1000, 10), job(2, 1000, 90)], None);
    let (same, other) = ([two.clone(), two.clone()], [two.clone(), one]);
    for name in ["completion_seconds_mean", "makespan_seconds", "energy_joules"] {
        let compared = compare(&other);
        let compared = figure(&compared, name);
        assert_eq!((compared.best, &compared.of_first[..]), (None, &[None, None][..]), "{name}");
        assert!(compared.values.iter().all(Option::is_some), "{name}");
        let pairs = paired(&same, &other);
        let pair = pairs.iter().find(|pair| pair.figure == name).unwrap();
        assert_eq!(pair.difference, None, "{name}");
        assert!(figure(&compare(&same), name).is_tied, "{name}");
    }
    assert_eq!(figure(&compare(&other), "tasks_done").best, Some(0));
}

#[test]
fn a_task_that_never_starts_has_waited_until_the_end() {
    let starved = Job { tasks: 3, ..job(2, 2000, 10) };
    let summary = summary(1, &[job(1, 2000, 100), starved], Some(40));
    let wait = summary.wait_seconds.unwrap();
    assert_eq!((wait.mean, wait.p50, wait.max), (30.0, 40.0, 40.0));
}

#[test]
fn a_deadline_that_may_still_be_kept_is_not_missed() {
    let due = |id, share, at| Job { deadline: Some(Time::seconds(at)), ..job(id, share, 100) };
    let jobs = [due(1, 1000, 40), due(2, 1000, 41)];
    let open = summary(1, &jobs, Some(40));
    assert_eq!((open.deadlines, open.deadline_misses, open.jobs_done), (2, 1, 0));
    let stuck = summary(1, &[job(1, 1000, 10), due(2, 3000, 1000)], None);
    assert_eq!((stuck.ending, stuck.deadline_misses), (Ending::Standstill, 1));
}

#[test]
fn a_tenant_whose_jobs_cannot_end_is_not_treated_unfairly() {
    let of = |tenant: &str, job: Job| Job { tenant: Tenant::new(tenant), ..job };
    let service = of("bob", Job { work: None, ..job(2, 1000, 0) });
    let impossible = of("eve", job(3, 3000, 10));
    let summary = summary(1, &[job(1, 1000, 10), service, impossible], None);
    assert_eq!((summary.ending, summary.tasks_done), (Ending::Standstill, 1));
    assert_eq!((summary.fairness, summary.fairness_jain), (Some(1.0), Some(1.0)));
}

fn figure<'a>(compared: &'a [Comparison], name: &str) -> &'a Comparison {
    compared.iter().find(|one| one.figure == name).expect("there is such a figure")
}

/// What comes of these jobs on so many nodes, to the end or until a second.
fn summary(nodes: u32, jobs: &[Job], until: Option<u64>) -> Summary {
    let workload = workload(jobs, &[]);
    let options = Options { until: until.map(Time::seconds), ..Options::default() };
    let fleet = inventory(nodes);
    let policy = shipped("default").expect("it is shipped");
    summarise(&fleet, &workload, &run(&fleet, &workload, &policy, options, &mut motley()))
}

fn simulate(nodes: u32, workload: &Workload) -> Outcome {
    let policy = shipped("default").expect("it is shipped");
    run(&inventory(nodes), workload, &policy, Options::default(), &mut motley())
}

fn workload(jobs: &[Job], outages: &[Outage]) -> Workload {
    let jobs = jobs.iter().cloned().map(Arc::new).collect();
    Workload { jobs, outages: outages.to_vec(), ..Workload::default() }
}

fn outage(at: u64, lasts: u64, kind: OutageKind) -> Outage {
    Outage { at: Time::seconds(at), node: NodeId(0), lasts: Span::seconds(lasts), kind }
}

//! Devices that are divided over time, as users meet it: the scenarios of the docs in the model
//! world, and where such a policy is refused.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod program;

use std::path::PathBuf;

use program::{files, run};
use serde_json::Value;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios")
}

/// One stretch of a task on a device, in whole seconds.
type Bar = (u64, u64, String);

/// What was simulated: the report as text, and where a job ran, by time.
struct Course {
    text: String,
    report: Value,
}

/// Runs a scenario under a policy that stands beside it, with more arguments.
fn course(scenario: &str, policy: &str, more: &[&str]) -> Course {
    course_on("fleet", scenario, policy, more)
}

/// The same on another fleet.
fn course_on(fleet: &str, scenario: &str, policy: &str, more: &[&str]) -> Course {
    let (out, _) = files(&[]);
    let file = |name: &str| folder().join(format!("rounds/{name}.toml"));
    let (fleet, jobs) = (file(fleet), file(scenario));
    let (policy, report) = (folder().join(format!("{policy}.toml")), out.path().join("report"));
    let named =
        [("--fleet", &fleet), ("--jobs", &jobs), ("--policy", &policy), ("--report", &report)];
    let mut arguments = vec!["simulate", "--quiet"];
    for (name, path) in named {
        arguments.extend([name, path.to_str().unwrap()]);
    }
    arguments.extend(more);
    let (status, text, error) = run(&arguments);
    assert_eq!(status, 0, "{error}");
    let report = std::fs::read_to_string(report.join("report.json")).unwrap();
    Course { text, report: serde_json::from_str(&report).unwrap() }
}

impl Course {
    fn bars(&self, job: &str) -> Vec<Bar> {
        let lanes = &self.report["courses"][0]["lanes"];
        let bars = lanes["bars"].as_array().unwrap().iter().filter(|bar| bar["job"] == job);
        let bar = |bar: &Value| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hours")]
            let seconds = |name: &str| bar[name].as_f64().unwrap().round() as u64;
            let lane = &lanes["lanes"][usize::try_from(bar["lane"].as_u64().unwrap()).unwrap()];
            let place = format!("{}:{}", lane["node"].as_str().unwrap(), lane["device"]);
            (seconds("from_seconds"), seconds("to_seconds"), place)
        };
        let mut bars: Vec<Bar> = bars.map(bar).collect();
        bars.sort();
        bars
    }

    #[track_caller]
    fn check(&self, job: &str, expected: &[(u64, u64, &str)]) {
        let bars = self.bars(job);
        let found: Vec<_> = bars.iter().map(|(from, to, place)| (*from, *to, &**place)).collect();
        assert_eq!(found, expected, "{job}");
    }
}

/// The longest that a job waits between its arrival at zero and its end.
fn longest_wait(bars: &[Bar]) -> u64 {
    let (mut ended, mut longest) = (0, 0);
    for (from, to, _) in bars {
        longest = longest.max(from.saturating_sub(ended));
        ended = ended.max(*to);
    }
    longest
}

#[test]
fn nobody_starves_where_the_policy_bounds_the_wait() {
    let brief = longest_wait(&course("starvation", "brief", &[]).bars("long"));
    let bounded = longest_wait(&course("starvation", "bounded", &[]).bars("long"));
    // By brevity alone for as long as short ones arrive; bounded, an hour and the rest of a round.
    assert_eq!((brief, bounded), (8100, 3600));
}

#[test]
fn a_job_of_several_counts_gives_devices_up_and_takes_them_back() {
    let course = course("elastic", "brief", &[]);
    course.check("other", &[(720, 1320, "fast:1")]);
    course.check(
        "wide",
        &[
            (0, 720, "fast:0"),
            (0, 720, "fast:1"),
            (720, 1440, "fast:0"),
            (1440, 2520, "fast:0"),
            (1440, 2520, "fast:1"),
        ],
    );
}

#[test]
fn others_make_room_for_a_job_that_runs_on_one_model_alone() {
    let course = course("one-model", "brief", &[]);
    course.check("bound", &[(360, 960, "fast:1")]);
    course.check(
        "free",
        &[
            (0, 360, "fast:1"),
            (0, 1200, "fast:0"),
            (0, 1333, "slow:0"),
            (360, 1080, "slow:1"),
            (1080, 1272, "fast:1"),
        ],
    );
}

#[test]
fn who_runs_moves_together_for_a_job_that_wants_two_devices_of_one_node() {
    let course = course_on("two-nodes", "scattered", "brief", &[]);
    course.check("wide", &[(720, 1020, "left:0"), (720, 1020, "left:1")]);
    course.check("long", &[(0, 720, "left:1"), (720, 3600, "right:0")]);
    course.check("long-too", &[(0, 3600, "right:1")]);
    let path = |name: &str| folder().join(name).to_str().unwrap().to_owned();
    let (fleet, jobs) = (path("rounds/two-nodes.toml"), path("rounds/scattered.toml"));
    let asked = ["explain", &fleet, &jobs, "--job", "wide", "--at", "12m", "--policy"];
    let (_, text, error) = run(&[&asked[..], &[&path("brief.toml")]].concat());
    let why = "it has V100 in this round, and starts once others have moved to make room for it";
    assert!(text.contains(why), "{text}{error}");
}

#[test]
fn a_job_without_a_rate_on_what_is_free_waits_for_what_is_not() {
    let course = course("no-rate", "brief", &[]);
    course.check("holds", &[(0, 600, "fast:0"), (0, 600, "fast:1")]);
    course.check("waits", &[(600, 1200, "fast:0")]);
    course.check("never", &[]);
    assert!(course.text.contains("no node of this fleet could ever run it"), "{}", course.text);
}

#[test]
fn equals_are_not_moved_and_every_run_is_the_same() {
    let once = course("equal", "brief", &[]);
    once.check("first", &[(0, 1000, "fast:0")]);
    once.check("second", &[(0, 1000, "fast:1")]);
    once.check("third", &[(1000, 2000, "fast:0")]);
    once.check("fourth", &[(1000, 2000, "fast:1")]);
    let again = course("equal", "brief", &[]);
    assert_eq!(once.report["courses"], again.report["courses"]);
    assert_eq!(once.text, again.text);
}

#[test]
fn what_going_on_costs_and_what_was_declared_wrongly_change_the_course() {
    let base = course("elastic", "brief", &[]).bars("wide");
    let dear = course("elastic", "brief", &["--restart", "30s"]).bars("wide");
    // Two stops, each of which costs thirty seconds.
    let end = |bars: &[Bar]| bars.iter().map(|bar| bar.1).max().unwrap();
    assert!(end(&dear) > end(&base), "{dear:?}");
    let wrong = course("elastic", "brief", &["--work-error", "2"]).bars("wide");
    assert_ne!(end(&wrong), end(&base));
}

#[test]
fn such_a_policy_is_refused_where_stopped_work_is_lost() {
    let (status, _, error) = run(&["simulate", "--quiet", "--policy", "mean"]);
    assert_eq!(status, 1);
    for words in ["policy \"mean\"", "loses its work", "--restart 30s", "without `allocate`"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let (status, text, error) =
        run(&["simulate", "--quiet", "--policy", "mean", "--restart", "30s"]);
    assert_eq!((status, &*error), (0, ""));
    assert!(text.contains("mean"), "{text}");
}

#[test]
fn wrong_costs_and_factors_are_refused_by_name() {
    let scenario = std::fs::read_to_string(folder().join("rounds/equal.toml")).unwrap();
    for (line, words) in [
        ("restart = \"soon\"", "`world.restart`"),
        ("work_error = 0.5", "`world.work_error`: is 0.5; give a factor from 1 to 100"),
        ("work_error = 101", "a factor from 1 to 100"),
    ] {
        let (_folder, paths) = files(&[("jobs.toml", &scenario.replace("restart = \"0s\"", line))]);
        let fleet = folder().join("rounds/fleet.toml");
        let fleet = fleet.to_str().unwrap();
        let (status, _, error) =
            run(&["simulate", "--quiet", "--fleet", fleet, "--jobs", &paths[0]]);
        assert_eq!(status, 1, "{line}");
        assert!(error.contains(words), "{line}: {error}");
    }
    for flag in [["--work-error", "0.5"], ["--restart", "soon"]] {
        let (status, _, error) = run(&["simulate", "--quiet", flag[0], flag[1]]);
        assert_eq!(status, 2, "{flag:?}");
        assert!(error.contains(flag[0]), "{flag:?}: {error}");
    }
}

//! Jobs of one file that begin after each other.

use crate::read;

fn job(name: &str, after: &[&str]) -> String {
    format!("[[job]]\nname = '{name}'\ncommand = ['x']\nafter = {after:?}\n")
}

fn file(jobs: &[(&str, &[&str])]) -> String {
    let jobs: Vec<_> = jobs.iter().map(|(name, after)| job(name, after)).collect();
    format!("format = 1\n{}", jobs.concat())
}

#[test]
fn jobs_come_after_those_that_they_begin_after_and_otherwise_as_in_the_file() {
    let text = file(&[
        ("report", &["train", "clean"]),
        ("train", &["prepare", "12", "elsewhere"]),
        ("prepare", &[]),
        ("clean", &["prepare"]),
        ("other", &[]),
    ]);
    let read = read("jobs.toml", &text);
    assert_eq!(read.faults, []);
    let told = |job: &server::api::Submission| {
        let after: Vec<_> = job.after.iter().map(|(job, _)| job.as_str()).collect();
        format!("{} after {}", job.job["name"].as_str().unwrap(), after.join(" "))
    };
    let jobs: Vec<_> = read.jobs.iter().map(told).collect();
    assert_eq!(
        jobs,
        [
            "prepare after ",
            "train after #1 12 elsewhere",
            "clean after #1",
            "report after #2 #3",
            "other after ",
        ]
    );
}

#[test]
fn a_circle_is_named() {
    let text = file(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &[])]);
    let found: Vec<_> = read("jobs.toml", &text).faults.iter().map(ToString::to_string).collect();
    let expected = "none of these can begin: \"b\" after \"c\" after \"b\"; drop one `after`";
    assert_eq!(found, [format!("6: `after`: {expected}")]);
    let own = file(&[("a", &["a"])]);
    assert!(read("jobs.toml", &own).faults[0].text.contains("\"a\" after \"a\""));
}

#[test]
fn a_name_that_two_jobs_have_is_refused_where_it_is_meant() {
    let twice = file(&[("a", &[]), ("a", &[]), ("b", &["a"])]);
    let found: Vec<_> = read("jobs.toml", &twice).faults.iter().map(ToString::to_string).collect();
    let expected = "several jobs are named \"a\", in lines 2 and 6; rename one";
    assert_eq!(found, [format!("13: `after`: {expected}")]);
    assert_eq!(read("jobs.toml", &file(&[("a", &[]), ("a", &[])])).faults, []);
}

//! Slices of devices as their users meet them. The examples of `docs/slices.md` are run here.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod examples;

use examples::root;
use serde_json::Value;

#[track_caller]
fn done(arguments: &[&str]) -> String {
    examples::done("slices", arguments)
}

#[test]
fn the_examples_of_the_page_print_what_it_says() {
    let page = std::fs::read_to_string(root().join("docs/slices.md")).unwrap();
    let blocks: Vec<_> = page.split("```console\n").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let (example, _) = block.split_once("```").unwrap();
        let (command, expected) = example.split_once('\n').unwrap();
        let words: Vec<_> = command.strip_prefix("$ motley ").unwrap().split(' ').collect();
        assert_eq!(done(&words), expected, "{command}");
    }
}

#[test]
fn the_first_slot_and_the_smaller_slice_are_in_the_json() {
    let answer = |job: &str, at: &str| -> Value {
        let words = ["explain", "fleet.toml", "jobs.toml", "--job", job, "--at", at, "--json"];
        serde_json::from_str(&done(&words)).unwrap()
    };
    let first_slot = |job: &str, at: &str| {
        answer(job, at)["placed"][0]["devices"][0]["first_slot"].as_u64().unwrap()
    };
    assert_eq!(first_slot("first", "0s"), 4);
    assert_eq!(first_slot("notebook", "10m"), 0);
    assert_eq!(first_slot("viewer", "70m"), 1);
    assert_eq!(first_slot("train", "80m"), 4);
    let waits = &answer("wide", "75m")["waits"];
    let fell_out = &waits["reason"]["alternatives"][0]["fell_out"][0];
    assert_eq!(
        (&fell_out["constraint"], &fell_out["unit"]),
        (&"free-slots".into(), &"yes-or-no".into())
    );
    let remedies = waits["remedies"].as_array().unwrap();
    let smaller = remedies.iter().find(|remedy| remedy["kind"] == "profile").unwrap();
    assert_eq!(smaller["profile"], "3g.20gb");
}

#[test]
fn a_profile_that_does_not_exist_is_an_error_that_says_what_there_is() {
    let jobs = std::fs::read_to_string(root().join("docs/slices/jobs.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.toml");
    std::fs::write(&path, jobs.replace("4g.20gb", "5g.25gb")).unwrap();
    let words = ["simulate", "--fleet", "fleet.toml", "--jobs", path.to_str().unwrap()];
    let (status, _, error) = examples::run("slices", &words);
    assert_eq!(status, 1);
    let told = "`alternative[0].device.profile`: no device that would do has the profile \
                \"5g.25gb\"; the fleet has 1g.10gb, 1g.5gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb";
    assert!(error.contains(told), "{error}");
}

//! Whose job may be changed by whom, and how much one call may bring.

use serde_json::json;

use super::*;

const ROOT: User = User { uid: 0, gid: 0 };
const ANNA: User = User { uid: 1000, gid: 1000 };
const BORIS: User = User { uid: 1001, gid: 1001 };

fn caller(user: User) -> Caller {
    Caller { user, is_operator: false }
}

fn submission(more: Value) -> Submission {
    let mut told = json!({
        "job": { "name": "train", "alternative": [{ "cores": 1 }] },
        "arguments": ["true"],
        "directory": "/",
    });
    told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(told).unwrap()
}

fn job_of(user: User) -> Job {
    let inventory = Inventory { classes: fleet::Classes::default(), nodes: Vec::new() };
    let ledger = Ledger::new();
    let known = Known::new(&ledger, caller(user));
    job(&submission(json!({})), (1..1, Time(0)), (&inventory, &known)).unwrap()
}

#[test]
fn a_job_is_changed_by_its_user_and_by_operators_whoever_they_are() {
    for owner in [ROOT, ANNA, BORIS] {
        let job = job_of(owner);
        for user in [ROOT, ANNA, BORIS] {
            // A token of root with a smaller scope is root's, and no operator's.
            assert_eq!(may_change(&job, caller(user)), user.uid == owner.uid);
            // The daemon's own user may change what root submitted.
            assert!(may_change(&job, Caller { user, is_operator: true }));
        }
    }
}

#[test]
fn what_the_jobs_of_a_call_begin_after_is_bounded_together() {
    let of = |count: usize| submission(json!({ "after": vec![("1", "done"); count] }));
    let calls = |jobs: usize, each: usize| vec![of(each); jobs];
    assert!(check_bounds(&calls(100, 1_000)).is_ok());
    for (told, what) in [
        (Vec::new(), "at least one job"),
        (calls(JOBS_MAX + 1, 0), "at most 10000 jobs"),
        (calls(101, 1_000), "begin after 101000 others together"),
    ] {
        let error = check_bounds(&told).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

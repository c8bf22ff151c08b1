//! Whose job may be changed by whom.

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
    let of = (&inventory, &Ledger::new());
    job(&submission(json!({})), caller(user), (1..1, Time(0)), of).unwrap()
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

//! As whom tasks run.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use fleet::{Failure, Output, RunState, User};

use crate::place::{place, run, shell};

const NOBODY: User = User { uid: 65_534, gid: 65_534 };

#[test]
fn a_task_runs_as_its_user_and_has_no_more_rights_or_is_refused() {
    let mut place = place();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place.folder.path(), open).unwrap();
    let mut program =
        shell("id -u; id -G; grep -E 'Cap(Prm|Eff|Amb)|NoNewPrivs' /proc/self/status");
    program.user = NOBODY;
    program.output = Output::Files(place.file("who").to_str().unwrap().to_owned(), None);
    place.start(run(1), program);
    let end = place.end_of(run(1));
    if !rustix::process::geteuid().is_root() {
        let is_refused = |failure| failure == Failure::NotStarted(libc::EPERM);
        assert!(matches!(end, RunState::Failed(_, failure) if is_refused(failure)), "{end:?}");
        return;
    }
    assert!(matches!(end, RunState::Done(_)), "{end:?}");
    let text = place.text_of("who");
    let words: Vec<_> = text.split_whitespace().collect();
    let none = "0000000000000000";
    assert_eq!(words[..2], ["65534", "65534"]);
    assert_eq!(words[2..], ["CapPrm:", none, "CapEff:", none, "CapAmb:", none, "NoNewPrivs:", "1"]);
    assert_eq!(place.file("who").metadata().unwrap().uid(), NOBODY.uid);
}

#[test]
fn a_task_of_another_user_is_stopped_with_all_its_processes() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root starts tasks of other users");
        return;
    }
    let mut place = place();
    let mut program = shell("setsid sleep 1005 & trap '' TERM; while true; do sleep 1006; done");
    program.user = NOBODY;
    place.start(run(1), program);
    place.has_started(run(1));
    place.stop(run(1));
    assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
}

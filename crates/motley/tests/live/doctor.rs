//! What `motley doctor` says of a real machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::place::Place;

#[test]
fn the_doctor_sees_the_daemon_its_directory_and_what_is_wrong_with_it() {
    let place = Place::new();
    let look = || {
        let (status, output, errors) = place.run(&["doctor", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&output).expect(&errors);
        let of = |check: &str| {
            let findings = report["findings"].as_array().unwrap();
            let finding = findings.iter().find(|one| one["check"] == check).unwrap();
            (finding["health"].as_str().unwrap().to_owned(), finding["found"].to_string())
        };
        (status, of("daemon"), of("directory"))
    };
    let (status, daemon, directory) = look();
    assert_eq!((status, daemon.1.as_str()), (0, "\"none runs\""));
    assert!(directory.1.contains("not there yet"), "{directory:?}");
    place.start();
    let (status, daemon, directory) = look();
    assert_eq!((status, daemon.0.as_str(), directory.0.as_str()), (0, "ok", "ok"));
    assert!(daemon.1.contains("runs as process"), "{daemon:?}");
    let home = place.json(&["status", "--json"])["directory"].as_str().unwrap().to_owned();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
    let (status, _, directory) = look();
    assert_eq!((status, directory.0.as_str()), (1, "failure"));
    let (status, text, _) = place.run(&["doctor"]);
    assert!(status == 1 && text.contains(&format!("→ chmod go-w {home}")), "{text}");
    assert!(text.contains("\n1 failure, "), "{text}");
}

#[test]
fn what_a_daemon_writes_for_itself_is_nobody_elses_to_read() {
    let place = Place::up();
    for file in ["log", "journal", "lock"] {
        let found = fs::metadata(place.file(&format!("motley/{file}"))).unwrap();
        assert_eq!(found.permissions().mode() & 0o077, 0, "{file}");
    }
}

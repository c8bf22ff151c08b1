//! Alerts from first to last, with a real receiver.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use server::webhook::{Notice, signature};

use crate::place::{Place, wait_until};

/// A receiver on loopback, which takes notices once it is told to.
struct Receiver {
    url: String,
    /// Number of the notice, its body, and its signature.
    heard: Arc<Mutex<Vec<(u64, String, String)>>>,
    takes: Arc<Mutex<bool>>,
}

impl Receiver {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let takes = Arc::new(Mutex::new(true));
        let (keep, may) = (Arc::clone(&heard), Arc::clone(&takes));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let (mut length, mut number, mut signed) = (0, 0, String::new());
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                        break;
                    }
                    let Some((name, value)) = line.split_once(':') else { continue };
                    let value = value.trim();
                    match name.to_lowercase().as_str() {
                        "content-length" => length = value.parse().unwrap_or(0),
                        "motley-delivery" => number = value.parse().unwrap_or(0),
                        "motley-signature" => value.clone_into(&mut signed),
                        _ => {}
                    }
                }
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                let body = String::from_utf8_lossy(&body).into_owned();
                let takes = *may.lock().unwrap();
                if takes {
                    keep.lock().unwrap().push((number, body, signed));
                }
                let line = if takes { "204 No Content" } else { "503 Service Unavailable" };
                let answer =
                    format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Self { url, heard, takes }
    }

    /// The states that were told, in order, each notice once.
    fn states(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap();
        let mut known: BTreeMap<u64, &str> = BTreeMap::new();
        let mut states = Vec::new();
        for (number, body, _) in heard.iter() {
            // A daemon that is killed before it has noted that a notice was taken sends it again:
            // the same one, which its number tells.
            if let Some(before) = known.insert(*number, body) {
                assert_eq!(before, body);
                continue;
            }
            let told: Value = serde_json::from_str(body).unwrap();
            assert_eq!(told["notice"].as_u64(), Some(*number));
            states.push(told["alert"]["state"].as_str().unwrap().to_owned());
        }
        states
    }
}

fn rules(place: &Place, receiver: &Receiver) -> String {
    let key = place.file("key");
    std::fs::write(&key, "secret\n").unwrap();
    let hook = format!("webhook = {{ url = {:?}, secret_file = {key:?} }}", receiver.url);
    rules_with(place, &hook)
}

/// A rule that is looked at every second, and who is told.
fn rules_with(place: &Place, hook: &str) -> String {
    let file = place.file("alerts.toml");
    let text = format!(
        "format = 1\nevery = \"1s\"\n{hook}\n\
         [[alert]]\nname = \"no-room\"\nmetric = \"motley_pending_tasks\"\n\
         labels = {{ queue = \"unschedulable\" }}\nabove = 0\nfor = \"2s\"\nseverity = \"critical\"\n\
         summary = \"tasks have no room\"\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

fn state(place: &Place) -> String {
    let alerts = place.json(&["alerts", "--json"]);
    alerts[0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn an_alert_is_told_once_when_it_fires_and_once_when_it_resolves_whoever_dies_between() {
    let (place, receiver) = (Place::new(), Receiver::open());
    let file = rules(&place, &receiver);
    let (status, _, errors) = place.run(&["up", "--detach", "--alerts", &file]);
    assert_eq!(status, 0, "{errors}");
    assert_eq!(state(&place), "inactive");
    let job = place.submit(&["--cpus", "4096", "--", "true"]);
    wait_until("it is pending", || state(&place) == "pending");
    // Killed while it is pending: it fires all the same, by the rules that were kept.
    place.kill_daemon();
    place.start();
    wait_until("it fires", || state(&place) == "firing");
    wait_until("it is told", || receiver.states() == ["firing"]);
    let (_, body, signed) = receiver.heard.lock().unwrap()[0].clone();
    let seconds = signed[2..].split(',').next().unwrap().parse().unwrap();
    assert_eq!(signed, signature(b"secret", seconds, &Notice { number: 0, body }));
    // Killed while it fires: it is not told again.
    place.kill_daemon();
    place.start();
    // The receiver is away when it resolves, and the daemon dies before it is back.
    *receiver.takes.lock().unwrap() = false;
    assert_eq!(place.run(&["job", "cancel", &job]).0, 0);
    wait_until("it resolves", || state(&place) == "resolved");
    place.kill_daemon();
    place.start();
    *receiver.takes.lock().unwrap() = true;
    wait_until("it is told", || receiver.states() == ["firing", "resolved"]);
    let (_, text, _) = place.run(&["alerts"]);
    assert!(text.contains("no-room") && text.contains("resolved"), "{text}");
}

#[test]
fn notices_are_forgotten_where_nobody_is_to_be_told_any_more() {
    let (place, receiver) = (Place::new(), Receiver::open());
    *receiver.takes.lock().unwrap() = false;
    place.start_with(&["--alerts", &rules(&place, &receiver)]);
    place.submit(&["--cpus", "4096", "--", "true"]);
    let failed = "motley_alert_notices_total{result=\"failed\"}";
    wait_until("it is not taken", || place.measured(failed) > Some(0.0));
    place.kill_daemon();
    place.start_with(&["--alerts", &rules_with(&place, "")]);
    place.kill_daemon();
    *receiver.takes.lock().unwrap() = true;
    place.start_with(&["--alerts", &rules(&place, &receiver)]);
    // It goes on firing, which is no news; that it resolves is.
    assert_eq!(place.run(&["job", "cancel", "--all"]).0, 0);
    wait_until("it is told", || !receiver.states().is_empty());
    assert_eq!(receiver.states(), ["resolved"]);
}

#[test]
fn every_metric_can_be_watched_and_what_is_none_is_said() {
    let (place, file) = (Place::new(), String::from("watched.toml"));
    let rules = [
        ("asked", "motley_http_requests_total"),
        ("slow", "motley_http_request_duration_seconds_count"),
        ("cold", "DCGM_FI_DEV_GPU_TEMP"),
        ("typo", "motley_pending_task"),
        ("counter", "motley_http_requests"),
    ];
    let rule = |(name, metric): (&str, &str)| {
        format!("[[alert]]\nname = {name:?}\nmetric = {metric:?}\nabove = 0\n")
    };
    let text: String = rules.into_iter().map(rule).collect();
    std::fs::write(place.file(&file), format!("format = 1\nevery = \"1s\"\n{text}")).unwrap();
    place.start_with(&["--alerts", &file]);
    let is_firing = |name: &str| {
        let alerts = place.json(&["alerts", "--json"]);
        let alerts = alerts.as_array().unwrap();
        alerts.iter().any(|alert| alert["name"] == name && alert["state"] == "firing")
    };
    wait_until("requests are counted", || is_firing("asked") && is_firing("slow"));
    let notes = place.json(&["status", "--json"])["notes"].to_string();
    for (name, metric) in rules {
        let is_said = notes.contains(&format!("{name}\\\" watches {metric},"));
        assert_eq!(is_said, ["typo", "counter"].contains(&name), "{name}: {notes}");
    }
}

#[test]
fn rules_that_cannot_be_read_are_refused_before_anything_starts() {
    let place = Place::new();
    let file = place.file("alerts.toml");
    std::fs::write(&file, "format = 1\n[[alert]]\nname = \"a\"\nmetric = \"m\"\n").unwrap();
    let (status, _, errors) = place.run(&["up", "--detach", "--alerts", &file]);
    assert!(
        status == 1 && errors.contains("alert 1") && errors.contains(&file),
        "{status} {errors}"
    );
    let (status, _, errors) = place.run(&["up", "--detach", "--alerts", "nowhere.toml"]);
    assert!(status == 1 && errors.contains("nowhere.toml"), "{status} {errors}");
    // Nothing of them is kept.
    place.start();
}

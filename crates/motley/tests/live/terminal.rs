//! `motley top` in a real terminal, which `script` makes.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::place::{Place, wait_until};

/// What leaves the second screen of a terminal, and what hides and shows the cursor.
const LEAVE: &str = "\u{1b}[?1049l";
const HIDE: &str = "\u{1b}[?25l";
const SHOW: &str = "\u{1b}[?25h";

/// A dashboard on a terminal of its own.
struct Shown {
    child: Child,
    text: Arc<Mutex<String>>,
}

impl Shown {
    fn open(place: &Place) -> Self {
        let motley = assert_cmd::cargo::cargo_bin!("motley");
        let directory = place.json(&["status", "--json"])["directory"].as_str().unwrap().to_owned();
        let line = format!(
            "stty rows 24 cols 80; exec {} top --directory {directory}",
            motley.to_str().unwrap()
        );
        let mut script = Command::new("script");
        let script = script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm");
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = script.spawn().unwrap();
        let text = Arc::default();
        let (kept, mut output) = (Arc::clone(&text), child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let text: &Mutex<String> = &kept;
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { child, text }
    }

    fn wait_for(&self, words: &str) {
        wait_until(words, || self.text.lock().unwrap().contains(words));
    }

    fn press(&mut self, keys: &str) {
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_dashboard_outlives_the_daemon_does_what_keys_say_and_gives_the_terminal_back() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: the program script, which makes terminals, is not here");
        return;
    }
    let place = Place::up();
    let job = place.submit(&["--cpus", "4096", "--name", "huge", "--", "true"]);
    let mut shown = Shown::open(&place);
    // Words that stand where there was nothing before: of others only the letters that differ come.
    shown.wait_for("huge");
    shown.press("h");
    let state = || place.json(&["job", "show", &job, "--json"])["state"].clone();
    wait_until("the job is held", || state() == "held");
    place.kill_daemon();
    shown.wait_for("GONE");
    place.start();
    shown.wait_for("back");
    shown.press("e");
    shown.wait_for("close");
    shown.press("qcy");
    wait_until("the job is cancelled", || state() == "cancelled");
    shown.press("q");
    let status = shown.child.wait().unwrap();
    assert!(status.success(), "{status}");
    shown.wait_for(LEAVE);
    let text = shown.text.lock().unwrap().clone();
    assert!(text.rfind(SHOW) > text.rfind(HIDE), "the cursor is back");
}

#[test]
fn without_a_terminal_one_is_told_what_to_use_instead() {
    let place = Place::new();
    let (status, output, errors) = place.run(&["top"]);
    assert_eq!((status, output.as_str()), (1, ""));
    assert!(errors.contains("motley status") && errors.contains("not a terminal"), "{errors}");
}

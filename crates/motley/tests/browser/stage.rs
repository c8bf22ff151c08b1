//! A daemon with a modelled fleet beside its machine, which listens for browsers.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::BTreeMap;

use crate::driver::{Browser, is_there};
use crate::place::Place;

/// Twenty nodes of two kinds.
const FLEET: &str = r#"
format = 1

[device.EPYC-7763]
kind = "cpu"

[device.A100]
kind = "gpu"
memory = "40GiB"
share = "milli"
power = { idle = "50W", busy = "400W" }

[device.H100]
kind = "gpu"
memory = "80GB"
power = { idle = "70W", busy = "700W" }

[[node]]
name = "small"
count = 16
cpu = "EPYC-7763"
cores = 16
memory = "128GiB"
devices = { A100 = 4 }
labels = { zone = "a" }
power = { idle = "150W", busy = "350W" }

[[node]]
name = "large"
count = 4
cpu = "EPYC-7763"
cores = 64
memory = "1TiB"
devices = { H100 = 8 }
labels = { zone = "b" }
power = { idle = "300W", busy = "900W" }
"#;

/// One that fires once something cannot run, and one that does not.
const ALERTS: &str = r#"
format = 1
every = "1s"

[[alert]]
name = "no-room"
metric = "motley_pending_tasks"
labels = { queue = "unschedulable" }
above = 0
severity = "critical"
summary = "tasks wait for what no node has; see what they ask for"

[[alert]]
name = "many-waiting"
metric = "motley_pending_tasks"
above = 100000
for = "10m"
severity = "warning"
summary = "the backlog grows"
"#;

/// Asks for a modelled node in place of this machine.
pub(crate) const MODELLED: [&str; 2] = ["--label", "world=modelled"];

/// Asks for this machine.
pub(crate) const REAL: [&str; 2] = ["--label", "world=real"];

pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) address: String,
    tokens: BTreeMap<&'static str, String>,
}

impl Stage {
    /// `None` where there is no browser, which was said then.
    pub(crate) fn up() -> Option<Self> {
        Self::with(FLEET)
    }

    /// With these nodes beside the machine, where it says any.
    pub(crate) fn with(fleet: &str) -> Option<Self> {
        if !is_there() {
            return None;
        }
        let place = Place::new();
        let file = place.file("fleet.toml");
        std::fs::write(&file, fleet).unwrap();
        let alerts = place.file("alerts.toml");
        std::fs::write(&alerts, ALERTS).unwrap();
        let options = ["--listen", "127.0.0.1:0", "--alerts", &alerts, "--model", &file];
        place.start_with(if fleet.is_empty() { &options[..4] } else { &options });
        let token = |scope: &'static str| {
            let (status, secret, errors) = place.run(&["token", "create", scope, "--scope", scope]);
            assert_eq!(status, 0, "{errors}");
            (scope, secret.trim().to_owned())
        };
        let tokens = ["read", "submit", "admin"].into_iter().map(token).collect();
        let address = place.json(&["status", "--json"])["address"].as_str().unwrap().to_owned();
        Some(Self { place, address, tokens })
    }

    /// A real task, that runs a line of the shell.
    pub(crate) fn submit_line(&self, more: &[&str], line: &str) -> String {
        self.place.submit(&[&REAL[..], more, &["--", "sh", "-c", line]].concat())
    }

    pub(crate) fn token(&self, scope: &str) -> String {
        self.tokens[scope].clone()
    }

    /// The page, as one with this token sees it.
    pub(crate) fn open(&self, scope: &str, route: &str) -> Browser {
        let page = Browser::open();
        page.go(&format!("{}/#token={}&{route}", self.address, self.token(scope)));
        page.until("document.querySelector('#connection')?.dataset.state === 'live'");
        page
    }
}

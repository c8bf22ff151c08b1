//! The files in `deploy` name metrics that a daemon has, and are in the form of their readers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use server::alert::Rules;

fn read(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The metrics that `docs/metrics.md` lists: a test of the daemon holds it against what is shown.
fn metrics() -> BTreeSet<String> {
    let page = read("docs/metrics.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    rows.map(str::to_owned).collect()
}

/// The names of metrics in a text: words that begin as ours do.
fn named(text: &str) -> BTreeSet<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    let words = text.split(|letter| !is_letter(letter));
    let begins = ["motley_", "DCGM_FI_", "kepler_", "process_"];
    let ours = words.filter(|word| begins.iter().any(|begin| word.starts_with(begin)));
    // A text names the parts of a histogram and the total of a counter; a page names the metric.
    let ends = ["_bucket", "_count", "_sum", "_total"];
    let own = |word: &str| {
        let end = ends.iter().find_map(|end| word.strip_suffix(end));
        end.unwrap_or(word).to_owned()
    };
    ours.map(own).collect()
}

#[test]
fn the_dashboard_of_grafana_is_whole_and_asks_for_metrics_that_there_are() {
    let text = read("deploy/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(&text).expect("it is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
    let mut exprs = 0;
    for panel in panels {
        let place = |field: &str| panel["gridPos"][field].as_u64().expect("a place");
        assert!(place("x") + place("w") <= 24, "{}", panel["title"]);
        let targets = panel["targets"].as_array();
        assert_eq!(panel["type"] == "row", targets.is_none(), "{}", panel["title"]);
        for target in targets.into_iter().flatten() {
            let expr = target["expr"].as_str().expect("it asks for something");
            let found = named(expr);
            assert!(!found.is_empty() && found.is_subset(&metrics()), "{expr}");
            exprs += 1;
        }
    }
    assert!(exprs > 10);
}

#[test]
fn the_rules_for_prometheus_ask_for_metrics_that_there_are() {
    let found = named(&read("deploy/prometheus-rules.yml"));
    assert!(found.len() > 5 && found.is_subset(&metrics()), "{:?}", found.difference(&metrics()));
}

#[test]
fn the_rules_of_alerts_can_be_read_and_watch_metrics_that_there_are() {
    let rules = Rules::read(&read("deploy/alerts.toml")).expect("they can be read").rules;
    assert!(rules.len() > 2);
    for rule in rules {
        assert!(named(&rule.metric).is_subset(&metrics()), "{}", rule.metric);
    }
    // What the page about alerts shows is a file of rules too.
    let page = read("docs/alerts.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let rules = Rules::read(example.expect("an example")).expect("it can be read");
    assert_eq!((rules.rules.len(), rules.webhook.is_some()), (1, true));
}

#[test]
fn the_unit_of_systemd_names_options_that_there_are() {
    let unit = read("deploy/motley.service");
    for line in unit.lines().filter_map(|line| line.split_once("/usr/local/bin/motley ")) {
        let words: Vec<_> = line.1.split(' ').collect();
        let help = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("motley"))
            .args([words[0], "--help"])
            .output()
            .expect("it runs");
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{}: {option}", words[0]);
        }
    }
}

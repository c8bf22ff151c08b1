//! Alerts over time, by rules of every kind.

use super::*;
use crate::metrics::FamilyKind;

const SECOND: u64 = 1_000_000;

fn rules(fields: &str) -> Vec<Rule> {
    let text = format!("format = 1\n[[alert]]\nname = \"a\"\nmetric = \"jobs\"\n{fields}\n");
    Rules::read(&text).unwrap_or_else(|error| panic!("{fields}: {error}")).rules
}

fn jobs(values: &[(&str, f64)]) -> Vec<Family> {
    let mut family = Family::new("jobs", "Jobs", FamilyKind::Gauge);
    for (state, value) in values {
        family.add(&[("state", state)], *value);
    }
    vec![family]
}

/// How the one alert stands after each of these values, a second apart.
fn course(fields: &str, values: &[f64]) -> String {
    let mut alerts = Alerts::new(rules(fields), Vec::new());
    let letter = |(at, value): (usize, &f64)| {
        alerts.step(at as u64 * SECOND, &jobs(&[("waiting", *value)]));
        match alerts.views()[0].state {
            AlertState::Inactive => '.',
            AlertState::Pending => 'p',
            AlertState::Firing => 'F',
            AlertState::Resolved => 'r',
        }
    };
    values.iter().enumerate().map(letter).collect()
}

#[test]
fn an_alert_fires_once_it_is_wrong_for_long_enough_and_resolves_by_its_hysteresis() {
    let up = [1.0, 11.0, 11.0, 11.0, 9.0, 9.0, 11.0, 7.0, 7.0, 7.0];
    for (fields, expected) in [
        ("above = 10", ".FFFrrFrrr"),
        ("above = 10\nfor = \"2s\"", ".ppFrrp..."),
        ("above = 10\nclear = 8", ".FFFFFFrrr"),
        ("above = 10\nclear = 8\nclear_for = \"2s\"", ".FFFFFFFFr"),
        ("below = 2", "Frrrrrrrrr"),
        ("below = 10\nfor = \"2s\"", "p...pp.ppF"),
    ] {
        assert_eq!(course(fields, &up), expected, "{fields}");
    }
}

#[test]
fn each_set_of_labels_has_an_alert_of_its_own() {
    let mut alerts = Alerts::new(rules("above = 10"), Vec::new());
    let changed = alerts.step(0, &jobs(&[("waiting", 11.0), ("running", 12.0), ("held", 1.0)]));
    assert_eq!(changed.len(), 2);
    let mut narrow = Alerts::new(rules("above = 10\nlabels = { state = \"held\" }"), Vec::new());
    let wrong = jobs(&[("waiting", 11.0), ("held", 12.0)]);
    let changed = narrow.step(0, &wrong);
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].labels["state"], "held");
    assert_eq!(changed[0].rule, "jobs{state=\"held\"} above 10");
    assert_eq!(narrow.step(SECOND, &wrong), [], "what goes on is told once");
}

#[test]
fn what_is_not_measured_any_more_resolves_and_is_forgotten_in_time() {
    let mut alerts = Alerts::new(rules("above = 10"), Vec::new());
    alerts.step(0, &jobs(&[("waiting", 11.0)]));
    let changed = alerts.step(SECOND, &[]);
    assert_eq!((changed[0].state, changed[0].value), (AlertState::Resolved, None));
    assert_eq!(alerts.step(2 * SECOND, &[]), []);
    let changed = alerts.step(2 * SECOND + SHOWN, &[]);
    assert_eq!(changed[0].state, AlertState::Inactive);
    assert!(alerts.instances().is_empty());
}

#[test]
fn what_is_remembered_goes_on_where_it_was() {
    let fields = "above = 10\nfor = \"5s\"";
    let wrong = jobs(&[("waiting", 11.0)]);
    let mut before = Alerts::new(rules(fields), Vec::new());
    before.step(0, &wrong);
    let text = serde_json::to_string(before.instances()).unwrap();
    let mut after = Alerts::new(rules(fields), serde_json::from_str(&text).unwrap());
    assert_eq!(after.step(4 * SECOND, &wrong), []);
    assert_eq!(after.step(5 * SECOND, &wrong)[0].state, AlertState::Firing);
    let other = Alerts::new(Vec::new(), after.instances().to_vec());
    assert!(other.instances().is_empty(), "a rule that is gone has no alert");
}

#[test]
fn what_is_remembered_stands_as_it_did_until_its_metric_is_measured() {
    let wrong = jobs(&[("waiting", 11.0), ("held", 12.0)]);
    let mut before = Alerts::new(rules("above = 10"), Vec::new());
    before.step(0, &wrong);
    let begin = || Alerts::new(rules("above = 10"), before.instances().to_vec());
    // Sensors say nothing before they are looked at for the first time.
    let mut after = begin();
    assert_eq!((after.step(SECOND, &[]), after.instances()), (vec![], before.instances()));
    assert_eq!(after.step(2 * SECOND, &wrong), []);
    let changed = after.step(3 * SECOND, &[]);
    assert_eq!(changed.len(), 2, "it was measured, and is not any more");
    // What is there once the metric is measured decides.
    let changed = begin().step(SECOND, &jobs(&[("waiting", 11.0)]));
    assert_eq!((changed.len(), changed[0].state), (1, AlertState::Resolved));
    assert_eq!(changed[0].labels["state"], "held");
    // A metric that is gone for good is not waited for without end.
    let mut after = begin();
    assert_eq!(after.step(SECOND, &[]), []);
    assert_eq!(after.step(AWAITED, &[]), []);
    assert_eq!(after.step(SECOND + AWAITED, &[]).len(), 2);
}

#[test]
fn an_alert_that_is_open_stays_so_however_many_sets_come_before_it() {
    let mut alerts = Alerts::new(rules("above = 10"), Vec::new());
    assert_eq!(alerts.step(0, &jobs(&[("z", 11.0)])).len(), 1);
    let names: Vec<_> = (0..SETS_MAX).map(|number| format!("a{number:03}")).collect();
    let mut many: Vec<_> = names.iter().map(|name| (name.as_str(), 12.0)).collect();
    many.push(("z", 11.0));
    let changed = alerts.step(SECOND, &jobs(&many));
    assert!(changed.iter().all(|alert| alert.state == AlertState::Firing), "{changed:?}");
    assert_eq!((changed.len(), alerts.instances().len()), (SETS_MAX - 1, SETS_MAX));
}

#[test]
fn whatever_decides_what_comes_next_is_news_and_a_value_alone_is_none() {
    let fields = "above = 10\nclear = 8\nclear_for = \"5s\"";
    let mut alerts = Alerts::new(rules(fields), Vec::new());
    let mut look = |at: u64, value: f64| {
        let before = alerts.instances().to_vec();
        let changed = alerts.step(at * SECOND, &jobs(&[("waiting", value)]));
        (is_news(&before, alerts.instances()), changed.len())
    };
    assert_eq!(look(0, 11.0), (true, 1), "it fires");
    assert_eq!(look(1, 12.0), (false, 0));
    assert_eq!(look(2, 7.0), (true, 0), "it begins to be calm");
    assert_eq!(look(3, 6.0), (false, 0));
    assert_eq!(look(4, 9.0), (true, 0), "it is calm no more");
}

#[test]
fn a_look_of_which_nobody_could_be_told_finds_the_same_again() {
    let mut alerts = Alerts::new(rules("above = 10"), Vec::new());
    for value in [11.0, 9.0] {
        let before = alerts.instances().to_vec();
        let changed = alerts.step(SECOND, &jobs(&[("waiting", value)]));
        assert_eq!(changed.len(), 1);
        alerts.take_back(before);
        assert_eq!(alerts.step(SECOND, &jobs(&[("waiting", value)])), changed);
    }
}

#[test]
fn rules_that_make_no_sense_are_refused_with_what_is_wrong() {
    let alert = "format = 1\n[[alert]]\nname = \"a\"\nmetric = \"m\"\n";
    for (text, what) in [
        ("format = 2\n".to_owned(), "this program reads 1"),
        ("format = 1\nevery = \"1ms\"\n".to_owned(), "give 1s to 1h"),
        ("format = 1\nevery = \"often\"\n".to_owned(), "`every`"),
        ("format = 1\nalerts = []\n".to_owned(), "unknown field"),
        (alert.to_owned(), "either `above` or `below`"),
        (format!("{alert}above = 1\nbelow = 2\n"), "either `above` or `below`"),
        (format!("{alert}above = 1\nclear = 2\n"), "beyond what is wrong"),
        (format!("{alert}below = 1\nclear = 0.5\n"), "beyond what is wrong"),
        (format!("{alert}above = 1\nfor = \"soon\"\n"), "`for`"),
        (format!("{alert}above = 1\nclear_for = \"1x\"\n"), "`clear_for`"),
        (format!("{alert}above = 1\nseverity = \"bad\"\n"), "unknown variant"),
        (format!("{alert}above = 1\n{}above = 2\n", &alert[11..]), "another alert has this name"),
        (format!("{alert}above = inf\n"), "beyond"),
        (
            "format = 1\nwebhook = { url = \"http://x\", secret_file = \"key\" }\n".to_owned(),
            "`secret_file` is \"key\"; begin it with /",
        ),
        ("format = 1\nwebhook = { url = \"ftp://x\" }\n".to_owned(), "begin it with http"),
    ] {
        let error = Rules::read(&text).expect_err(&text).to_string();
        assert!(error.contains(what), "{text}: {error}");
    }
}

#[test]
fn severity_and_summary_are_told() {
    let told = "above = 1\nseverity = \"critical\"\nsummary = \"look at it\"";
    let mut alerts = Alerts::new(rules(told), Vec::new());
    let view = alerts.step(0, &jobs(&[("waiting", 2.0)])).remove(0);
    assert_eq!((view.severity.as_str(), view.summary.as_str()), ("critical", "look at it"));
    let view = Alerts::new(rules("above = 1"), Vec::new()).views().remove(0);
    assert_eq!((view.severity.as_str(), view.value), ("warning", None));
}

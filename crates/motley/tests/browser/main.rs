//! The dashboard of a live daemon in a real browser.
//!
//! They need Debian's packages chromium and chromium-driver, and say that they are skipped where
//! those are not there. Pictures of what they see go where `MOTLEY_SHOTS` says, or among what cargo
//! keeps.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod driver;
mod everything;
mod many;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../live/place.rs"]
mod place;
mod stage;

use driver::Browser;
use place::wait_until;
use serde_json::json;
use stage::Stage;

#[test]
fn the_page_shows_what_is_and_follows_what_happens_without_being_loaded_again() {
    let Some(stage) = Stage::up() else { return };
    let job = stage.submit_line(&["--hold", "--name", "later"], "echo printed");
    let page = stage.open("admin", "/fleet");
    page.until("document.querySelectorAll('#fleet-map .tile[data-node]').length >= 8");
    page.until("document.querySelector('#fleet-count').textContent === '21 of 21 nodes'");
    assert_eq!(page.text("document.querySelector('#policy-name').textContent"), "default");
    page.run("window.kept = 'kept'; location.hash = '#/queue'");
    let row = format!("#queue-rows .row[data-job='{job}']");
    page.see(&format!("{row}[data-state=held]"));
    assert_eq!(stage.place.run(&["job", "release", &job]).0, 0);
    stage.place.wait(&job);
    // What has ended leaves the list, and comes back where it is asked for.
    page.until(&format!("!document.querySelector(\"{row}:not([hidden])\")"));
    page.click("#queue-ended");
    page.see(&format!("{row}[data-state=done]"));
    page.click(&row);
    page.until("document.querySelector('#log-text').textContent.includes('printed')");
    assert_eq!(page.text("window.kept"), "kept");
    assert_eq!(page.text("document.querySelector('#connection').dataset.state"), "live");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn the_queue_is_filtered_and_put_in_the_order_that_is_asked_for() {
    let Some(stage) = Stage::up() else { return };
    let waits = |name: &str, more: &[&str]| {
        stage.place.submit(&[&["--name", name, "--cpus", "4096"], more, &["--", "true"]].concat())
    };
    let low = waits("pear", &["--priority", "1"]);
    let high = waits("apple", &["--priority", "9", "--tenant", "fruit"]);
    let held = waits("quince", &["--priority", "5", "--hold"]);
    let page = stage.open("read", "/queue");
    page.until("document.querySelectorAll('#queue-rows .row:not([hidden])').length === 3");
    let shows = |expected: &[&String]| {
        let rows = "[...document.querySelectorAll('#queue-rows .row:not([hidden])')]
            .sort((one, other) => one.index - other.index).map(row => row.dataset.job)";
        page.until(&format!("JSON.stringify({rows}) === JSON.stringify({})", json!(expected)));
    };
    shows(&[&held, &high, &low]);
    let sorted = |by: &str| {
        page.click(&format!("[data-sort={by}]"));
        let head = format!("document.querySelector('[data-sort={by}]').parentElement");
        page.text(&format!("{head}.getAttribute('aria-sort')"))
    };
    assert_eq!(sorted("id"), "ascending");
    shows(&[&low, &high, &held]);
    assert_eq!(sorted("priority"), "descending");
    shows(&[&high, &held, &low]);
    assert_eq!(sorted("priority"), "ascending");
    shows(&[&low, &held, &high]);
    assert_eq!(sorted("submitted"), "descending");
    shows(&[&held, &high, &low]);
    assert_eq!(sorted("state"), "ascending");
    shows(&[&low, &high, &held]);
    page.choose("#queue-state", "held");
    shows(&[&held]);
    page.choose("#queue-state", "");
    page.choose("#queue-tenant", "fruit");
    shows(&[&high]);
    page.choose("#queue-tenant", "");
    page.write("#queue-text", "PEA");
    shows(&[&low]);
    page.write("#queue-text", "no such job");
    page.see(".state[data-for=jobs][data-kind=empty]");
    page.run("location.hash = '#/fleet'");
    page.write("#fleet-text", "small-1");
    page.until("document.querySelector('#fleet-count').textContent === '7 of 21 nodes'");
    page.choose("#fleet-model", "H100");
    page.until("document.querySelector('#fleet-count').textContent === '0 of 21 nodes'");
}

#[test]
fn a_token_of_the_address_is_one_and_replaces_another_only_once_that_is_confirmed() {
    let Some(stage) = Stage::up() else { return };
    let page = stage.open("read", "/queue");
    let is_of = |scope: &str| {
        page.until(&format!("document.querySelector('#scope').textContent === '{scope}'"));
        page.until("document.querySelector('#connection').dataset.state === 'live'");
    };
    is_of("read");
    for wrong in ["%", "%E0%A4", "a%20b", "%C3%BC", ""] {
        page.run(&format!("location.hash = '#token={wrong}&/queue'"));
        page.until("location.hash === '#/queue'");
        page.until("document.querySelector('#told').textContent.includes('no token')");
        page.run("document.querySelector('#told').textContent = ''");
    }
    is_of("read");
    let other = format!("location.hash = '#token={}&/fleet'", stage.token("admin"));
    page.run(&other);
    page.until("document.querySelector('#confirm').open");
    assert_eq!(page.text("location.hash"), "#/fleet", "no token stays in the address");
    page.click("[data-action=confirm-no]");
    page.until("!document.querySelector('#confirm').open");
    is_of("read");
    page.run(&other);
    page.until("document.querySelector('#confirm').open");
    page.click("[data-action=confirm-yes]");
    is_of("admin");
    // The one that is used already needs no question.
    page.run(&other);
    page.until("location.hash === '#/fleet'");
    assert_eq!(page.run("return document.querySelector('#confirm').open"), false);
}

#[test]
fn a_job_says_why_it_waits_and_what_would_start_it() {
    let Some(stage) = Stage::up() else { return };
    let job = stage.place.submit(&["--gpus", "H100:9", "--time", "1h", "--", "true"]);
    let page = stage.open("read", "/queue");
    let row = format!("#queue-rows .row[data-job='{job}']");
    page.until(&format!("document.querySelector(\"{row} .two[data-change]\").dataset.change"));
    page.click(&row);
    page.see("#job-why [data-remedy]");
    let why = page.text("document.querySelector('#job-why').innerText");
    let (_, told, _) = stage.place.run(&["job", "explain", &job]);
    let remedy = page.text("document.querySelector('#job-why [data-remedy]').textContent");
    // The page says what the program says.
    assert!(told.to_lowercase().contains(&remedy.to_lowercase()), "{remedy}\n{told}");
    assert!(why.contains("Smallest changes") && why.contains("Expected start"), "{why}");
    page.see("#job-why [data-expected]");
}

#[test]
fn what_a_token_may_is_done_once_it_is_confirmed_and_what_it_may_not_says_why() {
    let Some(stage) = Stage::up() else { return };
    let wait = || stage.place.submit(&["--cpus", "4096", "--", "true"]);
    let state = |job: &str| stage.place.json(&["job", "show", job, "--json"])["state"].clone();
    for scope in ["submit", "admin"] {
        let job = wait();
        let page = stage.open(scope, &format!("/job/{job}"));
        page.click("[data-action=cancel]");
        page.click("[data-action=confirm-no]");
        page.until("!document.querySelector('#confirm').open");
        assert_eq!(state(&job), "waiting", "it was not confirmed");
        page.click("[data-action=cancel]");
        page.click("[data-action=confirm-yes]");
        page.see("#job-state [data-state=cancelled]");
        assert_eq!(state(&job), "cancelled");
    }
    let job = wait();
    let page = stage.open("read", &format!("/job/{job}"));
    page.see("[data-action=cancel]:disabled");
    let why = page.text("document.querySelector('#job-actions .why-not').textContent");
    assert!(why.contains("may only read"), "{why}");
    let node = "small-3";
    let drained = || {
        let nodes = stage.place.json(&["nodes", "--json"]);
        let node = nodes.as_array().unwrap().iter().find(|it| it["name"] == node).unwrap();
        node["state"] == "drained"
    };
    for scope in ["read", "submit"] {
        let page = stage.open(scope, &format!("/fleet/{node}"));
        page.see("[data-action=drain]:disabled");
        assert!(page.text("document.querySelector('#node .why-not').textContent").contains(scope));
    }
    let page = stage.open("admin", &format!("/fleet/{node}"));
    page.click("[data-action=drain]");
    page.click("[data-action=confirm-yes]");
    page.see(&format!("#fleet-map .tile[data-node={node}][data-state=drained]"));
    assert!(drained());
    page.click("[data-action=resume]");
    page.click("[data-action=confirm-yes]");
    page.see(&format!("#fleet-map .tile[data-node={node}][data-state=up]"));
    wait_until("it is back", || !drained());
}

#[test]
fn a_job_is_submitted_from_the_page_once_it_is_said_what_would_happen() {
    let Some(stage) = Stage::with("") else { return };
    let page = stage.open("submit", "/submit");
    page.write("#f-command", "sh -c 'echo from the page'");
    page.write("#f-name", "typed");
    page.write("#f-directory", "/");
    page.click("#submit-ask");
    page.until("document.querySelector('#submit-told').textContent.length > 20");
    page.click("#submit-go");
    page.click("[data-action=confirm-yes]");
    page.until("location.hash.startsWith('#/job/')");
    page.until("document.querySelector('#log-text').textContent.includes('from the page')");
    let page = stage.open("read", "/submit");
    page.see("#submit-go:disabled, #submit-why");
    assert_eq!(stage.place.json(&["jobs", "--all", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_daemon_that_was_killed_and_is_back_is_found_again_by_the_page_itself() {
    let Some(stage) = Stage::up() else { return };
    let job = stage.place.submit(&["--cpus", "4096", "--name", "before", "--", "true"]);
    let page = stage.open("admin", "/queue");
    page.see(&format!("#queue-rows .row[data-job='{job}']"));
    page.run("window.kept = 'kept'");
    stage.place.kill_daemon();
    page.until("document.querySelector('#connection').dataset.state !== 'live'");
    let address = stage.address.strip_prefix("http://").unwrap();
    stage.place.start_with(&["--listen", address]);
    let next = stage.place.submit(&["--cpus", "4096", "--name", "after", "--", "true"]);
    page.until("document.querySelector('#connection').dataset.state === 'live'");
    page.see(&format!("#queue-rows .row[data-job='{next}']"));
    page.see(&format!("#queue-rows .row[data-job='{job}']"));
    assert_eq!(stage.place.run(&["job", "cancel", &next]).0, 0);
    page.until(&format!("!document.querySelector(\".row[data-job='{next}']:not([hidden])\")"));
    assert_eq!(page.text("window.kept"), "kept");
}

#[test]
fn a_token_that_does_not_hold_is_asked_for_again_with_the_reason() {
    let Some(stage) = Stage::up() else { return };
    let page = Browser::open();
    page.go(&format!("{}/#token=motley_wrong", stage.address));
    page.see("#login");
    page.until("document.querySelector('#login-reason').textContent.includes('not known')");
    assert!(!page.text("location.href").contains("motley_wrong"));
    page.write("#token", &stage.token("read"));
    page.click("[data-action=use-token]");
    page.until("document.querySelector('#connection').dataset.state === 'live'");
    page.until("document.querySelector('#scope').textContent.includes('read')");
    // One that is revoked meanwhile is asked for again.
    assert_eq!(stage.place.run(&["token", "revoke", "read"]).0, 0);
    page.run("location.reload()");
    page.see("#login");
}

#[test]
fn keys_alone_lead_to_a_job() {
    let Some(stage) = Stage::up() else { return };
    let jobs = ["one", "two", "three"]
        .map(|name| stage.place.submit(&["--cpus", "4096", "--name", name, "--", "true"]));
    let page = stage.open("read", "/fleet");
    page.see("#fleet-map .tile[data-node]");
    let (tab, enter, down) = ("\u{e004}", "\u{e007}", "\u{e015}");
    let focused = |selector: &str| {
        page.run(&format!("return document.activeElement.matches({selector:?})")) == json!(true)
    };
    let tab_to = |selector: &str| {
        for _ in 0..60 {
            if focused(selector) {
                return;
            }
            page.press(&[tab]);
        }
        panic!("no number of tabs leads to {selector}");
    };
    page.run("document.activeElement.blur()");
    tab_to("[data-nav=queue]");
    page.press(&[enter]);
    page.until("document.querySelectorAll('#queue-rows .row:not([hidden])').length === 3");
    tab_to("#queue-grid");
    page.see("#queue-rows .row.active");
    page.press(&[down, enter]);
    page.until(&format!("location.hash === '#/job/{}'", jobs[1]));
    page.until("document.querySelector('#job-title').textContent.includes('two')");
    page.press(&["\u{e00c}"]);
    page.until("location.hash === '#/queue'");
}

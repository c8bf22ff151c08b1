//! A long queue and a large fleet on the page.

use std::io::Write as _;

use crate::stage::Stage;

const FLEET: &str = r#"
format = 1

[device.EPYC]
kind = "cpu"

[device.A100]
kind = "gpu"
memory = "40GiB"
share = "milli"

[[node]]
name = "node"
count = 500
cpu = "EPYC"
cores = 32
memory = "256GiB"
devices = { A100 = 8 }
"#;

const JOBS: usize = 10_000;

/// Longer than this in one piece, and the page would seem to stand still; machines of tests are
/// slow and shared.
const FROZEN_MILLIS: f64 = 5_000.0;

/// Watches for work of the page that holds up everything else.
const WATCH: &str = "
    window.longest = 0;
    new PerformanceObserver(list => {
      for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration);
    }).observe({ type: 'longtask', buffered: true })";

#[test]
fn ten_thousand_jobs_and_five_hundred_nodes_are_listed_without_freezing() {
    let Some(stage) = Stage::with(FLEET) else { return };
    let path = stage.place.file("jobs.toml");
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "format = 1").unwrap();
    // All wait: what is measured is the page.
    for number in 0..JOBS {
        let cores = 1_000 + number % 7;
        writeln!(file, "[[job]]\nname = \"job-{number}\"\ncommand = [\"true\"]\ncores = {cores}")
            .unwrap();
    }
    drop(file);
    let (status, _, errors) = stage.place.run(&["submit", "--file", &path]);
    assert_eq!(status, 0, "{errors}");
    let page = stage.open("admin", "/queue");
    page.run(WATCH);
    page.until("document.querySelector('#queue-count').textContent.startsWith('10,000 shown')");
    page.until("window.motley.firstPaint > 0");
    let paint = page.number("window.motley.firstPaint");
    // Only what is seen is in the document.
    let rows = page.number("document.querySelectorAll('#queue-rows .row').length");
    assert!((10.0..200.0).contains(&rows), "{rows}");
    page.run("document.querySelector('#queue-rows').scrollTop = 1e9");
    page.see("#queue-rows .row[data-job='1']");
    page.click("[data-sort=id]");
    page.see("#queue-rows .row[data-job='10000']");
    page.write("#queue-text", "job-77");
    page.until("document.querySelector('#queue-count').textContent.startsWith('111 shown')");
    page.write("#queue-text", " ");
    let before = page.number("window.motley.updates");
    assert_eq!(stage.place.run(&["job", "cancel", "77", "78", "79"]).0, 0);
    page.until("document.querySelector('#queue-count').textContent.startsWith('9,997 shown')");
    page.until(&format!("window.motley.updates > {before}"));
    let (last, longest) = (
        page.number("window.motley.lastUpdateMillis"),
        page.number("window.motley.longestUpdateMillis"),
    );
    page.shoot("many-queue");
    page.run("location.hash = '#/fleet'");
    page.until("document.querySelector('#fleet-count').textContent === '501 of 501 nodes'");
    let tiles = page.number("document.querySelectorAll('#fleet-map .tile').length");
    assert!((10.0..200.0).contains(&tiles), "{tiles}");
    page.shoot("many-fleet");
    // Everything changes at once.
    page.run("location.hash = '#/queue'");
    assert_eq!(stage.place.run(&["job", "cancel", "--all"]).0, 0);
    page.until("document.querySelector('#queue-count').textContent.startsWith('0 shown')");
    let (flood, task) =
        (page.number("window.motley.longestUpdateMillis"), page.number("window.longest"));
    println!(
        "{JOBS} jobs and 501 nodes: first paint {paint:.0} ms, update {last:.1} ms, longest of a \
         few {longest:.1} ms, longest when all are cancelled {flood:.1} ms, longest task {task:.0} ms"
    );
    assert!(task < FROZEN_MILLIS && flood < FROZEN_MILLIS, "{task} {flood}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

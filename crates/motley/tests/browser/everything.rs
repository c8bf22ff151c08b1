//! Every part of the page with a mixed workload behind it, wide and narrow, light and dark.

use crate::driver::{Browser, HEIGHT, Look, NARROW, WIDE};
use crate::place::wait_until;
use crate::stage::{MODELLED, Stage};

const LOOKS: [Look; 4] =
    [WIDE, Look { scheme: "dark", ..WIDE }, NARROW, Look { scheme: "dark", ..NARROW }];

/// Jobs of every state; the numbers of one that waits, one that runs, and one that has failed.
fn workload(stage: &Stage) -> [String; 3] {
    let modelled = |name: &str, asked: &str| {
        let asked: Vec<&str> = asked.split_whitespace().collect();
        let command = ["--", "python", "train.py", "--epochs", "90"];
        stage.place.submit(&[&MODELLED[..], &["--name", name], &asked, &command].concat())
    };
    let line = |name: &str, more: &[&str], line: &str| {
        stage.submit_line(&[&["--name", name], more].concat(), line)
    };
    stage.place.wait(&line("prepare", &[], "echo prepared"));
    let scores = "echo scores of $MOTLEY_TASK_INDEX; echo no such checkpoint >&2; \
                  exit $MOTLEY_TASK_INDEX";
    let failed = line("evaluate", &["--array", "1-3"], scores);
    stage.place.wait(&failed);
    let steps = "i=0; while [ $i -lt 40 ]; do echo step $i of training, loss 0.$i; i=$((i+1)); \
                 done; sleep 3600";
    let runs = line("train-here", &["--time", "2h"], steps);
    let long = "llm-pretraining-with-a-long-name";
    modelled(long, "--gpus H100:8 --cpus 48 --mem 700G --array 0-5 --time 1-12:00:00");
    modelled("resnet", "--gpus A100:1 --cpus 3 --mem 20G --array 1-60 --time 2m --tenant vision");
    modelled(
        "serve",
        "--gpus A100:1 --gpu-share 0.5 --gpu-mem 8G --array 0-19 --time 6h --priority 5",
    );
    let first = modelled("short", "--cpus 2 --time 5s --array 1-30");
    modelled("tune", "--gpus A100:2 --cpus 8 --array 1-9 --time 10m --tenant vision");
    modelled("large", "--gpus H100:4 --time 3h --tenant language");
    modelled("report", &format!("--after {runs}"));
    modelled("someday", "--hold --priority -3");
    let never = modelled("too-large", "--gpus H100:9 --time 1h");
    stage.place.wait(&first);
    assert_eq!(stage.place.run(&["node", "drain", "small-5"]).0, 0);
    [never, runs, failed]
}

/// Waits until nothing of a part is being fetched.
fn settle(page: &Browser, part: &str) {
    page.until(&format!("document.querySelector('[data-panel={part}]').checkVisibility()"));
    page.until(&format!(
        "!document.querySelector('[data-panel={part}] .state[data-kind=loading]')
         && !document.querySelector('[data-panel={part}] [aria-busy=true]')
         && document.querySelector('[data-panel={part}]').ariaBusy !== 'true'
         && !/being (fetched|explained)/i.test(document.querySelector('main').innerText)"
    ));
}

/// What sticks out of the window and lies in nothing that scrolls by itself or cuts its text.
/// The body hides what sticks out, so that its width alone would tell nothing.
const OUTSIDE: &str = "
    const wide = document.documentElement.clientWidth;
    const kept = ['auto', 'scroll', 'hidden', 'clip'];
    const isInside = node => {
      for (let it = node.parentElement; it !== document.body; it = it.parentElement)
        if (kept.includes(getComputedStyle(it).overflowX)) return true;
      return false;
    };
    return [...document.querySelectorAll('body *')].filter(node => {
      const box = node.getBoundingClientRect();
      return box.width > 1 && box.right > wide + 1 && node.checkVisibility()
        && !node.closest('.unseen, .skip') && !isInside(node);
    }).map(node => node.tagName + '#' + node.id + '.' + node.className).slice(0, 5).join(' ')";

#[test]
fn every_part_fits_wide_and_narrow_and_is_light_or_dark_as_the_system_is() {
    let Some(stage) = Stage::up() else { return };
    let [waits, runs, failed] = workload(&stage);
    wait_until("the alert fires", || {
        stage.place.json(&["alerts", "--json"]).to_string().contains("firing")
    });
    let page = stage.open("admin", "/fleet");
    let parts = [
        ("fleet", "#/fleet".to_owned()),
        ("fleet", "#/fleet/small-2".to_owned()),
        ("queue", "#/queue".to_owned()),
        ("job", format!("#/job/{waits}")),
        ("job", format!("#/job/{runs}")),
        ("job", format!("#/job/{failed}")),
        ("submit", "#/submit".to_owned()),
        ("timeline", "#/timeline".to_owned()),
        ("phases", "#/phases".to_owned()),
        ("policy", "#/policy".to_owned()),
        ("front", "#/front".to_owned()),
        ("alerts", "#/alerts".to_owned()),
        ("events", "#/events".to_owned()),
    ];
    for look in LOOKS {
        page.look(look);
        let dark = page.run("return matchMedia('(prefers-color-scheme: dark)').matches");
        assert_eq!(dark, look.scheme == "dark");
        let ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)";
        let bright =
            page.number(&format!("{ground}.slice(0, 3).reduce((sum, one) => sum + +one, 0)"));
        assert_eq!(bright < 300.0, look.scheme == "dark", "{look:?}: {bright}");
        for (place, (part, route)) in parts.iter().enumerate() {
            page.run(&format!("location.hash = {route:?}"));
            settle(&page, part);
            let Look { width, scheme } = look;
            page.shoot(&format!("{width}-{scheme}-{place:02}-{part}"));
            let outside = page.run(OUTSIDE);
            assert_eq!(outside, "", "{route} at {width} × {HEIGHT}");
            let all = page.number("document.documentElement.scrollWidth");
            assert!(all <= f64::from(width), "{route} at {width} is {all} wide");
            let odd = page.run(
                "return (document.querySelector('main').innerText
                    .match(/undefined|NaN|\\[object|null|Infinity/g) ?? []).join(' ')",
            );
            assert_eq!(odd, "", "{route} says odd things");
        }
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

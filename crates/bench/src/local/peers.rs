//! The peers, each only where it is installed.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Deserialize;

use super::latency::{Latency, stamp};
use super::meter::{Cost, measure};
use super::{SLOTS, TASK};

/// HyperQueue through its own API, as one process of Python: server, worker and client. It prints
/// one line of JSON for the tasks, and one for each try of the latency.
const HYPERQUEUE: &str = "
import json, sys, time
from hyperqueue import LocalCluster, Job
from hyperqueue.cluster import WorkerConfig
tasks, tries, task = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
stamp, file = sys.argv[4:7], sys.argv[7]
import resource, os
def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=2))
    client = cluster.client()
    job = Job()
    for _ in range(tasks):
        job.program([task], stdout=None, stderr=None)
    before, began = cpu(), time.time()
    client.wait_for_jobs([client.submit(job)])
    cost = dict(cpu=cpu() - before, wall=time.time() - began)
    millis = []
    for _ in range(tries):
        try: os.unlink(file)
        except FileNotFoundError: pass
        job = Job()
        job.program(stamp, stdout=None, stderr=None)
        asked = time.time()
        submitted = client.submit(job)
        while not os.path.exists(file): time.sleep(0.001)
        millis.append((float(open(file).read()) - asked) * 1000)
        client.wait_for_jobs([submitted])
        time.sleep(0.02)
print(json.dumps(dict(cost=cost, millis=millis)))
";

/// What was measured of HyperQueue.
pub(super) struct HyperQueue {
    pub(super) cost: Cost,
    pub(super) latency: Option<Latency>,
}

#[derive(Deserialize)]
struct Told {
    cost: ToldCost,
    millis: Vec<f64>,
}

#[derive(Deserialize)]
struct ToldCost {
    cpu: f64,
    wall: f64,
}

/// HyperQueue's wheel through its API, where Python has it. Its latency has no client to start.
pub(super) fn hyperqueue(tasks: usize, tries: usize) -> anyhow::Result<Option<HyperQueue>> {
    let mut known = Command::new("python3");
    known.args(["-c", "import hyperqueue"]).stderr(Stdio::null()).stdout(Stdio::null());
    if !known.status().is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let folder = std::env::temp_dir().join(format!("motley-bench-hq-{}", std::process::id()));
    fs::create_dir_all(&folder).context("make a directory for HyperQueue")?;
    let file = folder.join("stamp");
    let mut command = Command::new("python3");
    command.args(["-c", HYPERQUEUE]).arg(tasks.to_string()).arg(tries.to_string()).arg(TASK);
    command.args(stamp(&file)?).arg(&file).current_dir(&folder).stdin(Stdio::null());
    let done = command.output().context("run HyperQueue")?;
    let _ = fs::remove_dir_all(&folder);
    ensure!(done.status.success(), "run HyperQueue: {}", String::from_utf8_lossy(&done.stderr));
    let told = String::from_utf8_lossy(&done.stdout);
    let told: Told = told
        .lines()
        .rev()
        .find_map(|line| serde_json::from_str(line).ok())
        .context("understand what HyperQueue's run printed")?;
    let seconds = std::time::Duration::from_secs_f64;
    let cost = Cost { tasks, cpu: seconds(told.cost.cpu), wall: seconds(told.cost.wall) };
    let mut millis = told.millis;
    millis.sort_by(f64::total_cmp);
    let at = |part: usize| millis.get(millis.len() * part / 100).copied();
    let latency = at(50).zip(at(95)).map(|(p50, p95)| Latency { p50, p95 });
    Ok(Some(HyperQueue { cost, latency }))
}

/// `xargs` with as many slots.
pub(super) fn xargs(tasks: usize) -> anyhow::Result<Option<Cost>> {
    let script = format!("seq {tasks} | xargs -P{SLOTS} -n1 {TASK}");
    shell("xargs", tasks, &script)
}

/// task-spooler with as many slots, one call for each task.
pub(super) fn task_spooler(tasks: usize) -> anyhow::Result<Option<Cost>> {
    let Some(program) = found("tsp") else { return Ok(None) };
    let tsp = program.display();
    let script = format!(
        "export TS_SOCKET=$(mktemp -u); {tsp} -S {SLOTS}; \
         for i in $(seq {tasks}); do {tsp} -nf {TASK} & [ $((i % 20)) = 0 ] && wait; done; wait; {tsp} -K"
    );
    shell("tsp", tasks, &script)
}

fn shell(program: &str, tasks: usize, script: &str) -> anyhow::Result<Option<Cost>> {
    if found(program).is_none() {
        return Ok(None);
    }
    let cost = measure(tasks, &[], || {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null());
        let status = command.status().with_context(|| format!("run {program}"))?;
        ensure!(status.success(), "run {program}: it ended with {status}");
        Ok(())
    })?;
    Ok(Some(cost))
}

/// A program along the path.
fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

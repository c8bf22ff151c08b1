//! What it costs to run tasks on one machine: Motley beside the bare floor and peers, in one run.
//!
//! Cost is CPU time of everything that takes part: of what this program starts,
//! as the system accounts for children, and of daemons, as `/proc` says. Wall
//! time is told too, and means little on a machine that others use.

mod latency;
mod meter;
pub(crate) mod motley;
mod peers;
mod queue;

pub(crate) use latency::by_connection;
pub use latency::write_stamp;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};

use crate::args::Local;
use crate::record::{Aim, Record};

use meter::Cost;
use motley::Motley;

/// The program that every task runs: it does nothing.
const TASK: &str = "/bin/true";

/// How many tasks run at a time.
const SLOTS: usize = 2;

/// Measures, and says what came of it.
///
/// # Errors
/// If Motley's program is not there, or does not do what it should.
pub fn run(asked: &Local) -> anyhow::Result<(String, Vec<Record>)> {
    let tasks = asked.tasks.unwrap_or(if asked.quick { 200 } else { 2_000 });
    let tries = if asked.quick { 10 } else { 100 };
    let program = match &asked.motley {
        Some(program) => program.clone(),
        None => beside()?,
    };
    ensure!(program.is_file(), "find {}: build it first: cargo build --release", program.display());
    let mut sheet = Sheet::default();
    let floor = meter::floor(tasks)?;
    sheet.cost("floor", Some(floor), None);
    let daemon = Motley::start(&program)?;
    let (idle, idle_each) = (daemon.together_kib()?, daemon.resident_kib()?);
    let bare = daemon.array(tasks, &["--output", "none"])?;
    let full = daemon.array(tasks, &["--output", "keep", "--mem", "64M"])?;
    let by_client = latency::by_client(&daemon, tries)?;
    let by_connection = by_connection(&daemon, tries)?;
    drop(daemon);
    sheet.cost("bare", Some(bare), Some(Aim::Most(1.0)));
    sheet.cost("full", Some(full), Some(Aim::Most(1.3)));
    let queued = queue::measure(&program, if asked.quick { 10_000 } else { 100_000 })?;
    let hyperqueue = peers::hyperqueue(tasks, tries)?;
    sheet.cost("hyperqueue", hyperqueue.as_ref().map(|found| found.cost), None);
    sheet.cost("xargs", peers::xargs(tasks)?, None);
    sheet.cost("task_spooler", peers::task_spooler(tasks.min(500))?, None);
    let ratio = bare.cpu_ms() / floor.cpu_ms();
    sheet.add("cpu_per_task_ratio_to_floor.bare", ratio, "ratio", Some(Aim::Most(1.7)));
    if let Some(peer) = &hyperqueue {
        let ratio = bare.cpu_ms() / peer.cost.cpu_ms();
        sheet.add("cpu_per_task_ratio_to_hyperqueue.bare", ratio, "ratio", None);
    }
    sheet.add("submit_start_p50_ms", by_client.p50, "ms", None);
    sheet.add("submit_start_p95_ms", by_client.p95, "ms", Some(Aim::Most(15.0)));
    sheet.add("submit_start_p50_ms.connected", by_connection.p50, "ms", None);
    sheet.add("submit_start_p95_ms.connected", by_connection.p95, "ms", None);
    // Its figure has no client to start either.
    if let Some(peer) = hyperqueue.and_then(|found| found.latency) {
        sheet.add("submit_start_p50_ms.hyperqueue", peer.p50, "ms", None);
        sheet.add("submit_start_p95_ms.hyperqueue", peer.p95, "ms", None);
        let ratio = by_connection.p50 / peer.p50;
        let aim = Some(Aim::Most(0.25));
        sheet.add("submit_start_p50_ratio_to_hyperqueue", ratio, "ratio", aim);
    }
    sheet.add("idle_daemon_mib", idle / 1024.0, "MiB", Some(Aim::Most(15.0)));
    sheet.add("idle_daemon_mib.added_up", idle_each / 1024.0, "MiB", None);
    sheet.add("array_daemon_mib", queued.array_kib / 1024.0, "MiB", None);
    sheet.add("distinct_daemon_mib", queued.distinct_kib / 1024.0, "MiB", None);
    sheet.add("bytes_per_queued_job", queued.bytes_per_job, "B", Some(Aim::Most(2_000.0)));
    Ok((sheet.text(tasks), sheet.records))
}

/// Motley's program, where cargo puts it beside this one.
pub(crate) fn beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("find this program")?;
    Ok(own.with_file_name("motley"))
}

/// What was measured.
#[derive(Default)]
struct Sheet {
    records: Vec<Record>,
    absent: Vec<&'static str>,
}

impl Sheet {
    fn add(&mut self, name: &str, value: f64, unit: &'static str, aim: Option<Aim>) {
        self.records.push(Record::new(name.to_owned(), value, unit, aim));
    }

    fn cost(&mut self, who: &'static str, cost: Option<Cost>, aim: Option<Aim>) {
        let Some(cost) = cost else {
            self.absent.push(who);
            return;
        };
        self.add(&format!("cpu_per_task_ms.{who}"), cost.cpu_ms(), "ms", aim);
        self.add(&format!("tasks_per_s.{who}"), cost.tasks_per_s(), "1/s", None);
    }

    fn text(&self, tasks: usize) -> String {
        let mut text = format!("{tasks} tasks of {TASK}, {SLOTS} at a time\n");
        for record in &self.records {
            let met = match (record.aim, record.met) {
                (Some(aim), Some(true)) => format!("  aim {aim}: met"),
                (Some(aim), _) => format!("  aim {aim}: missed"),
                _ => String::new(),
            };
            let Record { name, value, unit, .. } = record;
            let _ = writeln!(text, "{name:<42} {value:>12.3} {unit:<6}{met}");
        }
        for absent in &self.absent {
            let _ = writeln!(text, "{absent}: skipped, it is not installed");
        }
        text
    }
}

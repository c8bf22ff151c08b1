//! What a daemon says, as text.

use std::time::{SystemTime, UNIX_EPOCH};

use fleet::{Bytes, Time};

use super::{lines_of, plain_table, words};
use server::api::{
    AlertView, DeviceView, JobView, NodeView, PhaseView, StatusView, TokenView, UsageView,
};

/// How the daemon is.
#[must_use]
pub fn status(status: &StatusView) -> String {
    let StatusView { version, pid, directory, policy, jobs, running, notes, .. } = status;
    let mut text =
        format!("motley {version} runs in {directory} as process {pid}, under policy {policy}\n");
    if let Some(address) = &status.address {
        text.push_str(&format!("dashboard: {address}/ (motley token create makes a token)\n"));
    }
    let jobs: Vec<_> = jobs.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let jobs = if jobs.is_empty() { "none".to_owned() } else { jobs.join(", ") };
    text.push_str(&format!("jobs: {jobs}; tasks running: {running}\n"));
    for note in notes {
        text.push_str(&format!("note: {note}\n"));
    }
    let phases = &status.phases;
    if !phases.is_empty() {
        text.push_str("\nmilliseconds of turns in which something was asked or ordered\n");
        text.push_str(&costs(phases));
    }
    text
}

/// What turns cost.
fn costs(phases: &[PhaseView]) -> String {
    let mut table = plain_table();
    table.set_header(["phase", "count", "mean", "p50", "p95", "p99", "max"]);
    for view in phases {
        let PhaseView { phase, count, mean_ms, p50_ms, p95_ms, p99_ms, max_ms } = view;
        let figures = [mean_ms, p50_ms, p95_ms, p99_ms, max_ms].map(|ms| format!("{ms:.3}"));
        table.add_row([phase.clone(), count.to_string()].into_iter().chain(figures));
    }
    lines_of(&table)
}

/// A table of jobs.
#[must_use]
pub fn jobs(jobs: &[JobView]) -> String {
    if jobs.is_empty() {
        return "no jobs\n".to_owned();
    }
    let mut table = plain_table();
    table.set_header(["job", "name", "tenant", "state", "tasks", "submitted", "reason"]);
    for job in jobs {
        table.add_row([
            job.id.to_string(),
            words::clip(&job.name),
            words::clip(&job.tenant),
            job.state.clone(),
            tasks(job),
            moment(job.submitted),
            job.reason.clone().unwrap_or_default(),
        ]);
    }
    lines_of(&table)
}

/// How the tasks of a job stand, in short: `3/10` of which so many have ended.
fn tasks(job: &JobView) -> String {
    let ended = job.done + job.failed + job.cancelled;
    format!("{ended}/{}", job.tasks)
}

/// A job in full.
#[must_use]
pub fn job(job: &JobView) -> String {
    let mut text = format!(
        "{} (job {}) of {}: {}\n  runs {}\n  submitted {}",
        words::clip(&job.name),
        job.id,
        words::clip(&job.tenant),
        job.state,
        job.command,
        moment(job.submitted)
    );
    if let Some(ended) = job.ended {
        text.push_str(&format!(", ended {}", moment(ended)));
    }
    let JobView { tasks, waiting, running, done, failed, cancelled, .. } = job;
    text.push_str(&format!(
        "\n  {}: {waiting} waiting, {running} running, {done} done, {failed} failed, {cancelled} \
         cancelled\n",
        words::count((*tasks).into(), "task")
    ));
    if let Some(used) = job.used {
        text.push_str(&format!("  used {}\n", usage(used)));
    }
    if let Some(reason) = &job.reason {
        text.push_str(&format!("  {reason}\n"));
    }
    for run in &job.runs {
        let since = moment(run.since);
        let (task, attempt) = (run.task, run.attempt + 1);
        text.push_str(&format!(
            "  task {task}, attempt {attempt}: on {} with {}, since {since}{}\n",
            run.node,
            run.grant,
            run.used.map_or(String::new(), |used| format!(", used {}", usage(used)))
        ));
    }
    for (task, failure) in &job.failures {
        text.push_str(&format!("  task {task} failed: {failure}\n"));
    }
    text
}

fn usage(used: UsageView) -> String {
    let UsageView { cpu_seconds, memory_bytes } = used;
    format!("{cpu_seconds:.2} s of processor time and at most {} of memory", Bytes(memory_bytes))
}

/// A table of nodes.
#[must_use]
pub fn nodes(nodes: &[NodeView]) -> String {
    let mut table = plain_table();
    table.set_header(["node", "state", "cpu", "free cores", "free memory", "devices", "runs"]);
    for node in nodes {
        let device = |it: &DeviceView| {
            format!("{} {}: {} of {} free", it.kind, it.model, it.share.free, it.share.whole)
        };
        let devices: Vec<_> = node.devices.iter().map(device).collect();
        table.add_row([
            words::clip(&node.name),
            node.state.clone(),
            words::clip(&node.model),
            format!("{} of {}", node.cores.free, node.cores.whole),
            format!("{} of {}", memory(node.memory_bytes.free), memory(node.memory_bytes.whole)),
            words::list(&devices, "; "),
            node.runs.to_string(),
        ]);
    }
    lines_of(&table)
}

/// A table of alerts.
#[must_use]
pub fn alerts(alerts: &[AlertView]) -> String {
    if alerts.is_empty() {
        return "no rules of alerts; motley up --alerts FILE brings some\n".to_owned();
    }
    let mut table = plain_table();
    table.set_header(["alert", "severity", "state", "value", "since", "labels", "rule", "summary"]);
    for alert in alerts {
        let labels: Vec<_> = alert.labels.iter().map(|(k, text)| format!("{k}={text}")).collect();
        table.add_row([
            words::clip(&alert.name),
            alert.severity.clone(),
            format!("{:?}", alert.state).to_lowercase(),
            alert.value.map_or_else(String::new, |value| value.to_string()),
            if alert.since == 0 { String::new() } else { moment(alert.since) },
            words::list(&labels, ", "),
            alert.rule.clone(),
            words::clip(&alert.summary),
        ]);
    }
    lines_of(&table)
}

/// A table of tokens.
#[must_use]
pub fn tokens(tokens: &[TokenView]) -> String {
    if tokens.is_empty() {
        return "no tokens\n".to_owned();
    }
    let mut table = plain_table();
    table.set_header(["token", "scope", "user", "created", "holds until"]);
    for token in tokens {
        table.add_row([
            token.name.clone(),
            token.scope.name().to_owned(),
            token.user.to_string(),
            moment(token.made),
            token.expires.map_or_else(|| "it is revoked".to_owned(), moment),
        ]);
    }
    lines_of(&table)
}

/// Memory as a quantity; what is shown is a whole number of bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was whole")]
fn memory(bytes: f64) -> Bytes {
    Bytes(bytes as u64)
}

fn moment(micros: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
    words::moment(Time(micros), Some(Time(now.max(micros))))
}

//! Running a job and waiting for it: its output here, its status ours.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use fleet::{Failure, Output};

use super::submit::{Numbers, describe};
use super::{finish, logs, up};
use crate::api::{Call, Chosen, JobView};
use crate::args::live::{Run, Up};
use crate::client::Client;
use crate::daemon::Place;
use crate::out;

/// How often output that has come is shown.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether the user has asked for the end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub(super) fn main(args: &Run) -> ExitCode {
    finish(run(args))
}

fn run(args: &Run) -> anyhow::Result<ExitCode> {
    let submission = describe(&args.job)?;
    let place = Place::choose(args.job.at.directory.as_deref())?;
    if args.up && Client::connect(&place).is_err() {
        let at = args.job.at.clone();
        up::start(&Up { at, detach: true, inventory: None, policy: None }, &place)?;
    }
    let mut client = Client::connect(&place)?;
    let shows = submission.output == Output::Kept && submission.job["tasks"] == 1;
    let numbers: Numbers = client.ask(&Call::Submit { jobs: vec![submission] })?;
    let number = *numbers.jobs.first().context("hear the number of the job")?;
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .context("listen for ctrl-C")?;
    let job = number.to_string();
    let waits = job.clone();
    let mut waiting = Client::connect(&place)?;
    let waiter = thread::spawn(move || waiting.ask::<JobView>(&Call::Wait { job: waits }));
    let mut shown = Shown { job: job.clone() };
    while !waiter.is_finished() {
        let printed = if shows { shown.show_more(&mut client) } else { Ok(()) };
        // Where nobody reads what it prints any more, it ends as any command in a pipe does.
        if INTERRUPTED.swap(false, Ordering::SeqCst) || printed.is_err() {
            let jobs = Chosen::These(vec![job.clone()]);
            client.ask::<serde_json::Value>(&Call::Cancel { jobs })?;
        }
        printed?;
        thread::park_timeout(PAUSE);
    }
    let Ok(ended) = waiter.join() else { anyhow::bail!("wait for job {number}") };
    let view = ended?;
    if shows {
        shown.show_more(&mut client)?;
    }
    // A status is the program's own to explain; of the rest it could not speak.
    let own = Failure::Status(view.status).to_string();
    if let Some((task, failure)) = view.failures.first().filter(|(_, failure)| *failure != own) {
        out::print_error(&anyhow::anyhow!("finish job {number}: task {task}: {failure}"));
    }
    if view.tasks > 1 && view.state != "done" {
        let tally = format!("{} of {} tasks did their work", view.done, view.tasks);
        out::print_error(&anyhow::anyhow!("finish job {number}: {tally}"));
    }
    Ok(ExitCode::from(view.status))
}

/// What of the output of a job was shown.
struct Shown {
    job: String,
}

impl Shown {
    /// Shows everything that has come since.
    fn show_more(&mut self, client: &mut Client) -> anyhow::Result<()> {
        for errors in [false, true] {
            let mut follower = logs::Follower { job: self.job.clone(), task: None, errors };
            loop {
                // Acknowledged, and perhaps not yet taken in by a turn.
                let Ok((bytes, _)) = follower.more(client) else { break };
                if bytes.is_empty() {
                    break;
                }
                let show = if errors { out::print_error_bytes } else { out::print_bytes };
                show(&bytes)?;
            }
        }
        Ok(())
    }
}

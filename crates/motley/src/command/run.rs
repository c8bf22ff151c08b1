//! Running a job and waiting for it: its output here, its status ours.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use fleet::{Failure, Output};
use server::api::Chosen;

use super::submit::describe;
use super::{finish, logs, up};
use crate::args::live::{Run, Up};
use crate::client::{Change, Client, Spot};
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
        let up = Up {
            at,
            detach: true,
            inventory: None,
            model: None,
            no_model: false,
            policy: None,
            alerts: None,
            listen: None,
            behind_proxy: false,
        };
        up::start(&up, &place)?;
    }
    let mut client = Client::connect(&place)?;
    let shows = submission.output == Output::Kept && submission.job["tasks"] == 1;
    let numbers = client.submit(vec![submission])?;
    let number = *numbers.first().context("hear the number of the job")?;
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .context("listen for ctrl-C")?;
    let job = number.to_string();
    let waits = job.clone();
    let mut waiting = Client::connect(&place)?;
    let waiter = thread::spawn(move || waiting.wait(&waits));
    let mut shown = Shown::new(&job);
    while !waiter.is_finished() {
        let printed = if shows { shown.show_more(&mut client) } else { Ok(()) };
        // Where nobody reads what it prints any more, it ends as any command in a pipe does.
        if INTERRUPTED.swap(false, Ordering::SeqCst) || printed.is_err() {
            client.change(Change::Cancel, &Chosen::Jobs(vec![job.clone()]))?;
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
struct Shown([logs::Follower; 2]);

impl Shown {
    fn new(job: &str) -> Self {
        let follower = |errors| {
            // Of every attempt, the first one first.
            let spot = Spot { task: None, errors, attempt: Some(0), from: 0 };
            logs::Follower { job: job.to_owned(), spot }
        };
        Self([follower(false), follower(true)])
    }

    /// Shows everything that has come since.
    fn show_more(&mut self, client: &mut Client) -> anyhow::Result<()> {
        for follower in &mut self.0 {
            loop {
                // Acknowledged, and perhaps not yet taken in by a turn.
                let Ok((bytes, last)) = follower.more(client) else { break };
                if bytes.is_empty() && !follower.go_on(&last) {
                    break;
                }
                let show =
                    if follower.spot.errors { out::print_error_bytes } else { out::print_bytes };
                show(&bytes)?;
            }
        }
        Ok(())
    }
}

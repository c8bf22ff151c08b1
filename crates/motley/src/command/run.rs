//! Running a job and waiting for it: its output here, its status ours.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use fleet::{Output, RunId};

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
    let shows = submission.output == Output::Kept;
    let first = submission.first;
    let numbers: Numbers = client.ask(&Call::Submit { jobs: vec![submission] })?;
    let number = *numbers.jobs.first().context("hear the number of the job")?;
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .context("listen for ctrl-C")?;
    let job = number.to_string();
    let waits = job.clone();
    let mut waiting = Client::connect(&place)?;
    let waiter = thread::spawn(move || waiting.ask::<JobView>(&Call::Wait { job: waits }));
    let mut shown =
        logs::Shown::new(&place, RunId { job: fleet::JobId(number), ..RunId::default() });
    while !waiter.is_finished() {
        if INTERRUPTED.swap(false, Ordering::SeqCst) {
            let jobs = Chosen::These(vec![job.clone()]);
            client.ask::<serde_json::Value>(&Call::Cancel { jobs })?;
        }
        if shows {
            shown.show_more()?;
        }
        thread::park_timeout(PAUSE);
    }
    let Ok(ended) = waiter.join() else { anyhow::bail!("wait for job {number}") };
    let view = ended?;
    if shows {
        shown.show_more()?;
    }
    let _ = first;
    std::io::stdout().flush().ok();
    if view.tasks > 1 && view.state != "done" {
        let tally = format!("{} of {} tasks did their work", view.done, view.tasks);
        out::print_error(&anyhow::anyhow!("finish job {number}: {tally}"));
    }
    Ok(ExitCode::from(view.status))
}

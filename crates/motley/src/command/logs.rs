//! What tasks printed.

use std::io::{self, Write as _};

use anyhow::Context as _;
use server::api::Printed;

use crate::args::live::Logs;
use crate::client::{Client, Spot};
use crate::daemon::Place;
use crate::out;

pub(super) fn run(args: &Logs) -> anyhow::Result<()> {
    let mut client = Client::connect(&Place::choose(args.at.directory.as_deref())?)?;
    let Logs { task, errors, attempt, .. } = *args;
    let spot = Spot { task, errors, attempt, from: 0 };
    let mut follower = Follower { job: args.job.clone(), spot };
    let mut last;
    loop {
        let bytes;
        (bytes, last) = follower.more(&mut client)?;
        if bytes.is_empty() {
            break;
        }
        out::print_bytes(&bytes)?;
    }
    if let Some(dropped @ 1..) = last.dropped {
        let _ = writeln!(io::stderr(), "motley: {dropped} bytes more were printed, and not kept");
    }
    Ok(())
}

/// Follows what a task prints on one stream, in one attempt.
pub(super) struct Follower {
    pub(super) job: String,
    pub(super) spot: Spot,
}

impl Follower {
    /// What has come since the last time.
    pub(super) fn more(&mut self, client: &mut Client) -> anyhow::Result<(Vec<u8>, Printed)> {
        let printed = client.output(&self.job, self.spot)?;
        // Should the task be tried again meanwhile, what follows is not of the same output.
        self.spot.attempt = Some(printed.attempt);
        self.spot.from = printed.next;
        let bytes: Result<Vec<u8>, _> = printed.bytes.chars().map(u8::try_from).collect();
        Ok((bytes.context("understand what was printed")?, printed))
    }

    /// Goes on to the attempt after the one of which this came, if there is one; whether there is.
    pub(super) fn go_on(&mut self, last: &Printed) -> bool {
        let is_over = last.latest > last.attempt;
        if is_over {
            (self.spot.attempt, self.spot.from) = (Some(last.attempt + 1), 0);
        }
        is_over
    }
}

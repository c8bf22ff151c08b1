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
    let spot = Spot { task: args.task, errors: args.errors, from: 0 };
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

/// Follows what a task prints on one stream.
pub(super) struct Follower {
    pub(super) job: String,
    pub(super) spot: Spot,
}

impl Follower {
    /// What has come since the last time.
    pub(super) fn more(&mut self, client: &mut Client) -> anyhow::Result<(Vec<u8>, Printed)> {
        let printed = client.output(&self.job, self.spot)?;
        self.spot.from = printed.next;
        let bytes: Result<Vec<u8>, _> = printed.bytes.chars().map(u8::try_from).collect();
        Ok((bytes.context("understand what was printed")?, printed))
    }
}

//! Ending what a dead keeper left behind.
//!
//! The system kills the main processes of its tasks when a keeper dies; what
//! those started may live on. All of it bears the keeper's mark, descends from
//! what does, or is in the keeper's control groups.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::cgroup;
use crate::family::{self, Kin};
use crate::keeper::{Identity, boot};

/// How long processes may take to be gone once they were killed.
const GONE_WITHIN: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Ends every process that the latest keeper of a directory left behind. Only to be called by who
/// holds the keeper's lock, or knows that the keeper is dead and no other begins: a living one
/// would lose its tasks.
///
/// # Errors
/// If what is there cannot be seen, or does not go.
pub fn clean_up(directory: &Path) -> io::Result<()> {
    let Some(identity) = Identity::read(directory)? else { return Ok(()) };
    if identity.boot != boot()? {
        return Ok(());
    }
    let began = Instant::now();
    loop {
        let left = left_by(&identity)?;
        if cgroup::remove_all(&identity.groups)? && left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > GONE_WITHIN {
            let pids: Vec<_> = left.iter().map(|kin| kin.pid).collect();
            return Err(io::Error::other(format!("processes {pids:?} do not end")));
        }
        left.iter().for_each(family::end);
        thread::sleep(LOOK_EVERY);
    }
}

fn left_by(identity: &Identity) -> io::Result<Vec<Kin>> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let mark = format!("{}:", identity.token);
    let everyone = family::everyone()?;
    let mut left =
        family::descent(&everyone, |kin| !kin.has_ended && family::is_marked(kin.pid, &mark));
    // Who has ended is its parent's to reap.
    left.retain(|kin| kin.pid != own && !kin.has_ended);
    Ok(left)
}

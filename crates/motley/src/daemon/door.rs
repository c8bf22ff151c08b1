//! The door: clients come in over a Unix socket, each with a thread of its own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use body_local::Waker;
use body_local::output::{self, Reader, Stream};
use fleet::{RunId, User};
use rustix::net::sockopt::socket_peercred;
use serde_json::json;

use super::Place;
use crate::api::{Answer, CALL_MAX, Call, Printed};

/// So many clients are served at a time; more are turned away.
const CLIENTS_MAX: usize = 512;

/// How long a client may take to make its first call: it takes the place of one who would.
const SILENT_MAX: Duration = Duration::from_secs(5);

/// The most bytes of output in one answer, and the most outputs that one client follows.
const PART_MAX: u64 = 256 << 10;
const READERS_MAX: usize = 64;

/// How much of its stack a thread of a client may use.
const STACK: usize = 256 << 10;

/// A call, whose it is, and where the answer goes.
pub(super) struct Asked {
    pub(super) call: Call,
    pub(super) user: User,
    pub(super) reply: Sender<Answer>,
}

/// Removes the socket when the daemon ends.
pub(super) struct Door(PathBuf);

impl Drop for Door {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Listens from now on.
pub(super) fn open(place: &Place, calls: SyncSender<Asked>, waker: Waker) -> anyhow::Result<Door> {
    let path = place.socket();
    let _ = fs::remove_file(&path);
    let listener =
        UnixListener::bind(&path).with_context(|| format!("listen at {}", path.display()))?;
    // As root it serves every user, each as whom the system says it is; else only its own.
    let mode = if rustix::process::geteuid().is_root() { 0o666 } else { 0o600 };
    fs::set_permissions(&path, fs::Permissions::from_mode(mode))
        .with_context(|| format!("set the rights of {}", path.display()))?;
    let kept = place.keeper();
    let visitors = Arc::new(AtomicUsize::new(0));
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let mut visit = Visit {
                calls: calls.clone(),
                waker: waker.clone(),
                kept: kept.clone(),
                readers: BTreeMap::new(),
            };
            let present = Arc::clone(&visitors);
            if present.fetch_add(1, Ordering::SeqCst) >= CLIENTS_MAX {
                present.fetch_sub(1, Ordering::SeqCst);
                let busy = "too many clients at a time; try again in a moment";
                let _ = write(&stream, &Answer::Refused(busy.to_owned()));
                continue;
            }
            let served = Arc::clone(&present);
            let serve = move || {
                visit.serve(&stream);
                served.fetch_sub(1, Ordering::SeqCst);
            };
            if thread::Builder::new().stack_size(STACK).spawn(serve).is_err() {
                present.fetch_sub(1, Ordering::SeqCst);
            }
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(accept).context("start to listen")?;
    Ok(Door(path))
}

struct Visit {
    calls: SyncSender<Asked>,
    waker: Waker,
    /// Where the keeper keeps what tasks print.
    kept: PathBuf,
    readers: BTreeMap<(RunId, Stream), Reader>,
}

impl Visit {
    /// Answers calls until the client goes.
    fn serve(&mut self, stream: &UnixStream) {
        let Ok(peer) = socket_peercred(stream) else { return };
        let user = User { uid: peer.uid.as_raw(), gid: peer.gid.as_raw() };
        let own = rustix::process::geteuid();
        if !own.is_root() && peer.uid != own && !peer.uid.is_root() {
            let other = "this daemon serves another user; start one of your own: motley up";
            let _ = write(stream, &Answer::Refused(other.to_owned()));
            return;
        }
        if stream.set_read_timeout(Some(SILENT_MAX)).is_err() {
            return;
        }
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            let bound = CALL_MAX as u64 + 1;
            match reader.by_ref().take(bound).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.len() > CALL_MAX => {
                    let long = format!("a call has at most {CALL_MAX} bytes; ask in parts");
                    let _ = write(stream, &Answer::Refused(long));
                    return;
                }
                Ok(_) => {}
            }
            // Who has called once may take its time: it may wait for a job.
            let _ = stream.set_read_timeout(None);
            let answer = match serde_json::from_slice(&line) {
                Ok(call @ Call::Output { errors, .. }) => self.print(call, errors, user),
                Ok(call) => self.pass_on(call, user),
                Err(error) => Answer::Refused(format!("understand the call: {error}")),
            };
            if write(stream, &answer).is_err() {
                return;
            }
        }
    }

    /// What a task printed since the client asked last.
    fn print(&mut self, call: Call, errors: bool, user: User) -> Answer {
        let (run, ended) = match self.pass_on(call, user) {
            Answer::Done(value) => match serde_json::from_value::<(RunId, bool)>(value) {
                Ok(meant) => meant,
                Err(error) => return Answer::Refused(error.to_string()),
            },
            refused @ Answer::Refused(_) => return refused,
        };
        let stream = if errors { Stream::Errors } else { Stream::Output };
        if self.readers.len() >= READERS_MAX {
            self.readers.clear();
        }
        let printed = match self.readers.entry((run, stream)) {
            Entry::Occupied(known) => more(known.into_mut()),
            Entry::Vacant(new) => {
                output::read(&self.kept, run, stream).and_then(|reader| more(new.insert(reader)))
            }
        };
        match printed {
            Ok((bytes, dropped)) => Answer::Done(json!(Printed { bytes, dropped, ended })),
            Err(error) => Answer::Refused(format!("read what it printed: {error}")),
        }
    }

    fn pass_on(&self, call: Call, user: User) -> Answer {
        let (reply, answer) = channel();
        let gone = || Answer::Refused("the daemon is ending".to_owned());
        if self.calls.send(Asked { call, user, reply }).is_err() {
            return gone();
        }
        self.waker.wake();
        answer.recv().unwrap_or_else(|_| gone())
    }
}

/// The next part of what a run printed.
fn more(reader: &mut Reader) -> std::io::Result<(String, Option<u64>)> {
    let mut bytes = Vec::new();
    reader.by_ref().take(PART_MAX).read_to_end(&mut bytes)?;
    Ok((bytes.into_iter().map(char::from).collect(), reader.dropped()))
}

fn write(mut stream: &UnixStream, answer: &Answer) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}

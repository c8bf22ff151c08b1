//! What takes long is worked out aside the loop, from what was known at one moment.
//!
//! A question about what would happen asks for many plans. The loop hands over
//! what they are made from and goes on; one thread answers, one question after
//! the other.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use serde_json::Value;
use server::Reply;
use server::api::{Denial, Kind};

use super::answers::answer_of;

/// So many questions wait; more are turned away.
const QUESTIONS_MAX: usize = 64;

/// What works an answer out.
pub(super) type Work = Box<dyn FnOnce() -> anyhow::Result<Value> + Send>;

/// The thread that answers.
pub(super) struct Aside(SyncSender<(Work, Reply)>);

impl Aside {
    pub(super) fn new() -> std::io::Result<Self> {
        let (sender, questions) = sync_channel::<(Work, Reply)>(QUESTIONS_MAX);
        thread::Builder::new().name("aside".to_owned()).spawn(move || {
            for (work, reply) in questions {
                // Whoever has gone does not want to know.
                if !reply.is_gone() {
                    reply.send(answer_of(work()));
                }
            }
        })?;
        Ok(Self(sender))
    }

    /// Has this worked out and answered.
    pub(super) fn answer(&self, work: anyhow::Result<Work>, reply: Reply) {
        let work = match work {
            Ok(work) => work,
            Err(error) => return reply.send(answer_of(Err(error))),
        };
        if let Err(full) = self.0.try_send((work, reply)) {
            let (std::sync::mpsc::TrySendError::Full((_, reply))
            | std::sync::mpsc::TrySendError::Disconnected((_, reply))) = full;
            let why = format!("{QUESTIONS_MAX} questions wait already; ask again in a moment");
            reply.send(answer_of(Err(Denial::new(Kind::Unavailable, why).into())));
        }
    }
}

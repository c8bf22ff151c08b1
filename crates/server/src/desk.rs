//! The desk: where calls lie until the daemon takes them up.

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::api::{Answer, Call, Caller, Denial, Kind};
use crate::metrics::Family;

/// So many calls lie at the desk; whoever calls then waits until there is room.
const CALLS_MAX: usize = 256;

/// A call, whose it is, and where the answer goes.
#[derive(Debug)]
pub struct Asked {
    /// What is asked.
    pub call: Call,
    /// By whom.
    pub caller: Caller,
    /// Where the answer goes.
    pub reply: Reply,
}

/// Where an answer goes.
#[derive(Debug)]
pub struct Reply(oneshot::Sender<Answer>);

impl Reply {
    /// Answers. Whoever asked may be gone, and does not want to know then.
    pub fn send(self, answer: Answer) {
        let _ = self.0.send(answer);
    }

    /// Whether nobody waits for the answer any more.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.0.is_closed()
    }
}

/// The daemon's side of the desk.
#[derive(Debug)]
pub struct Desk(mpsc::Receiver<Asked>);

impl Desk {
    /// The calls that lie there, at most as many as have room.
    pub fn take(&mut self) -> impl Iterator<Item = Asked> + '_ {
        (0..CALLS_MAX).map_while(|_| self.0.try_recv().ok())
    }
}

/// The other side.
#[derive(Clone)]
pub(crate) struct Counter {
    calls: mpsc::Sender<Asked>,
    wake: std::sync::Arc<dyn Fn() + Send + Sync>,
}

pub(crate) fn new(wake: Box<dyn Fn() + Send + Sync>) -> (Counter, Desk) {
    let (sender, receiver) = mpsc::channel(CALLS_MAX);
    (Counter { calls: sender, wake: wake.into() }, Desk(receiver))
}

impl Counter {
    /// Lays a call on the desk, and waits for its answer.
    pub(crate) async fn ask(&self, call: Call, caller: Caller) -> Result<Value, Denial> {
        match self.pass_on(call, caller).await? {
            Answer::Done(value) => Ok(value),
            Answer::Measured(_) => Ok(Value::Null),
            Answer::Refused(refusal) => Err(refusal),
        }
    }

    /// What is measured.
    pub(crate) async fn figures(&self, caller: Caller) -> Result<Vec<Family>, Denial> {
        match self.pass_on(Call::Figures, caller).await? {
            Answer::Measured(families) => Ok(families),
            Answer::Done(_) => Ok(Vec::new()),
            Answer::Refused(refusal) => Err(refusal),
        }
    }

    async fn pass_on(&self, call: Call, caller: Caller) -> Result<Answer, Denial> {
        let gone = || Denial::new(Kind::Unavailable, "the daemon is ending");
        let (reply, answer) = oneshot::channel();
        let asked = Asked { call, caller, reply: Reply(reply) };
        self.calls.send(asked).await.map_err(|_| gone())?;
        (self.wake)();
        answer.await.map_err(|_| gone())
    }
}

//! The desk: where calls lie until the daemon takes them up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
pub struct Desk {
    calls: mpsc::Receiver<Asked>,
    lying: Arc<Lying>,
}

impl Desk {
    /// The calls that lie there, at most as many as have room.
    pub fn take(&mut self) -> Vec<Asked> {
        let taken = (0..CALLS_MAX).map_while(|_| self.calls.try_recv().ok()).collect();
        *self.lying.since() = None;
        taken
    }
}

/// Since when a call has lain there, where one does.
#[derive(Debug, Default)]
struct Lying(Mutex<Option<Instant>>);

impl Lying {
    fn since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The other side.
#[derive(Clone)]
pub(crate) struct Counter {
    calls: mpsc::Sender<Asked>,
    wake: Arc<dyn Fn() + Send + Sync>,
    lying: Arc<Lying>,
}

pub(crate) fn new(wake: Box<dyn Fn() + Send + Sync>) -> (Counter, Desk) {
    let (sender, receiver) = mpsc::channel(CALLS_MAX);
    let lying = Arc::new(Lying::default());
    let desk = Desk { calls: receiver, lying: Arc::clone(&lying) };
    (Counter { calls: sender, wake: wake.into(), lying }, desk)
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

    /// For how long the daemon has taken nothing up, though something lies there.
    pub(crate) fn idle(&self, now: Instant) -> Duration {
        self.lying.since().map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
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
        self.lying.since().get_or_insert_with(Instant::now);
        (self.wake)();
        answer.await.map_err(|_| gone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_takes_nothing_up_is_known_by_what_lies_there() {
        let (counter, mut desk) = new(Box::new(|| ()));
        let later = || Instant::now() + Duration::from_secs(60);
        assert_eq!(counter.idle(later()), Duration::ZERO, "nothing lies there");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let asking = counter.clone();
        let asked = async move { asking.ask(Call::Status, Caller::default()).await };
        let asked = runtime.spawn(asked);
        runtime.block_on(tokio::task::yield_now());
        assert!(counter.idle(later()) > Duration::from_secs(50));
        for asked in desk.take() {
            asked.reply.send(Answer::Done(Value::Null));
        }
        assert_eq!(counter.idle(later()), Duration::ZERO);
        assert_eq!(runtime.block_on(asked).unwrap(), Ok(Value::Null));
    }
}

//! What takes long is worked out aside the loop, from what was known at one moment.
//!
//! A question about what would happen asks for many plans. The loop hands over
//! what they are made from and goes on; one thread answers, one question after
//! the other. Nobody has many of them there, so that others get their turn, and
//! a question that breaks breaks no other.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;
use server::Reply;
use server::api::{Answer, Denial, Kind};

use super::answers::answer_of;

/// So many questions wait, and so many of one user; more are turned away.
const QUESTIONS_MAX: usize = 64;
const OF_USER_MAX: usize = 16;

/// What works an answer out.
pub(super) type Work = Box<dyn FnOnce() -> anyhow::Result<Value> + Send>;

/// The thread that answers.
pub(super) struct Aside {
    questions: SyncSender<Question>,
    waiting: Waiting,
}

struct Question {
    work: Work,
    reply: Reply,
    _place: Place,
}

/// How many questions each user has there.
type Waiting = Arc<Mutex<BTreeMap<u32, usize>>>;

/// One of them, as long as it is there.
struct Place {
    user: u32,
    waiting: Waiting,
}

impl Place {
    fn take(waiting: &Waiting, user: u32) -> Option<Self> {
        let mut counts = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(user).or_insert(0);
        let is_free = *count < OF_USER_MAX;
        *count += usize::from(is_free);
        is_free.then(|| Self { user, waiting: Arc::clone(waiting) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.user);
            }
        }
    }
}

impl Aside {
    pub(super) fn new() -> std::io::Result<Self> {
        let (sender, questions) = sync_channel::<Question>(QUESTIONS_MAX);
        thread::Builder::new().name("aside".to_owned()).spawn(move || {
            for Question { work, reply, _place } in questions {
                // Whoever has gone does not want to know.
                if !reply.is_gone() {
                    reply.send(work_out(work));
                }
            }
        })?;
        Ok(Self { questions: sender, waiting: Waiting::default() })
    }

    /// Has this worked out and answered, for this user.
    pub(super) fn answer(&self, work: anyhow::Result<Work>, reply: Reply, user: u32) {
        let work = match work {
            Ok(work) => work,
            Err(error) => return reply.send(answer_of(Err(error))),
        };
        let refused = |why: String| Answer::Refused(Denial::new(Kind::Unavailable, why));
        let Some(place) = Place::take(&self.waiting, user) else {
            let why = format!("{OF_USER_MAX} questions of yours wait already; ask again later");
            return reply.send(refused(why));
        };
        let (question, why) = match self.questions.try_send(Question { work, reply, _place: place })
        {
            Ok(()) => return,
            Err(TrySendError::Full(question)) => {
                let why = "questions wait already; ask again in a moment";
                (question, format!("{QUESTIONS_MAX} {why}"))
            }
            Err(TrySendError::Disconnected(question)) => {
                let why = "nobody is left who works it out; start the daemon again";
                (question, why.to_owned())
            }
        };
        question.reply.send(refused(why));
    }
}

/// The answer; that it broke is one too, and the panic is in the daemon's log.
fn work_out(work: Work) -> Answer {
    catch_unwind(AssertUnwindSafe(work)).map_or_else(
        |_| {
            let why = "working it out broke, which is a fault of the daemon; its log says where";
            Answer::Refused(Denial::new(Kind::Unavailable, why))
        },
        answer_of,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_all_the_places_and_each_is_given_back() {
        let waiting = Waiting::default();
        let take = |user: u32| Place::take(&waiting, user);
        let mut places: Vec<_> = (0..OF_USER_MAX).map(|_| take(7).unwrap()).collect();
        assert!(take(7).is_none());
        assert!(take(8).is_some(), "another has places of their own");
        places.pop();
        assert!(take(7).is_some());
        drop(places);
        assert!(waiting.lock().unwrap().is_empty());
    }

    #[test]
    fn a_question_that_breaks_is_answered() {
        let answer = work_out(Box::new(|| panic!("on purpose")));
        let Answer::Refused(refusal) = answer else { panic!("{answer:?}") };
        assert_eq!(refusal.kind, Kind::Unavailable);
        let answer = work_out(Box::new(|| Ok(Value::Null)));
        assert!(matches!(answer, Answer::Done(Value::Null)), "{answer:?}");
    }
}

//! What happens, told to those who listen.
//!
//! The latest events are kept, so that a client whose connection broke goes on
//! from the last one that it saw. One who is too slow, or was away for too
//! long, is told to ask for everything again.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::api::{EventKind, EventView};
use crate::token::now;

/// So many events are kept.
const KEPT_MAX: usize = 4_096;

/// For so long after the last listener left events are kept for one who comes back: microseconds.
const ABSENCE: u64 = 60_000_000;

/// So many go out in one piece.
const TOGETHER_MAX: usize = 256;

/// The daemon's side: it says what happened.
#[derive(Clone)]
pub struct Happened(Arc<Log>);

struct Log {
    /// Tells the events of this daemon from those of the one before.
    epoch: u64,
    kept: Mutex<Kept>,
    /// The number of the latest event.
    latest: watch::Sender<u64>,
    /// When a listener was last there.
    heard: AtomicU64,
    has_ended: AtomicBool,
}

#[derive(Default)]
struct Kept {
    /// The number of the first that is kept.
    first: u64,
    events: VecDeque<Arc<str>>,
}

impl Kept {
    /// The number of the latest event.
    fn newest(&self) -> u64 {
        self.first + self.events.len() as u64 - 1
    }
}

impl Happened {
    pub(crate) fn new() -> Self {
        let kept = Kept { first: 1, events: VecDeque::new() };
        let (latest, _) = watch::channel(0);
        Self(Arc::new(Log {
            epoch: now(),
            kept: Mutex::new(kept),
            latest,
            heard: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
        }))
    }

    /// Whether anybody listens, or did a moment ago.
    fn is_heard(&self) -> bool {
        let heard = self.0.heard.load(Ordering::SeqCst);
        self.0.latest.receiver_count() > 0 || now() < heard.saturating_add(ABSENCE)
    }

    /// Tells those who listen. Where nobody does, the event is not put together, and whoever comes
    /// back then is told that something was missed.
    pub fn tell(&self, event: impl FnOnce() -> Option<EventView>) {
        let event = if self.is_heard() {
            let Some(event) = event() else { return };
            Some(event)
        } else {
            None
        };
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.newest() + 1;
        match event {
            Some(event) => kept.events.push_back(written(&event, &self.id(number)).into()),
            None => {
                kept.events.clear();
                kept.first = number + 1;
            }
        }
        if kept.events.len() > KEPT_MAX {
            kept.events.pop_front();
            kept.first += 1;
        }
        // Before anybody else looks: what is kept and the latest number go together.
        self.0.latest.send_replace(number);
    }

    /// Tells those who listen that nothing more happens.
    pub(crate) fn end(&self) {
        self.0.has_ended.store(true, Ordering::SeqCst);
        self.0.latest.send_modify(|_| ());
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.0.epoch)
    }

    /// A place from which to listen: after the event with this id, or from now on.
    pub(crate) fn listen(&self, last: Option<&str>) -> Listener {
        let latest = self.0.latest.subscribe();
        let newest = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner).newest();
        let numbers = last.and_then(|last| last.split_once('-'));
        let known = numbers.filter(|(epoch, _)| *epoch == self.0.epoch.to_string());
        let seen = known.and_then(|(_, number)| number.parse::<u64>().ok());
        // Whoever saw events of another daemon missed what happened between.
        let has_missed = last.is_some() && seen.is_none();
        let seen = seen.unwrap_or(newest).min(newest);
        Listener { happened: self.clone(), latest, seen, has_missed }
    }
}

/// One who listens.
pub(crate) struct Listener {
    happened: Happened,
    latest: watch::Receiver<u64>,
    seen: u64,
    has_missed: bool,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.happened.0.heard.store(now(), Ordering::SeqCst);
    }
}

impl Listener {
    /// What happened since, once anything has; `None` once the daemon ends.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            let text = self.take();
            if !text.is_empty() {
                return Some(text);
            }
            if self.happened.0.has_ended.load(Ordering::SeqCst) {
                return None;
            }
            self.latest.changed().await.ok()?;
        }
    }

    fn take(&mut self) -> String {
        let kept = self.happened.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        self.latest.mark_unchanged();
        let newest = kept.newest();
        let mut text = String::new();
        if self.seen + 1 < kept.first || self.has_missed {
            self.has_missed = false;
            self.seen = newest;
            text.push_str(&written(&reset(), &self.happened.id(newest)));
        }
        let from = usize::try_from(self.seen + 1 - kept.first).unwrap_or(usize::MAX);
        for event in kept.events.iter().skip(from).take(TOGETHER_MAX) {
            text.push_str(event);
            self.seen += 1;
        }
        text
    }
}

fn reset() -> EventView {
    EventView::new(EventKind::Reset, now())
}

/// An event as the stream has it.
fn written(event: &EventView, id: &str) -> String {
    let name = serde_json::to_value(event.kind).unwrap_or_default();
    let body = serde_json::to_string(event).unwrap_or_default();
    format!("event: {}\nid: {id}\ndata: {body}\n\n", name.as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> EventView {
        EventView { kind: EventKind::Log, text: Some(text.to_owned()), ..reset() }
    }

    fn told(text: &str) -> Vec<(String, String)> {
        let field = |event: &str, name: &str| {
            let mut lines = event.lines();
            lines.find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        let events = text.split_terminator("\n\n");
        events.map(|event| (field(event, "event: "), field(event, "id: "))).collect()
    }

    #[test]
    fn a_listener_goes_on_where_it_was() {
        let happened = Happened::new();
        happened.tell(|| Some(log("before")));
        let mut first = happened.listen(None);
        assert_eq!(first.take(), "", "only what comes is told");
        happened.tell(|| Some(log("one")));
        happened.tell(|| Some(log("two")));
        let heard = told(&first.take());
        assert_eq!(heard.len(), 2);
        let mut again = happened.listen(Some(&heard[0].1));
        assert_eq!(told(&again.take()), heard[1..]);
        assert_eq!(again.take(), "");
    }

    #[test]
    fn whoever_missed_something_is_told_to_ask_again() {
        let happened = Happened::new();
        let mut stranger = happened.listen(Some("1-7"));
        assert_eq!(told(&stranger.take())[0].0, "reset");
        let mut slow = happened.listen(None);
        for _ in 0..=KEPT_MAX {
            happened.tell(|| Some(log("one")));
        }
        let heard = told(&slow.take());
        assert_eq!((heard.len(), heard[0].0.as_str()), (1, "reset"));
        happened.tell(|| Some(log("two")));
        assert_eq!(told(&slow.take()).len(), 1);
    }

    #[test]
    fn what_nobody_heard_is_known_to_be_missed() {
        let happened = Happened::new();
        let first = happened.id(0);
        happened.tell(|| panic!("nobody hears it"));
        let mut late = happened.listen(Some(&first));
        assert_eq!(told(&late.take())[0].0, "reset");
        drop(late);
        // It may come back.
        let before = happened.id(1);
        happened.tell(|| Some(log("one")));
        let mut back = happened.listen(Some(&before));
        assert_eq!(told(&back.take())[0].0, "log");
    }

    #[test]
    fn a_listener_that_comes_while_something_is_told_misses_nothing_and_breaks_nothing() {
        let happened = Happened::new();
        let mut before = happened.listen(None);
        // As `tell` leaves it where nobody listens yet, before it says the number.
        happened.0.kept.lock().unwrap().first = 5;
        let mut after = happened.listen(None);
        assert_eq!(told(&before.take())[0].0, "reset");
        assert_eq!(after.take(), "");
        happened.tell(|| Some(log("one")));
        assert_eq!(told(&before.take()), told(&after.take()));
    }

    #[tokio::test]
    async fn a_listener_hears_that_nothing_more_happens() {
        let happened = Happened::new();
        let mut listener = happened.listen(None);
        let other = happened.clone();
        let heard = tokio::spawn(async move { (listener.next().await, listener.next().await) });
        tokio::task::yield_now().await;
        other.tell(|| Some(log("the last")));
        tokio::task::yield_now().await;
        other.end();
        let (last, nothing) = heard.await.unwrap();
        assert!(last.unwrap().contains("the last") && nothing.is_none());
    }

    #[test]
    fn many_events_go_out_in_pieces() {
        let happened = Happened::new();
        let mut listener = happened.listen(None);
        for _ in 0..TOGETHER_MAX + 5 {
            happened.tell(|| Some(log("one")));
        }
        assert_eq!(told(&listener.take()).len(), TOGETHER_MAX);
        assert_eq!(told(&listener.take()).len(), 5);
    }
}

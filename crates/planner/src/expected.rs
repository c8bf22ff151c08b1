//! What is expected of nodes: when what runs there ends as declared, and who waits for that.
//!
//! Made once in a plan, where a job first asks whether to wait for a node with
//! its inputs. A run that should have ended by now and has not is not believed
//! to end at all. Tasks that wait hold their place from when they would begin,
//! so that two of them do not count on the same room.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fleet::{Free, Grant, NodeId, Placement, Snapshot, Time};

/// What is expected, node by node.
#[derive(Default)]
pub(crate) struct Expected<'a> {
    at: Time,
    ends: BTreeMap<NodeId, Vec<(Time, Cow<'a, Grant>)>>,
    promises: BTreeMap<NodeId, Vec<Promise>>,
}

/// A place that a waiting task counts on.
#[derive(Clone)]
pub(crate) struct Promise {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) grant: Grant,
}

impl<'a> Expected<'a> {
    /// What is expected of the runs of a snapshot.
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let mut expected = Self { at: snapshot.at, ..Self::default() };
        for run in snapshot.runs.values() {
            let Placement { node, grant, duration, .. } = &run.placement;
            if let Some(duration) = duration {
                expected.add(*node, run.since.after(*duration), Cow::Borrowed(grant));
            }
        }
        expected
    }

    /// Takes note of what is placed now.
    pub(crate) fn place(&mut self, placement: &Placement) {
        if let Some(duration) = placement.duration {
            let grant = Cow::Owned(placement.grant.clone());
            self.add(placement.node, self.at.after(duration), grant);
        }
    }

    /// Holds a place for a task that waits.
    pub(crate) fn promise(&mut self, node: NodeId, promise: Promise) {
        self.promises.entry(node).or_default().push(promise);
    }

    /// Holds no places any more.
    pub(crate) fn forget_promises(&mut self) {
        self.promises.clear();
    }

    /// What will be free of a node of which this much is free now, and from when on: once all that
    /// wait for it have begun, and then whenever something ends.
    pub(crate) fn course(&self, node: NodeId, free: &Free) -> Vec<(Time, Free)> {
        let promises = self.promises.get(&node).map_or(&[][..], Vec::as_slice);
        let ends = self.ends.get(&node).map_or(&[][..], Vec::as_slice);
        let mut changes: Vec<(Time, Change<'_>)> = Vec::new();
        changes.extend(ends.iter().map(|(end, grant)| (*end, Change::End(grant))));
        // What takes no time holds nothing.
        let lasting = || promises.iter().filter(|one| one.to > one.from);
        changes.extend(lasting().map(|one| (one.from, Change::Begin(&one.grant))));
        changes.extend(lasting().map(|one| (one.to, Change::End(&one.grant))));
        // Of what happens at one time, ends come first.
        changes.sort_by_key(|(at, change)| (*at, matches!(change, Change::Begin(_))));
        let last_begin = promises.iter().map(|one| one.from).max().unwrap_or(self.at);
        let mut free = free.clone();
        let mut course: Vec<(Time, Free)> = Vec::new();
        for (position, (at, change)) in changes.iter().enumerate() {
            match change {
                Change::End(grant) => free.give_back(grant),
                Change::Begin(grant) => free.take(grant),
            }
            let is_last_then = changes.get(position + 1).is_none_or(|(next, _)| next > at);
            if is_last_then && *at >= last_begin {
                course.push((*at, free.clone()));
            }
        }
        course
    }

    fn add(&mut self, node: NodeId, end: Time, grant: Cow<'a, Grant>) {
        if end > self.at {
            self.ends.entry(node).or_default().push((end, grant));
        }
    }
}

/// What happens on a node.
enum Change<'a> {
    End(&'a Grant),
    Begin(&'a Grant),
}

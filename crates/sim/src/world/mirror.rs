//! What is to be told by the next observation.

use std::collections::BTreeSet;

use fleet::{Extent, NodeId, Receipt, RunSight, RunState};

/// News that nobody has observed yet.
#[derive(Clone, Debug)]
pub(super) struct Mirror {
    /// Nodes that were lost or came back.
    pub(super) nodes: BTreeSet<NodeId>,
    /// Runs that started or ended, in that order.
    pub(super) sights: Vec<RunSight>,
    /// Answers to orders.
    pub(super) receipts: Vec<Receipt>,
    /// Whether something happened that could change a plan.
    pub(super) has_news: bool,
    /// Whether changes alone would not tell everything.
    pub(super) in_doubt: bool,
    resync_every: u32,
    since_full: u32,
}

impl Mirror {
    /// A mirror that nobody has looked into yet. Every so many observations one is full; never
    /// again after the first where that is zero.
    pub(super) fn new(resync_every: u32) -> Self {
        Self {
            nodes: BTreeSet::new(),
            sights: Vec::new(),
            receipts: Vec::new(),
            has_news: true,
            in_doubt: true,
            resync_every,
            since_full: 0,
        }
    }

    /// Forgets what was seen running on a node that was lost before anybody looked. What ended
    /// there did end.
    pub(super) fn forget_running(&mut self, node: NodeId) {
        self.sights
            .retain(|sight| sight.node != node || !matches!(sight.state, RunState::Running(_)));
    }

    /// How much the observation covers that is being made; counts it.
    pub(super) fn next_extent(&mut self) -> Extent {
        let is_due = self.resync_every > 0 && self.since_full + 1 >= self.resync_every;
        self.has_news = false;
        if std::mem::take(&mut self.in_doubt) || is_due {
            self.since_full = 0;
            Extent::Full
        } else {
            self.since_full += 1;
            Extent::Changes
        }
    }
}

//! Phases: what the time of a turn goes into.
//!
//! Whoever plans or turns the loop marks where one phase is over, and never
//! reads a clock: what the mark costs, and when it was, is for whoever listens.

/// What a part of a turn was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The world was observed, and what was seen and asked sealed into a snapshot.
    Collect,
    /// What waits was set against what there is: reconcile, feasible and score.
    Match,
    /// Of what would do something was chosen, explained, checked and made into orders.
    Decide,
    /// The turn was written to the journal, and synced where somebody waits for that.
    Write,
    /// The orders were handed to the body.
    Order,
}

/// Hears that a phase is over: what passed since the mark before belongs to it. Within a plan
/// [`Phase::Match`] and [`Phase::Decide`] take turns.
pub type Mark<'a> = dyn FnMut(Phase) + 'a;

//! Rounds: plans that together look at every job, each within its effort.
//!
//! A plan looks first at the jobs that no plan has looked at since the round
//! began, then at the others. When something changed, or the plan itself
//! changes something, another round begins: what this plan did not come to is
//! unseen in it. While jobs are unseen the next plan comes at once. With
//! ample effort every plan is a round of its own and nothing is unseen.
//!
//! What was seen is in [`Memory`], which the ledger seals in the snapshot:
//! nothing is remembered here.

use fleet::snapshot::Memory;
use fleet::{JobId, Serial, Snapshot, Span, Time};

use crate::search::Found;

/// The jobs that no plan has looked at in the round, ascending, and the snapshot it began with.
pub(crate) fn next(snapshot: &Snapshot, found: &Found<'_>, changes: bool) -> (Vec<JobId>, Serial) {
    let Memory { unseen: before, round, released, .. } = &snapshot.memory;
    let unseen = found.left.iter().filter(|left| left.unseen).map(|left| left.waiting.job.id);
    // What is released is as good as newly arrived.
    let begins = changes || snapshot.changed > *round || found.released != *released;
    let (unseen, round): (Vec<_>, _) = if begins {
        (unseen.collect(), snapshot.serial)
    } else {
        (unseen.filter(|id| before.binary_search(id).is_ok()).collect(), *round)
    };
    assert!(unseen.is_sorted_by(|one, next| one < next), "unseen jobs are ascending and distinct");
    (unseen, round)
}

/// When to plan again to look at what is unseen. Never where the next plan would remember what
/// this one did, which then did not come to a single job of the round: it would be this one again.
pub(crate) fn wake(snapshot: &Snapshot, next: &Memory) -> Option<Time> {
    let goes_on = !next.unseen.is_empty() && *next != snapshot.memory;
    goes_on.then(|| snapshot.at.after(Span(1)))
}

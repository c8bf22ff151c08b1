//! Allocate: who runs now, on what, and who waits, where a policy divides devices over time.
//!
//! In comes the snapshot; out goes a plan as the other passes make it, of what
//! was granted. First everything that could run is gathered (`entrants`), and
//! the devices, by model (`lots`). Devices are divided when a round is over, or
//! a node came or went ([`crate::apportion`]); in between what is free is given
//! to those who have nothing. Then the other passes see of the jobs that wait
//! only what was granted, each on that model alone (`view`), and place it.
//!
//! Who runs on what was not granted to it is stopped, and what was granted in
//! its place starts once the body has confirmed that. The division is in the
//! plan's memory, so that the plan after the stops goes by the same one.

mod entrants;
mod lots;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::explanation::{Outbid, TierInForce};
use fleet::policy::Allocate;
use fleet::snapshot::{Allotment, Way};
use fleet::{Decision, JobId, Mark, Policy, Serial, Snapshot, Span, Stop, StopCause, TaskIndex};

use crate::apportion::worth::{Aim, Prospect};
use crate::apportion::{Bid, Claim, divide, steps_enough};
use crate::{Effort, Scratch};
use entrants::{Entrant, Field, field};
use lots::Lots;
use view::View;

/// For how many rounds a job is expected to stay where it is put, unless it ends sooner: moves that
/// take most of a round still pay where they bring hours on a better class. Between 3 and 30 little
/// depends on it.
const ROUNDS_AHEAD: u64 = 10;
/// The same where there are no rounds.
const AHEAD: Span = Span::seconds(3600);

/// What a bid costs in steps in any case; a division that has reached its limit ends within half of
/// that.
const STEPS_A_BID: u64 = 32;

/// Decides where devices are divided over time.
pub(crate) fn plan(
    snapshot: &Snapshot,
    (policy, tiers, allocate): (&Policy, &[TierInForce], &Allocate),
    effort: Effort,
    scratch: &mut Scratch,
    mark: &mut Mark<'_>,
) -> Decision {
    let lots = Lots::of(snapshot);
    let Field { entrants, hopeless } = field(snapshot, &policy.order, &lots, scratch);
    let mut round =
        Round { snapshot, allocate, lots: &lots, steps_max: effort.steps / 2, steps: 0 };
    let mut allotment = round.renew(&entrants);
    let steps = round.steps;
    let rest = Effort { steps: effort.steps.saturating_sub(steps), ..effort };
    let (view, decision) = {
        let told = (&entrants[..], &hopeless, tiers);
        place(snapshot, &mut allotment, told, (policy, rest), (scratch, mark))
    };
    let mut stops = stops_of(&entrants, &allotment);
    // What is stopped makes room only once that is confirmed.
    if stops.is_empty() && !entrants.iter().any(|entrant| entrant.is_leaving) {
        give_back(&mut allotment, view.unplaced(&decision), snapshot.serial);
    }
    let until = allocate.rounds.map(|rounds| allotment.began.after(rounds));
    let boundary = until.filter(|_| could_be_otherwise(&allotment, &entrants));
    let mut decision = view.widen(snapshot, decision, (&allotment, boundary));
    decision.plan.stops.append(&mut stops);
    decision.plan.stops.sort_unstable_by_key(|stop| stop.run);
    let at_once = allotment.is_given_back.then(|| snapshot.at.after(Span(1)));
    let wakes = [decision.plan.wake, boundary, at_once];
    decision.plan.wake = wakes.into_iter().flatten().min();
    decision.plan.memory.allotment = Some(Arc::new(allotment));
    decision.explanation.steps += steps;
    decision
}

/// Lets jobs that found no nodes for what they were granted have nothing for now.
fn give_back(allotment: &mut Allotment, unplaced: BTreeSet<JobId>, now: Serial) {
    allotment.is_given_back |= !unplaced.is_empty();
    if !unplaced.is_empty() {
        allotment.scattered_at = now;
    }
    for job in unplaced {
        let ways = allotment.granted.remove(&job).unwrap_or_default().into_values();
        allotment.scattered.entry(job).or_default().extend(ways);
        allotment.outbid.entry(job).or_default();
    }
}

/// Whether there is no room on the nodes for this way to run a job.
fn is_scattered(allotment: &Allotment, entrant: &Entrant<'_>, way: Way) -> bool {
    allotment.scattered.get(&entrant.job.id).is_some_and(|ways| ways.contains(&way))
}

/// What the other passes make of what was granted, and what they saw.
fn place(
    snapshot: &Snapshot,
    allotment: &mut Allotment,
    (entrants, hopeless, tiers): (&[Entrant<'_>], &BTreeSet<JobId>, &[TierInForce]),
    (policy, effort): (&Policy, Effort),
    (scratch, mark): (&mut Scratch, &mut Mark<'_>),
) -> (View, Decision) {
    // Who has no nodes for anything is told what it lacks, as it would be without a division.
    let mut told = kept_out(allotment, entrants);
    told.extend(hopeless);
    let view = View::of(snapshot, allotment, (entrants, &told));
    let decision = crate::plan_what_waits(&view.snapshot, (policy, tiers), effort, scratch, mark);
    let found = view.started_ungranted(&decision);
    if found.is_empty() {
        return (view, decision);
    }
    // There is room by now, which is not theirs before it is granted: that is for the next plan.
    for job in found {
        allotment.scattered.remove(&job);
        allotment.is_given_back = true;
    }
    let view = View::of(snapshot, allotment, (entrants, hopeless));
    // What was placed is in the scratch, and is not going to be true.
    *scratch = Scratch::default();
    scratch.sync(&view.snapshot, policy, tiers);
    let steps = Effort { steps: effort.steps - decision.explanation.steps, ..effort };
    let mut again = crate::plan_what_waits(&view.snapshot, (policy, tiers), steps, scratch, mark);
    again.explanation.steps += decision.explanation.steps;
    (view, again)
}

/// The jobs that found no nodes for any way to run them.
fn kept_out(allotment: &Allotment, entrants: &[Entrant<'_>]) -> BTreeSet<JobId> {
    let is_kept_out = |entrant: &&Entrant<'_>| {
        let mut ways = entrant.offers.iter().map(|offer| offer.way);
        entrant.held.is_none() && ways.all(|way| is_scattered(allotment, entrant, way))
    };
    entrants.iter().filter(is_kept_out).map(|entrant| entrant.job.id).collect()
}

/// Whether another division could differ from this one though nobody comes or goes: somebody has
/// not what is best for it, and is not kept from it by the nodes alone.
fn could_be_otherwise(allotment: &Allotment, entrants: &[Entrant<'_>]) -> bool {
    let somebody_runs = entrants.iter().any(|entrant| entrant.held.is_some());
    let kept_out = kept_out(allotment, entrants);
    entrants.iter().any(|entrant| {
        !entrant.has_its_best() && (somebody_runs || !kept_out.contains(&entrant.job.id))
    })
}

/// The runs that have to make way.
fn stops_of(entrants: &[Entrant<'_>], allotment: &Allotment) -> Vec<Stop> {
    let goes_on = |entrant: &&Entrant<'_>| {
        let granted = granted(allotment, entrant);
        entrant.held.is_none_or(|held| granted == Some(held))
    };
    let over = entrants.iter().filter(|entrant| !goes_on(entrant));
    let stop = |run: &fleet::RunId| Stop { run: *run, cause: StopCause::Round };
    over.flat_map(|entrant| entrant.runs.iter().map(stop)).collect()
}

fn granted(allotment: &Allotment, entrant: &Entrant<'_>) -> Option<Way> {
    allotment.granted.get(&entrant.job.id)?.get(&entrant.task).copied()
}

/// A division under way.
struct Round<'a> {
    snapshot: &'a Snapshot,
    allocate: &'a Allocate,
    lots: &'a Lots<'a>,
    steps_max: u64,
    steps: u64,
}

impl Round<'_> {
    /// The division of before, with what is free given away, or a new one.
    fn renew(&mut self, entrants: &[Entrant<'_>]) -> Allotment {
        match self.snapshot.memory.allotment.as_deref() {
            Some(before) if !self.is_over(before, entrants) => self.fill(before, entrants),
            _ => {
                let nobody = Allotment {
                    began: self.snapshot.at,
                    capacity: self.lots.capacity.clone(),
                    ..Allotment::default()
                };
                self.grant(nobody, entrants)
            }
        }
    }

    fn is_over(&self, before: &Allotment, entrants: &[Entrant<'_>]) -> bool {
        if before.capacity != self.lots.capacity {
            return true;
        }
        match self.allocate.rounds {
            Some(rounds) => self.snapshot.at >= before.began.after(rounds),
            // What makes way first confirms that, or the next division would not know of it.
            None => {
                has_changed(before, entrants) && !entrants.iter().any(|entrant| entrant.is_leaving)
            }
        }
    }

    /// Gives what is free to those who have nothing, if somebody came or went.
    fn fill(&mut self, before: &Allotment, entrants: &[Entrant<'_>]) -> Allotment {
        let mut kept = Allotment { granted: BTreeMap::new(), ..before.clone() };
        for entrant in entrants {
            if let Some(way) = granted(before, entrant) {
                grant_to(&mut kept, entrant, way);
            }
        }
        let has_room = !kept.scattered.is_empty() && self.snapshot.changed > kept.scattered_at;
        if has_room {
            kept.scattered.clear();
        }
        if !has_room && !before.is_given_back && !has_changed(before, entrants) {
            return kept;
        }
        kept.is_given_back = false;
        kept.outbid.clear();
        self.grant(kept, entrants)
    }

    /// Divides what is not granted yet among those who have nothing.
    fn grant(&mut self, mut allotment: Allotment, entrants: &[Entrant<'_>]) -> Allotment {
        let mut room = self.lots.capacity.clone();
        let mut open: Vec<&Entrant<'_>> = Vec::new();
        for entrant in entrants {
            // What was ordered and not seen yet cannot be stopped.
            let way = granted(&allotment, entrant).or(entrant.held.filter(|_| entrant.is_pinned));
            match way {
                Some(way) => self.take((&mut allotment, &mut room), entrant, way),
                None => open.push(entrant),
            }
        }
        self.hold_back(&mut allotment, &mut open, &mut room);
        self.grant_starved(&mut allotment, &mut open, &mut room);
        self.divide(&mut allotment, &open, &room);
        allotment
    }

    /// Grants a way to an entrant, out of what there is room for.
    fn take(
        &self,
        (allotment, room): (&mut Allotment, &mut [u64]),
        entrant: &Entrant<'_>,
        way: Way,
    ) {
        let (lot, amount) = self.lots.amount(entrant, way);
        room[lot] = room[lot].saturating_sub(amount);
        grant_to(allotment, entrant, way);
    }

    /// Leaves as they are those at the end of the queue for whom the effort does not suffice: what
    /// runs goes on, what waits does.
    fn hold_back(&self, allotment: &mut Allotment, open: &mut Vec<&Entrant<'_>>, room: &mut [u64]) {
        let mut bids = self.steps_max / STEPS_A_BID;
        open.retain(|entrant| {
            let more = entrant.offers.len() as u64;
            let is_in = more <= bids;
            bids = bids.saturating_sub(more);
            if !is_in {
                match entrant.held {
                    Some(way) => self.take((allotment, room), entrant, way),
                    None => _ = allotment.outbid.entry(entrant.job.id).or_default(),
                }
            }
            is_in
        });
    }

    /// Who has waited for too long goes first, the longest wait before all.
    fn grant_starved(
        &self,
        allotment: &mut Allotment,
        open: &mut Vec<&Entrant<'_>>,
        room: &mut [u64],
    ) {
        let Some(starvation) = self.allocate.starvation else { return };
        let waited = |entrant: &Entrant<'_>| match entrant.held {
            Some(_) => Span::ZERO,
            None => self.snapshot.at.since(entrant.idle_since),
        };
        let mut starved: Vec<&Entrant<'_>> =
            open.iter().copied().filter(|entrant| waited(entrant) >= starvation).collect();
        starved.sort_by_key(|entrant| std::cmp::Reverse(waited(entrant)));
        for entrant in starved {
            let fits = |offer: &&lots::Offer| {
                offer.amount <= room[offer.lot] && !is_scattered(allotment, entrant, offer.way)
            };
            // Of equal rates the first.
            let best = entrant.offers.iter().rev().filter(fits).max_by_key(|offer| offer.rate);
            if let Some(offer) = best {
                let way = offer.way;
                self.take((allotment, room), entrant, way);
            }
        }
        open.retain(|entrant| granted(allotment, entrant).is_none());
    }

    fn divide(&mut self, allotment: &mut Allotment, open: &[&Entrant<'_>], room: &[u64]) {
        let units = lots::units(open, room.len());
        let capacity: Vec<u32> =
            room.iter().zip(&units).map(|(room, unit)| whole(room / unit)).collect();
        let mut claims: Vec<Claim> =
            open.iter().map(|entrant| self.claim(entrant, &units)).collect();
        for (entrant, claim) in open.iter().zip(&mut claims) {
            for (offer, bid) in entrant.offers.iter().zip(&mut claim.bids) {
                if is_scattered(allotment, entrant, offer.way) {
                    bid.worth = 0;
                }
            }
        }
        let bids: usize = claims.iter().map(|claim| claim.bids.len()).sum();
        let most = self.steps_max.saturating_sub(STEPS_A_BID / 2 * bids as u64);
        let steps_max = steps_enough(&claims).min(most);
        let division = divide(&claims, &capacity, steps_max);
        self.steps += division.steps;
        for ((entrant, claim), place) in open.iter().zip(&claims).zip(&division.granted) {
            match place {
                Some(place) => grant_to(allotment, entrant, entrant.offers[*place].way),
                None => {
                    let outbid = outbid(entrant, claim, &division.prices);
                    let known = allotment.outbid.entry(entrant.job.id).or_insert(outbid);
                    *known = known.or(outbid);
                }
            }
        }
    }

    fn claim(&self, entrant: &Entrant<'_>, units: &[u64]) -> Claim {
        let Allocate { rounds, powers, moving, .. } = *self.allocate;
        let ahead = rounds.map_or(AHEAD, |rounds| rounds.saturating_mul(ROUNDS_AHEAD));
        let prospect = Prospect {
            remaining: entrant.remaining,
            done: entrant.done,
            age: self.snapshot.at.since(entrant.job.arrival),
            offers: entrant.offers.iter().map(|offer| offer.in_units(units)).collect(),
            held: entrant.held.and_then(|held| entrant.offer_at(held)),
            ahead,
        };
        Aim { powers, moving }.claim(&prospect)
    }
}

/// Whether a job or task came or went since devices were divided.
fn has_changed(before: &Allotment, entrants: &[Entrant<'_>]) -> bool {
    let is_new = |entrant: &Entrant<'_>| {
        granted(before, entrant).is_none() && !before.outbid.contains_key(&entrant.job.id)
    };
    if entrants.iter().any(is_new) {
        return true;
    }
    let there: BTreeSet<(JobId, TaskIndex)> =
        entrants.iter().map(|entrant| (entrant.job.id, entrant.task)).collect();
    let is_there = |job: &JobId| {
        let first = (*job, TaskIndex(0));
        there.range(first..=(*job, TaskIndex(u32::MAX))).next().is_some()
    };
    let granted = before.granted.iter();
    let mut granted = granted.flat_map(|(job, tasks)| tasks.keys().map(|task| (*job, *task)));
    granted.any(|key| !there.contains(&key)) || !before.outbid.keys().all(is_there)
}

fn grant_to(allotment: &mut Allotment, entrant: &Entrant<'_>, way: Way) {
    allotment.granted.entry(entrant.job.id).or_default().insert(entrant.task, way);
}

/// The bid of a claim that came nearest to what was paid.
fn outbid(entrant: &Entrant<'_>, claim: &Claim, prices: &[u64]) -> Option<Outbid> {
    let bids = claim.bids.iter().zip(entrant.offers.iter()).filter(|(bid, _)| bid.worth > 0);
    let paid = |bid: &Bid| prices[bid.lot.0].saturating_mul(u64::from(bid.devices));
    let nearest = bids.rev().max_by_key(|(bid, _)| i128::from(bid.worth) - i128::from(paid(bid)));
    nearest.map(|(bid, offer)| Outbid {
        class: offer.way.class,
        worth: bid.worth,
        price: paid(bid),
    })
}

fn whole(amount: u64) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

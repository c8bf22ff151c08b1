//! The division of devices: kept, filled up or made anew; and room on the nodes for it.

use std::collections::{BTreeMap, BTreeSet};

use fleet::explanation::Outbid;
use fleet::policy::Allocate;
use fleet::snapshot::{Allotment, Nomination, Way};
use fleet::{JobId, Snapshot, Span, Stop, StopCause, TaskIndex, Time};

use super::clearing::{Cleared, Clearing, Need};
use super::entrants::Entrant;
use super::lots::{self, Lots};
use super::{granted, is_scattered};
use crate::apportion::worth::{Aim, Prospect};
use crate::apportion::{Bid, Claim, divide, steps_enough};
use crate::feasible::Rules;

/// For how many rounds a job is expected to stay where it is put, unless it ends sooner: moves that
/// take most of a round still pay where they bring hours on a better class. Between 3 and 30 little
/// depends on it.
const ROUNDS_AHEAD: u64 = 10;
/// The same where there are no rounds.
const AHEAD: Span = Span::seconds(3600);

/// For how long others wait at most until those who make room have ended: longer than stops with a
/// last checkpoint take.
pub(super) const ROOM_TIME: Span = Span::seconds(300);
/// For how many tasks a plan tries to make room at most.
const ROOMS_MAX: u32 = 200;

/// What a bid costs in steps in any case; a division that has reached its limit ends within half of
/// that.
const STEPS_A_BID: u64 = 32;

/// A division under way.
pub(super) struct Round<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) allocate: &'a Allocate,
    pub(super) lots: &'a Lots<'a>,
    /// The most steps, and those that were taken.
    pub(super) steps_max: u64,
    pub(super) steps: u64,
    /// What is known to find no room in this division, task by task.
    pub(super) barred: BTreeSet<(JobId, TaskIndex, Way)>,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        (snapshot, allocate, lots): (&'a Snapshot, &'a Allocate, &'a Lots<'a>),
        steps_max: u64,
    ) -> Self {
        Self { snapshot, allocate, lots, steps_max, steps: 0, barred: BTreeSet::new() }
    }
}

impl Round<'_> {
    /// The division of before, with what is free given away, or a new one.
    pub(super) fn renew(&mut self, entrants: &[Entrant<'_>]) -> Allotment {
        match self.snapshot.memory.allotment.as_deref() {
            Some(before) if !self.is_over(before, entrants) => {
                let mut kept = self.fill(before, entrants);
                self.keep_nominated(&mut kept, entrants);
                kept.displaced.clear();
                kept
            }
            _ => self.divide_anew(entrants),
        }
    }

    /// A new division, without what is barred.
    pub(super) fn divide_anew(&mut self, entrants: &[Entrant<'_>]) -> Allotment {
        let nobody = Allotment {
            began: self.snapshot.at,
            capacity: self.lots.capacity.clone(),
            scattered_at: self.snapshot.serial,
            ..Allotment::default()
        };
        let mut allotment = self.grant(nobody, entrants);
        // A way that has room for none of a job's tasks is not granted later in the round either.
        for (job, _, way) in &self.barred {
            let granted = allotment.granted.get(job);
            if !granted.is_some_and(|tasks| tasks.values().any(|one| one == way)) {
                allotment.scattered.entry(*job).or_default().insert(*way);
            }
        }
        self.keep_nominated(&mut allotment, entrants);
        allotment
    }

    /// Who was nominated stays so while it has something, waits, and its time is not over.
    fn keep_nominated(&self, allotment: &mut Allotment, entrants: &[Entrant<'_>]) {
        let before = self.snapshot.memory.allotment.as_deref();
        let nominated = before.map(|before| before.nominated.clone()).unwrap_or_default();
        let waits = |job: &JobId| {
            let mut of_job = entrants.iter().filter(|entrant| entrant.job.id == *job);
            of_job.any(|one| one.held.is_none() && granted(allotment, one).is_some())
        };
        let is_in_time =
            |(job, one): &(JobId, Nomination)| self.snapshot.at < one.until && waits(job);
        allotment.nominated = nominated.into_iter().filter(is_in_time).collect();
    }

    fn is_over(&self, before: &Allotment, entrants: &[Entrant<'_>]) -> bool {
        if before.capacity != self.lots.capacity {
            return true;
        }
        match self.allocate.rounds {
            Some(rounds) => self.snapshot.at >= before.began.after(rounds),
            // What makes way first confirms that, or the next division would not know of it.
            None => has_changed(before, entrants) && !self.is_leaving(before, entrants),
        }
    }

    /// Whether somebody who takes part is about to stop, and has not been for too long.
    fn is_leaving(&self, before: &Allotment, entrants: &[Entrant<'_>]) -> bool {
        let is_in_time = |since: Time| self.snapshot.at < since.after(ROOM_TIME);
        let is_soon = before.leaving_since.is_none_or(is_in_time);
        is_soon && entrants.iter().any(|entrant| entrant.is_leaving)
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
        if !has_room && !before.is_unfinished && !has_changed(before, entrants) {
            return kept;
        }
        kept.is_unfinished = false;
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
        let mut starved: Vec<&Entrant<'_>> =
            open.iter().copied().filter(|entrant| self.has_starved(entrant)).collect();
        starved.sort_by_key(|entrant| entrant.idle_since);
        for entrant in starved {
            let fits = |offer: &&lots::Offer| {
                offer.amount <= room[offer.lot] && !self.is_out(allotment, entrant, offer.way)
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

    /// Whether a way is known to have no room on the nodes.
    fn is_out(&self, allotment: &Allotment, entrant: &Entrant<'_>, way: Way) -> bool {
        let key = (entrant.job.id, entrant.task, way);
        is_scattered(allotment, entrant, way) || self.barred.contains(&key)
    }

    fn has_starved(&self, entrant: &Entrant<'_>) -> bool {
        let waited = self.snapshot.at.since(entrant.idle_since);
        let is_long = |starvation| waited >= starvation;
        entrant.held.is_none() && self.allocate.starvation.is_some_and(is_long)
    }

    fn divide(&mut self, allotment: &mut Allotment, open: &[&Entrant<'_>], room: &[u64]) {
        let units = lots::units(open, room.len());
        let capacity: Vec<u32> =
            room.iter().zip(&units).map(|(room, unit)| whole(room / unit)).collect();
        let mut claims: Vec<Claim> =
            open.iter().map(|entrant| self.claim(entrant, entrant.held, &units)).collect();
        for (entrant, claim) in open.iter().zip(&mut claims) {
            for (offer, bid) in entrant.offers.iter().zip(&mut claim.bids) {
                if self.is_out(allotment, entrant, offer.way) {
                    bid.worth = 0;
                }
            }
        }
        let bids: usize = claims.iter().map(|claim| claim.bids.len()).sum();
        let most = self.steps_max.saturating_sub(STEPS_A_BID / 2 * bids as u64);
        let steps_max = steps_enough(&claims).min(most);
        let division = divide(&claims, &capacity, steps_max);
        self.steps += division.steps;
        // What is left over within a round does not make cheaper what was paid at its beginning.
        allotment.prices.resize(units.len(), 0);
        for (known, new) in allotment.prices.iter_mut().zip(prices(&division.prices, &units)) {
            *known = new.max(*known);
        }
        let a_unit = |(price, unit): (&u64, &u64)| u128::from(*price) * u128::from(*unit) / 1000;
        let paid = allotment.prices.iter().zip(&units).map(a_unit);
        let paid: Vec<u64> = paid.map(|one| u64::try_from(one).unwrap_or(u64::MAX)).collect();
        for ((entrant, claim), place) in open.iter().zip(&claims).zip(&division.granted) {
            match place {
                Some(place) => grant_to(allotment, entrant, entrant.offers[*place].way),
                None => {
                    // Who was worth more than that was not outbid: of what was left over there was
                    // too little.
                    let is_true = |one: &Outbid| one.worth - one.worth / 8 <= one.price;
                    let outbid = outbid(entrant, claim, &paid).filter(is_true);
                    let known = allotment.outbid.entry(entrant.job.id).or_insert(outbid);
                    *known = known.or(outbid);
                }
            }
        }
    }

    /// The runs that have to move, so that some of the tasks that found no nodes for what they were
    /// granted have room. These are unplaced no more, and their jobs nominated; nor are those that
    /// it was not tried for, whose turn is in the next plan.
    pub(super) fn make_room(
        &mut self,
        (allotment, entrants): (&mut Allotment, &[Entrant<'_>]),
        rules: Rules<'_>,
        unplaced: &mut BTreeSet<(JobId, TaskIndex)>,
    ) -> Vec<Stop> {
        let mut stops = Vec::new();
        if unplaced.is_empty() {
            return stops;
        }
        let losses = entrants.iter().map(|entrant| self.loss(entrant)).collect();
        let context = (rules, allotment.settled.clone());
        let mut clearing =
            Clearing::new(self.snapshot, (entrants, self.lots), context, losses, self.steps_max);
        let mut tries = ROOMS_MAX;
        for entrant in entrants.iter().filter(|entrant| entrant.held.is_none()) {
            let key = (entrant.job.id, entrant.task);
            let is_open = unplaced.contains(&key);
            let Some(way) = granted(allotment, entrant).filter(|_| is_open) else { continue };
            if tries == 0 {
                allotment.is_unfinished = true;
                unplaced.remove(&key);
                continue;
            }
            tries -= 1;
            let gain = (!self.has_starved(entrant)).then(|| self.gain(entrant, way, allotment));
            let cleared = clearing.make(Need { entrant, way, gain });
            let Some(Cleared { moved, nodes }) = cleared else { continue };
            let runs = moved.iter().flat_map(|place| &entrants[*place].runs);
            stops.extend(runs.map(|run| Stop { run: *run, cause: StopCause::Round }));
            let nomination = allotment.nominated.entry(entrant.job.id).or_default();
            nomination.until = self.snapshot.at.after(ROOM_TIME);
            nomination.tasks.insert(entrant.task);
            nomination.nodes.extend(nodes);
            unplaced.remove(&key);
        }
        self.steps += clearing.steps;
        allotment.settled = clearing.settled;
        allotment.displaced = stops.iter().map(|stop| stop.run).collect();
        stops
    }

    /// What it is worth that an entrant has what it was granted, and not others.
    fn gain(&self, entrant: &Entrant<'_>, way: Way, allotment: &Allotment) -> u64 {
        let (lot, amount) = self.lots.amount(entrant, way);
        let price = allotment.prices.get(lot).copied().unwrap_or(0);
        let paid = u128::from(price) * u128::from(amount) / 1000;
        let worth = self.worth(entrant, way, None);
        worth.saturating_sub(u64::try_from(paid).unwrap_or(u64::MAX))
    }

    /// What an entrant loses if it is moved to other devices of the same model.
    fn loss(&self, entrant: &Entrant<'_>) -> u64 {
        let Some(held) = entrant.held.filter(|_| self.allocate.moving > Span::ZERO) else {
            return 0;
        };
        let (stays, starts) =
            (self.worth(entrant, held, Some(held)), self.worth(entrant, held, None));
        // What stays gains as much as what is moved loses.
        2 * stays.saturating_sub(starts)
    }

    fn worth(&self, entrant: &Entrant<'_>, way: Way, held: Option<Way>) -> u64 {
        let place = entrant.offer_at(way);
        let claim = self.claim(entrant, held, &vec![1; self.lots.capacity.len()]);
        place.map_or(0, |place| claim.bids[place].worth)
    }

    fn claim(&self, entrant: &Entrant<'_>, held: Option<Way>, units: &[u64]) -> Claim {
        let Allocate { rounds, powers, moving, .. } = *self.allocate;
        let ahead = rounds.map_or(AHEAD, |rounds| rounds.saturating_mul(ROUNDS_AHEAD));
        let prospect = Prospect {
            remaining: entrant.remaining,
            done: entrant.done,
            age: self.snapshot.at.since(entrant.job.arrival),
            offers: entrant.offers.iter().map(|offer| offer.in_units(units)).collect(),
            held: held.and_then(|held| entrant.offer_at(held)),
            ahead,
        };
        Aim { powers, moving }.claim(&prospect)
    }
}

/// Whether a job came or a task went since devices were divided.
fn has_changed(before: &Allotment, entrants: &[Entrant<'_>]) -> bool {
    // Of an array only so many tasks take part as could run at the same time; when some start,
    // others of it take their places.
    let is_new = |entrant: &Entrant<'_>| {
        let job = entrant.job.id;
        !before.granted.contains_key(&job) && !before.outbid.contains_key(&job)
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

/// What a whole device or core of each lot costs.
fn prices(prices: &[u64], units: &[u64]) -> Vec<u64> {
    let whole = |(price, unit): (&u64, &u64)| {
        u64::try_from(u128::from(*price) * 1000 / u128::from(*unit)).unwrap_or(u64::MAX)
    };
    prices.iter().zip(units).map(whole).collect()
}

fn whole(amount: u64) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

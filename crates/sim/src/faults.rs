//! What goes wrong on purpose.
//!
//! [`Faults`] says how much should go wrong, and until when. Node losses become
//! outages of the world; [`Faulty`] stands between controller and world and
//! garbles what passes: orders are refused, delivered twice or again much
//! later, receipts are repeated, and the body fails though it may have taken
//! the orders; receipts are lost, or come later. It never invents an order or a receipt that
//! was not there, and everything is drawn from the seed.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use fleet::{
    Body, BodyError, Milli, NodeId, Observation, Order, Outcome, Receipt, Refusal, Span, Time,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::workload::{Outage, OutageKind};
use crate::world::{Entry, Event};

/// How many order batches and receipts are remembered for late delivery.
const REMEMBERED_MAX: usize = 32;

/// Streams of dice, so that one kind of fault more does not change the others.
const STREAM_OUTAGES: u64 = 0;
const STREAM_ORDERS: u64 = 1;

/// How much should go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Decides what goes wrong when.
    pub seed: u64,
    /// From then on nothing goes wrong any more, and all nodes are back.
    pub until: Time,
    /// How many nodes crash.
    pub crashes: u32,
    /// How many nodes are cut off.
    pub partitions: u32,
    /// How many of a thousand orders the engine refuses without a reason.
    pub refused: Milli,
    /// How many of a thousand batches of orders are delivered twice.
    pub doubled: Milli,
    /// After how many of a thousand batches an earlier one is delivered again.
    pub late: Milli,
    /// How many of a thousand receipts are told again later.
    pub repeated: Milli,
    /// How many of a thousand receipts are never told.
    pub lost: Milli,
    /// How many of a thousand receipts are told by a later observation only.
    pub delayed: Milli,
    /// How many of a thousand times the body fails when it is given orders, having taken all of
    /// them or none.
    pub deaf: Milli,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A node was lost with everything on it.
    Crash,
    /// A node was cut off.
    Partition,
    /// The engine refused an order.
    Refused,
    /// A batch of orders was delivered twice.
    Doubled,
    /// A batch of orders was delivered again, after newer ones.
    Late,
    /// A receipt was told again.
    Repeated,
    /// A receipt was never told.
    Lost,
    /// A receipt was told late.
    Delayed,
    /// The body failed when it was given orders.
    Deaf,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Crash,
        Self::Partition,
        Self::Refused,
        Self::Doubled,
        Self::Late,
        Self::Repeated,
        Self::Lost,
        Self::Delayed,
        Self::Deaf,
    ];
}

impl FaultKind {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Partition => "partition",
            Self::Refused => "refused",
            Self::Doubled => "doubled",
            Self::Late => "late",
            Self::Repeated => "repeated",
            Self::Lost => "lost",
            Self::Delayed => "delayed",
            Self::Deaf => "deaf",
        }
    }
}

/// How often each kind of fault happened.
pub type Hits = BTreeMap<FaultKind, u64>;

impl Faults {
    /// The node losses, for a world of this many nodes: each begins and ends before `until`.
    #[must_use]
    pub fn outages(&self, nodes: u32) -> Vec<Outage> {
        let mut dice = dice(self.seed, STREAM_OUTAGES);
        let until = self.until.0;
        if nodes == 0 || until < 2 {
            return Vec::new();
        }
        let kinds = [(OutageKind::Crash, self.crashes), (OutageKind::Partition, self.partitions)];
        let mut outages = Vec::new();
        for (kind, count) in kinds {
            for _ in 0..count {
                let begin = below(&mut dice, until - 1);
                let most = (until - begin - 1).min(until / 4 + 1);
                // One in four is over before anybody looks.
                let is_short = below(&mut dice, 4) == 0;
                let lasts = if is_short { 0 } else { 1 + below(&mut dice, most) };
                let node = u32::try_from(below(&mut dice, u64::from(nodes))).expect("below nodes");
                let (at, node, lasts) = (Time(begin), NodeId(node), Span(lasts));
                outages.push(Outage { at, node, lasts, kind });
            }
        }
        outages.sort_unstable();
        outages
    }
}

/// Node losses that happened, as kinds of fault.
pub(crate) fn losses(log: &[Entry]) -> Hits {
    let mut hits = Hits::new();
    for entry in log {
        let kind = match entry.event {
            Event::Crashed(_) => FaultKind::Crash,
            Event::Parted(_) => FaultKind::Partition,
            _ => continue,
        };
        *hits.entry(kind).or_default() += 1;
    }
    hits
}

/// A body behind a bad line.
#[derive(Debug)]
pub struct Faulty<B> {
    body: B,
    faults: Faults,
    dice: ChaCha8Rng,
    now: Time,
    refusals: Vec<Receipt>,
    batches: VecDeque<Vec<Order>>,
    receipts: VecDeque<Receipt>,
    /// Receipts that are told by a later observation.
    delayed: Vec<Receipt>,
    hits: Hits,
}

impl<B> Faulty<B> {
    /// Puts a body behind a line that is bad in this way.
    pub fn new(body: B, faults: Faults) -> Self {
        Self {
            body,
            faults,
            dice: dice(faults.seed, STREAM_ORDERS),
            now: Time::ZERO,
            refusals: Vec::new(),
            batches: VecDeque::new(),
            receipts: VecDeque::new(),
            delayed: Vec::new(),
            hits: Hits::new(),
        }
    }

    /// The body behind the line.
    pub fn body(&self) -> &B {
        &self.body
    }

    /// The body behind the line, to change it.
    pub fn body_mut(&mut self) -> &mut B {
        &mut self.body
    }

    /// How often the line was bad so far.
    pub fn hits(&self) -> &Hits {
        &self.hits
    }

    /// The body behind the line, at the end, with how often the line was bad.
    pub fn into_parts(self) -> (B, Hits) {
        (self.body, self.hits)
    }

    /// Whether there is a refusal that nobody has observed yet.
    pub fn has_news(&self) -> bool {
        !self.refusals.is_empty() || !self.delayed.is_empty()
    }

    fn happens(&mut self, kind: FaultKind, of_a_thousand: Milli) -> bool {
        if self.now >= self.faults.until || of_a_thousand.is_zero() {
            return false;
        }
        let hit = below(&mut self.dice, 1000) < u64::from(of_a_thousand.0);
        if hit {
            *self.hits.entry(kind).or_default() += 1;
        }
        hit
    }

    /// Takes out of what is told the receipts that are told later or never.
    fn drop_and_delay(&mut self, receipts: &mut Vec<Receipt>) {
        for receipt in std::mem::take(receipts) {
            if self.happens(FaultKind::Lost, self.faults.lost) {
                continue;
            }
            if self.happens(FaultKind::Delayed, self.faults.delayed) {
                self.delayed.push(receipt);
            } else {
                receipts.push(receipt);
            }
        }
    }

    /// The orders of a batch that get through; the others are refused.
    fn let_through(&mut self, orders: &[Order]) -> Vec<Order> {
        let mut passed = Vec::with_capacity(orders.len());
        for order in orders {
            if self.happens(FaultKind::Refused, self.faults.refused) {
                self.refusals.push(Receipt {
                    run: order.run,
                    generation: order.generation,
                    outcome: Outcome::Refused(Refusal::Engine),
                });
            } else {
                passed.push(order.clone());
            }
        }
        passed
    }
}

impl<B: Body> Body for Faulty<B> {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        let mut observation = self.body.observe()?;
        self.now = observation.at;
        observation.receipts.append(&mut self.refusals);
        let late = std::mem::take(&mut self.delayed);
        if self.faults.until > self.now {
            self.drop_and_delay(&mut observation.receipts);
        }
        observation.receipts.extend(late);
        if self.faults.until <= self.now {
            return Ok(observation);
        }
        for receipt in observation.receipts.clone() {
            remember(&mut self.receipts, receipt.clone());
            if self.happens(FaultKind::Repeated, self.faults.repeated) {
                let age = below(&mut self.dice, self.receipts.len() as u64);
                let again = self.receipts.get(usize::try_from(age).unwrap_or_default());
                observation.receipts.extend(again.cloned());
            }
        }
        Ok(observation)
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        if self.faults.until <= self.now {
            return self.body.carry_out(orders);
        }
        if self.happens(FaultKind::Deaf, self.faults.deaf) {
            if below(&mut self.dice, 2) == 0 {
                self.body.carry_out(orders)?;
                remember(&mut self.batches, orders.to_vec());
            }
            let (what, source) = ("the model world", io::ErrorKind::TimedOut.into());
            return Err(BodyError::Unreachable { what, source });
        }
        let passed = self.let_through(orders);
        self.body.carry_out(&passed)?;
        if !passed.is_empty() {
            if self.happens(FaultKind::Doubled, self.faults.doubled) {
                self.body.carry_out(&passed)?;
            }
            if !self.batches.is_empty() && self.happens(FaultKind::Late, self.faults.late) {
                let age = below(&mut self.dice, self.batches.len() as u64);
                let old = self.batches[usize::try_from(age).unwrap_or_default()].clone();
                self.body.carry_out(&old)?;
            }
            remember(&mut self.batches, passed);
        }
        Ok(())
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        if self.has_news() { Ok(()) } else { self.body.wait(until) }
    }

    fn keeps_work(&self) -> bool {
        self.body.keeps_work()
    }
}

fn remember<T>(queue: &mut VecDeque<T>, item: T) {
    if queue.len() == REMEMBERED_MAX {
        queue.pop_front();
    }
    queue.push_back(item);
}

fn dice(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    dice.set_stream(stream);
    dice
}

/// A number below `end`, evenly; zero where that is zero.
fn below(dice: &mut ChaCha8Rng, end: u64) -> u64 {
    let scaled = (u128::from(dice.next_u64()) * u128::from(end)) >> 64;
    u64::try_from(scaled).expect("less than the end, which fits")
}

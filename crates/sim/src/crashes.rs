//! The program dies, again and again, and nothing may be lost.
//!
//! In comes a seed; out goes an [`Outcome`]. A small random fleet in the model
//! world lives on while programs, each the real [`controller::Controller`] with
//! its journal, come and go: a program dies between any two steps, or its disk
//! is full for a while, and the next one goes on with the journal and the world
//! as they are. Beside that everything goes wrong that [`crate::faults`] has.
//! The laws are checked after every turn. Nothing is decided here but by dice.

mod draw;
mod laws;
mod life;
mod line;

use std::collections::BTreeMap;
use std::path::Path;

use controller::Request;
use fleet::{Observation, Order};

use crate::faults::FaultKind;
use crate::world::World;

pub use laws::Breach;
pub use life::simulate;

/// Where a program dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Something was asked, and is not written yet.
    BeforeAsk,
    /// What was asked is written, and whoever asked does not know it yet.
    AfterAsk,
    /// While a checkpoint is written, for which there is no room.
    DuringCheckpoint,
    /// After a checkpoint, with requests that wait for their turn.
    AfterCheckpoint,
    /// Before it looks at the world.
    BeforeObserve,
    /// After it has looked at the world, and before it has written what it decided.
    AfterObserve,
    /// The turn could not be written, because the disk is full.
    AfterFailedWrite,
    /// The turn is written, and no order has gone out.
    AfterWrite,
    /// Some orders have gone out and some have not.
    MidCarryOut,
    /// All orders have gone out, and nobody has taken note of it.
    AfterCarryOut,
    /// After a whole turn.
    AfterTurn,
}

/// Something that went wrong, beside the death of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Between program and world.
    Fault(FaultKind),
    /// A run failed by itself, or was lost.
    Failure,
    /// The journal could not be written.
    FullDisk,
}

/// How often what went wrong in the life of a program that died there; `None` where it did not die.
pub type Table = BTreeMap<(Trouble, Option<Step>), u64>;

/// What a simulation came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Turns that were taken.
    pub turns: u64,
    /// How often a program died at each step.
    pub deaths: BTreeMap<Step, u64>,
    /// What went wrong beside that.
    pub troubles: Table,
    /// Tasks that did their work.
    pub done: u64,
    /// Tasks that failed for good.
    pub failed: u64,
    /// The laws that were broken; the simulation ends with the first turn that breaks any.
    pub breaches: Vec<Breach>,
}

/// Changes what is asked or seen.
pub type Change<'a, T> = Box<dyn FnMut(&mut T) + 'a>;

/// Changes orders; whether they are the first batch of a program is given.
pub type ChangeOrders<'a> = Box<dyn FnMut(&mut Vec<Order>, bool) + 'a>;

/// Changes a journal or the world.
pub type ChangeBetween<'a> = Box<dyn FnMut(&Path, &mut World) + 'a>;

/// Bugs that are planted on purpose, for tests of the laws. Nothing is wrong by default.
pub struct Plant<'a> {
    /// Changes what is asked, though the one who asks is told that all of it was taken in.
    pub asked: Change<'a, Vec<Request>>,
    /// Changes what is seen.
    pub seen: Change<'a, Observation>,
    /// Changes orders.
    pub ordered: ChangeOrders<'a>,
    /// Changes the journal or the world while no program runs.
    pub between: ChangeBetween<'a>,
    /// Whether whoever asks is told so before it is written.
    pub acknowledges_early: bool,
    /// Whether the world forgets what it told a program that died before it wrote it down.
    pub tells_once: bool,
}

impl Default for Plant<'_> {
    fn default() -> Self {
        Self {
            asked: Box::new(|_| ()),
            seen: Box::new(|_| ()),
            ordered: Box::new(|_, _| ()),
            between: Box::new(|_, _| ()),
            acknowledges_early: false,
            tells_once: false,
        }
    }
}

impl Step {
    /// Every step, in the order of a turn.
    pub const ALL: [Self; 11] = [
        Self::BeforeAsk,
        Self::AfterAsk,
        Self::DuringCheckpoint,
        Self::AfterCheckpoint,
        Self::BeforeObserve,
        Self::AfterObserve,
        Self::AfterFailedWrite,
        Self::AfterWrite,
        Self::MidCarryOut,
        Self::AfterCarryOut,
        Self::AfterTurn,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeAsk => "before-ask",
            Self::AfterAsk => "after-ask",
            Self::DuringCheckpoint => "during-checkpoint",
            Self::AfterCheckpoint => "after-checkpoint",
            Self::BeforeObserve => "before-observe",
            Self::AfterObserve => "after-observe",
            Self::AfterFailedWrite => "after-failed-write",
            Self::AfterWrite => "after-write",
            Self::MidCarryOut => "mid-carry-out",
            Self::AfterCarryOut => "after-carry-out",
            Self::AfterTurn => "after-turn",
        }
    }
}

impl Trouble {
    /// Every kind of trouble.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let faults = FaultKind::ALL.into_iter().map(Self::Fault);
        faults.chain([Self::Failure, Self::FullDisk]).collect()
    }

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fault(kind) => kind.name(),
            Self::Failure => "failure",
            Self::FullDisk => "full-disk",
        }
    }
}

impl Outcome {
    /// Adds what another simulation came to.
    pub fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.done += other.done;
        self.failed += other.failed;
        for (step, times) in &other.deaths {
            *self.deaths.entry(*step).or_default() += times;
        }
        for (cell, times) in &other.troubles {
            *self.troubles.entry(*cell).or_default() += times;
        }
        self.breaches.extend(other.breaches.iter().cloned());
    }
}

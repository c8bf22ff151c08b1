//! The line between a program and the world: it outlives the program.
//!
//! What the world told one program it tells the next again, unless that program
//! looked once more. On the line a program dies while it looks at the world or
//! gives orders: unwinding goes past the controller as a kill would, so that
//! nothing is cleaned up.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::rc::Rc;

use fleet::{
    Body, BodyError, Extent, Observation, Order, Receipt, RunId, RunSight, RunState, Time,
};

use super::{Plant, Step};
use crate::faults::Faulty;
use crate::world::{Running, World};

/// What is thrown where a program dies.
pub(super) struct Death;

/// The world's end of the line.
pub(super) struct Far<'a> {
    pub(super) world: Faulty<World>,
    pub(super) plant: Plant<'a>,
    /// Where the program dies next.
    pub(super) step: Option<Step>,
    /// What ran when the world was last looked at.
    pub(super) seen: BTreeMap<RunId, Running>,
    /// Whether everything was told then, and every run that was ever told of.
    pub(super) was_full: bool,
    pub(super) told_of: BTreeSet<RunId>,
    /// The orders that were given since somebody last asked.
    pub(super) given: Vec<Order>,
    told: News,
    again: News,
    is_new: bool,
}

/// What is told once: ends of runs, and receipts.
#[derive(Clone, Default)]
struct News {
    ended: Vec<RunSight>,
    receipts: Vec<Receipt>,
}

/// The program's end of the line.
pub(super) struct Line<'a>(Rc<RefCell<Far<'a>>>);

impl<'a> Far<'a> {
    pub(super) fn new(world: Faulty<World>, plant: Plant<'a>) -> Self {
        Self {
            world,
            plant,
            step: None,
            seen: BTreeMap::new(),
            was_full: false,
            told_of: BTreeSet::new(),
            given: Vec::new(),
            told: News::default(),
            again: News::default(),
            is_new: true,
        }
    }

    fn die_at(&self, step: Step) {
        if self.step == Some(step) {
            // Without the hook of panics, which would print.
            resume_unwind(Box::new(Death));
        }
    }

    fn observe(&mut self) -> Result<Observation, BodyError> {
        self.die_at(Step::BeforeObserve);
        let mut seen = self.world.observe()?;
        let again = std::mem::take(&mut self.again);
        seen.runs.splice(0..0, again.ended);
        seen.receipts.splice(0..0, again.receipts);
        let has_ended = |sight: &&RunSight| !matches!(sight.state, RunState::Running(_));
        self.told = News {
            ended: seen.runs.iter().filter(has_ended).cloned().collect(),
            receipts: seen.receipts.clone(),
        };
        self.was_full = seen.extent == Extent::Full;
        self.told_of.extend(seen.runs.iter().map(|sight| sight.run));
        self.seen = self.world.body().truth_view().runs.clone();
        (self.plant.seen)(&mut seen);
        self.die_at(Step::AfterObserve);
        Ok(seen)
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        let mut orders = orders.to_vec();
        self.given.extend(orders.iter().cloned());
        (self.plant.ordered)(&mut orders, std::mem::take(&mut self.is_new));
        self.die_at(Step::AfterWrite);
        if orders.len() > 1 && self.step == Some(Step::MidCarryOut) {
            // Whether the line was good at last makes no difference to the dead.
            let _ = self.world.carry_out(&orders[..orders.len() / 2]);
            self.die_at(Step::MidCarryOut);
        }
        let carried_out = self.world.carry_out(&orders);
        self.die_at(Step::AfterCarryOut);
        carried_out
    }
}

impl<'a> Line<'a> {
    /// Connects a new program.
    pub(super) fn connect(far: &Rc<RefCell<Far<'a>>>) -> Self {
        let mut end = far.borrow_mut();
        end.again = if end.plant.tells_once { News::default() } else { end.told.clone() };
        end.is_new = true;
        end.world.body_mut().doubt();
        drop(end);
        Self(Rc::clone(far))
    }

    fn far(&self) -> RefMut<'_, Far<'a>> {
        self.0.borrow_mut()
    }
}

impl Body for Line<'_> {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        self.far().observe()
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        self.far().carry_out(orders)
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        self.far().world.wait(until)
    }
}

//! Programs come and go, and the world goes on.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use controller::journal::{Durability, Journal, JournalError};
use controller::policy_file::{SHIPPED, shipped};
use controller::{AdvanceError, AskError, Controller, Ledger, Request};
use fleet::{Policy, Time};
use planner::Effort;

use super::draw::{Dice, Scene};
use super::laws::{Breach, Laws, Shown};
use super::line::{Death, Far, Line};
use super::{Outcome, Plant, Step, Trouble};
use crate::faults::{Faulty, Hits, losses};
use crate::world::{Event, TrueRates, World};

/// Most turns of one simulation; what has not ended by then never will.
const TURNS_MAX: u64 = 5_000;

/// After so many turns in which nothing happened the world is looked at in full once more, and
/// after twice as many nothing ever will.
const STILL_MAX: u32 = 2;

/// More pages than any journal here has.
const PAGES_MAX: u32 = 1 << 30;

/// Parts of a ledger that move in turns in which nothing happens, which are not written.
const UNWRITTEN_PARTS: [&str; 5] = ["at", "serial", "changed", "has_changed", "arrivals"];

type Program<'a> = Controller<Line<'a>>;

/// A simulation under way.
struct Course<'a> {
    dice: Dice,
    far: Rc<RefCell<Far<'a>>>,
    laws: Laws,
    policy: Policy,
    file: PathBuf,
    /// What is still to be asked, and until when things go wrong.
    asks: VecDeque<(Time, Request)>,
    until: Time,
    deaths: u32,
    full_disks: u32,
    /// For how many turns the disk stays full.
    full_for: u32,
    /// Whether the journal lacks what the ledger knows.
    is_behind: bool,
    /// Turns in a row in which nothing happened.
    still: u32,
    /// What had happened when the program began.
    birth: (Hits, usize),
    full_in_life: u64,
    outcome: Outcome,
}

/// Simulates programs that die, with this seed and a journal in this folder, which must have none.
#[must_use]
pub fn simulate(seed: u64, folder: &Path, plant: Plant<'_>) -> Outcome {
    let mut course = Course::new(seed, folder, plant);
    let mut program = match course.begin(None) {
        Ok(program) => program,
        Err(error) => return course.broken(&error),
    };
    while course.outcome.turns < TURNS_MAX && course.outcome.breaches.is_empty() {
        match course.turn(&mut program) {
            Err(step) => {
                let known = course.bury(&mut program, step);
                drop(program);
                program = match course.begin(known.as_ref()) {
                    Ok(program) => program,
                    Err(error) => return course.broken(&error),
                };
            }
            Ok(true) => {}
            Ok(false) => break,
        }
    }
    course.close(program)
}

impl<'a> Course<'a> {
    fn new(seed: u64, folder: &Path, plant: Plant<'a>) -> Self {
        let mut dice = Dice::new(seed);
        let scene = Scene::draw(&mut dice, seed);
        let policy = shipped(dice.pick(SHIPPED).0).expect("it is shipped");
        let nodes = u32::try_from(scene.fleet.nodes.len()).unwrap_or(u32::MAX);
        let rates = TrueRates::new(scene.truth, &scene.jobs, seed);
        let outages = scene.faults.outages(nodes);
        let mut world = World::new(&scene.fleet, rates, &outages, scene.resync_every);
        world.oversubscribe(policy.oversubscribe);
        let world = Faulty::new(world, scene.faults);
        Self {
            dice,
            far: Rc::new(RefCell::new(Far::new(world, plant))),
            laws: Laws::new(seed, &scene.jobs),
            policy,
            file: folder.join("journal"),
            asks: scene.asks.into(),
            until: scene.faults.until,
            deaths: scene.deaths,
            full_disks: scene.full_disks,
            full_for: 0,
            is_behind: false,
            still: 0,
            birth: (Hits::new(), 0),
            full_in_life: 0,
            outcome: Outcome::default(),
        }
    }

    /// A new program, which must know what the last one knew.
    fn begin(&mut self, known: Option<&serde_json::Value>) -> Result<Program<'a>, JournalError> {
        let mut journal = Journal::open(&self.file)?;
        let restored = journal.restore()?;
        let line = Line::connect(&self.far);
        let policy = self.policy.clone();
        let program = Controller::new(line, (journal, restored), policy, Effort::DEFAULT);
        let image = image(program.ledger());
        if let Some(known) = known
            && let Some(part) = difference(known, &image)
        {
            self.outcome.breaches.push(Breach::Forgotten(part));
        }
        self.is_behind = false;
        self.full_for = 0;
        Ok(program)
    }

    /// One turn, and the time until the next. False once all is over; the step where the program
    /// died.
    fn turn(&mut self, program: &mut Program<'a>) -> Result<bool, Step> {
        self.outcome.turns += 1;
        let step = self.draw_step();
        self.far.borrow_mut().step = step;
        self.fill_disk(program, step);
        self.ask(program, step)?;
        self.checkpoint(program, step)?;
        let durability = *self.dice.pick(&[Durability::Written, Durability::Synced]);
        let advanced = self.survive(|| program.advance(|_| durability))?;
        self.look(program);
        let mut gave_orders = true;
        match advanced {
            Ok(advance) => {
                self.is_behind = false;
                gave_orders = advance.orders > 0;
                self.outcome.breaches.extend(advance.faults.into_iter().map(Breach::Plan));
                self.look_after_turn(program);
            }
            Err(AdvanceError::Body(_)) => self.is_behind = false,
            Err(AdvanceError::Journal(error)) => {
                self.is_behind = true;
                self.not_written(&error);
                if step == Some(Step::AfterFailedWrite) {
                    return Err(Step::AfterFailedWrite);
                }
            }
        }
        if step == Some(Step::AfterTurn) {
            return Err(Step::AfterTurn);
        }
        Ok(self.go_on(program, gave_orders))
    }

    fn at(&self) -> Time {
        self.far.borrow().world.body().at()
    }

    fn draw_step(&mut self) -> Option<Step> {
        let dies = self.at() < self.until && self.dice.within(1, 1000) <= self.deaths;
        dies.then(|| *self.dice.pick(&Step::ALL))
    }

    /// Lets the disk be full for some turns, or have room again.
    fn fill_disk(&mut self, program: &mut Program<'a>, step: Option<Step>) {
        let was_full = self.full_for > 0;
        self.full_for = self.full_for.saturating_sub(1);
        let fills = self.at() < self.until && self.dice.within(1, 1000) <= self.full_disks;
        if fills || step == Some(Step::AfterFailedWrite) {
            self.full_for = self.dice.within(1, 5);
        }
        if was_full || self.full_for > 0 {
            let most = if self.full_for > 0 { 1 } else { PAGES_MAX };
            program.journal().limit_pages(most).expect("a limit can be set");
        }
    }

    /// Asks what is due. What is not acknowledged is asked again.
    fn ask(&mut self, program: &mut Program<'a>, step: Option<Step>) -> Result<(), Step> {
        let at = self.at();
        let due: Vec<Request> = self
            .asks
            .iter()
            .take_while(|(when, _)| *when <= at)
            .map(|(_, request)| request.clone())
            .collect();
        if due.is_empty() {
            return Ok(());
        }
        due.iter().for_each(|request| self.laws.sent(request));
        if step == Some(Step::BeforeAsk) {
            if self.far.borrow().plant.acknowledges_early {
                self.acknowledge(program, &due);
            }
            return Err(Step::BeforeAsk);
        }
        let mut asked = due.clone();
        (self.far.borrow_mut().plant.asked)(&mut asked);
        match self.survive(|| program.ask(asked))? {
            Ok(()) => {
                self.is_behind = false;
                if step == Some(Step::AfterAsk) {
                    return Err(Step::AfterAsk);
                }
                self.acknowledge(program, &due);
            }
            Err(AskError::Journal(error)) => self.not_written(&error),
            Err(AskError::Busy) => {}
        }
        Ok(())
    }

    fn acknowledge(&mut self, program: &Program<'a>, due: &[Request]) {
        due.iter().for_each(|request| self.laws.acknowledged(request, program.generation()));
        self.asks.drain(..due.len());
    }

    fn checkpoint(&mut self, program: &mut Program<'a>, step: Option<Step>) -> Result<(), Step> {
        let dies = match step {
            Some(Step::DuringCheckpoint) => {
                program.journal().limit_pages(1).expect("a limit can be set");
                true
            }
            Some(Step::AfterCheckpoint) => true,
            _ => false,
        };
        if !dies && !self.dice.one_in(12) {
            return Ok(());
        }
        let written = self.survive(|| program.checkpoint())?;
        let step = match &written {
            Ok(()) => Step::AfterCheckpoint,
            Err(_) => Step::DuringCheckpoint,
        };
        if let Err(error) = written {
            self.not_written(&error);
        } else {
            self.is_behind = false;
        }
        if dies {
            return Err(step);
        }
        if self.dice.one_in(3)
            && let Err(error) = program.journal().prune()
        {
            self.not_written(&error);
        }
        Ok(())
    }

    /// What comes of this, or where the program died of it.
    fn survive<R>(&self, act: impl FnOnce() -> R) -> Result<R, Step> {
        catch_unwind(AssertUnwindSafe(act)).map_err(|thrown| {
            if !thrown.is::<Death>() {
                resume_unwind(thrown);
            }
            self.far.borrow().step.expect("nothing else kills")
        })
    }

    fn not_written(&mut self, error: &JournalError) {
        match error {
            JournalError::Full => self.full_in_life += 1,
            other => self.outcome.breaches.push(Breach::Journal(other.to_string())),
        }
    }

    /// Lets time pass until something happens; false once nothing is left to happen.
    fn go_on(&mut self, program: &mut Program<'a>, gave_orders: bool) -> bool {
        let at = self.at();
        if self.asks.is_empty() && self.laws.not_ended(program.ledger()).is_empty() {
            let nothing_runs = program.ledger().runs().next().is_none();
            if nothing_runs && !self.is_behind && !gave_orders {
                return false;
            }
        }
        let next = self.asks.front().map(|(when, _)| *when);
        program.wait(next.filter(|when| *when > at)).expect("a model world can be waited for");
        let mut far = self.far.borrow_mut();
        let world = &far.world;
        let happens = gave_orders
            || self.is_behind
            || next.is_some_and(|when| when <= world.body().at())
            || world.body().at() > at
            || world.has_news()
            || world.body().has_news();
        self.still = if happens { 0 } else { self.still + 1 };
        if self.still == STILL_MAX {
            // Bodies look at everything on a schedule.
            far.world.body_mut().doubt();
        }
        self.still <= 2 * STILL_MAX
    }

    /// Looks at what holds at any time.
    fn look(&mut self, program: &Program<'a>) {
        let mut far = self.far.borrow_mut();
        let given = std::mem::take(&mut far.given);
        let (shown, laws) = (shown(&far, program.ledger(), &self.policy), &mut self.laws);
        self.outcome.breaches.extend(laws.look(&shown, &given));
    }

    fn look_after_turn(&mut self, program: &Program<'a>) {
        let far = self.far.borrow();
        let shown = shown(&far, program.ledger(), &self.policy);
        self.outcome.breaches.extend(self.laws.look_after_turn(&shown));
    }

    /// Takes note of the death of a program; what it knew, where all of that was written.
    fn bury(&mut self, program: &mut Program<'a>, step: Step) -> Option<serde_json::Value> {
        self.look(program);
        *self.outcome.deaths.entry(step).or_default() += 1;
        self.count_troubles(Some(step));
        let known = (!self.is_behind).then(|| image(program.ledger()));
        let mut far = self.far.borrow_mut();
        let far = &mut *far;
        far.step = None;
        (far.plant.between)(&self.file, far.world.body_mut());
        known
    }

    fn count_troubles(&mut self, step: Option<Step>) {
        let far = self.far.borrow();
        let (then, read) = std::mem::take(&mut self.birth);
        let hits = far.world.hits();
        let log = far.world.body().truth_view().log;
        let mut lived = losses(&log[read..]);
        for (kind, times) in hits {
            *lived.entry(*kind).or_default() += times - then.get(kind).copied().unwrap_or(0);
        }
        let has_failed = |entry: &&crate::world::Entry| matches!(entry.event, Event::Failed { .. });
        let failures = log[read..].iter().filter(has_failed).count() as u64;
        let full = std::mem::take(&mut self.full_in_life);
        let lived = lived.into_iter().map(|(kind, times)| (Trouble::Fault(kind), times));
        for (trouble, times) in
            lived.chain([(Trouble::Failure, failures), (Trouble::FullDisk, full)])
        {
            *self.outcome.troubles.entry((trouble, step)).or_default() += times;
        }
        self.birth = (hits.clone(), log.len());
    }

    fn broken(mut self, error: &JournalError) -> Outcome {
        self.outcome.breaches.push(Breach::Journal(error.to_string()));
        self.outcome
    }

    /// Looks at what is left when nothing happens any more.
    fn close(mut self, mut program: Program<'a>) -> Outcome {
        self.count_troubles(None);
        if !self.outcome.breaches.is_empty() {
            return self.outcome;
        }
        let left = self.laws.not_ended(program.ledger());
        self.outcome.breaches.extend(left);
        let jobs: Vec<_> = program.ledger().jobs().map(|job| job.id).collect();
        for tally in jobs.iter().filter_map(|job| program.ledger().tally(*job)) {
            self.outcome.done += u64::from(tally.done);
            self.outcome.failed += u64::from(tally.failed);
        }
        match program.journal().verify() {
            Ok(audit) => {
                let damage = audit.damage.map(|(number, what)| format!("record {number}: {what}"));
                self.outcome.breaches.extend(damage.map(Breach::Journal));
            }
            Err(error) => return self.broken(&error),
        }
        let known = (!self.is_behind).then(|| image(program.ledger()));
        drop(program);
        match self.begin(known.as_ref()) {
            Ok(_) => self.outcome,
            Err(error) => self.broken(&error),
        }
    }
}

fn shown<'x>(far: &'x Far<'_>, ledger: &'x Ledger, policy: &Policy) -> Shown<'x> {
    let truth = far.world.body().truth_view();
    Shown {
        truth,
        ledger,
        seen: &far.seen,
        was_full: far.was_full,
        told_of: &far.told_of,
        oversubscribe: policy.oversubscribe,
    }
}

/// Everything that a ledger knows and that is written.
fn image(ledger: &Ledger) -> serde_json::Value {
    let mut image = serde_json::to_value(ledger.image()).expect("images are lists and numbers");
    if let Some(parts) = image.as_object_mut() {
        UNWRITTEN_PARTS.iter().for_each(|part| drop(parts.remove(*part)));
    }
    image
}

/// The first part in which two images differ.
fn difference(one: &serde_json::Value, other: &serde_json::Value) -> Option<&'static str> {
    const PARTS: [&str; 4] = ["jobs", "runs", "given_up", "nodes"];
    if one == other {
        return None;
    }
    Some(PARTS.into_iter().find(|part| one[*part] != other[*part]).unwrap_or("another part"))
}

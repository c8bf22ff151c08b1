//! The daemon: one machine, one loop, one journal.
//!
//! One thread runs the loop and answers what is asked, so that every answer is
//! of one moment; others read and write the sockets of clients. The loop wakes
//! when something happens: a call, a task that ended, a time that a plan waits
//! for. It never polls.

mod alarms;
mod answers;
mod aside;
mod expectations;
mod figures;
mod history;
mod intake;
mod joint;
mod keys;
mod machine;
mod meter;
mod model;
mod pages;
mod place;
mod printed;
mod sensors;
mod views;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use body_local::{LocalBody, Settings, Waker};
use controller::journal::{Durability, Journal};
use controller::{Advance, AdvanceError, Controller, Ledger};
use fleet::{Body as _, JobId, NodeId, Policy, Span, Time};
use planner::Effort;
use server::api::{Down, EventKind, EventView};
use server::{Desk, Listen, Server};
use sim::Inventory;

use crate::command::policy as policies;
use alarms::Alarms;
use answers::Waiting;
use aside::Aside;
use figures::Counts;
use history::History;
use joint::Joint;
use sensors::Sensors;
use views::Viewer;

pub(crate) use intake::{ENTRIES_BYTES_MAX, ENTRIES_MAX, ENTRY_BYTES_MAX};
pub use meter::{BOUNDS, Meter, PHASES, PhaseCounts, Watch};
pub use model::Model;
use place::Lasting;
pub use place::Place;
pub(crate) use place::is_networked;

/// So many jobs that have ended are known; older ones are forgotten.
const ENDED_MAX: usize = 10_000;

/// The node that is this machine; modelled ones come after it.
const MACHINE: NodeId = NodeId(0);

/// How often what failed is tried again, where nothing else happens.
const AGAIN: Span = Span(1_000_000);

/// How often the keeper is asked for everything that there is.
const LOOK_EVERY: Span = Span(60_000_000);

/// What a daemon is started with.
#[derive(Debug)]
pub struct Orders {
    /// Its directory.
    pub place: Place,
    /// Where accelerators are listed that the system does not show.
    pub inventory: Option<std::path::PathBuf>,
    /// Which nodes are modelled beside it.
    pub model: Model,
    /// The policy, by name or file; else the one that was applied last.
    pub policy: Option<String>,
    /// Where rules of alerts are.
    pub alerts: Option<std::path::PathBuf>,
    /// Where it listens beside its socket.
    pub listen: Option<Listen>,
    /// The program that keeps tasks, and its arguments.
    pub keeper: Vec<std::ffi::OsString>,
}

/// The loop and what it needs.
struct Daemon {
    controller: Controller<Joint>,
    place: Place,
    server: Server,
    waiting: Waiting,
    history: History,
    aside: Aside,
    counts: Counts,
    alarms: Alarms,
    began: Time,
    next_job: u64,
    ending: Option<Down>,
    trouble: Option<String>,
    notes: Vec<String>,
    meter: Meter,
    sensors: Sensors,
    /// The fleet, as long as it is known not to have changed.
    inventory: Option<Arc<Inventory>>,
    /// Whether a turn has been taken.
    has_turned: bool,
}

/// Runs a daemon until it is told to end.
///
/// # Errors
/// If it cannot begin: another one is there, the directory is on a network, the journal is damaged,
/// the machine cannot be read.
pub fn run(orders: &Orders) -> anyhow::Result<()> {
    let lock = orders.place.lock()?;
    let mut journal = Journal::open(&orders.place.journal())?;
    let restored = journal.restore().context("go on from the journal")?;
    let Opened { body, notes, devices } = open(orders, lock.term, &restored.ledger)?;
    let waker = body.waker();
    let policy = match (&orders.policy, &restored.policy) {
        (None, Some(text)) => controller::policy_file::read("the policy in the journal", text)?,
        (named, _) => policies::find(named.as_deref().unwrap_or("default"))?,
    };
    controller::suits(&policy, body.keeps_work())?;
    let mut controller = Controller::new(body, (journal, restored), policy, Effort::DEFAULT);
    controller.keep_ended(ENDED_MAX);
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, woken) = (Arc::clone(&stop), waker.clone());
    ctrlc::set_handler(move || {
        stopped.store(true, Ordering::SeqCst);
        woken.wake();
    })
    .context("listen for signals")?;
    let began = controller.body().now();
    let alarms = open_alarms(orders, &mut controller, waker.clone())?;
    let settings = server::Settings {
        socket: orders.place.socket(),
        tokens: orders.place.tokens(),
        listen: orders.listen,
        version: env!("CARGO_PKG_VERSION"),
        output: printed::source(orders.place.keeper()),
    };
    let (server, desk) = server::open(settings, Box::new(move || waker.wake()))?;
    if let Some(address) = server.address() {
        orders.place.log(&format!("listening at http://{address}"));
    }
    let next_job = controller.newest_job().map_or(1, |id| id.0 + 1);
    let mut daemon = Daemon {
        controller,
        place: orders.place.clone(),
        server,
        history: History::default(),
        aside: Aside::new().context("start a thread")?,
        counts: Counts::default(),
        alarms,
        began,
        waiting: Waiting::default(),
        next_job,
        ending: None,
        trouble: None,
        notes,
        meter: Meter::new(),
        sensors: Sensors::begin(devices, orders.place.clone()),
        inventory: None,
        has_turned: false,
    };
    daemon.undo_ending()?;
    daemon.turn_around(desk, &stop)
}

/// The alerts that are in force, standing as they did.
fn open_alarms(
    orders: &Orders,
    controller: &mut Controller<Joint>,
    waker: Waker,
) -> anyhow::Result<Alarms> {
    let file = orders.place.in_force(Lasting::Alerts, orders.alerts.as_deref());
    let alarms = Alarms::open(file.as_deref(), controller.journal().notes(), waker)?;
    orders.place.keep(Lasting::Alerts, orders.alerts.as_deref())?;
    let left_over = alarms.left_over(controller.journal().notes());
    if !left_over.is_empty() {
        controller.note(left_over).context("forget notices that have no receiver")?;
    }
    Ok(alarms)
}

/// The machine, and the nodes that are modelled beside it.
struct Opened {
    body: Joint,
    /// What could not be read of it.
    notes: Vec<String>,
    /// The devices that the system shows.
    devices: Vec<probe::devices::Device>,
}

fn open(orders: &Orders, term: u64, ledger: &Ledger) -> anyhow::Result<Opened> {
    let place = &orders.place;
    let inventory = place.in_force(Lasting::Inventory, orders.inventory.as_deref());
    let machine::Found { mut machine, mut notes, devices } =
        machine::find(inventory.as_deref(), ledger.classes())?;
    place.keep(Lasting::Inventory, orders.inventory.as_deref())?;
    let nodes = model::find(&orders.model, place, &mut machine, ledger)?;
    let mut modelled = model::take_up(nodes, &machine.classes, ledger);
    if modelled.count() > 0 {
        notes.push(model::note(modelled.count()));
    }
    let local = LocalBody::open(Settings {
        directory: place.keeper(),
        keeper: orders.keeper.clone(),
        machine,
        term,
        newest: ledger.generation(),
        rules: body_local::wire::Rules::default(),
        look_every: LOOK_EVERY,
    })
    .context("start the keeper of tasks")?;
    if let Some(at) = place.lost()? {
        modelled.lose_all(at);
    }
    Ok(Opened { body: Joint::new(local, modelled), notes, devices })
}

/// How a daemon ends that gets a signal: what runs goes on, unless it is to be stopped. Whoever
/// waits for it to end waits no longer.
fn after_signal(ending: Option<Down>) -> Down {
    match ending {
        Some(Down::Now) => Down::Now,
        None | Some(Down::Drain | Down::Leave) => Down::Leave,
    }
}

impl Daemon {
    /// The loop.
    fn turn_around(&mut self, mut desk: Desk, stop: &AtomicBool) -> anyhow::Result<()> {
        loop {
            let later = self.answer_all(&mut desk);
            if stop.load(Ordering::SeqCst) {
                self.ending = Some(after_signal(self.ending));
            }
            match self.turn() {
                Ok(advance) => {
                    self.trouble = advance.faults.first().cloned();
                    if let Some(fault) = &self.trouble {
                        self.log(&format!("a plan broke the law and was not taken: {fault}"));
                    }
                    for drift in &advance.drifts {
                        self.log(&format!("ledger and world differed: {drift:?}"));
                    }
                    let waiting = self.controller.explanation().waiting.len();
                    let outcome = (waiting, advance.faults.len());
                    self.counts.hear(&advance.news, outcome, self.controller.ledger());
                    let tiers = &self.controller.explanation().tiers;
                    let under = (self.controller.ledger(), &tiers[..]);
                    self.history.hear(advance.news.placed, advance.news.ended, under);
                    self.tell_of(&advance.news.jobs, &advance.news.nodes);
                    self.tell_of_ends();
                }
                Err(error) => {
                    self.counts.failed();
                    self.note(error);
                }
            }
            later.into_iter().for_each(|asked| self.answer(asked));
            self.look_at_alerts();
            if self.is_over()? {
                return Ok(());
            }
            self.rest();
        }
    }

    /// One turn, measured.
    fn turn(&mut self) -> anyhow::Result<Advance> {
        let waiting = &self.waiting;
        // Whoever waits is told what came of it, which must then be safe.
        let durability = |ledger: &Ledger| match waiting.is_any_over(ledger) {
            true => Durability::Synced,
            false => Durability::Written,
        };
        let mut watch = Watch::start();
        let mut mark = |phase| watch.mark(phase);
        let advance = self.controller.advance_marked(durability, &mut mark)?;
        if advance.requests > 0 || advance.orders > 0 {
            self.meter.note_turn(&watch);
        }
        for took in self.controller.body().starts() {
            self.meter.note_start(took);
        }
        if !std::mem::replace(&mut self.has_turned, true) {
            // What there is was seen, and what was lost is on record.
            self.inventory = None;
            if self.place.lost()?.is_some() {
                self.place.forget_lost()?;
            }
        }
        Ok(advance)
    }

    /// Waits until something happens; where something failed, until it is time to try again.
    fn rest(&mut self) {
        let again = self.trouble.is_some().then(|| self.controller.body().now().after(AGAIN));
        let until = [again, self.alarms.next()].into_iter().flatten().min();
        if let Err(error) = self.controller.wait(until) {
            self.note(AdvanceError::from(error).into());
            std::thread::sleep(Duration::from_micros(AGAIN.0));
        }
    }

    fn note(&mut self, error: anyhow::Error) {
        let text = format!("{error:#}");
        if self.trouble.as_deref() != Some(&text) {
            self.log(&text);
        }
        self.trouble = Some(text);
    }

    /// Whether the daemon has come to its end.
    fn is_over(&mut self) -> anyhow::Result<bool> {
        let Some(how) = self.ending else { return Ok(false) };
        if how == Down::Drain && self.controller.ledger().runs().next().is_some() {
            return Ok(false);
        }
        self.undo_ending()?;
        if how == Down::Now {
            let now = self.controller.body().now();
            self.place.note_lost(now)?;
        }
        if how != Down::Leave {
            self.controller.body().end_keeper().context("end the keeper")?;
        }
        self.controller.checkpoint().context("write down what is known")?;
        Ok(true)
    }

    /// Lets the nodes take work again that were drained in order to end, by this daemon or by one
    /// that was killed meanwhile.
    fn undo_ending(&mut self) -> anyhow::Result<()> {
        if let Some(nodes) = self.place.ending()? {
            let resume = nodes.into_iter().map(controller::Request::Resume);
            self.controller.ask(resume.collect())?;
            self.place.forget_ending()?;
        }
        Ok(())
    }

    /// Tells those who wait for jobs that have ended.
    fn tell_of_ends(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let viewer = Viewer::new(self.controller.ledger(), self.controller.explanation());
        self.waiting.tell(&mut |id| {
            let view = viewer.job(id)?;
            view.ended.is_some().then_some(view)
        });
    }

    /// Tells those who listen how jobs and nodes stand now.
    fn tell_of(&self, jobs: &BTreeSet<JobId>, nodes: &BTreeSet<NodeId>) {
        let ledger = self.controller.ledger();
        let viewer = OnceCell::new();
        let viewer = || viewer.get_or_init(|| self.viewer());
        let at = ledger.at().0;
        for id in jobs {
            self.server.happened().tell(|| {
                let mut job = viewer().job(*id)?;
                job.runs.clear();
                Some(EventView { job: Some(job), ..EventView::new(EventKind::Job, at) })
            });
        }
        for id in nodes {
            self.server.happened().tell(|| {
                let node = Some(viewer().node(*id)?);
                Some(EventView { node, ..EventView::new(EventKind::Node, at) })
            });
        }
    }

    /// Writes a line to the log, and tells those who listen.
    fn log(&self, line: &str) {
        self.place.log(line);
        let at = self.controller.ledger().at().0;
        self.server.happened().tell(|| {
            let text = Some(line.to_owned());
            Some(EventView { text, ..EventView::new(EventKind::Log, at) })
        });
    }

    /// The policy in force.
    fn policy(&self) -> &Policy {
        self.controller.policy()
    }
}

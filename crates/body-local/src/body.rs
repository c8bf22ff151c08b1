//! The body: the machine as the controller sees it.
//!
//! It keeps a mirror of what its keeper tells, turns orders into what the
//! keeper does, and chooses which actual cores a grant gets. Where the keeper
//! is gone it starts another one, which ends what is left and knows what had
//! ended; whatever else ran is told as lost.

mod cores;
mod link;
mod mirror;
mod orders;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;

use fleet::{
    Body, BodyError, Classes, DomainIndex, Extent, Free, Generation, Node, NodeSight, Observation,
    Order, RunId, Span, Time, Usage,
};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};

use crate::clock::Clock;
use crate::wire::{Request, Rules};
use cores::Cores;
use link::Link;
use mirror::{Live, News};

/// What a body must be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory of its keeper.
    pub directory: PathBuf,
    /// The program that is a keeper and its arguments; `--directory` and the directory are added.
    pub keeper: Vec<OsString>,
    /// The machine.
    pub machine: Machine,
    /// The term of the leader that it belongs to: higher than that of any before.
    pub term: u64,
    /// The newest generation that the leader knows of.
    pub newest: Generation,
    /// How tasks are kept.
    pub rules: Rules,
    /// How often the keeper is asked for everything, so that no difference lasts.
    pub look_every: Span,
}

/// The machine, as the plan sees it and as the system numbers it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// As the plan sees it.
    pub node: Arc<Node>,
    /// The device classes.
    pub classes: Arc<Classes>,
    /// Its cores, as many as the node has.
    pub cores: Vec<Core>,
    /// For each memory domain of the node, what the system calls it.
    pub memory_nodes: Vec<u32>,
    /// For each device of the node, how a program is told of it.
    pub devices: Vec<Visibility>,
}

/// A core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// Its cpus, as the system numbers them; several where it has several threads.
    pub cpus: Vec<u32>,
    /// The memory domain that it is in.
    pub domain: Option<DomainIndex>,
}

/// How a program is told that it may use a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// The variable, such as `CUDA_VISIBLE_DEVICES`.
    pub variable: String,
    /// What stands for the device there.
    pub value: String,
}

/// For how long nothing is made of it that runs have started as ordered: that rarely changes a
/// plan, and ends mostly follow soon.
const QUIET: Span = Span(50_000);

/// The real world of one machine.
#[derive(Debug)]
pub struct LocalBody {
    settings: Settings,
    waker: Waker,
    link: Option<Link>,
    /// The keepers that it started and that have not been seen to end.
    keepers: Vec<Child>,
    clock: Clock,
    runs: BTreeMap<RunId, Live>,
    free: Free,
    cores: Cores,
    news: News,
    /// The number of the latest end that was heard of.
    heard: u64,
    /// The number of the latest end that an observation told, and that the keeper need not tell
    /// again.
    told: u64,
    acknowledged: u64,
    /// When everything was heard from the keeper.
    looked: Time,
    notes: Vec<String>,
}

/// Ends the waiting of a body, from any thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(Arc::new(rustix::event::eventfd(0, flags)?)))
    }

    /// Lets the body return from its present or its next waiting.
    pub fn wake(&self) {
        // It fails only where it is as full of wakes as can be.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    /// Whether it was woken, which is then forgotten.
    fn was_woken(&self) -> bool {
        rustix::io::read(&*self.0, &mut [0_u8; 8]).is_ok()
    }
}

impl LocalBody {
    /// Finds the keeper of the directory, or starts one, and learns from it what there is.
    ///
    /// # Errors
    /// If the machine makes no sense, or there can be no keeper.
    pub fn open(settings: Settings) -> Result<Self, BodyError> {
        settings.machine.check()?;
        let machine = &settings.machine;
        let waker = Waker::new()
            .map_err(|source| BodyError::Unreachable { what: "its own events", source })?;
        let mut body = Self {
            waker,
            link: None,
            keepers: Vec::new(),
            clock: Clock::default(),
            runs: BTreeMap::new(),
            free: machine.node.capacity(&machine.classes),
            cores: Cores::new(&machine.cores),
            news: News::default(),
            heard: 0,
            told: 0,
            acknowledged: 0,
            looked: Time::ZERO,
            notes: Vec::new(),
            settings,
        };
        body.news.in_doubt = true;
        body.reach()?;
        Ok(body)
    }

    /// The time as observations tell it.
    pub fn now(&mut self) -> Time {
        self.clock.now()
    }

    /// What ends the waiting of this body.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Everything that observations have told so far is on record: it need not be told again to
    /// whoever comes next.
    ///
    /// # Errors
    /// If the keeper cannot be reached. It may then be told again.
    pub fn acknowledge(&mut self) -> Result<(), BodyError> {
        let told = self.told;
        self.send_acknowledgement(told)
    }

    /// What a run that runs was seen to have used.
    #[must_use]
    pub fn usage(&self, run: RunId) -> Option<Usage> {
        self.runs.get(&run).map(|live| live.usage)
    }

    /// What the keeper cannot do on this machine, in words.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The keeper is heard to the end of what it has said, or there is a new one.
    fn reach(&mut self) -> Result<(), BodyError> {
        if self.link.is_none() {
            self.reconnect()?;
        }
        self.hear()
    }

    /// When to hear everything from the keeper again: not while it has orders to answer.
    fn look_at(&self) -> Option<Time> {
        let is_quiet = self.runs.values().all(|live| live.since.is_some());
        is_quiet.then(|| self.looked.after(self.settings.look_every))
    }

    /// Hears everything from the keeper again where it is time to.
    fn look(&mut self) -> Result<(), BodyError> {
        let now = self.clock.now();
        if self.look_at().is_none_or(|at| at > now) {
            return Ok(());
        }
        // What was acknowledged goes with the next orders otherwise, and there may never be any.
        let sent = self.link.as_mut().map_or(Ok(()), Link::send);
        if sent.is_err() {
            self.link = None;
            self.reach()?;
        }
        self.link = None;
        self.reach()?;
        self.news.in_doubt = true;
        Ok(())
    }

    /// Until when to wait at most.
    fn patience(&mut self, until: Option<Time>) -> Option<Timespec> {
        let now = self.clock.now();
        let quiet = self.news.quiet_since.map(|since| since.after(QUIET));
        let look = self.look_at();
        let until = until.into_iter().chain(quiet).chain(look).min()?;
        let left = until.0.saturating_sub(now.0);
        // Longer than a day is as good as a day.
        let seconds = i64::try_from(left / 1_000_000).unwrap_or(i64::MAX).min(86_400);
        let nanos = i64::try_from(left % 1_000_000 * 1_000).unwrap_or(0);
        Some(Timespec { tv_sec: seconds, tv_nsec: nanos })
    }
}

impl Machine {
    fn check(&self) -> Result<(), BodyError> {
        let node = &self.node;
        let domains = node.topology.as_ref().map_or(0, |topology| topology.domains.len());
        let fault = |detail: String| Err(BodyError::Garbled { what: "the machine", detail });
        if node.cores.0 != self.cores.len() as u64 * 1_000 {
            return fault(format!(
                "{} cores listed, and the node has {}",
                self.cores.len(),
                node.cores
            ));
        }
        if node.devices.len() != self.devices.len() {
            let (listed, there) = (self.devices.len(), node.devices.len());
            return fault(format!("{listed} devices listed, and the node has {there}"));
        }
        if domains != self.memory_nodes.len() {
            let listed = self.memory_nodes.len();
            return fault(format!("{listed} memory nodes listed, and the node has {domains}"));
        }
        Ok(())
    }
}

impl Body for LocalBody {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        self.reach()?;
        self.look()?;
        // Who observes again has made use of what was told before.
        if self.told > self.acknowledged {
            self.say(&Request::Acknowledge(self.told));
            self.acknowledged = self.told;
        }
        let news = std::mem::take(&mut self.news);
        self.told = self.heard;
        let extent = if news.in_doubt { Extent::Full } else { Extent::Changes };
        let runs = match extent {
            Extent::Full => self.all_runs(news.sights),
            Extent::Changes => news.sights,
        };
        let node = &self.settings.machine.node;
        let nodes = match extent {
            Extent::Full => vec![NodeSight::Up(Arc::clone(node))],
            Extent::Changes => Vec::new(),
        };
        let classes = Arc::clone(&self.settings.machine.classes);
        let at = self.clock.now();
        Ok(Observation { at, extent, classes, nodes, runs, receipts: news.receipts })
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        self.reach()?;
        self.carry_out_all(orders)
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        loop {
            self.reach()?;
            let now = self.clock.now();
            let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
            let look = self.look_at();
            let quiet = self.news.quiet_since.map(|since| since.after(QUIET));
            if self.waker.was_woken()
                || self.news.is_loud()
                || is_due(until)
                || is_due(quiet)
                || is_due(look)
            {
                return Ok(());
            }
            let patience = self.patience(until);
            let Some(link) = &self.link else { continue };
            let mut sources = [
                PollFd::from_borrowed_fd(self.waker.0.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN),
            ];
            match rustix::event::poll(&mut sources, patience.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    let (what, source) = ("its own events", error.into());
                    return Err(BodyError::Unreachable { what, source });
                }
            }
        }
    }
}

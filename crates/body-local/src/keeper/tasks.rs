//! Tasks: from their start until nothing of them is left.
//!
//! A task ends when its main process does. What it leaves behind is killed, and
//! its end is told once all of that is gone.

use std::time::{Duration, Instant};

use fleet::{Bytes, Failure, RunId, RunState, Span, Time, Usage};

use super::Keeper;
use super::capture::Capture;
use crate::cgroup::Group;
use crate::family::{self, Kin};
use crate::launch::mark_of;
use crate::sys::{self, Exit, Reaped};
use crate::wire::{Ended, Reply, Start};

/// How long it may take, after everything was killed, until it is gone. A process that hangs in the
/// system for longer is left to the system, and said so.
const GONE_WITHIN: Duration = Duration::from_secs(20);

/// How often one looks meanwhile, beside at every child that ends.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How often one looks at what tasks use. Shorter ones are measured once they have ended.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);

/// What a main process and what descends from it use.
fn used(everyone: &[Kin], main: i32) -> Usage {
    let family = family::descent(everyone, |kin| kin.pid == main || kin.session == main);
    let ticks: u64 = family.iter().map(|kin| kin.ticks).sum();
    let pages: u64 = family.iter().map(|kin| kin.pages).sum();
    let second = rustix::param::clock_ticks_per_second().max(1);
    let page = u64::try_from(rustix::param::page_size()).unwrap_or(0);
    Usage {
        cpu: Span(ticks.saturating_mul(1_000_000) / second),
        memory: Bytes(pages.saturating_mul(page)),
    }
}

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) start: Start,
    /// Its main process, which leads its session.
    pub(super) pid: i32,
    pub(super) since: Time,
    /// Why it is being ended, where it is.
    pub(super) cause: Option<Cause>,
    /// How its main process ended, and when.
    pub(super) exit: Option<(Time, Reaped, Instant)>,
    /// What catches what it prints, where that is kept.
    pub(super) capture: Option<Capture>,
    /// Its control group, where it has one.
    pub(super) group: Option<Group>,
    /// What it was seen to have used.
    pub(super) usage: Usage,
    alarm: Option<(Instant, Alarm)>,
}

/// Why a task is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// By an order.
    Stopped,
    /// It ran for as long as it may.
    Limit,
    /// The keeper ends.
    Left,
}

/// What is due at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// The task has run for as long as it may.
    Limit,
    /// It was told to end, and did not.
    Grace,
    /// It is time to see whether all of it is gone.
    Look,
}

impl Task {
    pub(super) fn new(start: Start, pid: i32, since: Time) -> Self {
        let (cause, exit, capture, group, usage, alarm) = Default::default();
        Self { start, pid, since, cause, exit, capture, group, usage, alarm }
    }

    fn state(&self, at: Time, exit: Exit) -> RunState {
        match (self.cause, exit) {
            (Some(Cause::Stopped), _) => RunState::Stopped(at),
            (Some(Cause::Limit), _) => RunState::Failed(at, Failure::TimeLimit),
            (Some(Cause::Left), _) => RunState::Failed(at, Failure::Lost),
            (None, Exit::Status(0)) => RunState::Done(at),
            (None, _) if self.group.as_ref().is_some_and(Group::ran_out_of_memory) => {
                RunState::Failed(at, Failure::OutOfMemory)
            }
            (None, Exit::Status(status)) => RunState::Failed(at, Failure::Status(status)),
            (None, Exit::Signal(signal)) => RunState::Failed(at, Failure::Signal(signal)),
        }
    }
}

impl Keeper {
    pub(super) fn set_alarm(&mut self, run: RunId, alarm: Option<(Instant, Alarm)>) {
        let Some(task) = self.tasks.get_mut(&run) else { return };
        if let Some((at, _)) = task.alarm.take() {
            self.alarms.remove(&(at, run));
        }
        if let Some((at, _)) = alarm {
            self.alarms.insert((at, run));
        }
        task.alarm = alarm;
    }

    pub(super) fn ring_alarms(&mut self) {
        while let Some((at, run)) = self.alarms.first().copied() {
            if at > Instant::now() {
                return;
            }
            self.alarms.remove(&(at, run));
            let alarm = self.tasks.get_mut(&run).and_then(|task| task.alarm.take());
            match alarm {
                Some((_, Alarm::Limit)) => self.end(run, Cause::Limit),
                Some((_, Alarm::Grace)) => self.kill(run),
                Some((_, Alarm::Look)) => self.settle(run),
                None => {}
            }
        }
    }

    /// Kills all of a task whose main process still runs.
    fn kill(&mut self, run: RunId) {
        let Some(task) = self.tasks.get_mut(&run) else { return };
        let _ = sys::send(-task.pid, sys::SIGKILL);
        let _ = sys::send(task.pid, sys::SIGKILL);
        if let Some(group) = &mut task.group {
            group.kill();
        }
        self.set_alarm(run, Some((Instant::now() + LOOK_EVERY, Alarm::Grace)));
    }

    /// Takes note of every child that has ended.
    pub(super) fn reap(&mut self) {
        let mut has_orphans = false;
        let mut ended = Vec::new();
        while let Some(reaped) = sys::reap() {
            match self.mains.remove(&reaped.pid) {
                Some(run) => ended.push((run, reaped)),
                None => has_orphans = true,
            }
        }
        for (run, reaped) in ended {
            let at = self.clock.now();
            if let Some(task) = self.tasks.get_mut(&run) {
                task.exit = Some((at, reaped, Instant::now()));
            }
            self.settle(run);
        }
        if has_orphans {
            let is_ending = |(_, task): &(&RunId, &Task)| task.exit.is_some();
            let ending: Vec<_> = self.tasks.iter().filter(is_ending).map(|(run, _)| *run).collect();
            ending.into_iter().for_each(|run| self.settle(run));
        }
    }

    /// Tells the end of a task whose main process has ended, once nothing of it is left.
    fn settle(&mut self, run: RunId) {
        let exit = self.tasks.get(&run).and_then(|task| task.exit);
        let Some((at, reaped, since)) = exit else { return };
        let left = self.left_of(run);
        if !left.is_empty() {
            if since.elapsed() < GONE_WITHIN {
                self.set_alarm(run, Some((Instant::now() + LOOK_EVERY, Alarm::Look)));
                return;
            }
            self.log.say(&format!("{run} has ended, and {left} of it hangs"));
        }
        let is_gone = left.is_empty();
        self.set_alarm(run, None);
        let Some(mut task) = self.tasks.remove(&run) else { return };
        if let Some(capture) = task.capture.take() {
            self.end_capture(run, capture);
        }
        // What was seen of it counts too: not every child is waited for, and memory adds up.
        let measured =
            Usage { cpu: Span(reaped.cpu_micros), memory: Bytes(reaped.memory_max_bytes) };
        let usage = Usage {
            cpu: measured.cpu.max(task.usage.cpu),
            memory: measured.memory.max(task.usage.memory),
        };
        let state = task.state(at, reaped.exit);
        match task.group.take() {
            Some(group) if is_gone => self.groups.give_back(group),
            Some(group) => self.groups.retire(group),
            None => {}
        }
        self.note_end(&task.start, state, usage);
    }

    /// Kills what is left of a task whose main process was reaped, and says what that is: nothing,
    /// once all is gone.
    fn left_of(&mut self, run: RunId) -> String {
        let Some(task) = self.tasks.get_mut(&run) else { return String::new() };
        let is_empty = task.group.as_ref().and_then(Group::is_empty);
        if let (Some(group), Some(is_empty)) = (&mut task.group, is_empty) {
            if is_empty {
                return String::new();
            }
            group.kill();
            return "something".to_owned();
        }
        let main = task.pid;
        let kin = self.kin_left_of(run, main);
        kin.iter().for_each(family::end);
        kin.iter().map(|kin| format!("process {} ", kin.pid)).collect()
    }

    /// What is left of a task without a group. Whatever descends from it then descends
    /// from a child of the keeper that is no main process: mostly there is none, and nothing more
    /// needs to be looked at.
    fn kin_left_of(&self, run: RunId, main: i32) -> Vec<Kin> {
        let children = family::own_children().unwrap_or_default();
        if children.iter().all(|pid| self.mains.contains_key(pid)) {
            return Vec::new();
        }
        let Ok(everyone) = family::everyone() else { return Vec::new() };
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let mark = mark_of(&self.token, run);
        // An orphan without any mark of ours is the last task's, whoever's it was.
        let is_alone = self.mains.is_empty();
        let is_root = |kin: &Kin| {
            kin.session == main && !self.mains.contains_key(&main)
                || kin.parent == own
                    && !self.mains.contains_key(&kin.pid)
                    && (is_alone || family::is_marked(kin.pid, &mark))
        };
        let mut left = family::descent(&everyone, is_root);
        left.retain(|kin| kin.pid != own);
        left
    }

    /// Looks at what every task uses, and tells it.
    pub(super) fn sample(&mut self) {
        let now = Instant::now();
        if self.tasks.is_empty() {
            self.sample_at = None;
            return;
        }
        let at = *self.sample_at.get_or_insert(now + SAMPLE_EVERY);
        if at > now {
            return;
        }
        self.sample_at = Some(now + SAMPLE_EVERY);
        let Ok(everyone) = family::everyone() else { return };
        let usages: Vec<_> =
            self.tasks.iter().map(|(run, task)| (*run, used(&everyone, task.pid))).collect();
        for (run, seen) in usages {
            let Some(task) = self.tasks.get_mut(&run) else { continue };
            let before = task.usage;
            task.usage.cpu = before.cpu.max(seen.cpu);
            task.usage.memory = before.memory.max(seen.memory);
            if task.usage != before {
                let usage = task.usage;
                self.tell(&Reply::Used { run, usage });
            }
        }
    }

    /// Puts an end on record, then tells it.
    pub(super) fn note_end(&mut self, start: &Start, state: RunState, usage: Usage) {
        let ended = Ended {
            number: self.ends.next_number(),
            run: start.run,
            generation: start.generation,
            grant: start.grant.clone(),
            state,
            usage,
        };
        if let Err(error) = self.spool.note(&ended) {
            self.log.say(&format!("the end of {} was not written: {error}", start.run));
        }
        self.tell(&Reply::Ended(Box::new(ended.clone())));
        self.ends.add(ended);
    }
}

//! What a keeper does with orders.

use std::io;
use std::time::{Duration, Instant};

use fleet::{Failure, Generation, Outcome, Output, Refusal, RunId, RunState, Span, Usage};

use super::Keeper;
use super::capture::Pipes;
use super::tasks::{Alarm, Cause, Task};
use crate::cgroup::{Controller, Group, Groups, Limits};
use crate::launch::Surroundings;
use crate::sys;
use crate::wire::{Contain, Ended, Reply, Rules, Start};

/// How many ends may wait to be acknowledged before nothing more is started.
const ENDS_MAX: usize = 100_000;

impl Keeper {
    /// Starts a run. One that runs, or has run, is not started again.
    pub(super) fn start(&mut self, start: Start) -> Result<(), Refusal> {
        let (run, generation) = (start.run, start.generation);
        let known = self.tasks.get(&run).map(|task| task.start.generation);
        let known = known.or_else(|| Some(self.ends.of(run)?.generation));
        match known {
            Some(known) if generation < known => return Err(Refusal::StaleGeneration),
            Some(_) => return Ok(()),
            None if self.memory.has_started(run) => return Ok(()),
            None if self.memory.is_of_another(generation) => {
                // Nobody can say whether it had begun.
                let lost = RunState::Failed(self.clock.now(), Failure::Lost);
                self.note_end(&start, lost, Usage::default());
                return Ok(());
            }
            None if self.memory.is_stale(generation) => return Err(Refusal::StaleGeneration),
            None => {}
        }
        if self.ends.len() >= ENDS_MAX || self.is_leaving {
            return Err(Refusal::Engine);
        }
        let launched = self.launch(&start).ok_or(Refusal::Engine)?;
        self.memory.note_start(run, generation);
        match launched {
            Ok((task, limit)) => {
                self.mains.insert(task.pid, run);
                if task.capture.is_some() {
                    self.listen_later(run);
                }
                self.tasks.insert(run, task);
                if let Some(limit) = limit {
                    let at = Instant::now().checked_add(Duration::from_micros(limit.0));
                    self.set_alarm(run, at.map(|at| (at, Alarm::Limit)));
                }
            }
            Err(error) => {
                if let Some(connection) = &mut self.connection {
                    connection.forget_prepared(run.job);
                }
                let failure = Failure::NotStarted(error.raw_os_error().unwrap_or(libc::EINVAL));
                let now = self.clock.now();
                self.note_end(&start, RunState::Failed(now, failure), Usage::default());
            }
        }
        Ok(())
    }

    /// Starts the main process of a task; nothing where the body never told of its program.
    fn launch(&mut self, start: &Start) -> Option<io::Result<(Task, Option<Span>)>> {
        let (groups, rules) = (&mut self.groups, &self.rules);
        let prepared = self.connection.as_mut()?.prepared(start.run.job)?;
        let launched = prepared.and_then(|prepared| {
            let mut pipes = None;
            if prepared.program.output == Output::Kept {
                pipes = Some(Pipes::new()?);
            }
            let group = group_for(groups, rules, start)?;
            let has_limit = groups.can_limit(Controller::Memory) && group.is_some();
            let surroundings = Surroundings {
                streams: pipes.as_ref().map(Pipes::ends),
                birth: group.as_ref().and_then(Group::birth),
                joins: group.as_ref().map(Group::joins).unwrap_or_default(),
                memory_bytes: start.memory_bytes.filter(|_| !has_limit),
            };
            match self.launcher.start(prepared, start, &surroundings) {
                Ok(pid) => Ok((pid, pipes, group, prepared.program.time_limit)),
                Err(error) => {
                    // Nothing is in it.
                    group.into_iter().for_each(|group| groups.give_back(group));
                    Err(error)
                }
            }
        });
        let since = self.clock.now();
        Some(launched.map(|(pid, pipes, group, limit)| {
            let mut task = Task::new(start.clone(), pid, since);
            task.capture = pipes.map(Pipes::into_capture);
            task.group = group;
            (task, limit)
        }))
    }

    /// Tells a run to stop, and sees to it that it does.
    pub(super) fn stop(&mut self, run: RunId, generation: Generation) -> Result<(), Refusal> {
        let Some(task) = self.tasks.get(&run) else {
            return match self.ends.of(run) {
                Some(ended) if generation < ended.generation => Err(Refusal::StaleGeneration),
                Some(Ended { state: RunState::Stopped(_), .. }) => Ok(()),
                Some(_) => Err(Refusal::UnknownRun),
                None if self.memory.is_stale(generation) => Err(Refusal::StaleGeneration),
                None => Err(Refusal::UnknownRun),
            };
        };
        if generation < task.start.generation {
            return Err(Refusal::StaleGeneration);
        }
        match (task.cause, task.exit) {
            (Some(Cause::Stopped), _) => return Ok(()),
            // It ended by itself, or was being ended.
            (_, Some(_)) => return Err(Refusal::UnknownRun),
            _ => {}
        }
        self.memory.note(generation);
        self.end(run, Cause::Stopped);
        Ok(())
    }

    /// Asks a task to end, and does not ask again.
    pub(super) fn end(&mut self, run: RunId, cause: Cause) {
        let Some(task) = self.tasks.get_mut(&run) else { return };
        task.cause.get_or_insert(cause);
        let pid = task.pid;
        for signal in [sys::SIGTERM, sys::SIGCONT] {
            // A group that is gone has ended.
            let _ = sys::send(-pid, signal);
        }
        let at = Instant::now().checked_add(Duration::from_millis(self.rules.grace_millis));
        self.set_alarm(run, at.map(|at| (at, Alarm::Grace)));
    }

    /// Ends everything, and then itself.
    pub(super) fn leave(&mut self) {
        self.is_leaving = true;
        let runs: Vec<_> = self.tasks.keys().copied().collect();
        for run in runs {
            self.end(run, Cause::Left);
        }
    }

    pub(super) fn answer(&mut self, run: RunId, generation: Generation, outcome: Outcome) {
        let since = self.tasks.get(&run).map(|task| task.since);
        self.tell(&Reply::Answer { run, generation, outcome, since });
    }

    /// Ends up to this number are on record elsewhere.
    pub(super) fn acknowledge(&mut self, number: u64) {
        if !self.ends.acknowledge(number) {
            return;
        }
        if let Err(error) = self.spool.acknowledge(number, self.ends.len()) {
            self.log.say(&format!("an acknowledgement was not written: {error}"));
        }
    }

    /// What the body should know about this machine.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let is_off = self.rules.contain == Contain::Never;
        let lacks = |controller| is_off || !self.groups.can_limit(controller);
        if is_off || !self.groups.can_hold() {
            notes.push(
                "no control group of version 2 holds a task together: what it leaves behind is \
                 found by session, by its environment and by descent"
                    .to_owned(),
            );
        }
        if lacks(Controller::Memory) {
            notes.push(
                "memory is limited for each process of a task, not for all together".to_owned(),
            );
        }
        if lacks(Controller::Cpu) {
            notes.push("a part of a core is not limited: it is shared by the system".to_owned());
        }
        if self.rules.processes_max.is_some() && lacks(Controller::Pids) {
            notes.push("the number of processes of a task is not limited".to_owned());
        }
        notes
    }
}

/// The control group of a task, where it gets one.
fn group_for(groups: &mut Groups, rules: &Rules, start: &Start) -> io::Result<Option<Group>> {
    let limits = Limits {
        cpu_milli: start.cpu_milli,
        memory_bytes: start.memory_bytes,
        processes: rules.processes_max,
    };
    let is_due = match rules.contain {
        Contain::Never => false,
        Contain::Asked => limits != Limits::default(),
        Contain::Always => true,
    };
    if is_due { groups.take(limits) } else { Ok(None) }
}

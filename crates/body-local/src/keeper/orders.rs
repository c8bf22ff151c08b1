//! What a keeper does with orders.

use std::time::{Duration, Instant};

use fleet::{Failure, Generation, Outcome, Output, Refusal, RunId, RunState};

use super::Keeper;
use super::capture::Pipes;
use super::tasks::{Alarm, Cause, Task};
use crate::launch::Surroundings;
use crate::sys;
use crate::wire::{Ended, Reply, Start, Usage};

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
            None if self.memory.is_stale(generation) => return Err(Refusal::StaleGeneration),
            None => {}
        }
        if self.ends.len() >= ENDS_MAX || self.is_leaving {
            return Err(Refusal::Engine);
        }
        let connection = self.connection.as_mut().ok_or(Refusal::Engine)?;
        let prepared = connection.prepared(run.job).ok_or(Refusal::Engine)?;
        let launched = prepared.and_then(|prepared| {
            let mut pipes = None;
            if prepared.program.output == Output::Kept {
                pipes = Some(Pipes::new()?);
            }
            let surroundings = Surroundings { streams: pipes.as_ref().map(Pipes::ends) };
            let pid = self.launcher.start(prepared, &start, &surroundings)?;
            Ok((pid, pipes.map(Pipes::into_capture), prepared.program.time_limit))
        });
        self.memory.note_start(run, generation);
        let since = self.clock.now();
        match launched {
            Ok((pid, capture, limit)) => {
                self.mains.insert(pid, run);
                let mut task = Task::new(start, pid, since);
                task.capture = capture;
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
                connection.forget_prepared(run.job);
                let failure = Failure::NotStarted(error.raw_os_error().unwrap_or(libc::EINVAL));
                self.note_end(&start, RunState::Failed(since, failure), Usage::default());
            }
        }
        Ok(())
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
    #[expect(clippy::unused_self, reason = "what can be done depends on what was found")]
    pub(super) fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

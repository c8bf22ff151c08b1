//! The loop of a keeper: what is ready, one thing after the other.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use fleet::Outcome;
use rustix::event::{Timespec, epoll};

use super::connection::Connection;
use super::{Keeper, KeeperError, refused};
use crate::sys;
use crate::wire::{Greeting, Reply, Request, Running, TurnedAway, VERSION};

pub(super) const LISTENER: u64 = 0;
pub(super) const SIGNALS: u64 = 1;

/// How many events are taken at once.
const EVENTS: usize = 64;

/// How many connections are taken at once; the others wait.
const ACCEPTS_MAX: usize = 16;

/// How often what is left of tasks that have ended is looked after.
const SWEEP_EVERY: Duration = Duration::from_secs(10);

impl Keeper {
    pub(super) fn serve(mut self) -> Result<(), KeeperError> {
        while !(self.is_leaving && self.tasks.is_empty()) {
            let mut events = Vec::with_capacity(EVENTS);
            let timeout = self.until_next_alarm();
            let buffer = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.events, buffer, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(refused("wait for events")(error.into())),
            }
            for event in events {
                self.meet(event.data.u64(), event.flags);
            }
            self.ring_alarms();
            self.sweep();
            self.sample();
            self.listen_to_tasks();
            self.flush();
        }
        self.groups.remove();
        Ok(())
    }

    fn until_next_alarm(&mut self) -> Option<Timespec> {
        let alarm = self.alarms.first().map(|(at, _)| *at);
        let at = alarm
            .into_iter()
            .chain(self.next_to_be_heard())
            .chain(self.sweep_at)
            .chain(self.sample_at)
            .min()?;
        let left = at.saturating_duration_since(Instant::now());
        // Longer than a day is as good as a day.
        let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX).min(86_400);
        Some(Timespec { tv_sec: seconds, tv_nsec: left.subsec_nanos().into() })
    }

    /// Tries again, now and then, to remove what tasks that have ended left of their groups.
    fn sweep(&mut self) {
        if !self.groups.has_spent() {
            self.sweep_at = None;
            return;
        }
        let now = Instant::now();
        let at = *self.sweep_at.get_or_insert(now + SWEEP_EVERY);
        if at <= now {
            self.sweep_at = Some(now + SWEEP_EVERY);
            if self.groups.sweep() {
                self.log.say("all that was left of tasks that had ended is gone");
                self.sweep_at = None;
            }
        }
    }

    fn meet(&mut self, key: u64, flags: epoll::EventFlags) {
        match key {
            LISTENER => self.accept(),
            SIGNALS => self.heed_signals(),
            // What is left to send is sent at the end of every round.
            _ if flags == epoll::EventFlags::OUT => {}
            _ if self.connection.as_ref().is_some_and(|one| one.key == key) => self.hear(),
            _ if self.newcomer.as_ref().is_some_and(|one| one.key == key) => self.hear_newcomer(),
            _ => self.hear_task(key),
        }
    }

    fn heed_signals(&mut self) {
        while let Some(signal) = sys::next_signal(&self.signals) {
            if signal == sys::SIGTERM {
                self.leave();
            }
        }
        self.reap();
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_MAX {
            let Ok((stream, _)) = self.listener.accept() else { return };
            if let Err(error) = self.welcome(stream) {
                self.log.say(&format!("a connection was not taken: {error}"));
            }
        }
    }

    /// Takes a connection, which has yet to greet; one that is slow to greet makes room for it.
    fn welcome(&mut self, stream: UnixStream) -> io::Result<()> {
        let peer = rustix::net::sockopt::socket_peercred(&stream)?.uid;
        if !peer.is_root() && peer != rustix::process::geteuid() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        stream.set_nonblocking(true)?;
        let key = self.next_key;
        self.next_key += 1;
        let data = epoll::EventData::new_u64(key);
        epoll::add(&self.events, &stream, data, epoll::EventFlags::IN)?;
        self.newcomer = Some(Connection::new(stream, key));
        Ok(())
    }

    fn hear_newcomer(&mut self) {
        let Some(mut newcomer) = self.newcomer.take() else { return };
        let is_open = match newcomer.inbound.fill(&mut newcomer.stream) {
            Ok(is_open) => is_open,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
        match newcomer.inbound.message() {
            Ok(Some(Request::Greeting(greeting))) => self.greet(newcomer, &greeting),
            Ok(None) if is_open => self.newcomer = Some(newcomer),
            Ok(None) => {}
            Ok(Some(_)) => self.log.say("a connection was closed that did not greet"),
            Err(error) => self.log.say(&format!("a connection was closed: {error}")),
        }
    }

    /// Answers a greeting. The body that greeted last is served; nothing of what another one still
    /// had to say is heard.
    fn greet(&mut self, mut newcomer: Connection, greeting: &Greeting) {
        let turned_away = if greeting.version != VERSION {
            Some(TurnedAway::Version(VERSION))
        } else if greeting.term < self.memory.term {
            Some(TurnedAway::Term(self.memory.term))
        } else {
            None
        };
        if let Some(why) = turned_away {
            newcomer.tell(&Reply::TurnedAway(why));
            // It learns why, or finds itself closed.
            let _ = newcomer.flush();
            return;
        }
        self.memory.term = greeting.term;
        self.memory.note_greeting(greeting.newest);
        self.ends.number_after(greeting.heard);
        self.rules = greeting.rules.clone();
        let (token, notes) = (self.token.clone(), self.notes());
        newcomer.tell(&Reply::Greeting { version: VERSION, token, notes });
        for (run, task) in &self.tasks {
            newcomer.tell(&Reply::Running(Box::new(Running {
                run: *run,
                generation: task.start.generation,
                grant: task.start.grant.clone(),
                pieces: task.start.pieces.clone(),
                since: task.since,
            })));
        }
        for ended in self.ends.iter() {
            newcomer.tell(&Reply::Ended(Box::new(ended.clone())));
        }
        newcomer.tell(&Reply::CaughtUp);
        self.connection = Some(newcomer);
        self.obey();
    }

    /// Takes in what the body says.
    fn hear(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        let result = connection.inbound.fill(&mut connection.stream);
        self.obey();
        match result {
            Ok(true) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Everything that was said before has been heard.
            Ok(false) | Err(_) => self.connection = None,
        }
    }

    /// Does what the body has said so far.
    fn obey(&mut self) {
        while let Some(connection) = &mut self.connection {
            let request = match connection.inbound.message() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(error) => {
                    self.log.say(&format!("the body's connection was closed: {error}"));
                    self.connection = None;
                    return;
                }
            };
            self.do_as_told(request);
        }
    }

    fn do_as_told(&mut self, request: Request) {
        match request {
            Request::Greeting(_) => {
                self.log.say("the body's connection was closed: it greeted twice");
                self.connection = None;
            }
            Request::Program(job, program) => {
                let is_learnt = self.connection.as_mut().map(|one| one.learn(job, program));
                if is_learnt == Some(false) {
                    self.log.say("the body's connection was closed: it told of too many programs");
                    self.connection = None;
                }
            }
            Request::ForgetPrograms => {
                self.connection.iter_mut().for_each(Connection::forget_programs);
            }
            Request::Start(start) => {
                let (run, generation) = (start.run, start.generation);
                let outcome = self.start(*start);
                self.answer(
                    run,
                    generation,
                    outcome.map_or_else(Outcome::Refused, |()| Outcome::Accepted),
                );
            }
            Request::Stop { run, generation } => {
                let outcome = self.stop(run, generation);
                self.answer(
                    run,
                    generation,
                    outcome.map_or_else(Outcome::Refused, |()| Outcome::Accepted),
                );
            }
            Request::Acknowledge(number) => self.acknowledge(number),
        }
    }

    /// Tells the body, if there is one.
    pub(super) fn tell(&mut self, reply: &Reply) {
        if let Some(connection) = &mut self.connection {
            connection.tell(reply);
        }
    }

    /// Sends what there is to send, and asks to be told when more can be.
    fn flush(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        if !connection.has_outbound() {
            return;
        }
        let was_full = connection.is_full;
        if let Err(error) = connection.flush() {
            self.log.say(&format!("the body's connection was closed: {error}"));
            self.connection = None;
            return;
        }
        if was_full != connection.is_full {
            let out = if connection.is_full {
                epoll::EventFlags::OUT
            } else {
                epoll::EventFlags::empty()
            };
            let data = epoll::EventData::new_u64(connection.key);
            // A connection that is watched can be watched otherwise.
            let _ =
                epoll::modify(&self.events, &connection.stream, data, epoll::EventFlags::IN | out);
        }
    }
}

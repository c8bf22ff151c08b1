//! What comes of orders: runs start and stop, or are refused.

use std::sync::Arc;

use fleet::{
    Action, ClassId, Communication, DeviceGrant, Generation, Grant, Job, Milli, Node, Order,
    Outcome, Placement, Refusal, RunId, RunSight, RunState, Span, Time, Work,
};

use super::contention::Progress;
use super::inside::{self, MILLION};
use super::{Due, Effect, Event, Running, Start, World, sight};

impl World {
    pub(super) fn obey(&mut self, order: &Order) -> Outcome {
        let refusal = match &order.action {
            Action::Start { job, placement } => self.start(order, job, placement),
            Action::Stop(_) => self.stop(order.run, order.generation),
        };
        refusal.map_or_else(Outcome::Refused, |()| Outcome::Accepted)
    }

    fn start(
        &mut self,
        order: &Order,
        job: &Arc<Job>,
        placement: &Placement,
    ) -> Result<(), Refusal> {
        if self.runs.contains_key(&order.run) {
            // It is there, whatever is remembered of how that came about.
            return Ok(());
        }
        let staging = self.store.staging(job, placement.node, &self.stations);
        let station = self.stations.get_mut(placement.node.index()).ok_or(Refusal::Engine)?;
        if !station.is_up() {
            return Err(Refusal::NodeLost);
        }
        let grant = &placement.grant;
        if !is_ascending(&grant.devices) || !station.free.has_room_for(grant) {
            return Err(Refusal::NoRoom);
        }
        let class = class_of(&station.node, grant);
        let way =
            job.alternatives.get(usize::from(placement.alternative)).ok_or(Refusal::Engine)?;
        let rate = self.rates.rate(job, way, class, &self.classes).ok_or(Refusal::Engine)?;
        let topology = station.node.topology.as_deref();
        let slowed = topology.map_or(MILLION, |topology| {
            inside::slowed(topology, &way.request, grant, self.rates.remote_memory())
        });
        if !station.inside.take(grant, self.oversubscribe.0.into()) {
            return Err(Refusal::NoRoom);
        }
        station.free.take(grant);
        station.runs.insert(order.run);
        let work = self.rates.work(job);
        let left = work.map(|work| self.kept.left(order.run, work));
        let delay = staging.saturating_add(left.map_or(Span::ZERO, |(_, restart)| restart));
        let duration = left.and_then(|(left, _)| left.duration(rate));
        let duration = duration.map(|span| inside::longer(span, slowed).saturating_add(delay));
        let end = duration.map(|span| self.foresee(self.clock.after(span), Due::End(order.run)));
        let begins = self.clock.after(delay);
        let running = Running {
            node: placement.node,
            grant: grant.clone(),
            since: self.clock,
            unseen: false,
            job: Arc::clone(job),
            end,
            from: self.kept.leg(order.run, begins, inside::slower(rate, slowed)),
            progress: (way.communication.is_some() || self.may_be_crowded(grant)).then(|| {
                let alone = slowed as f64 / rate.0 as f64;
                self.progress_of((order.run, job), way.communication, (alone, begins))
            }),
        };
        let (run, node, generation) = (order.run, placement.node, order.generation);
        let grant = grant.clone();
        self.enter(running, Start { run, node, class, grant, staging, duration, generation });
        Ok(())
    }

    /// Lets a run be there, and tells of it.
    fn enter(&mut self, running: Running, start: Start) {
        let run = start.run;
        let is_paced = running.progress.is_some();
        self.mirror.sights.push(sight(run, &running, RunState::Running(self.clock)));
        self.runs.insert(run, running);
        self.effects.push(Effect::Started(run));
        self.record(Event::Started(start));
        if is_paced {
            self.paced.insert(run);
            self.reckon();
        }
    }

    /// Whether a channel that a run with this grant holds may be filled beyond what passes it.
    fn may_be_crowded(&self, grant: &Grant) -> bool {
        self.oversubscribe > Milli::WHOLE && inside::moves(grant)
    }

    /// How far a run has got whose pace may change, as it begins.
    fn progress_of(
        &self,
        (run, job): (RunId, &Job),
        communication: Option<Communication>,
        (alone, begins): (f64, Time),
    ) -> Progress {
        let work = self.rates.work(job).unwrap_or_default();
        let units = |work: Work| work.0 as f64 / 1e6;
        let (left, _) = self.kept.left(run, work);
        let is_of_gang = communication.is_some() && job.gang.is_some();
        let units = (units(work), units(left), alone);
        Progress::new((communication, is_of_gang), units, begins.0)
    }

    fn stop(&mut self, run: RunId, generation: Generation) -> Result<(), Refusal> {
        let node = self.runs.get(&run).ok_or(Refusal::UnknownRun)?.node;
        if !self.stations[node.index()].is_up() {
            return Err(Refusal::NodeLost);
        }
        let running = self.remove(run);
        let done = self.keep(run, &running);
        let stopped = sight(run, &running, RunState::Stopped(self.clock));
        self.mirror.sights.push(RunSight { done, ..stopped });
        self.mirror.has_news = true;
        self.record(Event::Stopped { run, generation });
        self.effects.push(Effect::Stopped(run, Box::new(running)));
        Ok(())
    }

    /// Takes a run off its node and out of the queue.
    pub(super) fn remove(&mut self, run: RunId) -> Running {
        let running = self.runs.remove(&run).expect("only what runs is removed");
        let station = &mut self.stations[running.node.index()];
        station.free.give_back(&running.grant);
        station.inside.give_back(&running.grant);
        station.runs.remove(&run);
        if let Some(end) = running.end {
            self.queue.remove(&end);
        }
        if self.paced.remove(&run) {
            self.reckon();
        }
        running
    }
}

/// Whether each device is named once.
fn is_ascending(devices: &[DeviceGrant]) -> bool {
    devices.is_sorted_by(|one, next| one.device < next.device)
}

/// The class that decides how fast a run with this grant runs.
fn class_of(node: &Node, grant: &Grant) -> ClassId {
    grant.devices.first().map_or(node.cpu, |held| node.devices[held.device.index()])
}

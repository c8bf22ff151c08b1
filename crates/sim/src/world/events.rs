//! What happens by itself: runs end, nodes are lost and come back.

use fleet::{NodeId, RunId, RunState};

use super::{Due, Event, World, sight};
use crate::workload::OutageKind;

impl World {
    /// Lets everything happen that is due by now.
    pub(super) fn let_pass(&mut self) {
        while let Some(next) = self.queue.first_entry()
            && next.key().0 <= self.clock
        {
            match next.remove() {
                Due::End(run) => self.end(run),
                Due::Loss(node, kind) => self.lose(node, kind),
                Due::Return(node) => self.come_back(node),
            }
        }
    }

    fn end(&mut self, run: RunId) {
        let running = self.remove(run);
        let failure = self.rates.failure(run);
        let state = match failure {
            None => RunState::Done(self.clock),
            Some(failure) => RunState::Failed(self.clock, failure),
        };
        if failure.is_none() {
            self.store.keep(&running.job, run.task, running.node);
        }
        self.forget_kept(run, state);
        let sight = sight(run, &running, state);
        let station = &mut self.stations[running.node.index()];
        if station.is_up() {
            self.mirror.sights.push(sight);
            self.mirror.has_news = true;
        } else {
            station.unseen.push(sight);
        }
        let unseen = running.unseen;
        self.record(match failure {
            None => Event::Done { run, unseen },
            Some(failure) => Event::Failed { run, failure, unseen },
        });
    }

    fn lose(&mut self, node: NodeId, kind: OutageKind) {
        let station = &mut self.stations[node.index()];
        station.outages += 1;
        let runs: Vec<RunId> = station.runs.iter().copied().collect();
        self.mirror.forget_running(node);
        self.tell(node);
        match kind {
            OutageKind::Partition => {
                for run in runs {
                    self.runs.get_mut(&run).expect("a node's runs do run").unseen = true;
                }
                self.record(Event::Parted(node));
            }
            OutageKind::Crash => {
                self.record(Event::Crashed(node));
                for run in runs {
                    self.remove(run);
                    self.record(Event::Killed { run });
                }
            }
        }
    }

    fn come_back(&mut self, node: NodeId) {
        let station = &mut self.stations[node.index()];
        station.outages -= 1;
        if station.outages > 0 {
            return;
        }
        // Lost and back before anybody looked: whatever vanished in between, changes would not say.
        self.mirror.in_doubt |= !station.was_told_lost;
        self.mirror.sights.append(&mut station.unseen);
        for run in &station.runs {
            let running = &self.runs[run];
            self.mirror.sights.push(sight(*run, running, RunState::Running(running.since)));
        }
        self.tell(node);
        self.record(Event::Back(node));
    }

    fn tell(&mut self, node: NodeId) {
        self.mirror.nodes.insert(node);
        self.mirror.has_news = true;
    }
}

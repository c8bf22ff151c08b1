//! From orders to what the keeper is told.

use std::collections::BTreeMap;

use fleet::{
    Action, Generation, Grant, Job, Order, Outcome, Placement, Program, Receipt, Refusal, RunId,
    Usage,
};

use super::mirror::Live;
use super::{BodyError, LocalBody};
use crate::wire::{Piece, Request, Start};

impl LocalBody {
    pub(super) fn carry_out_all(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        for order in orders {
            let (run, generation) = (order.run, order.generation);
            let refusal = match &order.action {
                Action::Start { job, placement } => self.order_start(order, job, placement),
                Action::Stop(_) => {
                    self.say(&Request::Stop { run, generation });
                    Ok(())
                }
            };
            if let Err(refusal) = refusal {
                self.refuse(run, generation, refusal);
            }
        }
        self.send()
    }

    fn order_start(
        &mut self,
        order: &Order,
        job: &Job,
        placement: &Placement,
    ) -> Result<(), Refusal> {
        let (run, generation) = (order.run, order.generation);
        if let Some(live) = self.runs.get(&run) {
            if generation < live.generation {
                return Err(Refusal::StaleGeneration);
            }
            // The answer to the first order is the answer to this one.
            if live.since.is_some() {
                self.push_receipt(Receipt { run, generation, outcome: Outcome::Accepted });
            }
            return Ok(());
        }
        let program = job.program.as_ref().ok_or(Refusal::Engine)?;
        let grant = &placement.grant;
        let machine = &self.settings.machine;
        if placement.node != machine.node.id || !self.free.has_room_for(grant) {
            return Err(Refusal::NoRoom);
        }
        let pieces = self.cores.take(grant).ok_or(Refusal::NoRoom)?;
        let start = Start {
            run,
            generation,
            grant: grant.clone(),
            cpus: machine.cpus_of(&pieces),
            memory_nodes: machine.memory_nodes_of(grant),
            memory_bytes: (!grant.memory.is_zero()).then_some(grant.memory.0),
            cpu_milli: machine.cpu_milli_of(&pieces),
            environment: machine.environment_of(run, program, grant),
            pieces: pieces.clone(),
        };
        if !self.say_program(job.id, program) || !self.say(&Request::Start(Box::new(start))) {
            self.cores.give_back(&pieces);
            return Err(Refusal::Engine);
        }
        self.free.take(grant);
        let live =
            Live { generation, grant: grant.clone(), pieces, since: None, usage: Usage::default() };
        self.runs.insert(run, live);
        Ok(())
    }
}

impl super::Machine {
    /// The cpus of these pieces of cores, ascending.
    fn cpus_of(&self, pieces: &[Piece]) -> Vec<u32> {
        let cores = pieces.iter().filter_map(|piece| self.cores.get(piece.core as usize));
        let mut cpus: Vec<_> = cores.flat_map(|core| core.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        cpus
    }

    /// How much cpu time these pieces are, where one of them is less than a core; whole cores are
    /// limit enough.
    fn cpu_milli_of(&self, pieces: &[Piece]) -> Option<u64> {
        let milli = |piece: &Piece| {
            let threads = self.cores.get(piece.core as usize).map_or(1, |core| core.cpus.len());
            u64::from(piece.milli) * threads as u64
        };
        let is_shared = pieces.iter().any(|piece| piece.milli < 1_000);
        is_shared.then(|| pieces.iter().map(milli).sum())
    }

    /// The memory nodes that a grant is of; none where there is no choice.
    fn memory_nodes_of(&self, grant: &Grant) -> Vec<u32> {
        if self.memory_nodes.len() < 2 {
            return Vec::new();
        }
        let held = grant.domains.iter().filter(|held| !held.memory.is_zero());
        held.filter_map(|held| self.memory_nodes.get(held.domain.index()).copied()).collect()
    }

    /// What a task is told of itself and of what it may use.
    fn environment_of(&self, run: RunId, program: &Program, grant: &Grant) -> Vec<String> {
        let mut environment = vec![
            format!("MOTLEY_JOB_ID={}", run.job.0),
            format!("MOTLEY_TASK_INDEX={}", program.first.saturating_add(run.task.0)),
            format!("MOTLEY_ATTEMPT={}", run.attempt.0),
        ];
        let entry = program.entries.get(run.task.0 as usize);
        environment.extend(entry.map(|entry| format!("MOTLEY_ENTRY={entry}")));
        if !grant.cores.is_zero() {
            environment.push(format!("OMP_NUM_THREADS={}", grant.cores.0.div_ceil(1_000)));
        }
        // A variable of a device that it was not given is set too, and hides the device.
        let mut visible: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (index, device) in self.devices.iter().enumerate() {
            let values = visible.entry(&device.variable).or_default();
            if grant.devices.iter().any(|held| held.device.index() == index) {
                values.push(&device.value);
            }
        }
        if visible.contains_key("CUDA_VISIBLE_DEVICES") {
            // Numbers mean what the vendor's tool calls so.
            environment.push("CUDA_DEVICE_ORDER=PCI_BUS_ID".to_owned());
        }
        let lists = visible.iter().map(|(variable, values)| (variable, values.join(",")));
        environment.extend(lists.map(|(variable, values)| format!("{variable}={values}")));
        environment
    }
}

impl LocalBody {
    /// The newest generation that is known to have been ordered.
    pub(super) fn newest(&self) -> Generation {
        let ordered = self.runs.values().map(|live| live.generation).max();
        self.settings.newest.max(ordered.unwrap_or_default())
    }
}

//! What one run of a script is given, from Slurm's options about nodes, tasks, cores and devices.

use serde_json::{Value, json};

use super::directives::Directives;
use super::values::{self, Gpus};

/// What a script is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    /// How many tasks it may start itself.
    pub(super) tasks: u64,
    /// How many it may start on a node, where that is said.
    pub(super) tasks_per_node: Option<u64>,
    /// The cores of one of them, where that is said.
    pub(super) cores_per_task: Option<u64>,
    /// All its cores.
    pub(super) cores: u64,
    /// Memory, in bytes.
    pub(super) memory: Option<u64>,
    /// How that was asked for: `mem`, `mem-per-cpu` or `mem-per-gpu`.
    pub(super) memory_option: Option<&'static str>,
    /// Its GPUs.
    pub(super) gpus: Option<Gpus>,
}

impl Amounts {
    /// What these directives ask for.
    pub(super) fn of(directives: &mut Directives) -> Self {
        directives.read("nodes", values::one_node);
        directives.read("open-mode", values::open_mode);
        let tasks_per_node = directives.read("ntasks-per-node", values::count);
        let tasks = directives.read("ntasks", values::count);
        if let (Some(tasks), Some(most)) = (tasks, tasks_per_node)
            && tasks > most
        {
            let text = format!(
                "leaves room for {most} of the {tasks} tasks; a script runs on one \
                                node, so raise it or leave it out"
            );
            directives.refuse("ntasks-per-node", text);
        }
        let tasks = tasks.or(tasks_per_node).unwrap_or(1);
        let gpus = gpus(directives, tasks);
        let gpu_count = gpus.as_ref().map_or(0, |gpus| gpus.count);
        let cores_per_task = directives.read("cpus-per-task", values::count);
        let mut cores = tasks.saturating_mul(cores_per_task.unwrap_or(1));
        if let Some(each) = directives.read("cpus-per-gpu", values::count) {
            if gpu_count == 0 {
                directives.refuse("cpus-per-gpu", "goes with --gpus or --gres=gpu:N");
            } else if cores_per_task.is_some() {
                directives.refuse("cpus-per-gpu", "stands beside --cpus-per-task; give one");
            }
            cores = each.saturating_mul(gpu_count).max(tasks);
        }
        let mut amounts =
            Self { tasks, tasks_per_node, cores_per_task, cores, gpus, ..Self::default() };
        amounts.read_memory(directives);
        amounts
    }

    fn read_memory(&mut self, directives: &mut Directives) {
        let gpus = self.gpus.as_ref().map_or(0, |gpus| gpus.count);
        for (option, times) in [("mem", 1), ("mem-per-cpu", self.cores), ("mem-per-gpu", gpus)] {
            let Some(bytes) = directives.read(option, values::memory) else { continue };
            if times == 0 {
                directives.refuse(option, "goes with --gpus or --gres=gpu:N");
            }
            if let Some(other) = self.memory_option {
                directives.refuse(option, format!("stands beside --{other}; give one"));
            }
            (self.memory, self.memory_option) = (bytes.checked_mul(times), Some(option));
            if self.memory.is_none() {
                directives.refuse(option, "is more memory than there can be");
            }
        }
    }

    /// The one way to run the job, in the form of a workload file.
    pub(super) fn alternative(&self) -> Value {
        let mut way = json!({ "cores": self.cores });
        if let Some(memory) = self.memory {
            way["memory"] = json!(memory);
        }
        if let Some(Gpus { model, count }) = &self.gpus {
            way["device"] = json!({ "kind": "gpu", "count": count });
            if let Some(model) = model {
                way["device"]["models"] = json!([model]);
            }
        }
        way
    }
}

/// The GPUs of a script. Several options may say so; on one node they mean the same.
fn gpus(directives: &mut Directives, tasks: u64) -> Option<Gpus> {
    let mut all: Option<(&str, Gpus)> = None;
    for (option, times) in
        [("gres", 1), ("gpus", 1), ("gpus-per-node", 1), ("gpus-per-task", tasks)]
    {
        let read = if option == "gres" { values::gres } else { values::gpus };
        let Some(Some(one)) = directives.read(option, read) else { continue };
        let one = Gpus { count: one.count.saturating_mul(times), ..one };
        match &all {
            Some((other, before)) if *before != one => {
                let text = format!(
                    "asks for other GPUs than --{other}; a script runs on one node, \
                                    so give one of the two"
                );
                directives.refuse(option, text);
            }
            _ => all = Some((option, one)),
        }
    }
    all.map(|(_, gpus)| gpus)
}

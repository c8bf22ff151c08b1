//! CPU time and wall time of what takes part.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::{SLOTS, TASK};

/// What so many tasks cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) tasks: usize,
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
}

impl Cost {
    pub(super) fn cpu_ms(self) -> f64 {
        self.cpu.as_secs_f64() * 1e3 / self.tasks as f64
    }

    pub(super) fn tasks_per_s(self) -> f64 {
        self.tasks as f64 / self.wall.as_secs_f64()
    }
}

/// CPU time of this program and of all that it has started and that has ended, and of these
/// processes and theirs.
pub(super) fn cpu_time(daemons: &[u32]) -> anyhow::Result<Duration> {
    let mut ticks = 0;
    for pid in daemons.iter().copied().chain([std::process::id()]) {
        let path = format!("/proc/{pid}/stat");
        let text = fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        // The name may have blanks in it; what follows the last bracket has none.
        let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<u64> =
            fields.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        // utime, stime, cutime and cstime: fields 14 to 17, of which 3 is not a number.
        ticks += fields.get(10..14).context("read the times of a process")?.iter().sum::<u64>();
    }
    Ok(Duration::from_millis(ticks * 10))
}

/// What something costs, these daemons' part in it counted.
pub(super) fn measure(
    tasks: usize,
    daemons: &[u32],
    work: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<Cost> {
    let (before, began) = (cpu_time(daemons)?, Instant::now());
    work()?;
    let wall = began.elapsed();
    Ok(Cost { tasks, cpu: cpu_time(daemons)?.saturating_sub(before), wall })
}

/// The floor: the tasks started and waited for, and nothing else.
pub(super) fn floor(tasks: usize) -> anyhow::Result<Cost> {
    let slot = || -> anyhow::Result<()> {
        for _ in 0..tasks / SLOTS {
            let mut task =
                Command::new(TASK).stdin(Stdio::null()).spawn().context("start a task")?;
            task.wait().context("wait for a task")?;
        }
        Ok(())
    };
    measure(tasks / SLOTS * SLOTS, &[], || {
        thread::scope(|scope| {
            let slots: Vec<_> = (0..SLOTS).map(|_| scope.spawn(slot)).collect();
            let joined = slots.into_iter().map(|slot| slot.join().expect("a slot does not panic"));
            joined.collect::<anyhow::Result<Vec<()>>>()
        })
        .map(drop)
    })
}

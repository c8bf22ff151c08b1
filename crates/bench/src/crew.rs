//! A crew of threads that share a list of tasks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does every task, some at a time, and returns what came of them in the order of the tasks,
/// whoever did them.
pub fn share<T: Sync, R: Send>(tasks: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let hands = thread::available_parallelism().map_or(1, usize::from).min(tasks.len().max(1));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<R>>> = Mutex::new(tasks.iter().map(|_| None).collect());
    let hand = || {
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(position) else { break };
            let result = work(task);
            done.lock().expect("no hand fails while it holds the list")[position] = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 0..hands {
            scope.spawn(hand);
        }
    });
    let done = done.into_inner().expect("no hand fails while it holds the list");
    done.into_iter().map(|result| result.expect("every task was done")).collect()
}

/// Processor time that the calling thread has used, in seconds, where the system tells.
#[must_use]
pub fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_tasks() {
        let tasks: Vec<u32> = (0..100).collect();
        let doubled: Vec<u32> = tasks.iter().map(|task| task * 2).collect();
        assert_eq!(share(&tasks, |task| task * 2), doubled);
    }
}

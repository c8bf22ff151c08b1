//! The work: kinds of jobs, submitted from threads of their own while programs are killed.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::daemon::Daemon;
use super::diary::Diary;
use crate::dice::below;

/// The variable that marks every process of a task.
pub(super) const MARK: &str = "MOTLEY_KILLS";

/// Nothing is submitted while so many jobs have not ended.
const OPEN_MAX: usize = 40;

/// Between two submissions of one thread.
const PAUSE: Duration = Duration::from_millis(25);

/// A task of a job that fails may be tried so often again.
pub(super) const RETRIES: usize = 2;

/// How many tasks the array has.
pub(super) const ARRAY: u32 = 4;

/// A kind of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its task ends at once.
    Short,
    /// Its task runs for a while.
    Long,
    /// Its task leaves children and grandchildren behind.
    Family,
    /// Its tasks are several.
    Array,
    /// Its task fails, and is tried again.
    Failing,
    /// Its task runs until it is cancelled.
    Doomed,
    /// Its task is not to run again where it was lost.
    Once,
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::Short,
        Self::Long,
        Self::Family,
        Self::Array,
        Self::Failing,
        Self::Doomed,
        Self::Once,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
            Self::Family => "family",
            Self::Array => "array",
            Self::Failing => "failing",
            Self::Doomed => "doomed",
            Self::Once => "once",
        }
    }

    /// The kind of a job, by its name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (kind, _) = name.split_once('-')?;
        Self::ALL.into_iter().find(|one| one.name() == kind)
    }

    pub(super) fn tasks(self) -> u32 {
        if self == Self::Array { ARRAY } else { 1 }
    }

    /// What its task does, where it takes so many milliseconds.
    fn script(self, millis: usize) -> String {
        let span = format!("{}.{:03}", millis / 1_000, millis % 1_000);
        let deed = match self {
            Self::Short => "say ended".to_owned(),
            Self::Long | Self::Array | Self::Once => format!("sleep {span}; say ended"),
            Self::Family => format!(
                "(setsid sh -c 'sleep 300 & sleep 300' &); sleep 300 & sleep {span}; say ended"
            ),
            Self::Failing => format!("sleep {span}; say failed; exit 3"),
            Self::Doomed => "sleep 300 & sleep 300; say ended".to_owned(),
        };
        let say = "say() { echo \"$1 $MOTLEY_JOB_ID $MOTLEY_TASK_INDEX $MOTLEY_ATTEMPT\" \
                   >> \"$DIARY\"; }";
        format!("{say}; say began; {deed}")
    }

    fn options(self) -> Vec<String> {
        match self {
            Self::Array => vec!["--array".to_owned(), format!("0-{}", ARRAY - 1)],
            Self::Failing => vec!["--retries".to_owned(), RETRIES.to_string()],
            Self::Once => vec!["--no-requeue".to_owned()],
            _ => Vec::new(),
        }
    }
}

/// What submitters and the one who kills know of each other.
#[derive(Default)]
pub(super) struct Desk {
    /// Numbers and names of jobs that were acknowledged.
    acknowledged: Mutex<Vec<(u64, String)>>,
    /// Submissions that were begun.
    pub(super) begun: AtomicUsize,
    /// Submissions that are neither answered nor broken off.
    pub(super) under_way: AtomicUsize,
    /// Submissions that nobody answered to the end.
    pub(super) broken_off: AtomicUsize,
    /// Submissions that found no daemon.
    pub(super) refused: AtomicUsize,
    /// How many jobs had not ended when one looked last.
    pub(super) open: AtomicUsize,
    /// Whether it is time to stop.
    pub(super) closed: AtomicBool,
}

impl Desk {
    /// What was acknowledged so far.
    pub(super) fn acknowledged(&self) -> Vec<(u64, String)> {
        self.acknowledged.lock().expect("no thread fails while it holds the list").clone()
    }

    fn note(&self, job: u64, name: String) {
        self.acknowledged
            .lock()
            .expect("no thread fails while it holds the list")
            .push((job, name));
    }
}

/// Submits jobs of every kind, and cancels those that do not end by themselves, until the desk is
/// closed.
pub(super) fn submit(desk: &Desk, daemon: &Daemon, diary: &Diary, hand: u64) {
    let mut dice = ChaCha8Rng::seed_from_u64(daemon.seed());
    dice.set_stream(hand + 1);
    let mut doomed: Vec<u64> = Vec::new();
    let mut count = 0;
    while !desk.closed.load(Ordering::SeqCst) {
        sleep(PAUSE);
        if doomed.len() > 1 || !doomed.is_empty() && below(&mut dice, 8) == 0 {
            let job = doomed[0].to_string();
            if daemon.call(&["job", "cancel", &job]).is_ok() {
                doomed.remove(0);
            }
        }
        if desk.open.load(Ordering::SeqCst) >= OPEN_MAX {
            continue;
        }
        let kind = Kind::ALL[below(&mut dice, Kind::ALL.len())];
        let name = format!("{}-{hand}-{count}", kind.name());
        count += 1;
        let millis = [30, 200, 1_500][below(&mut dice, 3)];
        let script = kind.script(1 + below(&mut dice, millis));
        let arguments = arguments(kind, &name, &script, (daemon, diary.path()));
        desk.begun.fetch_add(1, Ordering::SeqCst);
        desk.under_way.fetch_add(1, Ordering::SeqCst);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = daemon.call(&arguments);
        desk.under_way.fetch_sub(1, Ordering::SeqCst);
        match said.map(|said| said.parse::<u64>()) {
            Ok(Ok(job)) => {
                desk.note(job, name);
                if kind == Kind::Doomed {
                    doomed.push(job);
                }
            }
            Err(error) if error.to_string().contains("none runs there") => {
                desk.refused.fetch_add(1, Ordering::SeqCst);
            }
            _ => {
                desk.broken_off.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

/// The command line of a submission.
fn arguments(
    kind: Kind,
    name: &str,
    script: &str,
    (daemon, diary): (&Daemon, &Path),
) -> Vec<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let fixed = ["submit", "--parsable", "--no-env", "--output", "none", "--cpus", "0.1"];
    let mut all: Vec<String> = fixed.iter().map(ToString::to_string).collect();
    all.extend(["--name".to_owned(), name.to_owned()]);
    for variable in [
        format!("PATH={path}"),
        format!("{MARK}={}", daemon.mark()),
        format!("DIARY={}", diary.display()),
    ] {
        all.extend(["--env".to_owned(), variable]);
    }
    all.extend(kind.options());
    all.extend(["--", "sh", "-c", script].map(str::to_owned));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_kind_of_its_job() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(&format!("{}-1-17", kind.name())), Some(kind));
        }
        assert_eq!(Kind::of("other-1"), None);
    }
}

//! The instants: when something is killed, what, and what is looked at afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use controller::Request;
use controller::journal::Journal;
use fleet::{JobId, RunId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::daemon::Daemon;
use super::diary::Diary;
use super::laws::{Account, Law, Seen, judge};
use super::processes;
use super::work::{Desk, Kind, submit};
use crate::args::Kills;
use crate::dice::below;

/// How many threads submit.
const HANDS: u64 = 2;

/// How long ledger and world may take to agree on a job, and jobs to end once nothing is killed.
const AGREED_WITHIN: Duration = Duration::from_secs(30);
const ENDED_WITHIN: Duration = Duration::from_secs(180);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// What is killed at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Daemon,
    Keeper,
    Both,
    /// A daemon that is about to start.
    Starting,
}

impl Target {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Keeper => "keeper",
            Self::Both => "both",
            Self::Starting => "starting",
        }
    }
}

/// A life under fire.
#[derive(Debug, Default)]
pub(super) struct Life {
    pub(super) instants: BTreeMap<Target, usize>,
    /// Instants at which a submission was under way.
    pub(super) in_a_submission: usize,
    pub(super) copies: usize,
    /// How often ledger and world were compared.
    pub(super) looks: usize,
    pub(super) acknowledged: usize,
    pub(super) broken_off: usize,
    /// Jobs that nobody was told of, and that are known all the same.
    pub(super) known_all_the_same: usize,
    pub(super) refused: usize,
    pub(super) account: Account,
    /// For each keeper that was killed, the runs of which it had the end on record.
    recorded: Vec<BTreeSet<RunId>>,
}

/// Lives, and is killed as often as is asked for.
pub(super) fn live(program: PathBuf, asked: &Kills) -> anyhow::Result<Life> {
    let daemon = Daemon::new(program, asked.seed)?;
    let diary = Diary::new(daemon.folder().join("diary"));
    let desk = Desk::default();
    daemon.up()?;
    let mut life = Life::default();
    thread::scope(|scope| {
        for hand in 0..HANDS {
            let (desk, daemon, diary) = (&desk, &daemon, &diary);
            scope.spawn(move || submit(desk, daemon, diary, hand));
        }
        let fired = life.fire((&daemon, &diary, &desk), asked);
        desk.closed.store(true, Ordering::SeqCst);
        fired
    })?;
    life.settle(&daemon, &diary, &desk)?;
    Ok(life)
}

impl Life {
    /// Kills until there were as many instants as is asked for.
    fn fire(
        &mut self,
        (daemon, diary, desk): (&Daemon, &Diary, &Desk),
        asked: &Kills,
    ) -> anyhow::Result<()> {
        let mut dice = ChaCha8Rng::seed_from_u64(asked.seed);
        while self.instants.values().sum::<usize>() < asked.instants {
            if below(&mut dice, 8) == 0 {
                self.look_at_copy(daemon, desk)?;
            }
            await_instant(&mut dice, desk);
            let target = match below(&mut dice, 10) {
                0..=5 => Target::Daemon,
                6..=7 => Target::Keeper,
                _ => Target::Both,
            };
            if desk.under_way.load(Ordering::SeqCst) > 0 && target != Target::Keeper {
                self.in_a_submission += 1;
            }
            if target != Target::Keeper {
                processes::kill(daemon.pid()?)?;
            }
            if target != Target::Daemon {
                self.kill_keeper(daemon, diary)?;
            }
            *self.instants.entry(target).or_default() += 1;
            if target != Target::Keeper {
                if below(&mut dice, 4) == 0 {
                    kill_while_starting(daemon, &mut dice)?;
                    *self.instants.entry(Target::Starting).or_default() += 1;
                }
                daemon.up()?;
            }
            if below(&mut dice, 4) > 0 {
                self.compare(daemon)?;
            }
            let open = daemon.jobs(false)?.len();
            desk.open.store(open, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Kills the keeper, and notes what it had on record when it did its last.
    fn kill_keeper(&mut self, daemon: &Daemon, diary: &Diary) -> anyhow::Result<()> {
        let Some(keeper) = processes::keeper(&daemon.directory())? else {
            // It was killed before, or is yet to come.
            return Ok(());
        };
        // Stopped and then killed, it dies where it was stopped; meanwhile its spool can be read.
        processes::stop(keeper)?;
        diary.note_keeper(self.recorded.len())?;
        self.recorded.push(daemon.spooled()?.into_iter().collect());
        processes::kill(keeper)?;
        diary.note_gone()
    }

    /// Copies the directory with every writer stopped, and looks whether it opens to a whole turn
    /// in which everything that was acknowledged is known.
    fn look_at_copy(&mut self, daemon: &Daemon, desk: &Desk) -> anyhow::Result<()> {
        let acknowledged = desk.acknowledged();
        let copy = daemon.copy()?;
        self.copies += 1;
        match unknown_in(&copy, &acknowledged) {
            Ok(unknown) if unknown.is_empty() => {}
            Ok(unknown) => {
                let text = format!("a copy of the directory does not know the jobs {unknown:?}");
                self.account.breach(Law::Copied, text);
            }
            Err(error) => {
                self.account.breach(Law::Copied, format!("a copy of the directory: {error:#}"));
            }
        }
        Ok(())
    }

    /// Compares what the ledger says with what runs. Both go on meanwhile, so that a job on which
    /// they differ is looked at again, until they agree on it once.
    fn compare(&mut self, daemon: &Daemon) -> anyhow::Result<()> {
        self.looks += 1;
        let began = Instant::now();
        let mut open = differences(daemon)?;
        while !open.is_empty() {
            if began.elapsed() > AGREED_WITHIN {
                for (job, text) in open {
                    self.account.breach(Law::Differs, format!("job {job} {text}"));
                }
                return Ok(());
            }
            sleep(PAUSE);
            let now = differences(daemon)?;
            open.retain(|job, _| now.contains_key(job));
        }
        Ok(())
    }

    /// Nothing is killed any more: all jobs end, the daemon too, and everything is judged.
    fn settle(&mut self, daemon: &Daemon, diary: &Diary, desk: &Desk) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let open = daemon.jobs(false)?;
            let doomed = open.iter().filter(|job| Kind::of(&job.name) == Some(Kind::Doomed));
            for job in doomed {
                // It may have ended meanwhile.
                let _ = daemon.call(&["job", "cancel", &job.id.to_string()]);
            }
            if open.is_empty() || began.elapsed() > ENDED_WITHIN {
                break;
            }
            sleep(PAUSE * 5);
        }
        self.compare(daemon)?;
        let listed = daemon.jobs(true)?;
        let acknowledged = desk.acknowledged();
        let told: BTreeSet<u64> = acknowledged.iter().map(|(id, _)| *id).collect();
        self.acknowledged = acknowledged.len();
        self.broken_off = desk.broken_off.load(Ordering::SeqCst);
        self.refused = desk.refused.load(Ordering::SeqCst);
        self.known_all_the_same = listed.iter().filter(|job| !told.contains(&job.id)).count();
        daemon.call(&["down"])?;
        for left in daemon.left()? {
            self.account.breach(Law::Left, format!("{left}: left in the end"));
        }
        let recorded = std::mem::take(&mut self.recorded);
        let seen = Seen { lines: diary.read()?, recorded, acknowledged, listed };
        let judged = judge(&seen);
        let before = std::mem::replace(&mut self.account, judged);
        self.account.breaches.splice(0..0, before.breaches);
        Ok(())
    }
}

/// Waits for a random while, at times for one that lies in a submission.
fn await_instant(dice: &mut ChaCha8Rng, desk: &Desk) {
    if below(dice, 3) > 0 {
        sleep(Duration::from_micros(below(dice, 300_000) as u64));
        return;
    }
    let (begun, began) = (desk.begun.load(Ordering::SeqCst), Instant::now());
    while desk.begun.load(Ordering::SeqCst) == begun && began.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_micros(100));
    }
    sleep(Duration::from_micros(below(dice, 8_000) as u64));
}

/// Starts a daemon and kills it before it may be ready.
fn kill_while_starting(daemon: &Daemon, dice: &mut ChaCha8Rng) -> anyhow::Result<()> {
    let mut starting = daemon.command(&["up"]).spawn().context("start a daemon")?;
    sleep(Duration::from_micros(below(dice, 60_000) as u64));
    let ended = starting.try_wait().context("watch a daemon")?;
    ensure!(ended.is_none(), "start a daemon: it ended by itself");
    starting.kill().context("kill a daemon")?;
    starting.wait().context("kill a daemon").map(drop)
}

/// The jobs of which the ledger says that other tasks run than do, and how they differ.
fn differences(daemon: &Daemon) -> anyhow::Result<BTreeMap<u64, String>> {
    let listed = daemon.jobs(false)?;
    let mut alive: BTreeMap<u64, Vec<RunId>> = BTreeMap::new();
    for (run, _) in processes::marked(daemon.mark())? {
        alive.entry(run.job.0).or_default().push(run);
    }
    let mut differing = BTreeMap::new();
    for job in listed {
        let runs = alive.remove(&job.id).unwrap_or_default();
        let tasks: BTreeSet<_> = runs.iter().map(|run| run.task).collect();
        if runs.len() as u64 != job.running || tasks.len() != runs.len() {
            let (name, running) = (job.name, job.running);
            let text = format!("{name}: the ledger says that {running} tasks run, and {runs:?} do");
            differing.insert(job.id, text);
        }
    }
    for (job, runs) in alive {
        differing.insert(job, format!("is over or not known, and {runs:?} run"));
    }
    Ok(differing)
}

/// Which of these jobs the journal in a copy does not know.
fn unknown_in(copy: &Path, acknowledged: &[(u64, String)]) -> anyhow::Result<Vec<u64>> {
    let mut journal = Journal::open(&copy.join("journal"))?;
    let audit = journal.verify()?;
    if let Some((number, what)) = audit.damage {
        anyhow::bail!("record {number} is damaged: {what}");
    }
    let restored = journal.restore().context("read it")?;
    let is_known = |id: u64| {
        let asked = restored.asked.iter();
        restored.ledger.standing(JobId(id)).is_some()
            || asked.into_iter().any(|one| matches!(one, Request::Submit(job) if job.id.0 == id))
    };
    Ok(acknowledged.iter().map(|(id, _)| *id).filter(|id| !is_known(*id)).collect())
}

//! The laws: what must hold whoever was killed, judged from what was seen from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fleet::{JobId, RunId, TaskIndex};

use super::daemon::Listed;
use super::diary::Line;
use super::work::{Kind, RETRIES};

/// What is wrong, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Law {
    /// What was acknowledged is known and comes to its end.
    Lost,
    /// What has ended is not run again, nor anything but by its restart rule.
    RunAgain,
    /// Nothing is left of a task that has ended.
    Left,
    /// What the ledger says and what runs are the same.
    Differs,
    /// A copy of the directory opens to a whole turn.
    Copied,
}

/// A law that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) law: Law,
    pub(super) text: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// What was seen of a life.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// What tasks said.
    pub(super) lines: Vec<Line>,
    /// For each keeper that was killed, the runs that it had on record as done.
    pub(super) recorded: Vec<BTreeSet<RunId>>,
    /// Jobs that were acknowledged, and their names.
    pub(super) acknowledged: Vec<(u64, String)>,
    /// Jobs that the daemon knew in the end.
    pub(super) listed: Vec<Listed>,
}

/// What a look at it comes to.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) began: usize,
    pub(super) ended: usize,
    /// Begun again because they failed or were lost, as they may be.
    pub(super) by_rule: usize,
    pub(super) breaches: Vec<Breach>,
}

impl Account {
    pub(super) fn breach(&mut self, law: Law, text: String) {
        self.breaches.push(Breach { law, text });
    }
}

/// Judges a life that is over.
pub(super) fn judge(seen: &Seen) -> Account {
    let mut account = Account::default();
    let names: BTreeMap<u64, &str> =
        seen.listed.iter().map(|job| (job.id, job.name.as_str())).collect();
    let mut tasks: BTreeMap<(JobId, TaskIndex), Task> = BTreeMap::new();
    let mut keepers: Vec<&BTreeSet<RunId>> = Vec::new();
    for line in &seen.lines {
        match line {
            Line::Keeper(before) => {
                keepers.extend(seen.recorded.get(*before));
                tasks.values_mut().for_each(|task| task.may_be_lost = true);
            }
            Line::Gone => tasks.values_mut().for_each(|task| task.may_be_lost = true),
            Line::Began(run) => {
                account.began += 1;
                let kind = names.get(&run.job.0).and_then(|name| Kind::of(name));
                let task = tasks.entry((run.job, run.task)).or_default();
                let is_again = !task.begun.is_empty();
                match task.begin(*run, kind, &keepers) {
                    Some(wrong) => account.breach(Law::RunAgain, wrong),
                    None => account.by_rule += usize::from(is_again),
                }
            }
            Line::Ended(run) => {
                account.ended += 1;
                tasks.entry((run.job, run.task)).or_default().ended.insert(*run);
            }
            Line::Failed(run) => {
                let task = tasks.entry((run.job, run.task)).or_default();
                (task.failures, task.has_failed) = (task.failures + 1, true);
            }
        }
    }
    judge_ends(seen, &tasks, &mut account);
    account
}

/// What was seen of a task so far.
#[derive(Default)]
struct Task {
    begun: BTreeSet<RunId>,
    ended: BTreeSet<RunId>,
    /// Attempts that have failed.
    failures: usize,
    /// Those of them that no killed keeper can have left unsaid.
    told: usize,
    /// Whether the attempt that began last has failed.
    has_failed: bool,
    /// Whether a keeper was killed since the attempt that began last did.
    may_be_lost: bool,
}

impl Task {
    /// Takes in that an attempt began; what is wrong with that.
    fn begin(
        &mut self,
        run: RunId,
        kind: Option<Kind>,
        keepers: &[&BTreeSet<RunId>],
    ) -> Option<String> {
        let is_again = !self.begun.is_empty();
        let newest = self.begun.last().copied();
        self.told += usize::from(self.has_failed && !self.may_be_lost);
        let on_record =
            self.ended.iter().find(|ended| keepers.iter().any(|one| one.contains(*ended)));
        let wrong = if newest.is_some_and(|newest| newest >= run) {
            Some(format!("{run} began after {}", newest.unwrap_or_default()))
        } else if let Some(ended) = on_record {
            Some(format!("{run} began, though the end of {ended} was on record"))
        } else if is_again && kind == Some(Kind::Once) {
            Some(format!("{run} began, though its job is not to run again"))
        } else if is_again && !self.has_failed && !self.may_be_lost {
            Some(format!("{run} began, though no attempt before it failed or was lost"))
        } else if self.told > RETRIES {
            Some(format!("{run} began, though its task had failed {} times", self.told))
        } else {
            None
        };
        self.begun.insert(run);
        (self.has_failed, self.may_be_lost) = (false, false);
        wrong
    }
}

/// Judges how jobs ended.
fn judge_ends(seen: &Seen, tasks: &BTreeMap<(JobId, TaskIndex), Task>, account: &mut Account) {
    let known: BTreeMap<u64, &Listed> = seen.listed.iter().map(|job| (job.id, job)).collect();
    for (id, name) in &seen.acknowledged {
        match known.get(id) {
            Some(job) if job.name == *name => {}
            Some(job) => account.breach(Law::Lost, format!("job {id} {name} is now {}", job.name)),
            None => account.breach(Law::Lost, format!("job {id} {name} is not known any more")),
        }
    }
    for job in &seen.listed {
        let (id, name) = (job.id, &job.name);
        let Some(kind) = Kind::of(name) else { continue };
        if !job.has_ended {
            account.breach(Law::Lost, format!("job {id} {name} does not end: it is {}", job.state));
            continue;
        }
        let may_end_as: &[&str] = match kind {
            Kind::Short | Kind::Long | Kind::Family | Kind::Array => &["done"],
            Kind::Failing => &["failed"],
            Kind::Doomed => &["cancelled"],
            Kind::Once => &["done", "failed"],
        };
        if !may_end_as.contains(&job.state.as_str()) {
            account.breach(Law::Lost, format!("job {id} {name} ended as {}", job.state));
        }
        for index in (0..kind.tasks()).filter(|_| job.state == "done") {
            let task = tasks.get(&(JobId(id), TaskIndex(index)));
            if task.is_none_or(|task| task.ended.is_empty()) {
                let text = format!("job {id} {name} is done, and its task {index} never ended");
                account.breach(Law::Differs, text);
            }
        }
    }
    for ((job, index), task) in tasks {
        let Some(listed) = known.get(&job.0) else {
            account.breach(Law::Lost, format!("task {index} of job {job} ran, which nobody knows"));
            continue;
        };
        let gave_up = listed.state == "failed" && Kind::of(&listed.name) == Some(Kind::Failing);
        if gave_up && task.failures <= RETRIES {
            let text = format!("{job} {} had no more than {} tries", listed.name, task.failures);
            account.breach(Law::Lost, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::diary::run_of;
    use super::*;

    fn run(attempt: u64) -> RunId {
        run_of([1, 0, attempt]).unwrap()
    }

    /// A life with one job of this name that ended so.
    fn life(name: &str, state: &str, lines: &[Line]) -> Seen {
        let job = Listed {
            id: 1,
            name: name.to_owned(),
            state: state.to_owned(),
            running: 0,
            has_ended: true,
        };
        let acknowledged = vec![(1, name.to_owned())];
        Seen { lines: lines.to_vec(), recorded: Vec::new(), acknowledged, listed: vec![job] }
    }

    fn broken(seen: &Seen) -> Vec<Law> {
        judge(seen).breaches.iter().map(|breach| breach.law).collect()
    }

    #[test]
    fn what_ends_once_keeps_every_law() {
        let seen = life("long-0-1", "done", &[Line::Began(run(0)), Line::Ended(run(0))]);
        assert_eq!(broken(&seen), []);
    }

    #[test]
    fn a_job_that_was_acknowledged_is_known_and_ends_as_it_should() {
        let lines = [Line::Began(run(0)), Line::Ended(run(0))];
        let seen = life("long-0-1", "done", &lines);
        let unknown = Seen { listed: Vec::new(), ..life("long-0-1", "done", &lines) };
        assert!(broken(&unknown).contains(&Law::Lost));
        let mut open = life("long-0-1", "done", &lines);
        open.listed[0].has_ended = false;
        assert_eq!(broken(&open), [Law::Lost]);
        let other = Seen { acknowledged: vec![(1, "long-0-2".to_owned())], ..seen };
        assert_eq!(broken(&other), [Law::Lost]);
        assert_eq!(broken(&life("long-0-1", "failed", &lines)), [Law::Lost]);
    }

    #[test]
    fn a_task_runs_again_only_where_a_keeper_was_killed() {
        let lines = [Line::Began(run(0)), Line::Began(run(1)), Line::Ended(run(1))];
        assert_eq!(broken(&life("long-0-1", "done", &lines)), [Law::RunAgain]);
        let lost = [lines[0], Line::Keeper(0), lines[1], lines[2]];
        let seen = life("long-0-1", "done", &lost);
        assert_eq!(broken(&seen), []);
        assert_eq!(judge(&seen).by_rule, 1);
        assert_eq!(broken(&life("once-0-1", "done", &lost)), [Law::RunAgain]);
        let twice = [Line::Began(run(0)), Line::Keeper(0), Line::Began(run(0)), lines[2]];
        assert_eq!(broken(&life("long-0-1", "done", &twice)), [Law::RunAgain]);
    }

    #[test]
    fn a_task_whose_end_a_keeper_had_on_record_never_runs_again() {
        let lines = [
            Line::Began(run(0)),
            Line::Ended(run(0)),
            Line::Keeper(0),
            Line::Began(run(1)),
            Line::Ended(run(1)),
        ];
        let doubtful =
            Seen { recorded: vec![BTreeSet::new()], ..life("short-0-1", "done", &lines) };
        assert_eq!(broken(&doubtful), []);
        let recorded =
            Seen { recorded: vec![BTreeSet::from([run(0)])], ..life("short-0-1", "done", &lines) };
        assert_eq!(broken(&recorded), [Law::RunAgain]);
    }

    #[test]
    fn a_task_that_fails_has_as_many_tries_as_it_may() {
        let tries = |count: u64| -> Vec<Line> {
            (0..count).flat_map(|one| [Line::Began(run(one)), Line::Failed(run(one))]).collect()
        };
        assert_eq!(broken(&life("failing-0-1", "failed", &tries(3))), []);
        assert_eq!(broken(&life("failing-0-1", "failed", &tries(2))), [Law::Lost]);
        assert_eq!(broken(&life("failing-0-1", "failed", &tries(4))), [Law::RunAgain]);
    }

    #[test]
    fn a_job_is_done_only_if_each_of_its_tasks_said_so() {
        let seen = life("array-0-1", "done", &[Line::Began(run(0)), Line::Ended(run(0))]);
        assert_eq!(broken(&seen), [Law::Differs; 3]);
    }
}

//! What is counted of a log, and the remarks that it makes.

use fleet::{MilliCores, Span};

use super::super::notebook::Notebook;
use super::line::{Field, Line, Status};

/// What the lines were like.
#[derive(Default)]
pub(super) struct Tally {
    /// Lines that are not comments.
    pub(super) lines: u64,
    /// Lines of parts of jobs.
    pub(super) parts: u64,
    /// Jobs that were given up before they ran.
    pub(super) never_ran: u64,
    /// Jobs of more than one task.
    split: u64,
    /// The most processors of a job.
    pub(super) widest: u64,
    /// The longest time that a job ran.
    pub(super) longest: Span,
    /// Jobs that failed or were cancelled while they ran.
    cut_short: u64,
    /// Jobs that ran for no time.
    instant: u64,
    /// Jobs that say nothing of how long they will run.
    undeclared: u64,
    /// Jobs that ran for longer than they asked for.
    overran: u64,
    /// Jobs that came after another.
    follow: u64,
    /// Fields that are known of some job, and not used.
    unused: [bool; 3],
}

/// What is not used, and why.
const UNUSED: [(Field, &str); 3] = [
    (Field::WaitTime, "wait_time is not used: it came of the scheduler of that machine"),
    (
        Field::AverageCpuTime,
        "average_cpu_time is not used: a core is held for as long as a job runs",
    ),
    (Field::Executable, "executable is not used: the rates of programs are not known"),
];

impl Tally {
    /// Takes in a job; `spans` are what it declared, and how long it ran.
    pub(super) fn take_in(
        &mut self,
        line: &Line<'_>,
        status: Status,
        (declared, ran): (Option<Span>, Span),
    ) {
        self.longest = self.longest.max(ran);
        self.cut_short += u64::from(matches!(status, Status::Failed | Status::Cancelled));
        self.instant += u64::from(ran.is_zero());
        self.undeclared += u64::from(declared.is_none());
        self.overran += u64::from(declared.is_some_and(|declared| ran > declared));
        self.follow += u64::from(line.knows(Field::PrecedingJob));
        for ((field, _), unused) in UNUSED.iter().zip(&mut self.unused) {
            *unused |= line.knows(*field);
        }
    }

    /// Takes in how many tasks a job has, and the cores of each.
    pub(super) fn take_in_width(&mut self, cores: MilliCores, tasks: u32) {
        self.widest = self.widest.max(cores.0 / 1000 * u64::from(tasks));
        self.split += u64::from(tasks > 1);
    }

    /// Notes what is not as in a log without special cases.
    pub(super) fn note(&self, notebook: &mut Notebook) {
        let notes = [
            (self.parts, "lines are of parts of jobs (status 2 to 4), and are left out"),
            (self.never_ran, "jobs failed or were cancelled before they ran, and are left out"),
            (self.cut_short, "jobs failed or were cancelled: they run for as long as they did"),
            (self.instant, "jobs have a run time of 0: they run for one second"),
            (self.undeclared, "jobs have no requested_time: they declare how long they really ran"),
            (self.overran, "jobs ran for longer than they asked for, and do so here"),
            (self.split, "jobs are split into tasks, which need not run at the same time"),
            (self.follow, "jobs follow a preceding job, and do not wait for it here"),
        ];
        for (count, words) in notes.into_iter().filter(|(count, _)| *count > 0) {
            notebook.note(format!("{count} {words}"));
        }
        for ((_, words), _) in UNUSED.iter().zip(self.unused).filter(|(_, is_known)| *is_known) {
            notebook.note((*words).to_owned());
        }
    }
}

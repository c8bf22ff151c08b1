//! What is written down is read again: every entry, after any cut, and never what is damaged.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use controller::journal::{Durability, Entry, Journal, JournalError};
use controller::{Controller, Drift, Request};
use fleet::{
    Action, Body, BodyError, DeviceClass, Extent, Job, JobId, NodeSight, Observation, Order,
    Outcome, Phase, Policy, Program, Receipt, RunSight, RunState, Time, Usage, sketch,
};
use planner::Effort;
use tempfile::TempDir;

/// One node; each job fits on it alone.
const SKETCH: &str = "
    class epyc cpu
    node a cores=4 mem=8Gi
    job train work=100 cores=3
";

/// A world that does what it is told, and tells of the end of the run that it is asked to end.
#[derive(Default)]
struct Obedient {
    at: u64,
    seen: bool,
    runs: Vec<RunSight>,
    news: Vec<RunSight>,
    receipts: Vec<Receipt>,
    refuses: bool,
    /// Models that come to light beside those of the sketch.
    models: Vec<String>,
    waits: u32,
}

impl Body for Obedient {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        let mut parts = sketch::parts(SKETCH).unwrap();
        let known = parts.classes.0[0].clone();
        let new = self.models.iter().cloned();
        parts.classes.0.extend(new.map(|model| DeviceClass { model, ..known.clone() }));
        let extent = if self.seen { Extent::Changes } else { Extent::Full };
        let mut runs = std::mem::take(&mut self.news);
        let mut nodes = Vec::new();
        if !std::mem::replace(&mut self.seen, true) {
            runs.splice(0..0, self.runs.iter().cloned());
            nodes.push(NodeSight::Up(Arc::new(parts.nodes[0].0.clone())));
        }
        self.at += 1;
        Ok(Observation {
            at: Time::seconds(self.at),
            extent,
            classes: Arc::new(parts.classes),
            nodes,
            runs,
            receipts: std::mem::take(&mut self.receipts),
        })
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        if self.refuses {
            let source = std::io::Error::other("it does not answer");
            return Err(BodyError::Unreachable { what: "the world", source });
        }
        for order in orders {
            let Action::Start { placement, .. } = &order.action else { continue };
            let (node, grant) = (placement.node, placement.grant.clone());
            let state = RunState::Running(Time::seconds(self.at));
            let (run, usage) = (order.run, Usage::default());
            let sight = RunSight { run, node, grant, state, usage, done: None };
            self.runs.push(sight.clone());
            self.news.push(sight);
            let (run, generation, outcome) = (order.run, order.generation, Outcome::Accepted);
            self.receipts.push(Receipt { run, generation, outcome });
        }
        Ok(())
    }

    fn wait(&mut self, _: Option<Time>) -> Result<(), BodyError> {
        self.waits += 1;
        Ok(())
    }
}

impl Obedient {
    fn end_first(&mut self) {
        let state = RunState::Done(Time::seconds(self.at));
        let ended = self.runs.remove(0);
        self.news.push(RunSight { state, ..ended });
    }
}

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("journal")
    }

    fn open(&self, body: Obedient) -> Controller<Obedient> {
        let mut journal = Journal::open(&self.file()).unwrap();
        let restored = journal.restore().unwrap();
        Controller::new(body, (journal, restored), policy(), Effort::DEFAULT)
    }
}

fn policy() -> Policy {
    let text = "format = 1\nname = \"p\"\norder = [\"first-in\"]\npick = \"spread\"\n";
    controller::policy_file::read("p.toml", text).unwrap()
}

fn job(id: u64) -> Request {
    let parts = sketch::parts(SKETCH).unwrap();
    let environment =
        Arc::new(vec![format!("HOME=/of/{}", id % 2), "LONG=".to_owned() + &"x".repeat(500)]);
    let program = Program {
        arguments: vec!["true".to_owned(), id.to_string()],
        environment,
        ..Program::default()
    };
    let program = Some(Arc::new(program));
    Request::Submit(Arc::new(Job { id: JobId(id), program, ..Job::clone(&parts.backlog[0].job) }))
}

/// Everything that a controller's ledger knows, as text.
fn known(controller: &Controller<Obedient>) -> String {
    serde_json::to_string(&controller.ledger().image()).unwrap()
}

/// Three jobs, of which one has ended and one runs.
fn busy(place: &Place) -> Controller<Obedient> {
    let mut controller = place.open(Obedient::default());
    controller.ask(vec![job(1), job(2)]).unwrap();
    controller.advance(|_| Durability::Written).unwrap();
    controller.body().end_first();
    controller.ask(vec![job(3)]).unwrap();
    controller.advance(|_| Durability::Written).unwrap();
    controller.advance(|_| Durability::Written).unwrap();
    controller
}

fn kinds(place: &Place) -> Vec<String> {
    let mut kinds = Vec::new();
    let journal = Journal::open(&place.file()).unwrap();
    let mut each = |record: &controller::journal::Record| {
        kinds.push(record.kind.clone());
        Ok(())
    };
    journal.records(0, &mut each).unwrap();
    kinds
}

#[test]
fn the_next_program_knows_what_the_last_one_knew() {
    let place = Place::new();
    let before = known(&busy(&place));
    let again = place.open(Obedient::default());
    assert_eq!(known(&again), before);
    let program = again.ledger().standing(JobId(3)).unwrap().job.program.clone().unwrap();
    assert_eq!(program.environment[0], "HOME=/of/1");
    assert_eq!(program.arguments, ["true", "3"]);
}

#[test]
fn what_was_acknowledged_and_not_planned_is_planned_by_the_next_program() {
    let place = Place::new();
    let mut first = place.open(Obedient::default());
    first.ask(vec![job(7)]).unwrap();
    drop(first);
    let mut next = place.open(Obedient::default());
    assert!(next.ledger().standing(JobId(7)).is_none());
    assert_eq!(next.advance(|_| Durability::Written).unwrap().orders, 1);
    assert_eq!(next.ledger().tally(JobId(7)).unwrap().running, 1);
}

#[test]
fn a_look_at_everything_is_written_only_where_something_is_new() {
    let place = Place::new();
    let mut controller = busy(&place);
    let before = kinds(&place).len();
    controller.body().seen = false;
    controller.advance(|_| Durability::Written).unwrap();
    assert_eq!(kinds(&place).len(), before);
    // One of the runs is gone, and nobody told of its end.
    controller.body().runs.clear();
    controller.body().seen = false;
    let advance = controller.advance(|_| Durability::Written).unwrap();
    assert!(matches!(advance.drifts[..], [Drift::Vanished(..)]), "{:?}", advance.drifts);
    assert_eq!(kinds(&place).len(), before + 1);
    let known = known(&controller);
    drop(controller);
    assert_eq!(self::known(&place.open(Obedient::default())), known);
}

#[test]
fn a_number_that_was_given_out_and_not_planned_is_not_given_out_again() {
    let place = Place::new();
    let mut first = place.open(Obedient::default());
    assert_eq!(first.newest_job(), None);
    first.ask(vec![job(7)]).unwrap();
    assert_eq!(first.newest_job(), Some(JobId(7)));
    drop(first);
    let mut next = place.open(Obedient::default());
    assert_eq!(next.newest_job(), Some(JobId(7)), "the next job would replace it");
    next.advance(|_| Durability::Written).unwrap();
    assert_eq!(next.newest_job(), Some(JobId(7)));
}

#[test]
fn a_turn_in_which_nothing_happened_is_not_written() {
    let place = Place::new();
    let mut controller = busy(&place);
    let before = kinds(&place);
    for _ in 0..5 {
        controller.advance(|_| Durability::Written).unwrap();
    }
    assert_eq!(kinds(&place), before);
}

#[test]
fn marks_tell_the_phases_of_a_turn_in_order() {
    let place = Place::new();
    let mut controller = place.open(Obedient::default());
    let mut phases = |requests: Vec<Request>| {
        controller.ask(requests).unwrap();
        let mut phases = Vec::new();
        let mut mark = |phase| phases.push(phase);
        let advance = controller.advance_marked(|_| Durability::Written, &mut mark).unwrap();
        phases.dedup();
        (advance.requests, phases)
    };
    let planned = [Phase::Collect, Phase::Match, Phase::Decide];
    let placed = [Phase::Match, Phase::Decide, Phase::Write, Phase::Order];
    assert_eq!(phases(vec![job(1)]), (1, [&planned[..], &placed[..]].concat()));
    // What is only seen is written down, and nothing is ordered.
    assert_eq!(phases(Vec::new()), (0, [&planned[..], &[Phase::Write, Phase::Order]].concat()));
    assert_eq!(phases(Vec::new()), (0, planned.to_vec()));
}

#[test]
fn an_environment_is_written_once() {
    let place = Place::new();
    busy(&place);
    let environments = kinds(&place).iter().filter(|kind| *kind == "environment").count();
    assert_eq!(environments, 2, "{:?}", kinds(&place));
}

#[test]
fn reading_begins_at_the_last_checkpoint_and_what_is_older_can_be_dropped() {
    let place = Place::new();
    let mut controller = busy(&place);
    controller.checkpoint().unwrap();
    controller.body().end_first();
    controller.advance(|_| Durability::Written).unwrap();
    let (before, records) = (known(&controller), kinds(&place).len());
    let dropped = controller.journal().prune().unwrap();
    drop(controller);
    assert!(dropped > 3, "{dropped}");
    assert_eq!(kinds(&place).len() + usize::try_from(dropped).unwrap(), records);
    assert_eq!(known(&place.open(Obedient::default())), before);
    let verdict = Journal::open(&place.file()).unwrap().verify().unwrap();
    assert_eq!((verdict.damage, verdict.sound), (None, kinds(&place).len() as u64));
}

#[test]
fn what_a_body_did_not_take_waits_again_in_the_next_program_too() {
    let place = Place::new();
    let mut controller = place.open(Obedient { refuses: true, ..Obedient::default() });
    controller.ask(vec![job(1)]).unwrap();
    controller.advance(|_| Durability::Written).unwrap_err();
    let before = known(&controller);
    assert_eq!(controller.ledger().tally(JobId(1)).unwrap().waiting, 1);
    drop(controller);
    assert_eq!(known(&place.open(Obedient::default())), before);
}

#[test]
fn the_policy_that_was_applied_is_in_force_in_the_next_program() {
    let place = Place::new();
    let mut controller = busy(&place);
    controller.apply(policy(), "first".to_owned()).unwrap();
    controller.apply(policy(), "second".to_owned()).unwrap();
    controller.checkpoint().unwrap();
    controller.journal().prune().unwrap();
    drop(controller);
    let mut journal = Journal::open(&place.file()).unwrap();
    assert_eq!(journal.restore().unwrap().policy.as_deref(), Some("second"));
}

/// Changes the file by hand.
fn tamper(place: &Place, change: &str) {
    let file = rusqlite::Connection::open(place.file()).unwrap();
    assert!(file.execute(change, []).unwrap() > 0);
}

#[test]
fn damage_of_any_kind_is_found_and_the_record_named() {
    for (change, number) in [
        (
            "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), '1', '2') AS BLOB) WHERE number = 3",
            3,
        ),
        ("UPDATE record SET kind = 'asked' WHERE number = 4", 4),
        ("UPDATE record SET format = 0 WHERE number = 2", 2),
        ("UPDATE record SET checksum = zeroblob(32) WHERE number = 2", 2),
        ("DELETE FROM record WHERE number = 3", 3),
        ("UPDATE record SET body = 'text' WHERE number = 5", 5),
    ] {
        let place = Place::new();
        drop(busy(&place));
        tamper(&place, change);
        let mut journal = Journal::open(&place.file()).unwrap();
        let verdict = journal.verify().unwrap();
        assert_eq!(verdict.damage.map(|(number, _)| number), Some(number), "{change}");
        assert_eq!(verdict.sound, number - 1);
        let error = journal.restore().unwrap_err();
        assert!(error.to_string().contains(&format!("record {number}")), "{error}");
    }
}

#[test]
fn what_a_newer_program_wrote_is_refused() {
    let place = Place::new();
    drop(busy(&place));
    // With the checksum that the newer program would have written.
    let file = rusqlite::Connection::open(place.file()).unwrap();
    let row =
        "SELECT number, kind, body, (SELECT checksum FROM record r WHERE r.number = l.number - 1)
               FROM record l ORDER BY number DESC LIMIT 1";
    let (number, kind, body, before): (u64, String, Vec<u8>, [u8; 32]) = file
        .query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    let format = controller::journal::FORMAT + 1;
    let sum = controller::journal::checksum(&before, number, (format, &kind), &body);
    let change = "UPDATE record SET format = ?1, checksum = ?2 WHERE number = ?3";
    file.execute(change, rusqlite::params![format, sum, number]).unwrap();
    let error = Journal::open(&place.file()).unwrap().restore().unwrap_err();
    assert!(matches!(error, JournalError::Newer { .. }), "{error}");
    assert!(error.to_string().contains("use the newer Motley"), "{error}");
}

#[test]
fn what_is_no_journal_is_left_alone() {
    let place = Place::new();
    std::fs::write(place.file(), "not a database, and long enough to be read as one".repeat(40))
        .unwrap();
    let error = Journal::open(&place.file()).err().unwrap();
    assert!(matches!(error, JournalError::Foreign(_)), "{error}");
    let other = place.directory.path().join("other");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    assert!(matches!(Journal::open(&other).err().unwrap(), JournalError::Foreign(_)));
}

/// Copies a journal as it lies there, its log beside it.
fn copy(from: &Path, to: &Path) {
    for end in ["", "-wal", "-shm"] {
        let name = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        if name(from).exists() {
            std::fs::copy(name(from), name(to)).unwrap();
        }
    }
}

#[test]
fn a_copy_cut_anywhere_opens_to_a_whole_turn() {
    let place = Place::new();
    let controller = busy(&place);
    let log = std::fs::read(format!("{}-wal", place.file().display())).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cut in (0..=log.len()).step_by(509) {
        let target = TempDir::new().unwrap();
        let file = target.path().join("journal");
        copy(&place.file(), &file);
        std::fs::remove_file(format!("{}-shm", file.display())).unwrap();
        std::fs::write(format!("{}-wal", file.display()), &log[..cut]).unwrap();
        let mut journal = Journal::open(&file).unwrap();
        assert_eq!(journal.verify().unwrap().damage, None, "cut at {cut}");
        journal.restore().unwrap();
        seen.insert(journal.verify().unwrap().sound);
    }
    drop(controller);
    assert!(seen.len() > 3, "{seen:?}");
}

#[test]
fn a_disk_that_is_full_refuses_and_changes_nothing() {
    let place = Place::new();
    let mut controller = busy(&place);
    let before = known(&controller);
    controller.journal().limit_pages(1).unwrap();
    let long = Entry::Policy("x".repeat(1 << 20));
    let error = controller.journal().append(vec![long], Durability::Synced).unwrap_err();
    assert!(matches!(error, JournalError::Full), "{error}");
    let many = (10..3000).map(job).collect();
    assert!(controller.ask(many).unwrap_err().to_string().contains("disk is full"));
    assert_eq!(known(&controller), before);
    // Once there is room, it goes on.
    controller.journal().limit_pages(1 << 30).unwrap();
    controller.ask(vec![job(9)]).unwrap();
    controller.advance(|_| Durability::Written).unwrap();
    assert!(controller.ledger().standing(JobId(9)).is_some());
    assert_eq!(known(&place.open(Obedient::default())), known(&controller));
}

/// Asks until not even the shortest request can be written; then a turn cannot be either.
fn fill(controller: &mut Controller<Obedient>) {
    controller.journal().limit_pages(1).unwrap();
    while controller.ask(vec![Request::Hold(JobId(0))]).is_ok() {}
}

/// A controller that has decided a turn which it could not write.
fn behind(place: &Place) -> Controller<Obedient> {
    let mut controller = busy(place);
    controller.body().end_first();
    fill(&mut controller);
    let error = controller.advance(|_| Durability::Written).unwrap_err();
    assert!(error.to_string().contains("disk is full"), "{error}");
    controller.journal().limit_pages(1 << 30).unwrap();
    controller
}

#[test]
fn a_turn_that_cannot_be_written_waits_until_it_is_tried_again() {
    let place = Place::new();
    let mut controller = busy(&place);
    controller.ask(vec![job(9)]).unwrap();
    controller.wait(None).unwrap();
    assert_eq!(controller.body().waits, 0, "what was asked is planned at once");
    controller.body().end_first();
    fill(&mut controller);
    for _ in 0..3 {
        controller.advance(|_| Durability::Written).unwrap_err();
        controller.wait(Some(Time::seconds(1_000))).unwrap();
    }
    assert_eq!(controller.body().waits, 3);
}

#[test]
fn new_device_classes_alone_are_written_down() {
    let place = Place::new();
    let mut controller = busy(&place);
    controller.body().models.push("new".to_owned());
    controller.advance(|_| Durability::Written).unwrap();
    let before = known(&controller);
    assert!(before.contains("\"new\""), "{before}");
    drop(controller);
    assert_eq!(known(&place.open(Obedient::default())), before);
}

#[test]
fn a_checkpoint_comes_after_the_turn_that_could_not_be_written_before() {
    let place = Place::new();
    let mut controller = behind(&place);
    controller.checkpoint().unwrap();
    controller.advance(|_| Durability::Written).unwrap();
    let before = known(&controller);
    drop(controller);
    assert_eq!(known(&place.open(Obedient::default())), before);
}

#[test]
fn what_a_body_did_not_take_is_written_once_there_is_room() {
    let place = Place::new();
    let mut controller = behind(&place);
    controller.body().refuses = true;
    controller.ask(vec![job(9)]).unwrap();
    let before = known(&controller);
    drop(controller);
    assert_eq!(known(&place.open(Obedient::default())), before);
}

#[test]
fn an_order_that_died_with_its_program_is_given_by_the_next_one() {
    let place = Place::new();
    let mut first = place.open(Obedient::default());
    first.ask(vec![job(7)]).unwrap();
    first.advance(|_| Durability::Written).unwrap();
    let generation = first.generation();
    drop(first);
    // The next world knows nothing of it, and sees it as it was decided.
    let mut next = place.open(Obedient::default());
    assert_eq!(next.advance(|_| Durability::Written).unwrap().orders, 1);
    assert_eq!((next.body().runs.len(), next.generation()), (1, generation));
    assert_eq!(next.body().receipts[0].generation, generation);
    assert_eq!(next.ledger().tally(JobId(7)).unwrap().running, 1);
    // Once it was seen it is not given again.
    next.body().seen = false;
    assert_eq!(next.advance(|_| Durability::Written).unwrap().orders, 0);
}

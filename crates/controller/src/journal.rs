//! The archive: what was asked, seen and decided, so that nothing is forgotten when the program is.
//!
//! An append-only table of records in an SQLite file. Each record bears the
//! version of its format and a checksum over itself and the checksum of the one
//! before, so that a flipped bit, a lost or a moved record is found and named.
//! Between two checkpoints, which hold the whole ledger, lie the turns in which
//! something happened. Reading them in again goes through the same ledger that
//! wrote them.
//!
//! What was *written* outlives the program, killed at any instant. What was
//! *synced* outlives a loss of power. A request is synced before it is
//! acknowledged; a turn is written before its orders go out.

mod entry;
mod store;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleet::Generation;
use thiserror::Error;

use crate::ledger::{Image, Ledger};
use crate::turn::{Request, again};

use entry::{Digest, Stored};
pub use entry::{Entry, Note, TurnEntry};
use store::Store;
pub use store::{Audit, Record, checksum};

/// The version of what is written. Older ones are read, newer ones refused.
pub const FORMAT: u32 = 2;

/// A checkpoint is due once so many bytes were written since the last one, and twice as many as it
/// took.
const CHECKPOINT_MIN: u64 = 8 << 20;

/// So many bytes of records are kept before those from before the last checkpoint are dropped.
const KEPT_MAX: u64 = 1 << 30;

/// How safely something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It outlives the program.
    Written,
    /// It outlives the machine's power.
    Synced,
}

/// The journal of one fleet, open.
pub struct Journal {
    store: Store,
    environments: BTreeMap<Digest, Arc<Vec<String>>>,
    since_checkpoint: u64,
    checkpoint: u64,
    policy: Option<String>,
    notes: BTreeMap<String, String>,
}

/// What a journal says that there was.
#[derive(Debug)]
pub struct Restored {
    /// The ledger after the last turn.
    pub ledger: Ledger,
    /// What was acknowledged and has not been in a turn yet.
    pub asked: Vec<Request>,
    /// The text of the policy that was in force, if one was ever set.
    pub policy: Option<String>,
}

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// It cannot be opened.
    #[error("open the journal {}", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is something else.
    #[error("open {}: it is not a journal of Motley; give another directory", .0.display())]
    Foreign(PathBuf),
    /// A newer program wrote it.
    #[error(
        "record {number} has format {format}, and this program reads up to {FORMAT}; use the newer Motley that wrote it"
    )]
    Newer {
        /// Which record.
        number: u64,
        /// Its format.
        format: u32,
    },
    /// What is read is not what was written.
    #[error("record {number} of the journal is damaged: {what}")]
    Damaged {
        /// Which record.
        number: u64,
        /// What is wrong with it.
        what: String,
    },
    /// It cannot be read.
    #[error("read the journal")]
    Read(#[source] rusqlite::Error),
    /// It cannot be written.
    #[error("write the journal")]
    Write(#[source] rusqlite::Error),
    /// There is no room for more.
    #[error("write the journal: the disk is full; make room in its directory")]
    Full,
}

impl Journal {
    /// Opens the journal in this file, or begins one.
    ///
    /// # Errors
    /// If it cannot be opened, or is something else.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let store = Store::open(path)?;
        Ok(Self {
            store,
            environments: BTreeMap::new(),
            since_checkpoint: 0,
            checkpoint: 0,
            policy: None,
            notes: BTreeMap::new(),
        })
    }

    /// Reads what there was, from the last checkpoint on.
    ///
    /// # Errors
    /// If a record is damaged, newer than this program, or cannot be read.
    pub fn restore(&mut self) -> Result<Restored, JournalError> {
        let mut ledger = Ledger::new();
        let mut asked = Vec::new();
        let mut written = 0;
        let environments = &mut self.environments;
        let (policy, checkpoint) = (&mut self.policy, &mut self.checkpoint);
        let notes = &mut self.notes;
        self.store.read_from_checkpoint(&mut |record| {
            written += record.body.len() as u64;
            let damaged =
                |what: &str| JournalError::Damaged { number: record.number, what: what.to_owned() };
            match Stored::decode(record)?.revive(environments).map_err(damaged)? {
                Entry::Environment(variables) => {
                    environments.insert(entry::digest(&variables), variables);
                }
                Entry::Asked(requests) => asked.extend(requests),
                Entry::Turn(turn) => again(&mut ledger, *turn, std::mem::take(&mut asked)),
                Entry::TakenBack(orders) => {
                    orders.iter().for_each(|(run, stop)| ledger.take_one_back(*run, *stop));
                }
                Entry::Policy(text) => *policy = Some(text),
                Entry::Note(note) => remember(notes, note),
                Entry::Checkpoint(image) => {
                    *checkpoint = record.body.len() as u64;
                    written = 0;
                    ledger = Ledger::of_image(*image).map_err(damaged)?;
                }
            }
            Ok(())
        })?;
        self.since_checkpoint = written;
        Ok(Restored { ledger, asked, policy: self.policy.clone() })
    }

    /// What is remembered, by name.
    #[must_use]
    pub fn notes(&self) -> &BTreeMap<String, String> {
        &self.notes
    }

    /// The one copy of these variables that is kept.
    pub fn intern(&mut self, variables: Arc<Vec<String>>) -> Arc<Vec<String>> {
        let known = self.environments.get(&entry::digest(&variables));
        known.map_or(variables, Arc::clone)
    }

    /// Writes entries in one go: all of them are there afterwards, or none.
    ///
    /// # Errors
    /// If they cannot be written; then nothing has changed.
    pub fn append(
        &mut self,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut stored = Vec::with_capacity(entries.len());
        let mut new = BTreeMap::new();
        let (mut policy, mut notes) = (None, Vec::new());
        for entry in entries {
            match &entry {
                Entry::Policy(text) => policy = Some(text.clone()),
                Entry::Note(note) => notes.push(note.clone()),
                _ => {}
            }
            let (entry, environments) = Stored::of(entry);
            for (digest, variables) in environments {
                if !self.environments.contains_key(&digest) && !new.contains_key(&digest) {
                    stored.push(Stored::Environment(Arc::clone(&variables)));
                    new.insert(digest, variables);
                }
            }
            stored.push(entry);
        }
        self.since_checkpoint += self.store.append(&stored, durability)?;
        self.environments.extend(new);
        self.policy = policy.or(self.policy.take());
        notes.into_iter().for_each(|note| remember(&mut self.notes, note));
        Ok(())
    }

    /// Whether so much was written since the last checkpoint that it is time for one.
    #[must_use]
    pub fn is_checkpoint_due(&self) -> bool {
        self.since_checkpoint > CHECKPOINT_MIN.max(2 * self.checkpoint)
    }

    /// Writes everything that the ledger knows, so that reading begins here, and drops what is
    /// older where there is too much of it.
    ///
    /// # Errors
    /// If it cannot be written; then nothing has changed.
    pub fn write_checkpoint(
        &mut self,
        image: Image,
        asked: Vec<Request>,
    ) -> Result<(), JournalError> {
        // Environments that no job has any more are forgotten; the others are written again.
        let environments = std::mem::take(&mut self.environments);
        let policy = self.policy.clone().map(Entry::Policy);
        let rest = (!asked.is_empty()).then_some(Entry::Asked(asked));
        let note = |(name, text): (&String, &String)| {
            Entry::Note(Note { name: name.clone(), text: Some(text.clone()) })
        };
        let notes: Vec<_> = self.notes.iter().map(note).collect();
        let entries = [Entry::Checkpoint(Box::new(image))].into_iter().chain(policy).chain(notes);
        let entries = entries.chain(rest);
        let before = std::mem::take(&mut self.since_checkpoint);
        match self.append(entries.collect(), Durability::Synced) {
            Ok(()) => {
                self.checkpoint = std::mem::take(&mut self.since_checkpoint);
                if self.store.bytes()? > KEPT_MAX {
                    self.prune()?;
                }
                Ok(())
            }
            Err(error) => {
                self.environments = environments;
                self.since_checkpoint = before;
                Err(error)
            }
        }
    }

    /// Drops the records from before the last checkpoint. How many those were.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn prune(&mut self) -> Result<u64, JournalError> {
        self.store.prune()
    }

    /// Goes through every record, and says how many there are, or which is damaged.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn verify(&self) -> Result<Audit, JournalError> {
        self.store.verify()
    }

    /// Lets the file grow to so many pages and no further; fewer than it has are as many as it has.
    ///
    /// # Errors
    /// If the limit cannot be set.
    pub fn limit_pages(&mut self, most: u32) -> Result<(), JournalError> {
        self.store.limit_pages(most)
    }

    /// Hands out every record from this number on, ascending.
    ///
    /// # Errors
    /// If one cannot be read or is damaged, or what it is handed to fails.
    pub fn records(
        &self,
        from: u64,
        each: &mut dyn FnMut(&Record) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        self.store.read(from, each)
    }
}

fn remember(notes: &mut BTreeMap<String, String>, note: Note) {
    match note.text {
        Some(text) => drop(notes.insert(note.name, text)),
        None => drop(notes.remove(&note.name)),
    }
}

/// What is written of a turn in which something happened.
#[must_use]
pub fn turn_entry(
    serial: fleet::Serial,
    observation: fleet::Observation,
    plan: Option<fleet::Plan>,
    generation: Generation,
) -> Entry {
    Entry::Turn(Box::new(TurnEntry { serial, observation, plan, generation }))
}

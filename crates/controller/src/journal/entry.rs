//! What records say, and how they are written: as JSON, with the environment of programs apart.
//!
//! Thousands of jobs come with the same environment. It is written once, and
//! jobs name it by its digest.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Generation, Job, Observation, Plan, RunId, Serial, StopCause};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::JournalError;
use super::store::Record;
use crate::ledger::Image;
use crate::turn::Request;

/// What the environment of a program is named by.
pub(super) type Digest = [u8; 32];

/// One thing that is written.
#[derive(Clone, Debug)]
pub enum Entry {
    /// These variables are the environment of programs that come later.
    Environment(Arc<Vec<String>>),
    /// This was asked, and acknowledged.
    Asked(Vec<Request>),
    /// A turn, in which everything asked before it was taken in.
    Turn(Box<TurnEntry>),
    /// The body did not take these orders: starts, and stops with their cause.
    TakenBack(Vec<(RunId, Option<StopCause>)>),
    /// This policy is in force from now on.
    Policy(String),
    /// Something that the program beside the ledger is to remember; see [`Note`].
    Note(Note),
    /// Everything that the ledger knows.
    Checkpoint(Box<Image>),
}

/// A text that is remembered under a name until another takes its place, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The name.
    pub name: String,
    /// The text; `None` forgets it.
    pub text: Option<String>,
}

/// A turn in which something happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TurnEntry {
    /// The number of its snapshot.
    pub serial: Serial,
    /// What was seen; without device classes where there were no new ones.
    pub observation: Observation,
    /// What was decided; `None` where the plan broke the law.
    pub plan: Option<Plan>,
    /// The generation of the orders.
    pub generation: Generation,
}

/// An entry as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stored {
    Environment(Arc<Vec<String>>),
    Asked(Vec<StoredRequest>),
    Turn(Box<TurnEntry>),
    TakenBack(Vec<(RunId, Option<StopCause>)>),
    Policy(String),
    Note(Note),
    Checkpoint(Box<StoredImage>),
}

/// A request, the environment of a job apart.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredRequest {
    request: Request,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    environment: Option<Digest>,
}

/// An image, the environments of jobs apart.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredImage {
    image: Image,
    /// By the place of a job among the jobs that have a program.
    environments: Vec<Digest>,
}

/// What names these variables.
pub(super) fn digest(variables: &[String]) -> Digest {
    let mut hash = Sha256::new();
    for variable in variables {
        hash.update((variable.len() as u64).to_le_bytes());
        hash.update(variable);
    }
    hash.finalize().into()
}

type Environments = Vec<(Digest, Arc<Vec<String>>)>;

impl Stored {
    /// What to write of an entry, and the environments that it names.
    pub(super) fn of(entry: Entry) -> (Self, Environments) {
        let mut apart = Vec::new();
        let stored = match entry {
            Entry::Environment(variables) => Self::Environment(variables),
            Entry::Asked(requests) => {
                let store = |mut request| {
                    let environment = match &mut request {
                        Request::Submit(job) => take_apart(job, &mut apart),
                        _ => None,
                    };
                    StoredRequest { request, environment }
                };
                Self::Asked(requests.into_iter().map(store).collect())
            }
            Entry::Turn(turn) => Self::Turn(turn),
            Entry::TakenBack(orders) => Self::TakenBack(orders),
            Entry::Policy(text) => Self::Policy(text),
            Entry::Note(note) => Self::Note(note),
            Entry::Checkpoint(mut image) => {
                let mut environments = Vec::new();
                image.for_each_job(&mut |job| environments.extend(take_apart(job, &mut apart)));
                Self::Checkpoint(Box::new(StoredImage { image: *image, environments }))
            }
        };
        (stored, apart)
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Environment(_) => "environment",
            Self::Asked(_) => "asked",
            Self::Turn(_) => "turn",
            Self::TakenBack(_) => "taken-back",
            Self::Policy(_) => "policy",
            Self::Note(_) => "note",
            Self::Checkpoint(_) => CHECKPOINT,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("entries are lists, numbers and text")
    }

    pub(super) fn decode(record: &Record) -> Result<Self, JournalError> {
        serde_json::from_slice(&record.body).map_err(|error| JournalError::Damaged {
            number: record.number,
            what: error.to_string(),
        })
    }

    /// The entry, with the environments that jobs name.
    pub(super) fn revive(
        self,
        known: &BTreeMap<Digest, Arc<Vec<String>>>,
    ) -> Result<Entry, &'static str> {
        const MISSING: &str = "it names an environment that no record before it has";
        Ok(match self {
            Self::Environment(variables) => Entry::Environment(variables),
            Self::Asked(requests) => {
                let revive = |stored: StoredRequest| {
                    let mut request = stored.request;
                    if let (Request::Submit(job), Some(named)) = (&mut request, stored.environment)
                    {
                        put_back(job, known.get(&named).ok_or(MISSING)?);
                    }
                    Ok::<_, &'static str>(request)
                };
                Entry::Asked(requests.into_iter().map(revive).collect::<Result<_, _>>()?)
            }
            Self::Turn(turn) => Entry::Turn(turn),
            Self::TakenBack(orders) => Entry::TakenBack(orders),
            Self::Policy(text) => Entry::Policy(text),
            Self::Note(note) => Entry::Note(note),
            Self::Checkpoint(stored) => {
                let StoredImage { mut image, environments } = *stored;
                let mut named = environments.into_iter();
                let mut missing = false;
                image.for_each_job(&mut |job| {
                    if job.program.is_some() {
                        let found = named.next().and_then(|named| known.get(&named));
                        missing |= found.is_none();
                        found.iter().for_each(|found| put_back(job, found));
                    }
                });
                if missing {
                    return Err(MISSING);
                }
                Entry::Checkpoint(Box::new(image))
            }
        })
    }
}

/// The kind of records from which reading can begin.
pub(super) const CHECKPOINT: &str = "checkpoint";

/// Takes the environment of a job's program out of it.
fn take_apart(job: &mut Arc<Job>, apart: &mut Environments) -> Option<Digest> {
    let variables = Arc::clone(&job.program.as_ref()?.environment);
    let digest = digest(&variables);
    apart.push((digest, variables));
    put_back(job, &Arc::default());
    Some(digest)
}

fn put_back(job: &mut Arc<Job>, variables: &Arc<Vec<String>>) {
    if let Some(program) = &mut Arc::make_mut(job).program {
        Arc::make_mut(program).environment = Arc::clone(variables);
    }
}

//! Runs in a written snapshot: a map whose keys are the names of runs, like `j5/0.1`, because
//! formats such as JSON have no other keys than text.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serializer};

use crate::id::{Attempt, JobId, RunId, TaskIndex};
use crate::run::Run;

type Runs = Arc<BTreeMap<RunId, Arc<Run>>>;

pub(super) fn serialize<S: Serializer>(runs: &Runs, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(runs.iter().map(|(id, run)| (id.to_string(), run)))
}

pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Runs, D::Error> {
    let named = BTreeMap::<Name, Arc<Run>>::deserialize(deserializer)?;
    Ok(Arc::new(named.into_iter().map(|(Name(id), run)| (id, run)).collect()))
}

/// The id of a run, read from what it is shown as.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Name(RunId);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let parts = || {
            let (job, rest) = name.strip_prefix('j')?.split_once('/')?;
            let (task, attempt) = rest.split_once('.')?;
            let (job, task) = (job.parse().ok()?, task.parse().ok()?);
            Some((JobId(job), TaskIndex(task), Attempt(attempt.parse().ok()?)))
        };
        let (job, task, attempt) =
            parts().ok_or_else(|| format!("{name:?} is not the name of a run, like \"j5/0.1\""))?;
        Ok(Self(RunId { job, task, attempt }))
    }
}

//! Keys of submissions: what comes a second time under the same key is answered as the first was.
//!
//! They are notes in the journal, written with the jobs that they name, so that
//! a client that was not answered may ask again whatever happened meanwhile.

use std::collections::BTreeMap;

use anyhow::Context as _;
use controller::journal::Note;
use fleet::{JobId, Span, Time, User};
use serde::{Deserialize, Serialize};
use server::api::{Denial, Kind, Submission};
use sha2::{Digest as _, Sha256};

/// What the names of these notes begin with.
const MARK: &str = "key/";

/// For so long a key is known.
const KNOWN: Span = Span(24 * 3_600_000_000);

/// The most keys that are known; the oldest are forgotten first.
const KEYS_MAX: usize = 4_096;

/// What a key named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Named {
    at: Time,
    /// The SHA-256 of what was submitted.
    digest: String,
    first: u64,
    count: u64,
}

/// A submission under a key.
pub(super) struct Keyed {
    name: String,
    digest: String,
}

impl Keyed {
    pub(super) fn new(key: &str, user: User, jobs: &[Submission]) -> anyhow::Result<Self> {
        let text = serde_json::to_vec(jobs).context("write down what is submitted")?;
        let digest = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { name: format!("{MARK}{}/{key}", user.uid), digest })
    }

    /// The jobs that it named before, if it is known.
    pub(super) fn known(
        &self,
        notes: &BTreeMap<String, String>,
        now: Time,
    ) -> Result<Option<Vec<u64>>, Denial> {
        let known = notes.get(&self.name).and_then(|text| read(text));
        match known.filter(|known| now.since(known.at) <= KNOWN) {
            None => Ok(None),
            Some(known) if known.digest == self.digest => {
                Ok(Some((known.first..known.first + known.count).collect()))
            }
            Some(known) => {
                let why = format!(
                    "this Idempotency-Key named other jobs before, from {} on; use a new one",
                    known.first
                );
                Err(Denial::new(Kind::Conflict, why))
            }
        }
    }

    /// What to remember: that it names these jobs, and without keys that have had their time.
    pub(super) fn notes(
        self,
        notes: &BTreeMap<String, String>,
        (first, count): (JobId, usize),
        at: Time,
    ) -> anyhow::Result<Vec<Note>> {
        let known = notes.range(MARK.to_owned()..).take_while(|(name, _)| name.starts_with(MARK));
        let mut known: Vec<_> = known
            .map(|(name, text)| (read(text).map_or(Time::ZERO, |named| named.at), name))
            .collect();
        known.sort();
        let surplus = (known.len() + 1).saturating_sub(KEYS_MAX);
        let is_over = |(place, (since, _)): &(usize, &(Time, &String))| {
            *place < surplus || at.since(*since) > KNOWN
        };
        let over = known.iter().enumerate().filter(is_over);
        let forget = over.map(|(_, (_, name))| Note { name: (*name).clone(), text: None });
        let named = Named { at, digest: self.digest, first: first.0, count: count as u64 };
        let text = serde_json::to_string(&named).context("write down a key")?;
        Ok(forget.chain([Note { name: self.name, text: Some(text) }]).collect())
    }
}

fn read(text: &str) -> Option<Named> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyed(key: &str, jobs: &[Submission]) -> Keyed {
        Keyed::new(key, User { uid: 7, gid: 7 }, jobs).unwrap()
    }

    fn submission(name: &str) -> Submission {
        let text =
            format!(r#"{{"job": {{"name": "{name}"}}, "arguments": ["true"], "directory": "/"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    fn remember(notes: &mut BTreeMap<String, String>, new: Vec<Note>) {
        for Note { name, text } in new {
            match text {
                Some(text) => drop(notes.insert(name, text)),
                None => drop(notes.remove(&name)),
            }
        }
    }

    #[test]
    fn a_key_names_the_same_jobs_for_a_day_and_no_others() {
        let (jobs, other) = ([submission("a")], [submission("b")]);
        let (mut notes, at) = (BTreeMap::new(), Time(1_000_000));
        let new = keyed("one", &jobs).notes(&notes, (JobId(5), 2), at).unwrap();
        remember(&mut notes, new);
        assert_eq!(keyed("one", &jobs).known(&notes, at), Ok(Some(vec![5, 6])));
        assert_eq!(keyed("two", &jobs).known(&notes, at), Ok(None));
        assert_eq!(keyed("one", &other).known(&notes, at).unwrap_err().kind, Kind::Conflict);
        assert_eq!(keyed("one", &other).known(&notes, at.after(Span(KNOWN.0 + 1))), Ok(None));
    }

    #[test]
    fn the_oldest_keys_make_room() {
        let jobs = [submission("a")];
        let mut notes = BTreeMap::new();
        for number in 0..KEYS_MAX as u64 + 10 {
            let key = keyed(&number.to_string(), &jobs);
            let new = key.notes(&notes, (JobId(number), 1), Time(number)).unwrap();
            remember(&mut notes, new);
        }
        assert_eq!(notes.len(), KEYS_MAX);
        assert_eq!(keyed("9", &jobs).known(&notes, Time(5000)), Ok(None));
        assert_eq!(keyed("10", &jobs).known(&notes, Time(5000)), Ok(Some(vec![10])));
    }
}

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

/// The most keys that are known, of one user and of all; none is forgotten before its time, so that
/// more are refused.
const KEYS_MAX: usize = 4_096;
const KEYS_ALL_MAX: usize = 16 * KEYS_MAX;

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
        let known: Vec<_> = known.collect();
        // To read them all takes long, and is needed only where there is no more room.
        let is_full = known.len() >= KEYS_ALL_MAX;
        let is_own = |name: &str| user_of(name) == user_of(&self.name);
        let is_over = |text: &str| read(text).is_none_or(|named| at.since(named.at) > KNOWN);
        let looked_at = known.iter().filter(|(name, _)| is_full || is_own(name));
        let over: Vec<_> = looked_at.filter(|(_, text)| is_over(text)).collect();
        let own = known.iter().filter(|(name, _)| is_own(name)).count()
            - over.iter().filter(|(name, _)| is_own(name)).count();
        let all = known.len() - over.len();
        if own >= KEYS_MAX || all >= KEYS_ALL_MAX {
            let why = format!(
                "{own} submissions of yours within a day had an Idempotency-Key, and {all} of all \
                 users; {KEYS_MAX} and {KEYS_ALL_MAX} are kept: submit without one, or later"
            );
            return Err(Denial::new(Kind::Often, why).into());
        }
        let forget = over.into_iter().map(|(name, _)| Note { name: (*name).clone(), text: None });
        let named = Named { at, digest: self.digest, first: first.0, count: count as u64 };
        let text = serde_json::to_string(&named).context("write down a key")?;
        Ok(forget.chain([Note { name: self.name, text: Some(text) }]).collect())
    }
}

/// The user in the name of a note: `key/USER/KEY`.
fn user_of(name: &str) -> Option<&str> {
    name.split('/').nth(1)
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
    fn a_key_is_known_for_its_whole_day_whoever_else_sends_some() {
        let jobs = [submission("a")];
        let mut notes = BTreeMap::new();
        let day = |number: u64| Time(KNOWN.0 + number);
        let send = |notes: &mut BTreeMap<String, String>, (uid, key): (u32, &str), at: Time| {
            let keyed = Keyed::new(key, User { uid, gid: uid }, &jobs).unwrap();
            let new = keyed.notes(notes, (JobId(at.0), 1), at)?;
            remember(notes, new);
            anyhow::Ok(())
        };
        send(&mut notes, (7, "8/0"), Time(0)).unwrap();
        let first = notes.values().next().unwrap().clone();
        for number in 1..KEYS_MAX as u64 {
            // A key may have anything in it.
            let named = Named { at: Time(number), first: number, ..read(&first).unwrap() };
            let text = serde_json::to_string(&named).unwrap();
            notes.insert(format!("{MARK}7/8/{number}"), text);
        }
        let error = send(&mut notes, (7, "more"), Time(KEYS_MAX as u64)).unwrap_err();
        assert_eq!(error.downcast_ref::<Denial>().unwrap().kind, Kind::Often);
        send(&mut notes, (8, "more"), Time(KEYS_MAX as u64)).unwrap();
        assert_eq!(keyed("8/0", &jobs).known(&notes, day(0)), Ok(Some(vec![0])));
        // Those that have had their day make room.
        send(&mut notes, (7, "more"), day(2)).unwrap();
        assert_eq!(notes.len(), KEYS_MAX);
        assert_eq!(keyed("8/2", &jobs).known(&notes, day(2)), Ok(Some(vec![2])));
    }

    #[test]
    fn the_keys_of_all_users_are_bounded_too() {
        let jobs = [submission("a")];
        let text = serde_json::to_string(&Named {
            at: Time(0),
            digest: String::new(),
            first: 1,
            count: 1,
        });
        let text = text.unwrap();
        let name = |number: usize| format!("{MARK}{}/a", number + 100);
        let mut notes: BTreeMap<_, _> =
            (0..KEYS_ALL_MAX).map(|number| (name(number), text.clone())).collect();
        assert!(keyed("a", &jobs).notes(&notes, (JobId(1), 1), Time(1)).is_err());
        notes.remove(&name(0));
        assert!(keyed("a", &jobs).notes(&notes, (JobId(1), 1), Time(1)).is_ok());
    }
}

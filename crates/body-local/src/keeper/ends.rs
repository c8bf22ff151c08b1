//! Ends that nobody has on record yet.

use std::collections::{BTreeMap, VecDeque};

use fleet::RunId;

use crate::wire::Ended;

/// Ends, with rising numbers.
#[derive(Debug, Default)]
pub(super) struct Ends {
    ends: VecDeque<Ended>,
    numbers: BTreeMap<RunId, u64>,
    last: u64,
}

impl Ends {
    pub(super) fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Ends to come get higher numbers than this one.
    pub(super) fn number_after(&mut self, number: u64) {
        self.last = self.last.max(number);
    }

    /// Adds an end of a higher number than any before.
    pub(super) fn add(&mut self, ended: Ended) {
        self.last = ended.number;
        self.numbers.insert(ended.run, ended.number);
        self.ends.push_back(ended);
    }

    /// How a run ended.
    pub(super) fn of(&self, run: RunId) -> Option<&Ended> {
        let number = *self.numbers.get(&run)?;
        let position = self.ends.binary_search_by_key(&number, |ended| ended.number).ok()?;
        self.ends.get(position)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Ended> {
        self.ends.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Forgets ends up to this number; whether there were any.
    pub(super) fn acknowledge(&mut self, number: u64) -> bool {
        let before = self.ends.len();
        while let Some(ended) = self.ends.pop_front_if(|ended| ended.number <= number) {
            self.numbers.remove(&ended.run);
        }
        self.ends.len() < before
    }
}

impl FromIterator<Ended> for Ends {
    fn from_iter<I: IntoIterator<Item = Ended>>(ends: I) -> Self {
        let mut all = Self::default();
        ends.into_iter().for_each(|ended| all.add(ended));
        all
    }
}

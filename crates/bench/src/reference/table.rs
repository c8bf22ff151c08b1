//! What is known of one shape on every node: its scores there, or why it has no room.
//!
//! An entry holds for one version of its node and is worked out again when the
//! node has another.

use std::collections::BTreeMap;

use fleet::Classes;
use fleet::explanation::{Constraint, FellOut};

use super::ask::Ask;
use super::feasible::{Misfit, misfit};
use super::site::Site;
use super::typical::Typical;
use super::{
    Devices, Reference, SCORE_MAX, Term, best_fit, clustering, dot_product, first_fit,
    fragmentation, packing, power,
};

/// The most terms that a policy has.
const TERMS_MAX: usize = 2;

/// What the formulas look at besides node and task.
pub(super) struct Scene<'a> {
    pub(super) reference: &'a Reference,
    pub(super) typical: &'a Typical,
    pub(super) classes: &'a Classes,
}

/// What is known of one shape.
pub(super) struct Table {
    pub(super) ask: Ask,
    entries: Vec<Entry>,
}

/// What is known of one shape on one node.
struct Entry {
    version: u64,
    verdict: Verdict,
}

enum Verdict {
    Lacks(Misfit),
    Fits {
        scores: [i64; TERMS_MAX],
        /// The device that a formula chose, where one did.
        device: Option<usize>,
    },
}

/// A node that may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The position of the node.
    pub(super) position: usize,
    /// The device that a formula chose, where one did.
    pub(super) device: Option<usize>,
}

impl Table {
    pub(super) fn new(ask: Ask) -> Self {
        Self { ask, entries: Vec::new() }
    }

    /// Works out again what does not hold any more.
    pub(super) fn refresh(&mut self, sites: &[Site], scene: &Scene<'_>) {
        for (position, site) in sites.iter().enumerate() {
            match self.entries.get_mut(position) {
                Some(entry) if entry.version == site.version => {}
                Some(entry) => *entry = Entry::new(&self.ask, site, scene),
                None => self.entries.push(Entry::new(&self.ask, site, scene)),
            }
        }
        self.entries.truncate(sites.len());
    }

    /// The nodes with the largest score, ascending, and how many nodes have room.
    pub(super) fn best(&self, reference: &Reference) -> (Vec<Candidate>, u32) {
        let ranges = self.ranges(reference);
        let mut best = i64::MIN;
        let mut candidates = Vec::new();
        let mut room = 0;
        for (position, entry) in self.entries.iter().enumerate() {
            let Verdict::Fits { scores, device } = &entry.verdict else { continue };
            room += 1;
            let mut sum = 0;
            for (term, (_, weight)) in reference.terms.iter().enumerate() {
                sum += weight * ranges[term].map_or(scores[term], |of| stretch(scores[term], of));
            }
            if sum > best {
                best = sum;
                candidates.clear();
            }
            if sum == best {
                candidates.push(Candidate { position, device: *device });
            }
        }
        (candidates, room)
    }

    /// At which constraints the nodes fell out, once it is known that none has room.
    pub(super) fn fell_out(&self) -> Vec<FellOut> {
        let mut fell_out: BTreeMap<Constraint, FellOut> = BTreeMap::new();
        for entry in &self.entries {
            let Verdict::Lacks(Misfit { constraint, asked, best }) = entry.verdict else {
                continue;
            };
            let told =
                fell_out.entry(constraint).or_insert(FellOut { constraint, nodes: 0, asked, best });
            told.nodes += 1;
            told.best = told.best.max(best);
        }
        fell_out.into_values().collect()
    }

    /// The least and the largest score of each term that is stretched.
    fn ranges(&self, reference: &Reference) -> [Option<(i64, i64)>; TERMS_MAX] {
        let mut ranges = [None; TERMS_MAX];
        for (term, (formula, _)) in reference.terms.iter().enumerate() {
            if !formula.is_stretched() {
                continue;
            }
            for entry in &self.entries {
                let Verdict::Fits { scores, .. } = &entry.verdict else { continue };
                let (least, largest) = ranges[term].unwrap_or((i64::MAX, i64::MIN));
                ranges[term] = Some((least.min(scores[term]), largest.max(scores[term])));
            }
        }
        ranges
    }
}

impl Entry {
    fn new(ask: &Ask, site: &Site, scene: &Scene<'_>) -> Self {
        let verdict = match misfit(&ask.alternative, site, scene.classes) {
            Some(misfit) => Verdict::Lacks(misfit),
            None => fits(ask, site, scene),
        };
        Self { version: site.version, verdict }
    }
}

fn fits(ask: &Ask, site: &Site, scene: &Scene<'_>) -> Verdict {
    let mut scores = [0; TERMS_MAX];
    let mut device = None;
    for (score, (term, _)) in scores.iter_mut().zip(scene.reference.terms) {
        let (found, chosen) = match term {
            Term::DotProduct => (dot_product::score(ask, site), None),
            Term::Clustering => (clustering::score(ask, site), None),
            Term::Packing => (packing::score(ask, site), None),
            Term::BestFit => (best_fit::score(ask, site), None),
            Term::FirstFit => (first_fit::score(site), None),
            Term::Fragmentation => fragmentation::best(scene.typical, ask, site),
            Term::Power => power::best(ask, site),
        };
        *score = found;
        let is_asked = match scene.reference.devices {
            Devices::Fragmentation => *term == Term::Fragmentation,
            Devices::Power => *term == Term::Power,
            Devices::BestFit | Devices::Drawn => false,
        };
        device = if is_asked { chosen } else { device };
    }
    Verdict::Fits { scores, device }
}

/// A score stretched to 0..=100; zero where all are equal.
fn stretch(score: i64, (least, largest): (i64, i64)) -> i64 {
    ((score - least) * SCORE_MAX).checked_div(largest - least).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_stretched_in_whole_numbers() {
        assert_eq!(stretch(-300, (-300, 0)), 0);
        assert_eq!(stretch(-100, (-300, 0)), 66);
        assert_eq!(stretch(0, (-300, 0)), 100);
        assert_eq!(stretch(7, (7, 7)), 0);
    }
}

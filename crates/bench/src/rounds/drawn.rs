//! Traces that are drawn anew, as the published generator draws its own.
//!
//! Kinds of jobs evenly from those of the table of rates; of one device in
//! seven of ten, of 2, 4 and 8 in 10, 15 and 5 of a hundred; arrivals by a
//! Poisson process; eight of ten take 10^1.5 to 10^3 minutes at the rate of a
//! V100, the others 10^3 to 10^4, evenly in the exponent.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use sim::read::GavelRates;

use super::case::{Case, Entry};
use super::input::{Cluster, MODELS};
use crate::dice::below;

/// How many jobs.
const JOBS: usize = 600;
/// The devices.
const CLUSTER: Cluster = Cluster([36, 36, 36]);
/// The name, the mean gap between arrivals in seconds, whether there are gangs, and the seed.
const TRACES: [(&str, f64, bool, u64); 2] = [("E", 800.0, true, 21), ("F", 400.0, false, 22)];

/// The traces that are drawn.
#[must_use]
pub fn cases(rates: &GavelRates) -> Vec<Case> {
    TRACES.iter().map(|trace| draw(rates, trace)).collect()
}

fn draw(rates: &GavelRates, (name, gap, gangs, seed): &(&str, f64, bool, u64)) -> Case {
    let mut dice = ChaCha8Rng::seed_from_u64(*seed);
    let kinds: Vec<&str> = rates.kinds().collect();
    let mut arrival = 0.0;
    let mut jobs = Vec::with_capacity(JOBS);
    while jobs.len() < JOBS {
        let devices = match below(&mut dice, 20) {
            _ if !gangs => 1,
            0..14 => 1,
            14..16 => 2,
            16..19 => 4,
            _ => 8,
        };
        let kind = kinds[below(&mut dice, kinds.len())];
        let (pause, exponent) = (part(&mut dice), exponent(&mut dice));
        let Some(known) = rates.find(kind, devices) else { continue };
        let Some(fast) = known.get(MODELS[0]) else { continue };
        let seconds = 60.0 * libm::pow(10.0, exponent);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above zero")]
        let steps = (seconds * fast).max(1.0) as u64;
        let rate = |model: &&str| known.get(*model).copied().unwrap_or(0.0);
        jobs.push(Entry { arrival, steps, devices, rates: MODELS.iter().map(rate).collect() });
        arrival -= gap * libm::log(1.0 - pause);
    }
    Case {
        name: (*name).to_owned(),
        models: MODELS.map(str::to_owned).to_vec(),
        capacity: CLUSTER.0.to_vec(),
        jobs,
    }
}

fn exponent(dice: &mut ChaCha8Rng) -> f64 {
    let is_short = below(dice, 10) < 8;
    if is_short { 1.5 + 1.5 * part(dice) } else { 3.0 + part(dice) }
}

/// A number from zero to below one.
fn part(dice: &mut ChaCha8Rng) -> f64 {
    below(dice, 1_000_000) as f64 / 1e6
}

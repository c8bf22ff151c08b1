//! Measures one setting: fills the fleet, then times turns that hold it there.
//!
//! Filling is not timed. Then jobs arrive and runs end until enough placements
//! were timed; at last 100 jobs that find no room are parked, and turns are
//! timed in which nothing happens at all.

use std::time::{Duration, Instant};

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::contender::Contender;
use super::input::Input;
use super::setting::Setting;
use super::treadmill::{Coming, Settled, Treadmill};
use crate::crew::processor_seconds;

/// How much of the fleet's device share is allocated while turns are timed, in percent.
pub const LEVEL: u64 = 90;

/// How many jobs arrive in one turn while the fleet is filled.
const FILL_ARRIVALS: u32 = 100;

/// How many jobs may find no room, while none is given a device, before the fleet counts as full.
/// The last of the fleet fits few shapes; with less patience small fleets would stay emptier.
const FILL_FAILURES_MAX: u64 = 1000;

/// The timing ends after this many arrivals a placement, so that a fleet without room ends too.
const ARRIVALS_MAX: u64 = 20;

/// How many jobs wait in an idle turn, and how many such turns are timed.
const PARKED: u64 = 100;
const IDLE_TURNS: u32 = 100;

/// What one setting came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What was counted: the same on every machine.
    pub counts: Counts,
    /// Seconds inside the turns that placed.
    pub seconds: f64,
    /// Seconds of processor time of these turns, with the bookkeeping between them, where the
    /// system tells.
    pub processor_seconds: Option<f64>,
    /// Milliseconds of an idle turn, on average. Of Motley's policies only.
    pub idle_millis: Option<f64>,
    /// The most memory that the process held, less what it held at first, where the system tells.
    pub peak_mib: Option<f64>,
}

/// What was counted while turns were timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Placements.
    pub placements: u64,
    /// Jobs that arrived.
    pub arrivals: u64,
    /// Of these, jobs that found no room.
    pub no_room: u64,
    /// Steps that the planner counted.
    pub steps: u64,
    /// Device share of the fleet that was allocated at the end, in thousandths.
    pub allocated_milli: u64,
}

impl Measured {
    /// Placements a second.
    #[must_use]
    pub fn placements_per_second(&self) -> f64 {
        self.counts.placements as f64 / self.seconds
    }

    /// Steps a placement.
    #[must_use]
    pub fn steps(&self) -> f64 {
        self.counts.steps as f64 / self.counts.placements as f64
    }
}

/// Measures a setting until this many placements were timed.
///
/// # Errors
/// If a plan breaks the law, or nothing finds room.
pub fn measure(input: &Input, setting: Setting, placements: u32) -> anyhow::Result<Measured> {
    let mut treadmill = Treadmill::new(input, setting.contender)?;
    let level = fill(&mut treadmill)?;
    let began = processor_seconds();
    let (seconds, counts) = hold(&mut treadmill, setting.arrivals, level, placements.into())?;
    let used = processor_seconds().zip(began).map(|(now, began)| now - began);
    ensure!(counts.placements > 0, "place anything: nothing found room");
    let idle_millis = match setting.contender {
        Contender::Plain | Contender::Frag => Some(idle(&mut treadmill)?),
        Contender::Fgd => None,
    };
    Ok(Measured { counts, seconds, processor_seconds: used, idle_millis, peak_mib: None })
}

/// Fills the fleet, and returns the device share to hold it at: 90 % of what there is, or what was
/// reached where jobs find no more room before.
///
/// # Errors
/// If a plan breaks the law.
pub fn fill(treadmill: &mut Treadmill<'_>) -> anyhow::Result<u64> {
    let level = treadmill.capacity() * LEVEL / 100;
    let mut failures = 0;
    while treadmill.allocated() < level && failures < FILL_FAILURES_MAX {
        let before = treadmill.allocated();
        let coming = treadmill.fill(FILL_ARRIVALS, level);
        let (_, settled) = take(treadmill, coming)?;
        let has_grown = treadmill.allocated() > before;
        failures = if has_grown { 0 } else { failures + settled.waiting.max(1) };
    }
    Ok(level.min(treadmill.allocated()))
}

/// Lets jobs arrive and runs end until this many were placed; seconds inside turns, and counts.
fn hold(
    treadmill: &mut Treadmill<'_>,
    arrivals: u32,
    level: u64,
    placements: u64,
) -> anyhow::Result<(f64, Counts)> {
    let mut seconds = Duration::ZERO;
    let mut counts = Counts::default();
    while counts.placements < placements && counts.arrivals < placements * ARRIVALS_MAX {
        let coming = treadmill.hold(arrivals, level);
        let (took, settled) = take(treadmill, coming)?;
        seconds += took;
        counts.placements += settled.placements;
        counts.arrivals += u64::from(arrivals);
        counts.no_room += settled.waiting;
        counts.steps += settled.steps;
    }
    let whole = treadmill.capacity().max(1);
    counts.allocated_milli = treadmill.allocated() * 1000 / whole;
    Ok((seconds.as_secs_f64(), counts))
}

/// Milliseconds of a turn in which nothing happens, while jobs wait that find no room.
fn idle(treadmill: &mut Treadmill<'_>) -> anyhow::Result<f64> {
    let coming = treadmill.park(PARKED);
    take(treadmill, coming)?;
    let mut seconds = Duration::ZERO;
    for _ in 0..IDLE_TURNS {
        let coming = treadmill.rest();
        let (took, settled) = take(treadmill, coming)?;
        let is_idle = settled.placements == 0 && settled.waiting == PARKED;
        ensure!(is_idle, "wait with {PARKED} jobs: {settled:?}");
        seconds += took;
    }
    Ok(1e3 * seconds.as_secs_f64() / f64::from(IDLE_TURNS))
}

/// Takes one turn: how long it took, and what it came to.
fn take(treadmill: &mut Treadmill<'_>, coming: Coming) -> anyhow::Result<(Duration, Settled)> {
    let Coming { observation, requests } = coming;
    let start = Instant::now();
    let turn = treadmill.turn(&observation, requests);
    let took = start.elapsed();
    Ok((took, treadmill.settle(turn)?))
}

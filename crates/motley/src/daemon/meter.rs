//! What turns cost: the time of each phase, of whole turns, and until tasks start.
//!
//! In come the marks of a turn and the times at which keepers started what was
//! ordered; out go figures for people and counts for a histogram, both of the
//! same samples. A turn counts if it took requests in or gave orders: one that
//! only saw that all goes on costs next to nothing, and would make the figures
//! look better than they are. Samples are of this daemon, since it began.

use std::time::{Duration, Instant};

use fleet::{Phase, Span};
use hdrhistogram::Histogram;

use server::api::PhaseView;

/// What is measured, in the order in which it happens. `start` is from the order until a process
/// of this machine runs, which is after the turn; `whole` is the turn, to which the others but
/// `start` add up.
pub const PHASES: [&str; 7] = ["collect", "match", "decide", "write", "order", "start", "whole"];

const START: usize = 5;
const WHOLE: usize = 6;

/// The upper bounds, in microseconds, under which samples are counted: two to three a decade, from
/// what an empty fleet costs to what nobody would wait for.
pub const BOUNDS: [u64; 16] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000,
];

/// The longest that is told apart: an hour.
const LONGEST: u64 = 3_600_000_000;

/// Significant digits of samples: quantiles are exact to a thousandth.
const DIGITS: u8 = 3;

/// Samples of every phase.
#[derive(Debug)]
pub struct Meter([Samples; PHASES.len()]);

#[derive(Debug)]
struct Samples {
    micros: Histogram<u64>,
    /// The histogram rounds; their sum does not.
    sum: Duration,
    longest: Duration,
}

/// How many samples of a phase were at most how long.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseCounts {
    /// One of [`PHASES`].
    pub phase: &'static str,
    /// For each of [`BOUNDS`], how many were at most so long.
    pub within: [u64; BOUNDS.len()],
    /// All of them.
    pub count: u64,
    /// How long they were together.
    pub sum: Duration,
}

/// One turn as it is measured.
#[derive(Debug)]
pub struct Watch {
    began: Instant,
    marked: Instant,
    spent: [Duration; START],
}

impl Watch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Self {
        Self::start_at(Instant::now())
    }

    fn start_at(began: Instant) -> Self {
        Self { began, marked: began, spent: [Duration::ZERO; START] }
    }

    /// Hears that a phase is over.
    pub fn mark(&mut self, phase: Phase) {
        self.mark_at(phase, Instant::now());
    }

    fn mark_at(&mut self, phase: Phase, now: Instant) {
        let index = match phase {
            Phase::Collect => 0,
            Phase::Match => 1,
            Phase::Decide => 2,
            Phase::Write => 3,
            Phase::Order => 4,
        };
        self.spent[index] += now.saturating_duration_since(self.marked);
        self.marked = now;
    }
}

impl Meter {
    /// No samples.
    #[must_use]
    pub fn new() -> Self {
        let empty = || Samples {
            micros: Histogram::new_with_bounds(1, LONGEST, DIGITS)
                .expect("the bounds are in order"),
            sum: Duration::ZERO,
            longest: Duration::ZERO,
        };
        Self(std::array::from_fn(|_| empty()))
    }

    /// Takes in a turn that ends now.
    pub fn note_turn(&mut self, watch: &Watch) {
        self.note_turn_at(watch, Instant::now());
    }

    fn note_turn_at(&mut self, watch: &Watch, now: Instant) {
        for (samples, spent) in self.0.iter_mut().zip(watch.spent) {
            samples.add(spent);
        }
        self.0[WHOLE].add(now.saturating_duration_since(watch.began));
    }

    /// Takes in how long it took from an order until its process ran.
    pub fn note_start(&mut self, span: Span) {
        self.0[START].add(Duration::from_micros(span.0));
    }

    /// The figures of every phase of which there are samples.
    #[must_use]
    pub fn view(&self) -> Vec<PhaseView> {
        let named = PHASES.iter().zip(&self.0).filter(|(_, samples)| !samples.micros.is_empty());
        named.map(|(phase, samples)| samples.view(phase)).collect()
    }

    /// The same samples, counted under [`BOUNDS`].
    #[must_use]
    pub fn counts(&self) -> Vec<PhaseCounts> {
        let counts = |(phase, samples): (&&'static str, &Samples)| PhaseCounts {
            phase,
            within: BOUNDS.map(|bound| samples.micros.count_between(0, bound)),
            count: samples.micros.len(),
            sum: samples.sum,
        };
        PHASES.iter().zip(&self.0).map(counts).collect()
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Samples {
    fn add(&mut self, spent: Duration) {
        let micros = u64::try_from(spent.as_micros()).unwrap_or(u64::MAX);
        self.micros.saturating_record(micros);
        self.sum += spent;
        self.longest = self.longest.max(spent);
    }

    fn view(&self, phase: &str) -> PhaseView {
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 turns and microseconds")]
        let (count, quantile) = (self.micros.len() as f64, |quantile: f64| {
            self.micros.value_at_quantile(quantile) as f64 / 1_000.0
        });
        PhaseView {
            phase: phase.to_owned(),
            count: self.micros.len(),
            mean_ms: self.sum.as_secs_f64() * 1_000.0 / count,
            p50_ms: quantile(0.5),
            p95_ms: quantile(0.95),
            p99_ms: quantile(0.99),
            max_ms: self.longest.as_secs_f64() * 1_000.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(meter: &mut Meter, millis: [u64; 6]) {
        let began = Instant::now();
        let [collect, matched, decide, again, write, order] = millis;
        let phases = [
            (Phase::Collect, collect),
            (Phase::Match, matched),
            (Phase::Decide, decide),
            (Phase::Match, again),
            (Phase::Write, write),
            (Phase::Order, order),
        ];
        let (mut watch, mut now) = (Watch::start_at(began), began);
        for (phase, millis) in phases {
            now += Duration::from_millis(millis);
            watch.mark_at(phase, now);
        }
        meter.note_turn_at(&watch, now);
    }

    fn of<'a>(views: &'a [PhaseView], phase: &str) -> &'a PhaseView {
        views.iter().find(|view| view.phase == phase).unwrap()
    }

    #[test]
    fn what_passed_before_a_mark_belongs_to_its_phase_and_all_add_up_to_the_turn() {
        let mut meter = Meter::new();
        turn(&mut meter, [1, 2, 3, 4, 5, 6]);
        let views = meter.view();
        let mean = |phase| of(&views, phase).mean_ms;
        let means = ["collect", "match", "decide", "write", "order", "whole"].map(mean);
        assert_eq!(means, [1.0, 6.0, 3.0, 5.0, 6.0, 21.0]);
        assert!(views.iter().all(|view| view.phase != "start"), "nothing was started");
    }

    #[test]
    fn figures_are_of_all_samples() {
        let mut meter = Meter::new();
        (1..=100).for_each(|millis| meter.note_start(Span(millis * 1_000)));
        let views = meter.view();
        let PhaseView { count, mean_ms, p50_ms, p95_ms, p99_ms, max_ms, .. } = of(&views, "start");
        assert_eq!((*count, *mean_ms, *max_ms), (100, 50.5, 100.0));
        for (found, expected) in [(p50_ms, 50.0), (p95_ms, 95.0), (p99_ms, 99.0)] {
            assert!((found / expected - 1.0).abs() < 0.001, "{found} for {expected}");
        }
    }

    #[test]
    fn counts_are_of_the_same_samples_each_under_its_bound() {
        let mut meter = Meter::new();
        for micros in [0, 50, 51, 900, 20_000_000, LONGEST * 2] {
            meter.note_start(Span(micros));
        }
        let counts = meter.counts();
        let start = counts.iter().find(|counts| counts.phase == "start").unwrap();
        assert_eq!(start.within[..5], [2, 3, 3, 3, 4]);
        assert_eq!((start.within[BOUNDS.len() - 1], start.count), (4, 6));
        assert_eq!(start.sum, Duration::from_micros(951 + 50 + 20_000_000 + LONGEST * 2));
    }
}

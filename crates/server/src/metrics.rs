//! Metrics: what is measured, as `/metrics` shows it and alerts read it.
//!
//! A [`Family`] is a metric of one name; its samples differ by their labels.
//! What is not known has no sample: nothing here says 0 for it. The text is
//! that of OpenMetrics 1.0.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet as NoLabels};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

/// What the text is sent as.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A metric of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name; that of a counter without `_total` at its end.
    pub name: String,
    /// What it means.
    pub help: &'static str,
    /// What kind it is.
    pub kind: FamilyKind,
    /// Its samples, of distinct labels.
    pub samples: Vec<Sample>,
}

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyKind {
    /// It goes up and down.
    Gauge,
    /// It only goes up, while the program runs.
    Counter,
    /// How often which values came.
    Histogram,
}

/// One value with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The labels, by name.
    pub labels: Vec<(String, String)>,
    /// The value.
    pub value: Value,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Many numbers, in short.
    Histogram {
        /// Their sum.
        sum: f64,
        /// How many were at most so large and larger than the bound before; ascending, the last
        /// bound infinite.
        buckets: Vec<(f64, u64)>,
    },
}

impl Family {
    /// A metric without samples yet.
    #[must_use]
    pub fn new(name: &str, help: &'static str, kind: FamilyKind) -> Self {
        Self { name: name.to_owned(), help, kind, samples: Vec::new() }
    }

    /// With this sample too.
    pub fn add(&mut self, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        self.samples.push(Sample { labels: labels.collect(), value: Value::Number(value) });
    }

    /// With this one sample.
    #[must_use]
    pub fn with(mut self, labels: &[(&str, &str)], value: f64) -> Self {
        self.add(labels, value);
        self
    }
}

/// The numbers of a metric by their labels, as an alert asks for them: a metric by its name, a
/// counter with `_total`, of a histogram its `_count` or `_sum`.
#[must_use]
pub fn numbers(families: &[Family], name: &str) -> Vec<(BTreeMap<String, String>, f64)> {
    let mut found = Vec::new();
    for family in families {
        let Some(rest) = name.strip_prefix(family.name.as_str()) else { continue };
        for sample in &family.samples {
            let number = match (&sample.value, family.kind, rest) {
                (Value::Number(number), FamilyKind::Gauge, "")
                | (Value::Number(number), FamilyKind::Counter, "_total") => *number,
                (Value::Histogram { sum, .. }, FamilyKind::Histogram, "_sum") => *sum,
                (Value::Histogram { buckets, .. }, FamilyKind::Histogram, "_count") => {
                    buckets.iter().map(|(_, count)| *count).sum::<u64>() as f64
                }
                _ => continue,
            };
            found.push((sample.labels.iter().cloned().collect(), number));
        }
    }
    found
}

/// Whether an alert could find something by this name, now or later.
#[must_use]
pub fn is_known(families: &[Family], name: &str) -> bool {
    let suffixes = |family: &Family| match family.kind {
        FamilyKind::Gauge => [""].as_slice(),
        FamilyKind::Counter => &["_total"],
        FamilyKind::Histogram => &["_sum", "_count"],
    };
    let is_this = |family: &Family| {
        let rest = name.strip_prefix(family.name.as_str());
        rest.is_some_and(|rest| suffixes(family).contains(&rest))
    };
    families.iter().any(is_this)
}

/// The text of metrics; a family without samples has none.
///
/// # Errors
/// If a name is not one; those of this program are.
pub fn text(families: Vec<Family>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families)));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in self.0.iter().filter(|family| !family.samples.is_empty()) {
            let kind = match family.kind {
                FamilyKind::Gauge => MetricType::Gauge,
                FamilyKind::Counter => MetricType::Counter,
                FamilyKind::Histogram => MetricType::Histogram,
            };
            let mut encoder = encoder.encode_descriptor(&family.name, family.help, None, kind)?;
            for sample in &family.samples {
                let mut encoder = encoder.encode_family(&sample.labels)?;
                match (&sample.value, family.kind) {
                    (Value::Number(number), FamilyKind::Gauge) => encoder.encode_gauge(number)?,
                    (Value::Number(number), _) => {
                        encoder.encode_counter::<NoLabels, f64, f64>(number, None)?;
                    }
                    (Value::Histogram { sum, buckets }, _) => {
                        let count = buckets.iter().map(|(_, count)| *count).sum();
                        encoder.encode_histogram::<NoLabels>(*sum, count, buckets, None)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What the server itself counts: requests by the class of their status, and how long they took.
#[derive(Default)]
pub(crate) struct Traffic {
    /// Of statuses 1xx to 5xx.
    requests: [AtomicU64; 5],
    /// By bucket, and one for what is longer.
    durations: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// The bounds of request durations in seconds.
const BOUNDS: [f64; 8] = [0.001, 0.004, 0.016, 0.064, 0.256, 1.024, 4.096, 16.384];

impl Traffic {
    /// Counts a request and, where it did not wait on purpose, how long it took.
    pub(crate) fn count(&self, status: u16, took: Option<Duration>) {
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        self.requests[class].fetch_add(1, Ordering::Relaxed);
        let Some(took) = took else { return };
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.durations[place].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn families(&self) -> [Family; 2] {
        let help = "Requests that were answered, by the class of their status";
        let mut requests = Family::new("motley_http_requests", help, FamilyKind::Counter);
        for (class, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].iter().zip(&self.requests) {
            let count = count.load(Ordering::Relaxed);
            requests.add(&[("code", class)], count as f64);
        }
        let help = "How long requests took, without those that wait for events or the end of a job";
        let name = "motley_http_request_duration_seconds";
        let mut durations = Family::new(name, help, FamilyKind::Histogram);
        let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
        let counts = self.durations.iter().map(|count| count.load(Ordering::Relaxed));
        let sum = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        let value = Value::Histogram { sum, buckets: bounds.zip(counts).collect() };
        durations.samples.push(Sample { labels: Vec::new(), value });
        [requests, durations]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families() -> Vec<Family> {
        let mut jobs = Family::new("motley_jobs", "Jobs", FamilyKind::Gauge);
        jobs.add(&[("state", "waiting")], 3.0);
        jobs.add(&[("state", "a \"quoted\"\nname")], 1.0);
        let starts = Family::new("motley_starts", "Starts", FamilyKind::Counter).with(&[], 7.0);
        let mut turns = Family::new("motley_turn_seconds", "Turns", FamilyKind::Histogram);
        let buckets = vec![(0.1, 2), (1.0, 1), (f64::INFINITY, 1)];
        let value = Value::Histogram { sum: 4.5, buckets };
        turns
            .samples
            .push(Sample { labels: vec![("stage".to_owned(), "match".to_owned())], value });
        let absent = Family::new("motley_celsius", "Temperature", FamilyKind::Gauge);
        vec![jobs, starts, turns, absent]
    }

    #[test]
    fn the_text_is_open_metrics_and_leaves_out_what_is_not_known() {
        let text = text(families()).unwrap();
        let expected = "# HELP motley_jobs Jobs\n\
            # TYPE motley_jobs gauge\n\
            motley_jobs{state=\"waiting\"} 3.0\n\
            motley_jobs{state=\"a \\\"quoted\\\"\\nname\"} 1.0\n\
            # HELP motley_starts Starts\n\
            # TYPE motley_starts counter\n\
            motley_starts_total 7.0\n\
            # HELP motley_turn_seconds Turns\n\
            # TYPE motley_turn_seconds histogram\n\
            motley_turn_seconds_sum{stage=\"match\"} 4.5\n\
            motley_turn_seconds_count{stage=\"match\"} 4\n\
            motley_turn_seconds_bucket{le=\"0.1\",stage=\"match\"} 2\n\
            motley_turn_seconds_bucket{le=\"1.0\",stage=\"match\"} 3\n\
            motley_turn_seconds_bucket{le=\"+Inf\",stage=\"match\"} 4\n\
            # EOF\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn alerts_find_numbers_by_the_names_that_the_text_has() {
        let families = families();
        let of = |name: &str| -> Vec<f64> {
            numbers(&families, name).into_iter().map(|(_, number)| number).collect()
        };
        assert_eq!(of("motley_jobs"), [3.0, 1.0]);
        assert_eq!(of("motley_starts_total"), [7.0]);
        assert_eq!(of("motley_turn_seconds_count"), [4.0]);
        assert_eq!(of("motley_turn_seconds_sum"), [4.5]);
        for name in ["motley_starts", "motley_turn_seconds", "motley_celsius", "motley"] {
            assert!(of(name).is_empty(), "{name}");
        }
        // Nothing says how warm it is yet; something may.
        for (name, expected) in [
            ("motley_jobs", true),
            ("motley_celsius", true),
            ("motley_starts_total", true),
            ("motley_turn_seconds_count", true),
            ("motley_turn_seconds_sum", true),
            ("motley_jobs_total", false),
            ("motley_starts", false),
            ("motley_turn_seconds", false),
            ("motley_job", false),
        ] {
            assert_eq!(is_known(&families, name), expected, "{name}");
        }
    }

    #[test]
    fn requests_are_counted_by_class_and_duration() {
        let traffic = Traffic::default();
        traffic.count(200, Some(Duration::from_micros(500)));
        traffic.count(404, Some(Duration::from_secs(60)));
        traffic.count(200, None);
        let [requests, durations] = traffic.families();
        let of = |families: Vec<Family>, name: &str| numbers(&families, name);
        let counts = of(vec![requests], "motley_http_requests_total");
        let counts: Vec<f64> = counts.into_iter().map(|(_, count)| count).collect();
        assert_eq!(counts, [0.0, 2.0, 0.0, 1.0, 0.0]);
        let durations = vec![durations];
        let of = |suffix: &str| {
            numbers(&durations, &format!("motley_http_request_duration_seconds_{suffix}"))[0].1
        };
        assert_eq!((of("sum"), of("count")), (60.0005, 2.0), "what waits on purpose has none");
    }
}

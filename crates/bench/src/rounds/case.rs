//! What is played: jobs of a trace on a cluster of a few classes.

/// Jobs and devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name in records.
    pub name: String,
    /// The models, in the order in which the reference walks through them.
    pub models: Vec<String>,
    /// How many devices there are of each.
    pub capacity: Vec<u32>,
    /// By arrival; the first arrives at zero.
    pub jobs: Vec<Entry>,
}

/// One job.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Seconds since the first arrival.
    pub arrival: f64,
    /// What it has to do.
    pub steps: u64,
    /// How many devices of one class it takes, all or none.
    pub devices: u32,
    /// Steps a second of the whole job on each class; zero where it cannot run.
    pub rates: Vec<f64>,
}

impl Entry {
    /// Its rate on the class on which it is fastest.
    #[must_use]
    pub fn best_rate(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }
}

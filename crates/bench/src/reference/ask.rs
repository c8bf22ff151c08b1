//! What a task asks, in the numbers of the formulas.

use std::sync::Arc;

use fleet::{Alternative, Grant, Milli};

/// What a task asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Cores, in thousandths.
    pub cores: u64,
    /// How many devices.
    pub count: u32,
    /// How much of each, in thousandths; zero where no device is asked for.
    pub share: u32,
    /// All of it.
    pub alternative: Arc<Alternative>,
}

/// What a task is to the formula of [`super::clustering`], and in the count of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// No device.
    Cores,
    /// A share of one device.
    Share,
    /// This many whole devices.
    Whole(u32),
}

impl Ask {
    /// What this alternative asks.
    #[must_use]
    pub fn new(alternative: &Alternative) -> Self {
        let devices = alternative.request.devices.as_ref();
        Self {
            cores: alternative.request.cores.0,
            count: devices.map_or(0, |devices| devices.count),
            share: devices.map_or(0, |devices| devices.share.0),
            alternative: Arc::new(alternative.clone()),
        }
    }

    /// The shares of all devices together, in thousandths.
    #[must_use]
    pub fn total(&self) -> u64 {
        u64::from(self.count) * u64::from(self.share)
    }

    /// What kind of task it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (self.count, self.share) {
            (0, _) => Kind::Cores,
            (1, share) if share < Milli::WHOLE.0 => Kind::Share,
            (count, _) => Kind::Whole(count),
        }
    }
}

impl Kind {
    /// The kind of a task that was granted this.
    #[must_use]
    pub fn of_grant(grant: &Grant) -> Self {
        match grant.devices.as_slice() {
            [] => Self::Cores,
            [one] if one.share < Milli::WHOLE => Self::Share,
            many => Self::Whole(u32::try_from(many.len()).unwrap_or(u32::MAX)),
        }
    }
}

//! The clock: microseconds since the Unix epoch, never backwards.

use std::time::{SystemTime, UNIX_EPOCH};

use fleet::Time;

/// A clock that was read at some time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock(Time);

impl Clock {
    /// The time now, or the latest that was read where the machine's clock was set back.
    pub(crate) fn now(&mut self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.0 = self.0.max(Time(u64::try_from(since.as_micros()).unwrap_or(u64::MAX)));
        self.0
    }
}

/// Whether the system is told by others what time it is, and follows them; `None` where it does not
/// say.
#[must_use]
pub fn is_in_step() -> Option<bool> {
    crate::sys::is_clock_in_step()
}

//! A value over time, as means of equal bins.

use fleet::Time;

use super::BINS;

/// A value that changes at moments, which come in order.
#[derive(Clone, Debug)]
pub(super) struct Track {
    horizon: Time,
    value: f64,
    since: Time,
    /// Value × bins.
    sums: Vec<f64>,
}

impl Track {
    /// Zero, until it is changed; the bins end at the horizon.
    pub(super) fn until(horizon: Time) -> Self {
        Self { horizon, value: 0.0, since: Time::ZERO, sums: vec![0.0; BINS] }
    }

    /// From this moment on the value is larger by so much.
    pub(super) fn add(&mut self, at: Time, more: f64) {
        self.advance(at);
        self.value += more;
    }

    /// The bin in which a moment lies; the last for those beyond the horizon.
    pub(super) fn bin_of(&self, at: Time) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a position among the bins"
        )]
        let bin = self.place(at) as usize;
        bin.min(BINS - 1)
    }

    /// The mean of each bin.
    pub(super) fn means(&self) -> Vec<f64> {
        let mut closed = self.clone();
        closed.advance(self.horizon);
        closed.sums
    }

    fn advance(&mut self, at: Time) {
        let (mut from, to) = (self.place(self.since), self.place(at));
        for bin in self.bin_of(self.since)..BINS {
            let end = ((bin + 1) as f64).min(to);
            if end <= from {
                break;
            }
            self.sums[bin] += self.value * (end - from);
            from = end;
        }
        self.since = at;
    }

    /// A moment, counted in bins.
    fn place(&self, at: Time) -> f64 {
        if self.horizon == Time::ZERO {
            return 0.0;
        }
        let part = at.min(self.horizon).as_seconds() / self.horizon.as_seconds();
        part * BINS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_the_mean_of_the_value_over_their_time() {
        let mut track = Track::until(Time::seconds(BINS as u64 * 10));
        track.add(Time::seconds(5), 4.0);
        track.add(Time::seconds(20), -2.0);
        track.add(Time::seconds(32), -2.0);
        let means = track.means();
        let near = |bin: usize, value: f64| (means[bin] - value).abs() < 1e-9;
        assert!(near(0, 2.0) && near(1, 4.0) && near(2, 2.0) && near(3, 0.4), "{:?}", &means[..5]);
        assert!(near(4, 0.0) && near(BINS - 1, 0.0));
        assert_eq!((track.bin_of(Time::seconds(39)), track.bin_of(Time::seconds(40))), (3, 4));
    }

    #[test]
    fn what_comes_after_the_horizon_changes_nothing() {
        let mut track = Track::until(Time::seconds(10));
        track.add(Time::ZERO, 3.0);
        track.add(Time::seconds(50), 9.0);
        assert!(track.means().iter().all(|mean| (mean - 3.0).abs() < 1e-9));
        assert_eq!(Track::until(Time::ZERO).means(), vec![0.0; BINS]);
    }
}

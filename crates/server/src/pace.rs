//! How often somebody may ask: a bucket of calls each, which fills again with time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The most that are known at a time; whoever has not asked for long is forgotten.
const KNOWN_MAX: usize = 4_096;

/// Who is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Who {
    /// A user of this machine, or one who acts for them by a token.
    User(u32),
    /// One who proves nothing, by address.
    Stranger(std::net::IpAddr),
}

/// So many calls at once, and so many a second after that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) burst: f64,
    pub(crate) each_second: f64,
}

/// Buckets of calls.
pub(crate) struct Pace {
    limit: Limit,
    buckets: Mutex<BTreeMap<Who, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    calls: f64,
    at: Instant,
}

impl Pace {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, buckets: Mutex::default() }
    }

    /// Takes a call out of a bucket, if there is one.
    pub(crate) fn take(&self, who: Who, now: Instant) -> bool {
        let Limit { burst, each_second } = self.limit;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= KNOWN_MAX && !buckets.contains_key(&who) {
            let seconds = burst / each_second;
            buckets.retain(|_, one| now.duration_since(one.at).as_secs_f64() < seconds);
            if buckets.len() >= KNOWN_MAX {
                return false;
            }
        }
        let bucket = buckets.entry(who).or_insert(Bucket { calls: burst, at: now });
        let since = now.duration_since(bucket.at).as_secs_f64();
        bucket.calls = (bucket.calls + since * each_second).min(burst);
        bucket.at = now;
        let is_allowed = bucket.calls >= 1.0;
        if is_allowed {
            bucket.calls -= 1.0;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again_with_time() {
        let pace = Pace::new(Limit { burst: 3.0, each_second: 2.0 });
        let now = Instant::now();
        let (one, other) = (Who::User(1), Who::User(2));
        let takes = (0..5).map(|_| pace.take(one, now)).collect::<Vec<_>>();
        assert_eq!(takes, [true, true, true, false, false]);
        assert!(pace.take(other, now), "each has a bucket of its own");
        let later = now + Duration::from_millis(500);
        assert!(pace.take(one, later) && !pace.take(one, later));
        let much_later = now + Duration::from_secs(3600);
        let takes = (0..5).filter(|_| pace.take(one, much_later)).count();
        assert_eq!(takes, 3, "no more than a bucket holds");
    }

    #[test]
    fn those_who_have_not_asked_for_long_make_room() {
        let pace = Pace::new(Limit { burst: 2.0, each_second: 1.0 });
        let now = Instant::now();
        for number in 0..KNOWN_MAX {
            assert!(pace.take(Who::User(u32::try_from(number).unwrap()), now));
        }
        let new = Who::User(u32::MAX);
        assert!(!pace.take(new, now));
        assert!(pace.take(new, now + Duration::from_secs(3)));
    }
}

//! Places of which there are so many, and so many for each who takes some.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many there are, and how many one user may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    pub(crate) all: usize,
    pub(crate) each: usize,
}

/// The places, and how many of them each user has.
#[derive(Clone)]
pub(crate) struct Places {
    most: Most,
    taken: Arc<Mutex<BTreeMap<u32, usize>>>,
}

/// One of them, free again once it is dropped.
pub(crate) struct Place {
    user: u32,
    places: Places,
}

impl Places {
    pub(crate) fn new(most: Most) -> Self {
        Self { most, taken: Arc::default() }
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<u32, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for this user, if there is one.
    pub(crate) fn take(&self, user: u32) -> Option<Place> {
        let mut taken = self.taken();
        let own = taken.get(&user).copied().unwrap_or(0);
        if own >= self.most.each || taken.values().sum::<usize>() >= self.most.all {
            return None;
        }
        taken.insert(user, own + 1);
        Some(Place { user, places: self.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        match taken.get_mut(&self.user) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&self.user)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_takes_all_the_places_and_all_are_bounded() {
        let places = Places::new(Most { all: 5, each: 3 });
        let mut own: Vec<_> = (0..3).map(|_| places.take(1).unwrap()).collect();
        assert!(places.take(1).is_none());
        let others: Vec<_> = (0..2).map(|_| places.take(2).unwrap()).collect();
        assert!(places.take(2).is_none() && places.take(3).is_none());
        own.pop();
        let third = places.take(3).unwrap();
        assert!(places.take(1).is_none());
        drop((own, others, third));
        assert!(places.taken().is_empty());
    }
}

//! The order of classes as the reference draws it: Python's shuffle, seeded with an integer.

use rand_mt::Mt;

/// The seed of the published runs: the run's seed of 0, and 5 for this purpose.
const SEED: u32 = 5;

/// Draws orders.
pub struct Shuffler(Mt);

impl Shuffler {
    /// As the published runs draw.
    #[must_use]
    pub fn published() -> Self {
        Self(Mt::new_with_key([SEED]))
    }

    /// Puts a list into a drawn order: from the last place down, each is swapped with one at or
    /// below it.
    pub fn shuffle(&mut self, list: &mut [usize]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last + 1);
            list.swap(last, other);
        }
    }

    /// A number below `count`: as many bits as `count` has, drawn until they are below it.
    fn below(&mut self, count: usize) -> usize {
        let bits = usize::BITS - count.leading_zeros();
        loop {
            let drawn = (self.0.next_u32() >> (u32::BITS - bits)) as usize;
            if drawn < count {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_those_that_python_draws() {
        let mut shuffler = Shuffler::published();
        let drawn: Vec<[usize; 3]> = (0..6)
            .map(|_| {
                let mut list = [0, 1, 2];
                shuffler.shuffle(&mut list);
                list
            })
            .collect();
        assert_eq!(drawn, PYTHON);
    }

    /// `random.Random(5)`, six times `shuffle([0, 1, 2])`.
    const PYTHON: [[usize; 3]; 6] =
        [[0, 1, 2], [0, 1, 2], [1, 0, 2], [2, 0, 1], [1, 0, 2], [1, 2, 0]];
}

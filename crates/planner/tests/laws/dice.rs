//! Dice for random cases: a list of numbers, read from the front.
//!
//! Once the list is read to its end every throw is zero, and zero is always
//! the plainest outcome, so that proptest makes a failing case plainer by
//! making its list shorter and its numbers smaller.

/// Numbers still to be read.
pub(crate) struct Dice {
    numbers: std::vec::IntoIter<u32>,
}

impl Dice {
    pub(crate) fn new(numbers: Vec<u32>) -> Self {
        Self { numbers: numbers.into_iter() }
    }

    /// Dice of this seed, with no end that a case would reach.
    pub(crate) fn of_seed(seed: u64) -> Self {
        let mut state = seed;
        let numbers = (0..4096).map(|_| split_mix(&mut state)).collect();
        Self::new(numbers)
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: u32) -> u32 {
        self.numbers.next().unwrap_or(0) % count.max(1)
    }

    /// An index into a list.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).expect("short lists only")) as usize
    }

    /// One of these.
    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())].clone()
    }

    /// True this often out of a hundred.
    pub(crate) fn percent(&mut self, often: u32) -> bool {
        self.below(100) >= 100 - often
    }

    /// The list in another order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.index(last + 1);
            list.swap(last, other);
        }
    }
}

/// The next number of Steele, Lea and Flood's SplitMix generator.
fn split_mix(state: &mut u64) -> u32 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    u32::try_from((mixed ^ (mixed >> 31)) >> 32).expect("the upper half of 64 bits")
}

//! Drawing whole numbers from dice, the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;

/// A number below `count`, which is above zero.
pub fn below(dice: &mut ChaCha8Rng, count: usize) -> usize {
    let scaled = (u128::from(dice.next_u64()) * count as u128) >> 64;
    usize::try_from(scaled).expect("below a usize")
}

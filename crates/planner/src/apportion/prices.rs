//! Prices: what a device of each class costs, so that no more is wanted than there is.
//!
//! For any prices, what claims gain together at them and what all devices cost
//! is more than any division is worth: the dual bound. It is convex in the
//! prices, and lowered by following what is wanted beyond or below capacity,
//! with steps by Polyak's rule. Prices are whole, so that the bound is exact.

use super::{Board, Found, fill};

/// How often the prices are changed at most. Beyond, the bound of traces does not move in its
/// fourth place.
const CHANGES_MAX: u32 = 300;
/// After so many changes without a lower bound the steps become half as long.
const PATIENCE: u32 = 8;
/// Every so many changes, what is wanted is made to fit.
const REPAIR_EVERY: u32 = 10;

/// What is wanted at some prices.
struct Wanted {
    bound: u128,
    /// Wanted less capacity, for each class.
    excess: Vec<i64>,
}

/// Lowers the bound, and keeps the best division that is met on the way.
pub(super) fn lower(board: &mut Board<'_>, granted: Vec<Option<usize>>, steps_max: u64) -> Found {
    let classes = board.capacity.len();
    let worth = board.worth(&granted);
    let mut prices = vec![0.0; classes];
    let free = wanted(board, &vec![0; classes]);
    let mut found = Found { granted, worth, bound: saturate(free.bound), prices: vec![0; classes] };
    let mut now = free;
    let (mut pace, mut stale) = (1.0, 0);
    for change in 1..=CHANGES_MAX {
        let norm: f64 = now.excess.iter().map(|excess| (*excess as f64) * (*excess as f64)).sum();
        if found.bound <= found.worth || norm == 0.0 || board.steps >= steps_max {
            break;
        }
        let above = saturate(now.bound).saturating_sub(found.worth) as f64;
        let stride = pace * above / norm;
        for (price, excess) in prices.iter_mut().zip(&now.excess) {
            *price = f64::max(0.0, *price + stride * *excess as f64);
        }
        let whole: Vec<u64> = prices.iter().map(|price| rounded(*price)).collect();
        now = wanted(board, &whole);
        if now.bound < u128::from(found.bound) {
            (found.bound, found.prices) = (saturate(now.bound), whole.clone());
            stale = 0;
        } else {
            stale += 1;
        }
        if stale >= PATIENCE {
            (pace, stale) = (pace / 2.0, 0);
            prices = found.prices.iter().map(|price| *price as f64).collect();
            now = wanted(board, &found.prices.clone());
        }
        if change % REPAIR_EVERY == 0 {
            take_better(board, &mut found, &whole);
        }
    }
    let last = found.prices.clone();
    take_better(board, &mut found, &last);
    found
}

/// Takes what fits at these prices where it is better than what there is.
fn take_better(board: &mut Board<'_>, found: &mut Found, prices: &[u64]) {
    let granted = fill::at_prices(board, prices);
    let worth = board.worth(&granted);
    if worth > found.worth {
        (found.granted, found.worth) = (granted, worth);
    }
}

/// What every claim wants most.
fn wanted(board: &mut Board<'_>, prices: &[u64]) -> Wanted {
    let mut excess: Vec<i64> = board.capacity.iter().map(|devices| -i64::from(*devices)).collect();
    let paid = board.capacity.iter().zip(prices);
    let mut bound: u128 =
        paid.map(|(devices, price)| u128::from(*devices) * u128::from(*price)).sum();
    for bids in &board.claims {
        let (mut best, mut taken) = (0_i128, None);
        for (_, bid) in bids {
            let gain = bid.gain(prices);
            if gain > best {
                (best, taken) = (gain, Some(bid));
            }
        }
        if let Some(bid) = taken {
            excess[bid.lot.0] += i64::from(bid.devices);
            bound += best.unsigned_abs();
        }
        board.steps += bids.len() as u64;
    }
    // What is free and not used up cannot become cheaper.
    for (excess, price) in excess.iter_mut().zip(prices) {
        if *price == 0 {
            *excess = (*excess).max(0);
        }
    }
    Wanted { bound, excess }
}

fn saturate(bound: u128) -> u64 {
    u64::try_from(bound).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
fn rounded(price: f64) -> u64 {
    (price + 0.5) as u64
}

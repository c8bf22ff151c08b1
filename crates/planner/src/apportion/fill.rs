//! Divisions that fit: the first one, and those made of what claims want at some prices.

use std::cmp::Reverse;

use super::{Bid, Board};

/// Takes bids by their worth for each device, as long as there is room: the division that there is
/// in any case.
pub(super) fn by_worth_a_device(board: &mut Board<'_>) -> Vec<Option<usize>> {
    let mut granted = vec![None; board.claims.len()];
    top_up(board, &mut granted);
    granted
}

/// Gives what is left to claims that wait, by worth for each device.
pub(super) fn top_up(board: &mut Board<'_>, granted: &mut [Option<usize>]) {
    let mut room = board.room(granted);
    let mut waiting: Vec<(usize, usize, Bid)> = Vec::new();
    for (claim, bids) in board.claims.iter().enumerate() {
        if granted[claim].is_none() {
            let fit = bids.iter().filter(|(_, bid)| i64::from(bid.devices) <= room[bid.lot.0]);
            waiting.extend(fit.map(|(place, bid)| (claim, *place, *bid)));
            board.steps += bids.len() as u64;
        }
    }
    // Twice the worth over devices without a division: compare by cross products.
    waiting.sort_by(|one, other| {
        let left = u128::from(other.2.worth) * u128::from(one.2.devices);
        let right = u128::from(one.2.worth) * u128::from(other.2.devices);
        left.cmp(&right).then((one.0, one.1).cmp(&(other.0, other.1)))
    });
    for (claim, place, bid) in waiting {
        let left = &mut room[bid.lot.0];
        if granted[claim].is_none() && i64::from(bid.devices) <= *left {
            *left -= i64::from(bid.devices);
            granted[claim] = Some(place);
        }
    }
}

/// What claims want at these prices, made to fit: who gains most chooses first, and takes the best
/// of what is still there; what is left is given to those that wait.
pub(super) fn at_prices(board: &mut Board<'_>, prices: &[u64]) -> Vec<Option<usize>> {
    let mut granted = vec![None; board.claims.len()];
    let mut room: Vec<i64> = board.capacity.iter().copied().map(i64::from).collect();
    let mut order: Vec<(Reverse<i128>, usize)> = Vec::new();
    for (claim, bids) in board.claims.iter().enumerate() {
        if let Some(regret) = regret(bids, prices) {
            order.push((Reverse(regret), claim));
        }
        board.steps += 2 * bids.len() as u64;
    }
    order.sort_unstable();
    for (_, claim) in order {
        let fits = |bid: &Bid| i64::from(bid.devices) <= room[bid.lot.0];
        let bids = board.claims[claim].iter().filter(|(_, bid)| fits(bid));
        let wanted = bids
            .map(|(place, bid)| (Reverse(bid.gain(prices)), *place, bid))
            .min_by_key(|(gain, place, _)| (*gain, *place));
        if let Some((Reverse(gain), place, bid)) = wanted
            && gain >= 0
        {
            room[bid.lot.0] -= i64::from(bid.devices);
            granted[claim] = Some(place);
        }
    }
    top_up(board, &mut granted);
    granted
}

/// What a claim loses if it does not get what it wants most: against the second best, which may be
/// to wait. None where it wants nothing.
fn regret(bids: &[(usize, Bid)], prices: &[u64]) -> Option<i128> {
    let (mut best, mut second) = (-1_i128, 0_i128);
    for (_, bid) in bids {
        let gain = bid.gain(prices);
        if gain > best {
            second = second.max(best);
            best = gain;
        } else {
            second = second.max(gain);
        }
    }
    (best >= 0).then_some(best - second)
}

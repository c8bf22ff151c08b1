//! Branch and bound over what prices leave open.
//!
//! At the prices of the bound, a claim that does not take what it wants most
//! lowers what can still be reached by its regret, and a device that stays idle
//! by its price. Whoever would lose more than what lies between the bound and
//! the best division known has nothing to decide. For the others all choices
//! are tried, the least regret first, and left as soon as they lose too much.
//! Searched to its end, the best division that was met is the best there is.

use std::cmp::Reverse;

use super::{Board, Found};

/// A choice of a claim: what it loses, and the bid, or that it waits.
#[derive(Clone, Copy)]
struct Branch {
    loss: u128,
    place: Option<usize>,
    lot: usize,
    devices: i64,
}

/// Claims that are open, and what is known on the way down.
struct Tree<'t> {
    /// The claims, with their choices by loss.
    open: &'t [(usize, Vec<Branch>)],
    prices: &'t [u64],
    /// What is left of each class.
    room: Vec<i64>,
    /// The least loss that is not allowed.
    limit: u128,
    path: Vec<usize>,
    best: Option<Vec<usize>>,
    steps: u64,
    steps_max: u64,
}

/// Makes the division better, as far as the steps go.
pub(super) fn improve(board: &mut Board<'_>, mut found: Found, steps_max: u64) -> Found {
    let between = u128::from(found.bound.saturating_sub(found.worth));
    if between == 0 || board.steps >= steps_max {
        return found;
    }
    let mut room: Vec<i64> = board.capacity.iter().copied().map(i64::from).collect();
    let mut granted = vec![None; board.claims.len()];
    let mut open = Vec::new();
    for (claim, place) in granted.iter_mut().enumerate() {
        let mut choices = choices(board, claim, &found.prices);
        choices.retain(|choice| choice.loss < between);
        match &choices[..] {
            [only] => {
                *place = only.place;
                room[only.lot] -= only.devices;
            }
            _ => open.push((claim, choices)),
        }
    }
    if room.iter().any(|room| *room < 0) {
        // Those who have nothing to decide take too much: nothing is better than what there is.
        found.bound = found.worth;
        return found;
    }
    // Who has most to lose decides first: the choices of the others are cut soonest.
    open.sort_by_key(|(claim, choices)| (Reverse(choices[1].loss), *claim));
    let mut tree = Tree {
        open: &open,
        prices: &found.prices,
        room,
        limit: between,
        path: Vec::with_capacity(open.len()),
        best: None,
        steps: board.steps,
        steps_max,
    };
    let is_whole = tree.descend();
    board.steps = tree.steps;
    if let Some(best) = tree.best.take() {
        for ((claim, choices), choice) in open.iter().zip(best) {
            granted[*claim] = choices[choice].place;
        }
        found.worth = board.worth(&granted);
        found.granted = granted;
    }
    if is_whole {
        found.bound = found.worth;
    }
    found
}

/// The choices of a claim by what they lose, waiting among them.
fn choices(board: &mut Board<'_>, claim: usize, prices: &[u64]) -> Vec<Branch> {
    let bids = &board.claims[claim];
    let best = bids.iter().map(|(_, bid)| bid.gain(prices)).max().unwrap_or(0).max(0);
    let wait = Branch { loss: best.unsigned_abs(), place: None, lot: 0, devices: 0 };
    let mut choices: Vec<Branch> = bids
        .iter()
        .map(|(place, bid)| Branch {
            loss: (best - bid.gain(prices)).unsigned_abs(),
            place: Some(*place),
            lot: bid.lot.0,
            devices: i64::from(bid.devices),
        })
        .chain([wait])
        .collect();
    board.steps += choices.len() as u64;
    choices.sort_by_key(|choice| (choice.loss, choice.place.is_none(), choice.place));
    choices
}

impl Tree<'_> {
    /// Tries all choices, without recursion: there may be thousands of claims. True where nothing
    /// was left out.
    fn descend(&mut self) -> bool {
        let mut loss = vec![0_u128; self.open.len() + 1];
        let mut next = vec![0_usize; self.open.len() + 1];
        let mut depth = 0;
        loop {
            if self.steps >= self.steps_max {
                return false;
            }
            let is_leaf = depth == self.open.len();
            if is_leaf {
                self.end(loss[depth]);
            }
            let chosen = if is_leaf { None } else { self.choose(depth, &mut next, loss[depth]) };
            if let Some(choice) = chosen {
                let taken = self.open[depth].1[choice];
                self.room[taken.lot] -= taken.devices;
                self.path.push(choice);
                loss[depth + 1] = loss[depth] + taken.loss;
                depth += 1;
                next[depth] = 0;
            } else {
                let Some(choice) = self.path.pop() else { return true };
                depth -= 1;
                let taken = self.open[depth].1[choice];
                self.room[taken.lot] += taken.devices;
            }
        }
    }

    /// The next choice at this depth that fits and does not lose too much.
    fn choose(&mut self, depth: usize, next: &mut [usize], loss: u128) -> Option<usize> {
        let choices = &self.open[depth].1;
        while next[depth] < choices.len() {
            let choice = next[depth];
            next[depth] += 1;
            self.steps += 1;
            if loss + choices[choice].loss >= self.limit {
                return None;
            }
            if choices[choice].devices <= self.room[choices[choice].lot] {
                return Some(choice);
            }
        }
        None
    }

    /// All claims have chosen: what is idle is lost too.
    fn end(&mut self, loss: u128) {
        let idle = self.room.iter().zip(self.prices);
        let idle: u128 =
            idle.map(|(room, price)| room.unsigned_abs() as u128 * u128::from(*price)).sum();
        if loss + idle < self.limit {
            self.limit = loss + idle;
            self.best = Some(self.path.clone());
        }
    }
}

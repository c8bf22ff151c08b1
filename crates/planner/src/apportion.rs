//! Who runs now, on what: devices of several classes divided among jobs for a while.
//!
//! In comes one [`Claim`] for each job, with a [`Bid`] for each alternative that
//! it could take (so many devices of one class) and what that would be worth,
//! and how many devices there are of each class. Out goes a [`Division`]: for
//! each claim one of its bids, or that it waits, so that the worth of all that
//! was granted together is as large as could be found within the steps, and a
//! bound above which no division can lie.
//!
//! It is found by prices: a device of each class costs something, and each
//! claim takes the bid that gains it most. Prices at which the classes are just
//! used up bound what is possible (`prices`); what claims want at such prices
//! is made to fit and filled up (`fill`); and what is left between the two is
//! searched (`search`), to the end where the steps allow. Numbers are whole,
//! ties go to the earlier claim and bid: equal in, equal out.

mod fill;
mod prices;
mod search;
pub mod worth;

/// One class of devices, by its position among the capacities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lot(pub usize);

/// One alternative that a claim could take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    /// The class.
    pub lot: Lot,
    /// How many devices of it; at least one.
    pub devices: u32,
    /// What it is worth to take it; zero is worth as little as waiting. At most [`WORTH_MAX`].
    pub worth: u64,
}

/// What one job could take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// In the order in which they win ties.
    pub bids: Vec<Bid>,
}

/// Who takes what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// The bid of each claim, by its position; `None` where it waits.
    pub granted: Vec<Option<usize>>,
    /// What all that was granted is worth together.
    pub worth: u64,
    /// No division is worth more.
    pub bound: u64,
    /// What a device of each class costs where that bound was found.
    pub prices: Vec<u64>,
    /// How many bids were looked at, over and over.
    pub steps: u64,
}

/// The most that one bid may be worth: sums over ten million claims fit, and a float holds it.
pub const WORTH_MAX: u64 = 1 << 40;

impl Division {
    /// How far the worth may be from the best that is possible, as a part of the bound.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.bound == 0 { 0.0 } else { (self.bound - self.worth) as f64 / self.bound as f64 }
    }
}

/// How many bids are looked at in any case: enough to search what prices leave open of a hundred
/// jobs.
const STEPS_LEAST: u64 = 200_000;
/// How often each bid is looked at where there are more: the prices of thousands of jobs are then
/// found to a few hundredths of a per cent.
const LOOKS: u64 = 100;

/// After how many steps more of them bring next to nothing.
#[must_use]
pub fn steps_enough(claims: &[Claim]) -> u64 {
    let bids: usize = claims.iter().map(|claim| claim.bids.len()).sum();
    STEPS_LEAST.max(LOOKS * bids as u64)
}

/// Divides the devices among the claims. The first division is found whatever `steps_max` is, by
/// looking at each bid a few times; what more there are in steps makes it better.
#[must_use]
pub fn divide(claims: &[Claim], capacity: &[u32], steps_max: u64) -> Division {
    let mut board = Board::new(claims, capacity);
    let greedy = fill::by_worth_a_device(&mut board);
    let priced = prices::lower(&mut board, greedy, steps_max);
    let improved = search::improve(&mut board, priced, steps_max);
    let Found { granted, bound, prices, .. } = improved;
    let worth = board.worth(&granted);
    debug_assert!(board.fits(&granted), "no class is given out beyond its capacity");
    debug_assert!(worth <= bound, "a bound is not below what was found");
    Division { granted, worth, bound, prices, steps: board.steps }
}

/// The claims and capacities, without the bids that nobody could take.
struct Board<'a> {
    capacity: &'a [u32],
    /// For each claim its bids that are worth something and fit into an empty class, by their
    /// positions.
    claims: Vec<Vec<(usize, Bid)>>,
    steps: u64,
}

/// What has been found so far.
struct Found {
    granted: Vec<Option<usize>>,
    worth: u64,
    bound: u64,
    /// The prices at which the bound was found.
    prices: Vec<u64>,
}

impl<'a> Board<'a> {
    fn new(claims: &[Claim], capacity: &'a [u32]) -> Self {
        let can_win = |bid: &Bid| {
            let room = capacity.get(bid.lot.0).copied().unwrap_or(0);
            bid.worth > 0 && bid.devices > 0 && bid.devices <= room
        };
        let of = |claim: &Claim| {
            let bids = claim.bids.iter().copied().enumerate();
            let capped = bids.map(|(place, bid)| (place, bid.capped()));
            capped.filter(|(_, bid)| can_win(bid)).collect()
        };
        Self { capacity, claims: claims.iter().map(of).collect(), steps: 0 }
    }

    /// The bid at this position of a claim; none where it waits.
    fn bid(&self, claim: usize, place: Option<usize>) -> Option<&Bid> {
        let place = place?;
        self.claims[claim].iter().find(|(at, _)| *at == place).map(|(_, bid)| bid)
    }

    fn worth(&self, granted: &[Option<usize>]) -> u64 {
        let bids = granted.iter().enumerate();
        bids.filter_map(|(claim, place)| self.bid(claim, *place)).map(|bid| bid.worth).sum()
    }

    /// How many devices of each class are left.
    fn room(&self, granted: &[Option<usize>]) -> Vec<i64> {
        let mut room: Vec<i64> = self.capacity.iter().copied().map(i64::from).collect();
        for (claim, place) in granted.iter().enumerate() {
            if let Some(bid) = self.bid(claim, *place) {
                room[bid.lot.0] -= i64::from(bid.devices);
            }
        }
        room
    }

    fn fits(&self, granted: &[Option<usize>]) -> bool {
        self.room(granted).iter().all(|room| *room >= 0)
    }
}

impl Bid {
    fn capped(self) -> Self {
        Self { lot: self.lot, devices: self.devices, worth: self.worth.min(WORTH_MAX) }
    }

    /// What is left of its worth once its devices are paid for.
    fn gain(&self, prices: &[u64]) -> i128 {
        i128::from(self.worth) - i128::from(prices[self.lot.0]) * i128::from(self.devices)
    }
}

#[cfg(test)]
mod tests;

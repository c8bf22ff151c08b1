//! Divisions against every division there is, and at the edges.

use super::*;

/// Numbers that look drawn, the same on every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        u32::try_from((self.0 >> 33) % u64::from(count)).unwrap()
    }
}

fn bid(lot: usize, devices: u32, worth: u64) -> Bid {
    Bid { lot: Lot(lot), devices, worth }
}

fn claim(bids: &[Bid]) -> Claim {
    Claim { bids: bids.to_vec() }
}

/// Few claims with few bids on small classes: worths that tie, bids that nobody can take.
fn tiny(seed: u64) -> (Vec<Claim>, Vec<u32>) {
    let mut draw = Draw(seed);
    let capacity: Vec<u32> = (0..3).map(|_| draw.below(5)).collect();
    let claims = (0..draw.below(7)).map(|_| {
        let bids = (0..draw.below(5)).map(|_| {
            let (lot, devices) = (draw.below(4) as usize, draw.below(4));
            bid(lot, devices, u64::from(draw.below(12) * draw.below(9)))
        });
        Claim { bids: bids.collect() }
    });
    (claims.collect(), capacity)
}

/// Hundreds of gangs on a few classes.
fn large(seed: u64) -> (Vec<Claim>, Vec<u32>) {
    let mut draw = Draw(seed);
    let claims = (0..300).map(|_| {
        let (gang, urgency) = (1 << draw.below(4), 1 + u64::from(draw.below(100_000)));
        let bids =
            (0..3).map(|lot| bid(lot, gang, urgency * u64::from(1 + draw.below(1000)) / 1000));
        Claim { bids: bids.collect() }
    });
    (claims.collect(), vec![36, 36, 36])
}

/// What the best division of the claims from this one on is worth, by trying all.
fn best(claims: &[Claim], room: &mut [u32]) -> u64 {
    let Some((first, others)) = claims.split_first() else { return 0 };
    let mut most = best(others, room);
    for bid in &first.bids {
        let fits = room.get(bid.lot.0).is_some_and(|room| *room >= bid.devices);
        if fits && bid.devices > 0 {
            room[bid.lot.0] -= bid.devices;
            most = most.max(bid.worth + best(others, room));
            room[bid.lot.0] += bid.devices;
        }
    }
    most
}

/// Holds a division against the law: one bid a claim, within capacity, worth what it says.
fn assert_lawful(claims: &[Claim], capacity: &[u32], division: &Division) {
    assert_eq!(division.granted.len(), claims.len());
    let (mut held, mut worth) = (vec![0; capacity.len()], 0);
    for (claim, place) in claims.iter().zip(&division.granted) {
        let Some(place) = place else { continue };
        let bid = claim.bids[*place];
        held[bid.lot.0] += bid.devices;
        worth += bid.worth;
        assert!(bid.worth > 0, "what is worth nothing is not granted");
    }
    assert!(held.iter().zip(capacity).all(|(held, room)| held <= room), "{held:?}");
    assert_eq!(worth, division.worth);
    assert!(division.worth <= division.bound);
}

#[test]
fn small_divisions_are_the_best_there_are() {
    for seed in 0..3000 {
        let (claims, capacity) = tiny(seed);
        let division = divide(&claims, &capacity, u64::MAX);
        assert_lawful(&claims, &capacity, &division);
        let most = best(&claims, &mut capacity.clone());
        assert_eq!((division.worth, division.bound), (most, most), "seed {seed}: {claims:?}");
    }
}

#[test]
fn the_bound_holds_and_the_division_fits_whatever_the_steps() {
    for seed in 0..600 {
        let (claims, capacity) = tiny(seed);
        let bids: usize = claims.iter().map(|claim| claim.bids.len() + 1).sum();
        let most = best(&claims, &mut capacity.clone());
        for steps_max in [0, 1, 20, 100] {
            let division = divide(&claims, &capacity, steps_max);
            assert_lawful(&claims, &capacity, &division);
            assert!((division.worth..=division.bound).contains(&most), "seed {seed}");
            assert!(division.steps <= steps_max + 8 * bids as u64, "{} steps", division.steps);
        }
    }
}

#[test]
fn large_divisions_lie_near_their_bound_within_few_steps() {
    for seed in 0..8 {
        let (claims, capacity) = large(seed);
        let division = divide(&claims, &capacity, 200_000);
        assert_lawful(&claims, &capacity, &division);
        assert!(division.gap() < 0.01, "seed {seed}: {}", division.gap());
        assert!(division.steps <= 200_000 + 8 * 1200);
        assert_eq!(divide(&claims, &capacity, 200_000), division);
        let greedy = divide(&claims, &capacity, 0);
        assert!(greedy.worth <= division.worth);
    }
}

#[test]
fn prices_find_what_greed_misses() {
    // The first is worth more for each device, and leaves a device that nobody can use.
    let claims = [claim(&[bid(0, 1, 6)]), claim(&[bid(0, 2, 10)])];
    let division = divide(&claims, &[2], 1000);
    assert_eq!((division.granted, division.worth), (vec![None, Some(0)], 10));
}

#[test]
fn a_job_takes_more_devices_when_nobody_else_wants_them() {
    let elastic = claim(&[bid(0, 1, 10), bid(0, 4, 16)]);
    let alone = divide(std::slice::from_ref(&elastic), &[4], 1000);
    assert_eq!(alone.granted, [Some(1)]);
    let four = vec![elastic; 4];
    assert_eq!(divide(&four, &[4], 1000).granted, vec![Some(0); 4]);
}

#[test]
fn of_equal_claims_the_earlier_wins() {
    let same = vec![claim(&[bid(0, 1, 5), bid(1, 1, 5)]); 3];
    assert_eq!(divide(&same, &[1, 1], 1000).granted, [Some(0), Some(1), None]);
}

#[test]
fn who_can_run_on_one_class_only_is_not_kept_from_it_by_who_can_run_on_all() {
    let (bound, free) = (claim(&[bid(0, 1, 4)]), claim(&[bid(0, 1, 9), bid(1, 1, 8)]));
    assert_eq!(divide(&[free, bound], &[1, 1], 1000).granted, [Some(1), Some(0)]);
}

#[test]
fn nothing_is_divided_among_nobody() {
    let prices = vec![0];
    assert_eq!(divide(&[], &[3], 1000), Division { prices, ..Division::default() });
    let nowhere = claim(&[bid(7, 1, 5), bid(0, 0, 5), bid(0, 9, 5), bid(0, 1, 0)]);
    assert_eq!(divide(&[nowhere], &[3], 1000).granted, [None]);
}

#[test]
fn the_largest_worths_add_up() {
    let claims = vec![claim(&[bid(0, 1, u64::MAX)]); 3];
    let division = divide(&claims, &[2], 1000);
    assert_eq!((division.worth, division.bound), (2 * WORTH_MAX, 2 * WORTH_MAX));
}

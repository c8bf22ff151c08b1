use super::*;

/// Members of which these pairs are linked with so many GB/s, and 10 GB/s through the host.
fn fabric(members: usize, links: &[(usize, usize, u64)]) -> Fabric {
    let mut fabric = Fabric::new(members, Bandwidth(10_000_000_000));
    for (one, other, giga) in links {
        fabric.join(*one, *other, Bandwidth(giga * 1_000_000_000));
    }
    fabric
}

/// Milliseconds of a step with 100 MB.
fn millis(fabric: &Fabric, pattern: Pattern) -> f64 {
    let communication = Communication { pattern, bytes: Bytes(100_000_000) };
    fabric.step(&communication) as f64 / 1e6
}

/// Four in a ring, two sides of it twice as fast, and no diagonals.
fn square() -> Fabric {
    fabric(4, &[(0, 1, 50), (1, 2, 25), (2, 3, 50), (0, 3, 25)])
}

#[test]
fn who_is_alone_waits_for_nobody() {
    for pattern in Pattern::ALL {
        assert_eq!(millis(&fabric(1, &[]), pattern), 0.0);
    }
}

#[test]
fn pair_takes_what_its_link_takes() {
    let pair = fabric(2, &[(0, 1, 50)]);
    let expected = [2.0, 2.0, 2.0, 2.0, 2.0, 2.0];
    assert_eq!(Pattern::ALL.map(|pattern| millis(&pair, pattern)), expected);
}

#[test]
fn pair_without_a_link_shares_the_host_in_both_directions() {
    let pair = fabric(2, &[]);
    // 100 MB at 10 GB/s are 10 ms, one way for the pipeline, both ways for all others.
    let expected = [20.0, 20.0, 20.0, 10.0, 20.0, 20.0];
    assert_eq!(Pattern::ALL.map(|pattern| millis(&pair, pattern)), expected);
}

#[test]
fn square_is_as_fast_as_its_slowest_side_where_it_is_needed() {
    // Ring: 150 MB over each side, 6 ms on the slow ones. Tree and lines: one slow side.
    // All to all: 33.3 MB over each side, and over both diagonals both ways through the host.
    // Server: the diagonal both ways through the host.
    let expected = [6.0, 4.0, 13.333_334, 4.0, 4.0, 20.0];
    assert_eq!(Pattern::ALL.map(|pattern| millis(&square(), pattern)), expected);
}

#[test]
fn slow_link_is_left_out_where_the_host_is_faster() {
    let triangle = fabric(3, &[(0, 1, 50), (1, 2, 1)]);
    assert_eq!(millis(&triangle, Pattern::Tree), 20.0);
}

#[test]
fn ring_goes_around_a_missing_link() {
    // 0-1-2-3-0 has no link from 1 to 2; 0-1-3-2-0 has all four.
    let bent = fabric(4, &[(0, 1, 50), (1, 3, 50), (2, 3, 50), (0, 2, 50)]);
    assert_eq!(millis(&bent, Pattern::Ring), 3.0);
}

#[test]
fn sixteen_on_one_switch_are_as_good_as_their_links() {
    let all: Vec<_> =
        (0..16).flat_map(|one| (one + 1..16).map(move |other| (one, other, 150))).collect();
    let step = millis(&fabric(16, &all), Pattern::Ring);
    assert!((1.25..1.250_01).contains(&step), "{step}");
}

#[test]
fn names_are_read_as_they_are_written() {
    for pattern in Pattern::ALL {
        assert_eq!(Pattern::from_name(pattern.name()), Some(pattern));
    }
    assert_eq!(Pattern::from_name("star"), None);
}

/// Every order of `count` members.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let with = |order: &Vec<usize>, place: usize| {
        let mut order = order.clone();
        order.insert(place, count - 1);
        order
    };
    shorter.iter().flat_map(|order| (0..count).map(move |place| with(order, place))).collect()
}

/// The busiest channel of the best of all orders, for flows from each to the next.
fn brute(fabric: &Fabric, bytes: f64, directions: f64, is_closed: bool) -> f64 {
    let time = |order: &Vec<usize>| {
        let hops = order.len() - usize::from(!is_closed);
        let mut host = 0.0;
        let mut slowest: f64 = 0.0;
        for hop in 0..hops {
            let direct = fabric.direct(order[hop], order[(hop + 1) % order.len()]);
            if direct == 0 {
                host += directions * bytes / fabric.host as f64;
            } else {
                slowest = slowest.max(bytes / direct as f64);
            }
        }
        slowest.max(host) * 1e3
    };
    orders(fabric.members).iter().map(time).fold(f64::INFINITY, f64::min)
}

#[test]
fn rings_and_lines_are_the_best_of_all_orders() {
    let speeds = [0, 25, 0, 50, 100, 0, 25, 50];
    for seed in 0..40_usize {
        let members = 3 + seed % 4;
        let links: Vec<_> = (0..members)
            .flat_map(|one| (one + 1..members).map(move |other| (one, other)))
            .map(|(one, other)| (one, other, speeds[(seed * 7 + one * 5 + other * 3) % 8]))
            .filter(|(.., giga)| *giga > 0)
            .collect();
        let fabric = fabric(members, &links);
        let ring = 2.0 * (members as f64 - 1.0) / members as f64 * 1e8;
        let expected = [
            (Pattern::Ring, brute(&fabric, ring, 1.0, true)),
            (Pattern::Pipeline, brute(&fabric, 1e8, 1.0, false)),
            (Pattern::Neighbour, brute(&fabric, 1e8, 2.0, false)),
        ];
        for (pattern, expected) in expected {
            let found = millis(&fabric, pattern);
            assert!((found - expected).abs() < 1e-4, "{pattern:?} {links:?}: {found} {expected}");
        }
    }
}

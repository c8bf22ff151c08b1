//! Which jobs of a file begin after which, and in which order they are handed in.
//!
//! The daemon numbers jobs as they come, so each is handed in after those that
//! it begins after, and otherwise in the order of the file.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, Told};

/// The jobs, each after those that it begins after, which it names by their place: `#1`.
pub(super) fn in_order(told: Vec<Told>, faults: &mut Vec<Fault>) -> Vec<Told> {
    let places = by_name(&told);
    let waits = waits(&told, &places, faults);
    let order = order(&waits);
    if order.len() < told.len() {
        faults.push(circle(&told, &waits, &order));
        return told;
    }
    let mut place_of = vec![0; told.len()];
    for (place, index) in order.iter().enumerate() {
        place_of[*index] = place;
    }
    let mut placed: Vec<(usize, Told)> = told
        .into_iter()
        .enumerate()
        .map(|(index, mut told)| {
            for (named, _) in &mut told.submission.after {
                if let Some([of_this]) = places.get(named).map(Vec::as_slice) {
                    *named = format!("#{}", place_of[*of_this] + 1);
                }
            }
            (place_of[index], told)
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, told)| told).collect()
}

fn by_name(told: &[Told]) -> BTreeMap<String, Vec<usize>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, one) in told.iter().enumerate() {
        places.entry(one.name.clone()).or_default().push(index);
    }
    places
}

/// For each job the jobs of the file that it begins after.
fn waits(
    told: &[Told],
    places: &BTreeMap<String, Vec<usize>>,
    faults: &mut Vec<Fault>,
) -> Vec<Vec<usize>> {
    let of_one = |one: &Told| {
        let mut of_this = Vec::new();
        for ((named, _), line) in one.submission.after.iter().zip(&one.after_lines) {
            match places.get(named).map(Vec::as_slice) {
                Some([only]) => of_this.push(*only),
                Some([first, next, ..]) => {
                    let (first, next) = (told[*first].line, told[*next].line);
                    let both = format!("in lines {first} and {next}");
                    let text = format!("several jobs are named {named:?}, {both}; rename one");
                    faults.push(Fault::new(*line, "after", text));
                }
                // The daemon knows it, or refuses it.
                _ => {}
            }
        }
        of_this
    };
    told.iter().map(of_one).collect()
}

/// Every job after those that it waits for; those that wait in a circle are left out.
fn order(waits: &[Vec<usize>]) -> Vec<usize> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
    let mut unmet: Vec<usize> = waits.iter().map(Vec::len).collect();
    for (index, of_this) in waits.iter().enumerate() {
        for other in of_this {
            followers[*other].push(index);
        }
    }
    let is_free = |index: &usize| unmet[*index] == 0;
    let mut ready: BTreeSet<usize> = (0..waits.len()).filter(is_free).collect();
    let mut order = Vec::with_capacity(waits.len());
    while let Some(next) = ready.pop_first() {
        order.push(next);
        for follower in &followers[next] {
            unmet[*follower] -= 1;
            if unmet[*follower] == 0 {
                ready.insert(*follower);
            }
        }
    }
    order
}

/// What to say of jobs of which each waits for the next.
fn circle(told: &[Told], waits: &[Vec<usize>], order: &[usize]) -> Fault {
    let ordered: BTreeSet<usize> = order.iter().copied().collect();
    let is_left = |index: &usize| !ordered.contains(index);
    let mut path: Vec<usize> = Vec::new();
    let mut next = (0..told.len()).find(is_left);
    while let Some(index) = next {
        if let Some(start) = path.iter().position(|one| *one == index) {
            path.drain(..start);
            path.push(index);
            break;
        }
        path.push(index);
        next = waits[index].iter().copied().find(is_left);
    }
    let names = |index: &usize| format!("{:?}", told[*index].name);
    let names: Vec<_> = path.iter().map(names).collect();
    let line = path.first().map_or(1, |first| told[*first].line);
    let text = format!("none of these can begin: {}; drop one `after`", names.join(" after "));
    Fault::new(line, "after", text)
}

//! The published results, where the data are at hand, and what the command says.

use super::reference::Reference;
use super::*;
use crate::place;

fn terms(lag: Lag, move_seconds: f64) -> Terms {
    Terms { lag, move_seconds, errors: Errors::NONE, node_devices: 1 }
}

fn published(name: &str) -> Option<Case> {
    let folder = place::at_hand(input::FOLDER)?;
    let rates = input::rates(&folder).unwrap();
    let (name, trace, cluster) = input::TRACES.iter().find(|(one, ..)| *one == name)?;
    Some(input::case(name, &input::published(&folder, trace), *cluster, &rates).unwrap())
}

#[test]
fn the_references_come_to_what_was_published() {
    for trace in ["A", "B"] {
        let Some(case) = published(trace) else { return };
        for (reference, most) in [(Reference::FifoPerf, 1.0), (Reference::Isolated, 1.0)] {
            let contender = Contender::Reference(reference);
            let (figures, _) = play(&case, contender, terms(Lag::Kept, 0.0)).unwrap();
            let theirs = published::find(trace, reference.name()).unwrap();
            for (ours, theirs) in [
                (figures.mean, theirs.mean),
                (figures.percentiles[2], theirs.p99),
                (figures.makespan, theirs.makespan),
            ] {
                assert!((ours - theirs).abs() < most, "{trace} {}: {ours}", reference.name());
            }
        }
    }
}

#[test]
fn mean_is_below_the_best_published_mean_and_its_aim() {
    let Some(case) = published("A") else { return };
    let mean = "mean".parse::<Contender>().unwrap();
    let (figures, toll) = play(&case, mean, terms(Lag::Dropped, 0.0)).unwrap();
    assert!(figures.mean <= 12_700.0, "{}", figures.mean);
    assert!(toll.unwrap().turns > 0);
    let (again, _) = play(&case, mean, terms(Lag::Dropped, 0.0)).unwrap();
    assert_eq!(again, figures);
    // With the lag it hears of arrivals later, and moves cost what they cost.
    let (late, _) = play(&case, mean, terms(Lag::Kept, 0.0)).unwrap();
    assert!(late.mean > figures.mean, "{}", late.mean);
    let (dear, _) = play(&case, mean, terms(Lag::Dropped, 300.0)).unwrap();
    assert!(dear.mean > figures.mean && dear.moves < figures.moves, "{} moves", dear.moves);
}

#[test]
fn makespan_ends_near_the_bound() {
    let Some(case) = published("A") else { return };
    let makespan = "makespan".parse::<Contender>().unwrap();
    let (figures, _) = play(&case, makespan, terms(Lag::Dropped, 0.0)).unwrap();
    let best = published::least("A", |row| row.makespan).unwrap();
    assert!(figures.makespan <= best * 1.005, "{}", figures.makespan);
}

#[test]
fn on_nodes_of_several_devices_little_is_lost() {
    let Some(case) = published("A") else { return };
    let mean = "mean".parse::<Contender>().unwrap();
    let on = |node_devices| {
        let terms = Terms { node_devices, ..terms(Lag::Dropped, 0.0) };
        let (figures, toll) = play(&case, mean, terms).unwrap();
        (figures.mean, toll.unwrap().displaced)
    };
    let (alone, nobody) = on(1);
    assert_eq!(nobody, 0);
    for node_devices in [4, 8] {
        let (mean, displaced) = on(node_devices);
        assert!((mean / alone - 1.0).abs() < 0.02, "{mean} {alone}");
        assert!(displaced > 0);
    }
}

#[test]
fn every_flag_changes_what_is_told() {
    let Some(folder) = place::at_hand(input::FOLDER) else { return };
    let trace = folder.join("gavel/traces/physical_cluster/small_test.trace");
    let told = |change: fn(&mut Rounds)| {
        let cluster = Some(input::Cluster([2, 2, 2]));
        let policy = vec!["mean".parse().unwrap()];
        let mut asked = Rounds { trace: Some(trace.clone()), cluster, policy, ..Rounds::default() };
        change(&mut asked);
        run(&folder, &asked)
    };
    let (base, records) = told(|_| {}).unwrap();
    assert!(base.contains("trace small_test: 20 jobs on 2:2:2 of v100:p100:k80"), "{base}");
    assert!(records.iter().any(|record| record.name == "mean.small_test"));
    for change in [
        (|asked| asked.cluster = Some(input::Cluster([4, 4, 4]))) as fn(&mut Rounds),
        |asked| asked.policy = vec!["isolated".parse().unwrap()],
        |asked| asked.moving = 300,
        |asked| asked.rates_wrong = 30,
        |asked| asked.work_wrong = 2.0,
        |asked| asked.node_devices = 2,
    ] {
        assert_ne!(told(change).unwrap().1, records);
    }
    let error = told(|asked| asked.cluster = Some(input::Cluster([1, 0, 0]))).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("asks for") && words.contains("--cluster"), "{words}");
}

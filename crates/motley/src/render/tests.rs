use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::{
    Choice, Constraint, FellOut, Locality, Patience, RunnerUp, Score, StillWaiting, Tally,
    TierInForce, TierValue,
};
use fleet::policy::Objective;
use fleet::*;

use super::*;

fn class(model: &str, kind: DeviceKind) -> DeviceClass {
    DeviceClass {
        profiles: Vec::new(),
        model: model.to_owned(),
        kind,
        memory: Bytes::ZERO,
        compute_units: 0,
        capabilities: Default::default(),
        share: ShareRule::Exclusive,
        power: Power::default(),
    }
}

fn classes() -> Classes {
    let gpu = DeviceKind::Gpu;
    Classes(vec![class("A100", gpu), class("V100", gpu), class("EPYC", DeviceKind::Cpu)])
}

fn names(classes: &Classes) -> Names<'_> {
    Names { classes, nodes: vec!["a100-1", "v100-2", "cpu-3"], externals: &[], now: None }
}

fn gpus(count: u32, models: &[&str]) -> Alternative {
    let devices = DeviceRequest {
        kind: DeviceKind::Gpu,
        count,
        share: Milli::WHOLE,
        memory: Bytes::ZERO,
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        compute_units: 0,
        capability: Some("sm_90".to_owned()),
        profile: None,
    };
    alternative(1, Some(devices))
}

fn alternative(cores: u64, devices: Option<DeviceRequest>) -> Alternative {
    Alternative {
        request: Request { cores: MilliCores(cores * 1000), devices, ..Request::default() },
        labels: BTreeMap::from([("zone".to_owned(), "a".to_owned())]),
        rates: BTreeMap::new(),
        communication: None,
    }
}

fn job(alternatives: Vec<Alternative>) -> Job {
    Job {
        id: JobId(3),
        name: "train".to_owned(),
        tenant: Tenant::new("lab"),
        priority: 0,
        arrival: Time::ZERO,
        tasks: 1,
        gang: None,
        work: None,
        deadline: None,
        alternatives: Arc::new(alternatives),
        datasets: None,
        program: None,
        restart: Restart::default(),
        after: Vec::new(),
    }
}

fn group(constraint: Constraint, nodes: u32, asked: u64, best: u64) -> FellOut {
    FellOut { constraint, nodes, asked, best }
}

fn tally(alternative: u16, fell_out: &[FellOut]) -> Tally {
    Tally { alternative, fell_out: fell_out.to_vec() }
}

/// The words for a job that waits for these reasons.
fn no_room(job: &Job, tallies: Vec<Tally>) -> String {
    reason(&names(&classes()), job, &Reason::NoRoom(tallies))
}

/// The words for one group of nodes of a job that asks for a GPU.
fn one(constraint: Constraint, asked: u64, best: u64) -> String {
    let mut wanted = gpus(1, &["A100", "H100"]);
    wanted.request.devices.as_mut().unwrap().profile = Some("3g.20gb".to_owned());
    let text = no_room(
        &job(vec![wanted]),
        vec![tally(0, &[group(Constraint::Up, 9, 1, 0), group(constraint, 2, asked, best)])],
    );
    let (_, told) = text.rsplit_once("2: ").unwrap();
    told.trim_end_matches('.').to_owned()
}

#[test]
fn a_job_without_room_is_told_which_nodes_fell_out_where() {
    let fell_out = [
        group(Constraint::Up, 3, 1, 0),
        group(Constraint::Model, 12, 1, 0),
        group(Constraint::FreeDevices, 5, 2, 0),
    ];
    assert_eq!(
        no_room(&job(vec![gpus(2, &["A100"])]), vec![tally(0, &fell_out)]),
        "waits: no node has room. 12 of 20 nodes: no GPU of model A100; \
         5: free GPUs 0 of 2 asked; 3: lost or drained."
    );
}

#[test]
fn every_constraint_has_words() {
    let giga = 1_000_000_000;
    let gib = 1 << 30;
    let cases = [
        (one(Constraint::Labels, 1, 0), "without label zone=a"),
        (one(Constraint::Kind(DeviceKind::Fpga), 1, 0), "no FPGA"),
        (one(Constraint::Model, 1, 0), "no GPU of model A100 or H100"),
        (one(Constraint::DeviceMemory, 40 * gib, 16 * gib), "GPU memory 16Gi of 40Gi asked"),
        (one(Constraint::ComputeUnits, 6000, 5120), "GPU compute units 5120 of 6000 asked"),
        (one(Constraint::Capability, 1, 0), "no GPU with sm_90"),
        (one(Constraint::Sharing, 1, 0), "GPU cannot be shared"),
        (one(Constraint::Rate, 1, 0), "no rate declared for its GPU model"),
        (one(Constraint::Cores, 64_000, 32_000), "cores 32 of 64 asked"),
        (one(Constraint::Memory, 8 * gib, gib), "memory 1Gi of 8Gi asked"),
        (one(Constraint::Devices, 8, 4), "GPUs 4 of 8 asked"),
        (one(Constraint::FreeCores, 8000, 3500), "free cores 3.5 of 8 asked"),
        (one(Constraint::FreeMemory, 8 * gib, 3 * gib), "free memory 3Gi of 8Gi asked"),
        (one(Constraint::FreeDevices, 2, 0), "free GPUs 0 of 2 asked"),
        (one(Constraint::FreeShare, 500, 200), "free share of one GPU 0.2 of 0.5 asked"),
        (one(Constraint::FreeDeviceMemory, 8 * gib, gib), "free GPU memory 1Gi of 8Gi asked"),
        (one(Constraint::Domain, 1, 0), "no memory domain is large enough for all of it"),
        (one(Constraint::Profile, 1, 0), "GPU without slices of profile 3g.20gb"),
        (
            one(Constraint::FreeSlots, 1, 0),
            "enough of one GPU free, but no place for a slice of profile 3g.20gb",
        ),
        (one(Constraint::FreeDomain, 1, 0), "no memory domain has all of it free"),
        (one(Constraint::MemoryBandwidth, 9 * giga, giga), "memory bandwidth 1GB/s of 9GB/s asked"),
        (one(Constraint::PcieBandwidth, 2, 1), "GPUs with the PCIe bandwidth 1 of 2 asked"),
        (
            one(Constraint::NetworkBandwidth, 9 * giga, giga),
            "network bandwidth 1GB/s of 9GB/s asked",
        ),
        (
            one(Constraint::FreeMemoryBandwidth, 9 * giga, giga),
            "free memory bandwidth 1GB/s of 9GB/s asked",
        ),
        (
            one(Constraint::FreePcieBandwidth, 2, 1),
            "GPUs with the PCIe bandwidth free 1 of 2 asked",
        ),
        (
            one(Constraint::FreeNetworkBandwidth, 9 * giga, giga),
            "free network bandwidth 1GB/s of 9GB/s asked",
        ),
    ];
    for (told, expected) in cases {
        assert_eq!(told, expected);
    }
}

#[test]
fn a_job_that_can_never_run_is_told_so() {
    let fell_out = [group(Constraint::Kind(DeviceKind::Gpu), 3, 1, 0)];
    assert_eq!(
        no_room(&job(vec![gpus(1, &[])]), vec![tally(0, &fell_out)]),
        "waits: no node of this fleet could ever run it. 3 of 3 nodes: no GPU."
    );
}

#[test]
fn each_alternative_has_its_own_sentence() {
    let tallies = vec![
        tally(0, &[group(Constraint::Model, 1, 1, 0)]),
        tally(1, &[group(Constraint::FreeCores, 1, 16_000, 4000)]),
    ];
    assert_eq!(
        no_room(&job(vec![gpus(2, &["A100"]), alternative(16, None)]), tallies),
        "waits: no node has room. As 2 GPUs of model A100: 1 of 1 node: no GPU of model A100. \
         As 16 cores: 1 of 1 node: free cores 4 of 16 asked."
    );
}

#[test]
fn sentences_are_bounded() {
    let long = "m".repeat(500);
    let many: Vec<&str> = vec![&long; 50];
    let all = [Constraint::Up, Constraint::Labels, Constraint::Model, Constraint::DeviceMemory];
    let more = [Constraint::Rate, Constraint::Cores, Constraint::Memory, Constraint::Devices];
    let fell_out: Vec<_> =
        all.into_iter().chain(more).map(|constraint| group(constraint, 7, 1, 0)).collect();
    let tallies = (0..50).map(|alternative| tally(alternative, &fell_out)).collect();
    let text = no_room(&job(vec![gpus(1, &many); 50]), tallies);
    assert!(text.contains("14: other reasons"), "{text}");
    assert!(text.ends_with("So it is with 47 other alternatives."), "{text}");
    assert!(text.len() < 2500, "{}", text.len());
}

#[test]
fn a_patient_job_is_told_for_what_and_until_when() {
    let patience = Patience {
        best: ClassId(0),
        best_duration: Span::seconds(7200),
        offered: ClassId(1),
        offered_duration: Span::seconds(32_400),
        until: Time::seconds(12_000),
    };
    let still =
        StillWaiting { job: JobId(3), tasks: 4, reason: Arc::new(Reason::Patience(patience)) };
    assert_eq!(
        waiting(&names(&classes()), &job(vec![gpus(1, &[])]), &still),
        "train (4 tasks) waits for A100 (2h there); takes V100 (9h) if none is free by 3h20m."
    );
}

#[test]
fn a_job_that_was_not_looked_at_is_told_so() {
    assert_eq!(
        reason(&names(&classes()), &job(vec![gpus(1, &[])]), &Reason::Effort),
        "waits: the effort of this plan ran out before its turn."
    );
}

/// One value for completion, one for energy, and another for all other objectives.
fn by_objective<T: Copy>(others: T, completion: T, energy: T) -> [T; Objective::COUNT] {
    Objective::ALL.map(|objective| match objective {
        Objective::Completion => completion,
        Objective::Energy => energy,
        _ => others,
    })
}

fn score(tiers: &[u32]) -> Score {
    let parts = by_objective(Micro::ONE, Micro(920_000), Micro(710_000));
    Score { tiers: tiers.iter().copied().map(Micro).collect(), parts }
}

/// The words for the job's first alternative on two devices of the first node.
fn chosen(job: &Job, chosen: &[u32], runner_up: Option<&[u32]>) -> String {
    chosen_by(&[TierValue::Mean], job, chosen, runner_up)
}

fn chosen_by(values: &[TierValue], job: &Job, chosen: &[u32], runner_up: Option<&[u32]>) -> String {
    let held = |device| DeviceGrant {
        device: DeviceIndex(device),
        share: Milli::WHOLE,
        memory: Bytes::ZERO,
        ..DeviceGrant::default()
    };
    let placement = Placement {
        run: RunId::default(),
        alternative: 0,
        node: NodeId(0),
        class: ClassId(0),
        grant: Grant { devices: vec![held(0), held(3)], ..Grant::default() },
        rate: Rate(1),
        duration: None,
    };
    let runner_up = runner_up.map(|tiers| RunnerUp {
        alternative: u16::try_from(job.alternatives.len() - 1).unwrap(),
        node: NodeId(1),
        class: ClassId(1),
        score: score(tiers),
    });
    let choice = Choice { run: RunId::default(), score: score(chosen), nodes: 7, runner_up };
    let weights = by_objective(Milli::ZERO, Milli(500), Milli(500));
    let tier = |value: &TierValue| TierInForce { value: *value, regime: None, weights };
    let tiers: Vec<_> = values.iter().map(tier).collect();
    let classes = classes();
    placed(&names(&classes), Placed { job, placement: &placement, choice: &choice, tiers: &tiers })
}

#[test]
fn a_choice_is_told_with_its_scores_and_the_runner_up() {
    assert_eq!(
        chosen(&job(vec![gpus(2, &[])]), &[812_000], Some(&[640_000])),
        "train placed on a100-1 (A100, devices 0, 3) with 0.81, because completion 0.92, energy 0.71; \
         runner-up v100-2 (V100) with 0.64; 7 nodes could take it."
    );
}

#[test]
fn a_close_runner_up_is_told_with_the_decimals_that_decided() {
    let job = job(vec![gpus(2, &[])]);
    let close = chosen(&job, &[815_000], Some(&[814_900]));
    assert!(close.contains("with 0.8150, because"), "{close}");
    assert!(close.contains("runner-up v100-2 (V100) with 0.8149;"), "{close}");
    let equal = chosen(&job, &[815_000], Some(&[815_000]));
    assert!(equal.contains("runner-up v100-2 (V100) with the same score;"), "{equal}");
    let tiers = chosen(&job, &[815_000, 500_000], Some(&[815_000, 400_000]));
    assert!(tiers.contains("with 0.81 then 0.50, because"), "{tiers}");
    assert!(tiers.contains("(V100) with the same, then 0.40 in tier 2;"), "{tiers}");
}

#[test]
fn a_choice_among_alternatives_says_which() {
    assert_eq!(
        chosen(&job(vec![gpus(2, &["A100"]), alternative(16, None)]), &[810_000], Some(&[640_000])),
        "train placed as 2 GPUs of model A100 on a100-1 (A100, devices 0, 3) with 0.81, because \
         completion 0.92, energy 0.71; runner-up as 16 cores v100-2 (V100) with 0.64; \
         7 nodes could take it."
    );
}

#[test]
fn a_choice_by_limits_and_knee_says_so() {
    let job = job(vec![gpus(2, &[])]);
    let values = [TierValue::Limits, TierValue::Knee];
    let kept = chosen_by(&values, &job, &[1_000_000, 640_000], Some(&[1_000_000, 250_000]));
    assert!(kept.contains("with limits kept then knee 0.64, because"), "{kept}");
    assert!(kept.contains("(V100) with the same, then 0.25 in tier 2;"), "{kept}");
    let missed = chosen_by(&values, &job, &[430_000, 640_000], Some(&[240_000, 700_000]));
    assert!(missed.contains("with limits kept to 0.43 then knee 0.64, because"), "{missed}");
    assert!(missed.contains("runner-up v100-2 (V100) with 0.24;"), "{missed}");
}

#[test]
fn a_choice_that_was_not_weighed_says_so() {
    assert_eq!(
        chosen(&job(vec![gpus(2, &[])]), &[], None),
        "train placed on a100-1 (A100, devices 0, 3) without weighing; 7 nodes could take it."
    );
}

#[test]
fn policies_are_a_table_without_lines() {
    let policy = |name| policy_file::shipped(name).unwrap();
    assert_eq!(
        policies(&[policy("round-robin"), policy("priority")]),
        "\
name         order               pick      description
round-robin  first-in            rotation  Baseline: jobs as they come, nodes one after the other
priority     priority, first-in  spread    Baseline: highest priority first, on the emptiest node
"
    );
}

#[test]
fn a_job_that_waits_for_its_inputs_is_told_where_and_until_when() {
    let locality = Locality {
        node: NodeId(0),
        until: Time::seconds(60),
        end: Time::seconds(160),
        elsewhere: NodeId(1),
        end_elsewhere: Time::seconds(510),
    };
    assert_eq!(
        reason(&names(&classes()), &job(vec![gpus(1, &[])]), &Reason::Locality(locality)),
        "waits for a100-1, which holds its inputs and is full until 1m: it ends there at 2m40s, and \
         on v100-2 not before 8m30s, since it would have to fetch them."
    );
}

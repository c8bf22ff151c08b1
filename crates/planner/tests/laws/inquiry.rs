//! The laws of inquiries: every remedy is true, and nothing smaller of its kind would do.
//!
//! Remedies are applied here by other code than the planner's, to the parts
//! that a snapshot is built from, and every plan is made with a cold scratch.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::{Parts, Waiting};
use fleet::{
    Alternative, Bytes, ClassId, Decision, DeviceRequest, Job, JobId, Milli, MilliCores, Profile,
    Snapshot, Stage,
};
use planner::inquiry::remedy::{Remedies, Remedy};
use planner::inquiry::{self, Inquiry, suppose};
use planner::{Scratch, plan};

use crate::case::Case;
use crate::dice::Dice;
use crate::law::build;

/// How many cases each law is tried on.
const CASES: u64 = 2500;

/// How many cases a defect may survive.
const SEEDS: u64 = 200;

/// What finds remedies, or pretends to.
type Finding = fn(&Inquiry<'_>) -> Option<Remedies>;

fn find(inquiry: &Inquiry<'_>) -> Option<Remedies> {
    inquiry::answer(inquiry, None).map(|answer| answer.remedies)
}

/// One moment, and what is decided there.
struct Scene {
    case: Case,
    snapshot: Snapshot,
    decision: Decision,
}

impl Scene {
    fn draw(seed: u64) -> Self {
        let case = Case::draw(&mut Dice::of_seed(seed));
        let snapshot = build(case.parts.clone());
        let decision = plan(&snapshot, &case.policy, case.effort, &mut Scratch::default());
        Self { case, snapshot, decision }
    }

    /// A job that is left waiting.
    fn job(&self) -> Option<JobId> {
        let waiting = &self.decision.explanation.waiting;
        let at = Dice::of_seed(self.case.seed).index(waiting.len());
        waiting.get(at).map(|waiting| waiting.job)
    }

    fn inquiry(&self, job: JobId) -> Inquiry<'_> {
        let (snapshot, decision) = (&self.snapshot, &self.decision);
        Inquiry { snapshot, decision, policy: &self.case.policy, effort: self.case.effort, job }
    }

    /// Whether more tasks of the job start than are decided to, with these parts.
    fn helps(&self, job: JobId, parts: Parts) -> bool {
        let (policy, effort) = (&self.case.policy, self.case.effort);
        let changed = plan(&build(parts), policy, effort, &mut Scratch::default());
        let count = |decision: &Decision| {
            decision.plan.placements.iter().filter(|one| one.run.job == job).count()
        };
        count(&changed) > count(&self.decision)
    }

    fn asked(&self, job: JobId) -> Vec<Alternative> {
        self.snapshot.backlog[&job].job.alternatives.to_vec()
    }
}

/// The parts in which a remedy is applied to a job.
fn apply(remedy: &Remedy, job: JobId, scene: &Scene) -> Parts {
    let mut parts = scene.case.parts.clone();
    if let Remedy::Eviction { run, .. } = remedy {
        parts.runs.retain(|one| one.id() != *run);
        return parts;
    }
    if let Remedy::Tasks { tasks } = remedy {
        let of_job = |waiting: &&mut Waiting| waiting.job.id == job;
        let waiting = parts.backlog.iter_mut().find(of_job).expect("the job waits");
        let kept: Vec<_> = waiting.tasks().take(*tasks as usize).collect();
        waiting.again.retain(|task, _| kept.iter().any(|(one, _)| one == task));
        let left = *tasks - u32::try_from(waiting.again.len()).expect("few wait again");
        waiting.fresh.end = waiting.fresh.start + left;
        return parts;
    }
    let mut asked = scene.asked(job);
    let one = &mut asked[usize::from(remedy.alternative().expect("all others have one"))];
    let devices = one.request.devices.as_mut();
    match (remedy, devices) {
        (Remedy::Labels { keys, .. }, _) => keys.iter().for_each(|key| {
            one.labels.remove(key);
        }),
        (Remedy::Model { class, rate, .. }, devices) => {
            let model = parts.classes.get(*class).model.clone();
            if let Some(models) = devices.map(|devices| &mut devices.models)
                && !models.is_empty()
            {
                models.push(model.clone());
            }
            one.rates.extend(rate.map(|rate| (model, rate)));
        }
        (Remedy::Cores { cores, .. }, _) => one.request.cores = *cores,
        (Remedy::Memory { memory, .. }, _) => one.request.memory = *memory,
        (Remedy::Devices { count, .. }, Some(devices)) => devices.count = *count,
        (Remedy::Share { share, .. }, Some(devices)) => devices.share = *share,
        (Remedy::DeviceMemory { memory, .. }, Some(devices)) => devices.memory = *memory,
        (Remedy::Profile { class, profile, .. }, Some(devices)) => {
            let all = &parts.classes.get(*class).profiles;
            let sized = all.iter().find(|one| one.name == *profile).expect("the class has it");
            (devices.share, devices.memory) = (sized.share, sized.memory);
            devices.profile = Some(profile.clone());
        }
        other => panic!("a change of devices that are not asked for: {other:?}"),
    }
    let of_job = |waiting: &&mut Waiting| waiting.job.id == job;
    let waiting = parts.backlog.iter_mut().find(of_job).expect("the job waits");
    Arc::make_mut(&mut waiting.job).alternatives = Arc::new(asked);
    parts
}

/// The next smaller changes of the same kind: of an amount the one by a unit less; of a run all
/// that have run for less.
fn smaller(remedy: &Remedy, (scene, job): (&Scene, JobId)) -> Vec<Remedy> {
    let mut remedy = remedy.clone();
    match &mut remedy {
        Remedy::Cores { cores, .. } => cores.0 += 1,
        Remedy::Memory { memory, .. } | Remedy::DeviceMemory { memory, .. } => memory.0 += 1,
        Remedy::Devices { count, .. } => *count += 1,
        Remedy::Share { share, .. } => share.0 += 1,
        Remedy::Tasks { tasks } => *tasks += 1,
        Remedy::Labels { keys, .. } if keys.len() == 1 => return Vec::new(),
        Remedy::Labels { alternative, keys } => {
            let single = |key: &String| Remedy::Labels {
                alternative: *alternative,
                keys: vec![key.clone()],
            };
            return keys.iter().map(single).collect();
        }
        Remedy::Model { .. } => return Vec::new(),
        Remedy::Profile { alternative, class, profile } => {
            let asked = &scene.asked(job)[usize::from(*alternative)];
            let devices = asked.request.devices.as_ref().expect("a slice of a device");
            let between = slices(scene, devices).into_iter();
            let between = between.take_while(|other| other.name != *profile);
            return between
                .map(|other| Remedy::Profile {
                    alternative: *alternative,
                    class: *class,
                    profile: other.name,
                })
                .collect();
        }
        Remedy::Eviction { run, lost } => {
            let found = evictions(scene).into_iter();
            return found
                .filter(|one| {
                    matches!(one, Remedy::Eviction { run: other, lost: least }
                        if (least, other) < (&*lost, &*run))
                })
                .collect();
        }
    }
    vec![remedy]
}

fn evictions(scene: &Scene) -> Vec<Remedy> {
    let holds = |run: &&fleet::Run| matches!(run.stage, Stage::Ordered | Stage::Running);
    let runs = scene.case.parts.runs.iter().filter(holds);
    let at = scene.snapshot.at;
    runs.map(|run| Remedy::Eviction { run: run.id(), lost: at.since(run.since) }).collect()
}

/// The largest changes of every kind.
fn largest(scene: &Scene, job: JobId) -> Vec<Remedy> {
    let mut all = evictions(scene);
    let waiting = &scene.snapshot.backlog[&job];
    let is_gang = waiting.job.gang.is_some() && waiting.count() > 1;
    all.extend(is_gang.then_some(Remedy::Tasks { tasks: 1 }));
    for (asked, alternative) in scene.asked(job).iter().zip(0..) {
        let request = &asked.request;
        let bare = MilliCores(u64::from(request.devices.is_none()));
        let keys: Vec<_> = asked.labels.keys().cloned().collect();
        all.extend((!keys.is_empty()).then_some(Remedy::Labels { alternative, keys }));
        all.extend((request.cores > bare).then_some(Remedy::Cores { alternative, cores: bare }));
        let memory = Bytes::ZERO;
        all.extend((!request.memory.is_zero()).then_some(Remedy::Memory { alternative, memory }));
        let Some(devices) = &request.devices else { continue };
        all.extend((devices.count > 1).then_some(Remedy::Devices { alternative, count: 1 }));
        if devices.profile.is_some()
            && let Some(least) = slices(scene, devices).pop()
        {
            let class = ClassId(7);
            all.push(Remedy::Profile { alternative, class, profile: least.name });
        }
        all.extend(
            (devices.count == 1 && devices.profile.is_none() && devices.share > Milli(1))
                .then_some(Remedy::Share { alternative, share: Milli(1) }),
        );
        all.extend(
            (!devices.memory.is_zero() && devices.profile.is_none())
                .then_some(Remedy::DeviceMemory { alternative, memory }),
        );
    }
    all
}

/// The slices that are no larger than the one asked for, the largest first.
fn slices(scene: &Scene, devices: &DeviceRequest) -> Vec<Profile> {
    let all = scene.case.parts.classes.0.iter().flat_map(|class| class.profiles.clone());
    let mut all: Vec<Profile> = all
        .filter(|one| Some(&one.name) != devices.profile.as_ref() && one.share <= devices.share)
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.share));
    all
}

fn kind(remedy: &Remedy) -> (Option<u16>, std::mem::Discriminant<Remedy>) {
    (remedy.alternative(), std::mem::discriminant(remedy))
}

/// Holds the remedies for one job of a case against the law, and gives them.
fn remedies_are_true_and_smallest(finding: Finding, seed: u64) -> Result<Vec<Remedy>, String> {
    let scene = Scene::draw(seed);
    let Some(job) = scene.job() else { return Ok(Vec::new()) };
    let remedies = finding(&scene.inquiry(job)).ok_or("no answer about a job that waits")?;
    for remedy in &remedies.found {
        if !scene.helps(job, apply(remedy, job, &scene)) {
            return Err(format!("seed {seed}: {remedy:?} starts nothing of {job}"));
        }
        for less in smaller(remedy, (&scene, job)) {
            if scene.helps(job, apply(&less, job, &scene)) {
                return Err(format!("seed {seed}: {less:?} would do for {job}, not {remedy:?}"));
            }
        }
    }
    for most in largest(&scene, job) {
        let is_found = remedies.found.iter().any(|one| kind(one) == kind(&most));
        if remedies.is_complete && !is_found && scene.helps(job, apply(&most, job, &scene)) {
            return Err(format!("seed {seed}: {most:?} would do for {job} and is not told"));
        }
    }
    Ok(remedies.found)
}

#[test]
fn job_starts_once_the_smallest_change_is_applied_and_with_nothing_smaller() {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..CASES {
        let remedies = remedies_are_true_and_smallest(find, seed);
        for remedy in remedies.unwrap_or_else(|how| panic!("{how}")) {
            *found.entry(name(&remedy)).or_default() += 1;
        }
    }
    println!("{found:?}");
    // Every kind, and more than once.
    assert!(found.len() == 10 && found.values().all(|count| *count > 5), "{found:?}");
}

fn name(remedy: &Remedy) -> &'static str {
    match remedy {
        Remedy::Labels { .. } => "labels",
        Remedy::Model { .. } => "model",
        Remedy::Cores { .. } => "cores",
        Remedy::Memory { .. } => "memory",
        Remedy::Devices { .. } => "devices",
        Remedy::Share { .. } => "share",
        Remedy::DeviceMemory { .. } => "device memory",
        Remedy::Profile { .. } => "profile",
        Remedy::Tasks { .. } => "tasks",
        Remedy::Eviction { .. } => "eviction",
    }
}

#[track_caller]
fn is_caught(defect: Finding) {
    assert!((0..SEEDS).any(|seed| remedies_are_true_and_smallest(defect, seed).is_err()));
}

/// Finds remedies and then changes each.
fn spoil(inquiry: &Inquiry<'_>, spoil: fn(&mut Remedy)) -> Option<Remedies> {
    let mut remedies = find(inquiry)?;
    remedies.found.iter_mut().for_each(spoil);
    Some(remedies)
}

#[test]
fn a_change_that_is_too_large_is_caught() {
    is_caught(|inquiry| {
        spoil(inquiry, |remedy| {
            if let Remedy::Cores { cores, .. } = remedy {
                cores.0 = cores.0.saturating_sub(1).max(1);
            }
        })
    });
}

#[test]
fn a_change_that_is_not_enough_is_caught() {
    is_caught(|inquiry| {
        spoil(inquiry, |remedy| {
            if let Remedy::Memory { memory, .. } = remedy {
                memory.0 += 1;
            }
        })
    });
}

#[test]
fn a_change_that_is_kept_back_is_caught() {
    is_caught(|inquiry| {
        let mut remedies = find(inquiry)?;
        remedies.found.retain(|remedy| !matches!(remedy, Remedy::Eviction { .. }));
        Some(remedies)
    });
}

#[test]
fn what_is_supposed_is_what_building_anew_gives() {
    let mut compared = 0;
    for seed in 0..CASES {
        let scene = Scene::draw(seed);
        for eviction in evictions(&scene) {
            let job = JobId(0);
            assert_eq!(eviction.apply(&scene.snapshot, job), build(apply(&eviction, job, &scene)));
            compared += 1;
        }
        let mut carried = scene.snapshot.clone();
        suppose::carry_out(&mut carried, &scene.decision.plan);
        let parts = parts_of(&carried);
        assert_eq!(Snapshot { changes: fleet::Changes::default(), ..carried }, build(parts));
    }
    assert!(compared > 300, "only {compared} evictions");
}

/// Every job that waits or runs.
fn jobs_of(snapshot: &Snapshot) -> Vec<Arc<Job>> {
    let waiting = snapshot.backlog.values().map(|waiting| Arc::clone(&waiting.job));
    let mut jobs: Vec<_> = waiting.chain(snapshot.jobs.values().cloned()).collect();
    jobs.sort_by_key(|job| job.id);
    jobs.dedup_by_key(|job| job.id);
    jobs
}

/// The parts from which a snapshot would be built.
fn parts_of(snapshot: &Snapshot) -> Parts {
    let nodes = snapshot.nodes.iter().map(|entry| ((*entry.node).clone(), entry.up));
    Parts {
        serial: snapshot.serial,
        at: snapshot.at,
        classes: (*snapshot.classes).clone(),
        nodes: nodes.collect(),
        backlog: snapshot.backlog.values().map(|waiting| (**waiting).clone()).collect(),
        runs: snapshot.runs.values().map(|run| (**run).clone()).collect(),
        mix: (*snapshot.mix).clone(),
        catalogue: (*snapshot.catalogue).clone(),
        signals: (*snapshot.signals).clone(),
        jobs: jobs_of(snapshot),
        progress: (*snapshot.progress).clone(),
        memory: snapshot.memory.clone(),
    }
}

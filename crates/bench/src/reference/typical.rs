//! Typical pods: the arriving mix as the fragmentation formula knows it.
//!
//! The list of pods is grouped by what a pod asks (cores, share, count,
//! models), the most frequent groups are taken until they are at least 95 % of
//! the pods, and their frequencies are scaled to add up to one. The policy
//! thereby knows the true distribution of what will arrive.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fleet::snapshot::MixShape;
use fleet::{
    Alternative, Bytes, ClassId, Classes, DeviceKind, DeviceRequest, Milli, MilliCores, Request,
};

/// The part of all pods that the typical ones are at least.
const PART: f64 = 0.95;

/// The typical pods, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Typical {
    /// One for each group.
    pub pods: Vec<TypicalPod>,
}

/// One group of pods that ask the same.
#[derive(Clone, Debug, PartialEq)]
pub struct TypicalPod {
    /// Cores, in thousandths.
    pub cores: u64,
    /// How many devices.
    pub count: u32,
    /// How much of each, in thousandths.
    pub share: u32,
    /// How frequent it is among the typical pods: more than 0, at most 1.
    pub weight: f64,
    /// How many pods of the list are of the group.
    pub times: u64,
    /// The models that would do; any where empty.
    pub models: Vec<String>,
    /// For every class of the fleet, whether its devices would do.
    accepted: Vec<bool>,
}

type Group = (u64, u32, u32, Vec<String>);

impl Typical {
    /// The typical ones of these pods, given by what each asks.
    #[must_use]
    pub fn of<'a>(pods: impl Iterator<Item = &'a Alternative>, classes: &Classes) -> Self {
        let mut counts: BTreeMap<Group, u64> = BTreeMap::new();
        for pod in pods {
            *counts.entry(group(pod)).or_default() += 1;
        }
        let all: u64 = counts.values().sum();
        let mut sorted: Vec<(Group, u64)> = counts.into_iter().collect();
        sorted.sort_by_key(|(group, count)| Reverse((*count, group.clone())));
        let mut taken = 0;
        let enough = PART * all as f64;
        sorted.retain(|(_, count)| {
            let is_needed = (taken as f64) < enough;
            taken += if is_needed { *count } else { 0 };
            is_needed
        });
        let pods = sorted.into_iter().map(|((cores, share, count, models), times)| TypicalPod {
            cores,
            count,
            share,
            weight: times as f64 / taken as f64,
            times,
            accepted: classes
                .0
                .iter()
                .map(|class| models.is_empty() || models.contains(&class.model))
                .collect(),
            models,
        });
        Self { pods: pods.collect() }
    }
}

impl TypicalPod {
    /// The group as a shape of the arriving mix: what the formula knows of it and no more.
    #[must_use]
    pub fn shape(&self) -> MixShape {
        let devices = DeviceRequest {
            kind: DeviceKind::Gpu,
            count: self.count,
            share: Milli(self.share),
            memory: Bytes::ZERO,
            models: self.models.clone(),
            compute_units: 0,
            capability: None,
            profile: None,
        };
        let request = Request {
            cores: MilliCores(self.cores),
            memory: Bytes::ZERO,
            devices: (self.count > 0).then_some(devices),
            ..Request::default()
        };
        let shape = Alternative {
            request,
            labels: BTreeMap::new(),
            rates: BTreeMap::new(),
            communication: None,
        };
        MixShape { count: self.times, shape }
    }

    /// Whether devices of this class would do.
    #[must_use]
    pub fn accepts(&self, class: ClassId) -> bool {
        self.accepted.get(class.index()).copied().unwrap_or(false)
    }
}

fn group(pod: &Alternative) -> Group {
    let cores = pod.request.cores.0;
    match &pod.request.devices {
        None => (cores, 0, 0, Vec::new()),
        Some(devices) => (cores, devices.share.0, devices.count, devices.models.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::site::tests::pod;

    #[test]
    fn typical_pods_are_the_most_frequent_and_their_weights_add_up_to_one() {
        let small = pod(1000, 1, 500);
        let large = pod(2000, 1, 500);
        let rare = pod(3000, 0, 0);
        let mut pods = vec![small; 60];
        pods.extend(vec![large; 36]);
        pods.extend(vec![rare; 4]);
        let typical = Typical::of(pods.iter(), &Classes::default());
        let told: Vec<_> = typical.pods.iter().map(|pod| (pod.cores, pod.weight)).collect();
        assert_eq!(told, [(1000, 0.625), (2000, 0.375)]);
    }

    #[test]
    fn of_equally_frequent_groups_the_larger_is_taken_first() {
        let pods = [pod(1000, 1, 500), pod(1000, 1, 600), pod(900, 1, 1000)];
        let typical = Typical::of(pods.iter(), &Classes::default());
        let told: Vec<_> = typical.pods.iter().map(|pod| (pod.cores, pod.share)).collect();
        assert_eq!(told, [(1000, 600), (1000, 500), (900, 1000)]);
    }
}

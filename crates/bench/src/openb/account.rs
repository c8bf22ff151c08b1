//! The account of one run: what arrived, what was placed, what is left, what it draws.
//!
//! Kept apart from ledger and planner, from placements alone, so that every
//! contender is measured alike.

use std::sync::Arc;

use fleet::snapshot::Parts;
use fleet::{Alternative, Classes, Node, Placement, Snapshot};

use super::curve::{Curve, load_of};
use crate::reference::ask::{Ask, Kind};
use crate::reference::site::Site;
use crate::reference::typical::Typical;
use crate::reference::{fragmentation, power};

/// What is measured after each arrival, by arrived load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Allocated GPU share in percent of all there is.
    pub allocated: Curve,
    /// Expected unusable GPU share in percent of all there is.
    pub fragmented: Curve,
    /// The same in percent of what is free.
    pub fragmented_of_free: Curve,
    /// Power, in kilowatts.
    pub kilowatts: Curve,
    /// Allocated in percent of arrived.
    pub served: Curve,
    /// Power, in kilowatts, by allocated load in place of arrived load.
    pub kilowatts_at_allocated: Curve,
}

/// Pods that found no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// Of pods without GPU.
    pub cores: u32,
    /// Of pods with a share of one.
    pub share: u32,
    /// Of pods with one whole.
    pub one: u32,
    /// Of pods with several.
    pub several: u32,
}

/// The account of one run.
pub struct Account {
    typical: Arc<Typical>,
    sites: Vec<Site>,
    capacity: u64,
    arrived: u64,
    allocated: u64,
    /// Unusable share of each node, and of all.
    unusable: Vec<f64>,
    unusable_sum: f64,
    milliwatts: u64,
    /// What was measured.
    pub curves: Curves,
    /// What found no room.
    pub failures: Failures,
    /// The load at the first failure, in percent.
    pub first_failure: Option<f64>,
    /// The load at the first failure of a pod with eight GPUs, in percent.
    pub first_failure_of_eight: Option<f64>,
}

impl Account {
    /// The account of an empty fleet.
    ///
    /// # Panics
    /// If the nodes are not numbered without gaps.
    #[must_use]
    pub fn new(nodes: &[Arc<Node>], classes: &Classes, typical: Arc<Typical>) -> Self {
        let parts = Parts {
            classes: classes.clone(),
            nodes: nodes.iter().map(|node| (Node::clone(node), true)).collect(),
            ..Parts::default()
        };
        let empty = Snapshot::build(parts).expect("the nodes of a trial are numbered");
        let sites: Vec<Site> =
            empty.nodes.iter().map(|entry| Site::new(entry, classes, 0, 0)).collect();
        let unusable: Vec<f64> = sites.iter().map(|site| unusable(&typical, site)).collect();
        Self {
            typical,
            capacity: sites.iter().map(Site::share).sum(),
            arrived: 0,
            allocated: 0,
            unusable_sum: unusable.iter().sum(),
            unusable,
            milliwatts: sites.iter().map(|site| power::draw(site).0).sum(),
            sites,
            curves: Curves::default(),
            failures: Failures::default(),
            first_failure: None,
            first_failure_of_eight: None,
        }
    }

    /// A pod arrived and was placed.
    pub fn place(&mut self, pod: &Alternative, placement: &Placement) {
        self.arrived += Ask::new(pod).total();
        let position = placement.node.index();
        let site = &mut self.sites[position];
        let before = power::draw(site).0;
        let grant = &placement.grant;
        self.allocated += grant.devices.iter().map(|held| u64::from(held.share.0)).sum::<u64>();
        site.take(grant);
        self.milliwatts += power::draw(site).0;
        self.milliwatts -= before;
        let now = unusable(&self.typical, site);
        self.unusable_sum += now - self.unusable[position];
        self.unusable[position] = now;
    }

    /// A pod arrived and found no room.
    pub fn fail(&mut self, pod: &Alternative) {
        let ask = Ask::new(pod);
        self.arrived += ask.total();
        let load = self.load();
        self.first_failure.get_or_insert(load);
        match ask.kind() {
            Kind::Cores => self.failures.cores += 1,
            Kind::Share => self.failures.share += 1,
            Kind::Whole(1) => self.failures.one += 1,
            Kind::Whole(count) => {
                self.failures.several += 1;
                if count == 8 {
                    self.first_failure_of_eight.get_or_insert(load);
                }
            }
        }
    }

    /// What the fleet draws now, in kilowatts.
    #[must_use]
    pub fn kilowatts(&self) -> f64 {
        self.milliwatts as f64 / 1e6
    }

    fn load(&self) -> f64 {
        100.0 * self.arrived as f64 / self.capacity as f64
    }

    /// Takes down how things stand, once for each arrival.
    pub fn sample(&mut self) {
        let load = load_of(self.arrived, self.capacity);
        let percent = 100.0 / self.capacity as f64;
        let free = (self.capacity - self.allocated) as f64;
        let kilowatts = self.kilowatts();
        let curves = &mut self.curves;
        curves.allocated.add(load, percent * self.allocated as f64);
        curves.fragmented.add(load, percent * self.unusable_sum);
        if free > 0.0 {
            curves.fragmented_of_free.add(load, 100.0 * self.unusable_sum / free);
        }
        curves.kilowatts.add(load, kilowatts);
        if self.arrived > 0 {
            curves.served.add(load, 100.0 * self.allocated as f64 / self.arrived as f64);
        }
        let allocated = load_of(self.allocated, self.capacity);
        curves.kilowatts_at_allocated.add(allocated, kilowatts);
    }
}

impl Failures {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> u32 {
        self.cores + self.share + self.one + self.several
    }
}

fn unusable(typical: &Typical, site: &Site) -> f64 {
    fragmentation::amount(typical, site.free.cores.0, &site.shares, site.class)
}

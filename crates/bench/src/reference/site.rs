//! What is kept of one node between turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{ClassId, Classes, Free, Grant, Node, NodeEntry, Power};

use super::ask::Kind;

/// One node, in the numbers of the formulas.
#[derive(Clone, Debug)]
pub struct Site {
    /// What does not change.
    pub node: Arc<Node>,
    /// Whether it takes work.
    pub up: bool,
    /// The class of its devices; none where it has no device.
    pub class: Option<ClassId>,
    /// The power of one of its devices.
    pub power: Power,
    /// What of it nobody holds.
    pub free: Free,
    /// The free share of each device, in thousandths.
    pub shares: Vec<u32>,
    /// How many runs of each kind it holds.
    pub kinds: BTreeMap<Kind, u32>,
    /// Its position among all nodes by name.
    pub rank: u32,
    /// Grows whenever anything of it changes.
    pub version: u64,
}

impl Site {
    /// The node as the snapshot has it, with no runs counted.
    ///
    /// # Panics
    /// If its devices are of several classes: the formulas have no word for that.
    #[must_use]
    pub fn new(entry: &NodeEntry, classes: &Classes, rank: u32, version: u64) -> Self {
        let devices = &entry.node.devices;
        assert!(
            devices.windows(2).all(|pair| pair[0] == pair[1]),
            "reference policies know nodes with devices of one class"
        );
        let class = devices.first().copied();
        let mut site = Self {
            node: Arc::clone(&entry.node),
            up: entry.up,
            class,
            power: class.map_or_else(Power::default, |class| classes.get(class).power),
            free: Free::default(),
            shares: Vec::with_capacity(devices.len()),
            kinds: BTreeMap::new(),
            rank,
            version,
        };
        site.set_free(entry.free.clone());
        site
    }

    /// All free shares together, in thousandths.
    #[must_use]
    pub fn share(&self) -> u64 {
        self.shares.iter().map(|share| u64::from(*share)).sum()
    }

    /// Lets a run hold its grant.
    pub fn take(&mut self, grant: &Grant) {
        self.free.take(grant);
        self.set_free(self.free.clone());
        *self.kinds.entry(Kind::of_grant(grant)).or_default() += 1;
        self.version += 1;
    }

    fn set_free(&mut self, free: Free) {
        self.shares.clear();
        self.shares.extend(free.devices.iter().map(|left| left.share.0));
        self.free = free;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fleet::{
        Alternative, Bandwidth, Bytes, DeviceClass, DeviceFree, DeviceKind, DeviceRequest, Milli,
        MilliCores, Milliwatts, NodeId, Request, ShareRule,
    };

    /// A pod that asks this.
    pub(crate) fn pod(cores: u64, count: u32, share: u32) -> Alternative {
        let devices = (count > 0).then(|| DeviceRequest {
            kind: DeviceKind::Gpu,
            count,
            share: Milli(share),
            memory: Bytes::ZERO,
            models: Vec::new(),
            compute_units: 0,
            capability: None,
            profile: None,
        });
        let request =
            Request { cores: MilliCores(cores), memory: Bytes(1), devices, ..Request::default() };
        Alternative {
            request,
            labels: BTreeMap::new(),
            rates: BTreeMap::new(),
            communication: None,
        }
    }

    /// A processor and a GPU of 30 W idle, 300 W busy.
    pub(crate) fn classes() -> Classes {
        let class = |model: &str, kind, share, power: (u64, u64)| DeviceClass {
            profiles: Vec::new(),
            model: model.to_owned(),
            kind,
            memory: Bytes::ZERO,
            compute_units: 0,
            capabilities: std::collections::BTreeSet::new(),
            share,
            power: Power { idle: Milliwatts(power.0), busy: Milliwatts(power.1) },
        };
        Classes(vec![
            class("xeon", DeviceKind::Cpu, ShareRule::Exclusive, (0, 0)),
            class("v100", DeviceKind::Gpu, ShareRule::Milli, (30_000, 300_000)),
        ])
    }

    /// A node of so many cores, of which so many are free, with these free shares.
    pub(crate) fn site(cores: u64, free: u64, shares: &[u32]) -> Site {
        let node = Node {
            id: NodeId(0),
            name: "node".to_owned(),
            cpu: ClassId(0),
            cores: MilliCores(cores),
            memory: Bytes(1 << 30),
            devices: vec![ClassId(1); shares.len()],
            labels: BTreeMap::new(),
            power: Power::default(),
            socket: MilliCores::ZERO,
            network: Bandwidth::ZERO,
            topology: None,
            attachment: None,
        };
        let device = |share: &u32| DeviceFree { share: Milli(*share), ..DeviceFree::default() };
        let free = Free {
            cores: MilliCores(free),
            memory: Bytes(1 << 30),
            devices: shares.iter().map(device).collect(),
            ..Free::default()
        };
        let entry = NodeEntry { node: Arc::new(node), up: true, free };
        Site::new(&entry, &classes(), 0, 1)
    }
}

//! A small fleet of equal nodes, and small jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::{
    Alternative, Bandwidth, Bytes, ClassId, Classes, DeviceClass, DeviceKind, DeviceRequest, Job,
    JobId, Milli, MilliCores, Milliwatts, Node, NodeId, Power, Request, Restart, ShareRule, Tenant,
    Time, Work,
};
use sim::Inventory;

const GIB: u64 = 1 << 30;

/// Nodes with 4 cores, 16 GiB and two A100 of 40 GiB each.
pub(crate) fn inventory(nodes: u32) -> Inventory {
    let node = |id| Node {
        id: NodeId(id),
        name: format!("node{id}"),
        cpu: ClassId(0),
        cores: MilliCores(4000),
        memory: Bytes(16 * GIB),
        devices: vec![ClassId(1), ClassId(1)],
        labels: BTreeMap::new(),
        power: power(100, 300),
        socket: MilliCores::ZERO,
        network: Bandwidth(1_250_000_000),
        topology: None,
        attachment: None,
    };
    let classes = vec![
        class("EPYC", DeviceKind::Cpu, 0, power(0, 0)),
        class("A100", DeviceKind::Gpu, 40 * GIB, power(50, 400)),
    ];
    Inventory { classes: Classes(classes), nodes: (0..nodes).map(node).collect() }
}

/// A job of one task with one core, 1 GiB and this share of A100s, that takes so many seconds.
pub(crate) fn job(id: u64, share: u32, seconds: u64) -> Job {
    let devices = DeviceRequest {
        kind: DeviceKind::Gpu,
        count: share.div_ceil(1000),
        share: Milli(share.min(1000)),
        memory: Bytes(10 * GIB),
        models: Vec::new(),
        compute_units: 0,
        capability: None,
        profile: None,
    };
    let request = Request {
        cores: MilliCores(1000),
        memory: Bytes(GIB),
        devices: (share > 0).then_some(devices),
        ..Request::default()
    };
    let way = Alternative {
        request,
        labels: BTreeMap::new(),
        rates: BTreeMap::new(),
        communication: None,
    };
    Job {
        id: JobId(id),
        name: format!("job{id}"),
        tenant: Tenant::new("ada"),
        priority: 0,
        arrival: Time::ZERO,
        tasks: 1,
        gang: None,
        work: Some(Work(seconds * 1_000_000)),
        deadline: None,
        alternatives: Arc::new(vec![way]),
        datasets: None,
        program: None,
        restart: Restart::default(),
        after: Vec::new(),
    }
}

fn class(model: &str, kind: DeviceKind, memory: u64, power: Power) -> DeviceClass {
    DeviceClass {
        profiles: Vec::new(),
        model: model.to_owned(),
        kind,
        memory: Bytes(memory),
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: ShareRule::Milli,
        power,
    }
}

fn power(idle: u64, busy: u64) -> Power {
    Power { idle: Milliwatts(idle * 1000), busy: Milliwatts(busy * 1000) }
}

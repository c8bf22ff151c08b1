//! The machine: what the system shows, and what a file adds.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use body_local::{Core, Machine, Visibility};
use fleet::device::{Power, ShareRule};
use fleet::{
    Bytes, ClassId, Classes, DeviceClass, DeviceIndex, DeviceKind, DomainIndex, MilliCores, Node,
};
use probe::devices::{self, Vendor, nvidia_smi};
use probe::{Root, Survey, Topology};
use serde::Deserialize;

use super::model;

/// How long the tool of a vendor may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest inventory file.
const FILE_MAX: u64 = 1 << 20;

/// The most devices of one entry.
const COUNT_MAX: u32 = 1024;

/// The machine, and what could not be read of it.
pub(super) struct Found {
    pub(super) machine: Machine,
    pub(super) notes: Vec<String>,
    /// The devices that the system shows, which are the first of the node.
    pub(super) devices: Vec<devices::Device>,
}

/// Accelerators that a file lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inventory {
    format: u32,
    #[serde(default)]
    device: Vec<Listed>,
}

/// Devices of one model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    model: String,
    #[serde(default = "gpu")]
    kind: String,
    #[serde(default = "one")]
    count: u32,
    memory: Option<String>,
    #[serde(default)]
    share: bool,
    variable: Option<String>,
    domain: Option<u16>,
}

fn gpu() -> String {
    "gpu".to_owned()
}

fn one() -> u32 {
    1
}

/// Looks at the machine that this program runs on. Device classes that are known keep their place.
pub(super) fn find(inventory: Option<&Path>, known: &Classes) -> anyhow::Result<Found> {
    let root = Root::live();
    let mut topology = Topology::read(&root).context("look at this machine")?;
    let cards = match nvidia_smi::find() {
        Some(program) => nvidia_smi::query(&program, PATIENCE).ok(),
        None => None,
    };
    let mut gaps = std::mem::take(&mut topology.gaps);
    let shown = devices::read(&root, cards.as_deref(), &mut gaps).context("look for devices")?;
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let survey = Survey::new(&name, &topology, shown.clone()).context("look at this machine")?;
    let mut notes: Vec<String> = gaps.0.iter().map(ToString::to_string).collect();
    let mut machine = machine(&topology, survey)?;
    if let Some(path) = inventory {
        let listed = read(path)?;
        add(&mut machine, &listed).with_context(|| format!("take {}", path.display()))?;
    }
    go_on_from(&mut machine, known)?;
    let labels = &mut Arc::make_mut(&mut machine.node).labels;
    labels.insert(model::LABEL.to_owned(), model::REAL.to_owned());
    notes.truncate(16);
    Ok(Found { machine, notes, devices: shown })
}

/// The machine as its node, with whole cores only, and with what the system calls its parts.
fn machine(topology: &Topology, survey: Survey) -> anyhow::Result<Machine> {
    let Survey { mut node, classes, domains, devices } = survey;
    let mut cores = Vec::new();
    let mut whole: Vec<u64> = match node.topology.as_deref() {
        Some(inside) => inside.domains.iter().map(|domain| domain.cores.0 / 1000).collect(),
        None => vec![node.cores.0 / 1000],
    };
    if whole.iter().sum::<u64>() == 0 {
        // Less than a core is granted to this container; one is planned with, and shared.
        whole[0] = 1;
    }
    let mut left = whole.clone();
    for core in topology.usable() {
        let number = |number: &u32| *number == core.domain;
        let place = domains.iter().position(number);
        let at = place.unwrap_or(0).min(left.len() - 1);
        if left[at] == 0 {
            continue;
        }
        left[at] -= 1;
        let usable = core.threads.iter().filter(|thread| thread.is_usable);
        let cpus = usable.map(|thread| thread.number).collect();
        let has_domains = node.topology.is_some();
        let domain = has_domains.then(|| DomainIndex(u16::try_from(at).unwrap_or(u16::MAX)));
        cores.push(Core { cpus, domain });
    }
    for (count, left) in whole.iter_mut().zip(&left) {
        *count -= left;
    }
    if let Some(inside) = &mut node.topology {
        let inside = Arc::make_mut(inside);
        for (domain, count) in inside.domains.iter_mut().zip(&whole) {
            domain.cores = MilliCores(count * 1000);
        }
    }
    node.cores = MilliCores(cores.len() as u64 * 1000);
    let memory_nodes = if node.topology.is_some() { domains } else { Vec::new() };
    let visibility = |(index, device): (usize, &devices::Device)| Visibility {
        variable: match device.vendor {
            Vendor::Nvidia => "CUDA_VISIBLE_DEVICES".to_owned(),
            Vendor::Amd => "ROCR_VISIBLE_DEVICES".to_owned(),
        },
        value: device.uuid.clone().unwrap_or_else(|| index.to_string()),
    };
    let devices = devices.iter().enumerate().map(visibility).collect();
    Ok(Machine { node: Arc::new(node), classes: Arc::new(classes), cores, memory_nodes, devices })
}

/// Numbers the classes of a machine as they were numbered before, and new ones after those.
fn go_on_from(machine: &mut Machine, known: &Classes) -> anyhow::Result<()> {
    let mut classes = known.clone();
    let numbers = numbers(&mut classes, &machine.classes)?;
    let mut node = Node::clone(&machine.node);
    node.cpu = numbers[node.cpu.index()];
    node.devices.iter_mut().for_each(|class| *class = numbers[class.index()]);
    (machine.node, machine.classes) = (Arc::new(node), Arc::new(classes));
    Ok(())
}

/// The number of each of these classes among those that are known; what is new is added to them.
pub(super) fn numbers(known: &mut Classes, classes: &Classes) -> anyhow::Result<Vec<ClassId>> {
    let mut numbers = Vec::new();
    for class in &classes.0 {
        let place = known.0.iter().position(|other| other == class);
        let place = place.unwrap_or_else(|| {
            known.0.push(class.clone());
            known.0.len() - 1
        });
        numbers.push(ClassId(u16::try_from(place).context("too many models, now and before")?));
    }
    Ok(numbers)
}

fn read(path: &Path) -> anyhow::Result<Vec<Listed>> {
    let length = std::fs::metadata(path).with_context(|| format!("read {}", path.display()))?.len();
    ensure!(length <= FILE_MAX, "read {}: it is larger than {FILE_MAX} bytes", path.display());
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let inventory: Inventory =
        toml::from_str(&text).with_context(|| format!("read {}", path.display()))?;
    ensure!(
        inventory.format == 1,
        "read {}: `format` is {}; this program reads 1",
        path.display(),
        inventory.format
    );
    Ok(inventory.device)
}

/// Adds the devices that a file lists to those of the machine.
fn add(machine: &mut Machine, listed: &[Listed]) -> anyhow::Result<()> {
    let mut node = Node::clone(&machine.node);
    let mut classes = (*machine.classes).clone();
    for (number, one) in listed.iter().enumerate() {
        let at = format!("device {}", number + 1);
        ensure!(!one.model.trim().is_empty(), "{at}: `model` is empty; name it");
        ensure!(
            (1..=COUNT_MAX).contains(&one.count),
            "{at}: `count` is {}; give 1 to {COUNT_MAX}",
            one.count
        );
        let class = class_of(one).with_context(|| at.clone())?;
        let known = classes.0.iter().position(|known| known.model == class.model);
        let index = match known {
            Some(index) if classes.0[index] == class => index,
            Some(_) => bail!("{at}: there are other devices of model {:?} already", class.model),
            None => {
                classes.0.push(class);
                classes.0.len() - 1
            }
        };
        let id = ClassId(u16::try_from(index).context("too many models")?);
        let variable = one.variable.clone().unwrap_or_else(|| variable(one).to_owned());
        for _ in 0..one.count {
            let same = machine.devices.iter().filter(|device| device.variable == variable).count();
            let device =
                DeviceIndex(u16::try_from(node.devices.len()).context("too many devices")?);
            if let Some(domain) = one.domain {
                let inside = node.topology.as_mut().map(Arc::make_mut);
                let Some(place) = inside.and_then(|it| it.domains.get_mut(usize::from(domain)))
                else {
                    bail!("{at}: there is no memory domain {domain} on this machine");
                };
                place.devices.push(device);
            }
            node.devices.push(id);
            let value = same.to_string();
            machine.devices.push(Visibility { variable: variable.clone(), value });
        }
    }
    (machine.node, machine.classes) = (Arc::new(node), Arc::new(classes));
    Ok(())
}

fn class_of(one: &Listed) -> anyhow::Result<DeviceClass> {
    let memory = one.memory.as_deref().map(str::parse::<Bytes>).transpose().context("`memory`")?;
    Ok(DeviceClass {
        model: one.model.clone(),
        kind: kind(&one.kind)?,
        memory: memory.unwrap_or_default(),
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: if one.share { ShareRule::Milli } else { ShareRule::Exclusive },
        profiles: Vec::new(),
        power: Power::default(),
    })
}

fn kind(word: &str) -> anyhow::Result<DeviceKind> {
    Ok(match word {
        "gpu" => DeviceKind::Gpu,
        "tpu" => DeviceKind::Tpu,
        "fpga" => DeviceKind::Fpga,
        "npu" => DeviceKind::Npu,
        "qpu" => DeviceKind::Qpu,
        other => bail!("`kind` is {other:?}; give gpu, tpu, fpga, npu or qpu"),
    })
}

/// The variable by which programs are told which devices of a kind are theirs.
fn variable(one: &Listed) -> &'static str {
    match one.kind.as_str() {
        "gpu" => "CUDA_VISIBLE_DEVICES",
        "tpu" => "TPU_VISIBLE_CHIPS",
        "fpga" => "FPGA_VISIBLE_DEVICES",
        "npu" => "ASCEND_RT_VISIBLE_DEVICES",
        _ => "QPU_VISIBLE_DEVICES",
    }
}

//! What the sensors of this machine say, looked at in a thread of its own.
//!
//! A look may take seconds where the tool of a vendor wakes devices, and the
//! loop never waits for one: it shows what the latest look brought. Where no
//! sensor says anything there is no thread. What a sensor does not say any
//! more is not said here either.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use fleet::Bytes;
use probe::Root;
use probe::devices::{Device, Vendor, nvidia_smi};
use probe::sensors::{self, Energy, Reading, Readings, Zone};
use server::metrics::{Family, FamilyKind};

use super::Place;

/// How often it is looked: counters of energy go around within minutes at most.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// How long the tool of a vendor may take.
const PATIENCE: Duration = Duration::from_secs(8);

/// What one look brought.
#[derive(Debug, Default)]
struct Look {
    readings: Readings,
    /// Joules since the daemon began, by zone.
    energy: Vec<(Zone, f64)>,
}

/// The sensors of this machine.
pub(super) struct Sensors {
    /// The devices that the system shows, in the node's order.
    devices: Vec<Device>,
    latest: Arc<Mutex<Arc<Look>>>,
    /// Ends the thread once it is dropped.
    _stop: Sender<()>,
}

impl Sensors {
    /// Begins to look, where there is something to see.
    pub(super) fn begin(devices: Vec<Device>, place: Place) -> Self {
        let (stop, stopped) = channel();
        let latest = Arc::default();
        let has_any = !devices.is_empty() || !sensors::read(&Root::live(), Vec::new()).is_empty();
        if has_any {
            let has_nvidia = devices.iter().any(|device| device.vendor == Vendor::Nvidia);
            let watcher = Watcher {
                has_nvidia,
                latest: Arc::clone(&latest),
                place,
                energy: Energy::default(),
                trouble: None,
            };
            thread::spawn(move || watcher.watch(&stopped));
        }
        Self { devices, latest, _stop: stop }
    }

    fn look(&self) -> Arc<Look> {
        Arc::clone(&self.latest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was read of a device of this machine's node, by its place there.
    pub(super) fn reading(&self, place: usize) -> Option<Reading> {
        let address = &self.devices.get(place)?.address;
        let look = self.look();
        look.readings.devices.iter().find(|reading| reading.address == *address).cloned()
    }

    /// What was read, as metrics of a node of this name.
    pub(super) fn families(&self, node: &str) -> Vec<Family> {
        let look = self.look();
        let mut families = of_devices(&self.devices, &look.readings.devices, node);
        let help = "Energy that a part of the processors took since the daemon began";
        let mut energy = Family::new("kepler_node_cpu_joules", help, FamilyKind::Counter);
        for (zone, joules) in &look.energy {
            let of = [("node_name", node), ("zone", &zone.name), ("path", &zone.path)];
            energy.add(&of, *joules);
        }
        let help = "How warm the warmest processor of a node is";
        let mut celsius = Family::new("motley_node_cpu_celsius", help, FamilyKind::Gauge);
        if let Some(warmest) = look.readings.processor_celsius {
            celsius.add(&[("node", node)], warmest);
        }
        families.extend([energy, celsius]);
        families
    }
}

/// One figure of a device: its metric, what that means, and where it is in a reading.
type Figure = (&'static str, &'static str, fn(&Reading) -> Option<f64>);

/// Metrics of devices by the names that NVIDIA's exporter gives them.
const FIGURES: [Figure; 8] = [
    ("DCGM_FI_DEV_GPU_UTIL", "How busy a device is (in %)", |one| one.busy_percent),
    ("DCGM_FI_DEV_MEM_COPY_UTIL", "How busy its memory is (in %)", |one| one.memory_busy_percent),
    ("DCGM_FI_DEV_FB_USED", "Device memory in use (in MiB)", |one| mebibytes(one.memory_used)),
    ("DCGM_FI_DEV_FB_FREE", "Device memory not in use (in MiB)", |one| mebibytes(one.memory_free)),
    ("DCGM_FI_DEV_GPU_TEMP", "How warm a device is (in C)", |one| one.celsius),
    ("DCGM_FI_DEV_POWER_USAGE", "What a device draws (in W)", |one| one.watts),
    ("DCGM_FI_DEV_SM_CLOCK", "Clock of its compute units (in MHz)", |one| one.megahertz),
    ("DCGM_FI_DEV_MEM_CLOCK", "Clock of its memory (in MHz)", |one| one.memory_megahertz),
];

fn mebibytes(bytes: Option<Bytes>) -> Option<f64> {
    bytes.map(|bytes| (bytes.0 >> 20) as f64)
}

fn of_devices(devices: &[Device], readings: &[Reading], node: &str) -> Vec<Family> {
    let family = |(name, help, value): Figure| {
        let mut family = Family::new(name, help, FamilyKind::Gauge);
        for (place, device) in devices.iter().enumerate() {
            let found = readings.iter().find(|reading| reading.address == device.address);
            let Some(reading) = found else { continue };
            let Some(value) = value(reading) else { continue };
            let place = place.to_string();
            let mut labels = vec![
                ("gpu", &*place),
                ("pci_bus_id", &device.address),
                ("device", &reading.name),
                ("modelName", &device.model),
                ("Hostname", node),
            ];
            labels.extend(device.uuid.as_deref().map(|uuid| ("UUID", uuid)));
            family.add(&labels, value);
        }
        family
    };
    FIGURES.into_iter().map(family).collect()
}

/// Who looks.
struct Watcher {
    has_nvidia: bool,
    latest: Arc<Mutex<Arc<Look>>>,
    place: Place,
    energy: Energy,
    /// What went wrong last, which is told once.
    trouble: Option<String>,
}

impl Watcher {
    /// Looks until the daemon ends.
    fn watch(mut self, stopped: &Receiver<()>) {
        loop {
            let readings = sensors::read(&Root::live(), self.cards());
            self.energy.take(&readings.zones);
            let energy = self.energy.joules().map(|(zone, joules)| (zone.clone(), joules));
            let look = Arc::new(Look { energy: energy.collect(), readings });
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = look;
            if stopped.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// What NVIDIA's program tells; nothing where it tells nothing, which is logged once.
    fn cards(&mut self) -> Vec<Reading> {
        let program = if self.has_nvidia { nvidia_smi::find() } else { None };
        let Some(program) = program else { return Vec::new() };
        let (cards, trouble) = match sensors::nvidia::query(&program, PATIENCE) {
            Ok(cards) => (cards, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        if trouble != self.trouble {
            match &trouble {
                Some(trouble) => {
                    self.place.log(&format!("sensors say nothing: failed to {trouble}"))
                }
                None => self.place.log("sensors say something again"),
            }
            self.trouble = trouble;
        }
        cards
    }
}

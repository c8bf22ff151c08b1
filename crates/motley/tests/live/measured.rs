//! What is measured: `/metrics` as `docs/metrics.md` describes it, and sensors of devices.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::place::{Place, wait_until};

/// Two devices, as NVIDIA's program tells of them; the second has a sensor less.
const PROGRAM: &str = "#!/bin/sh
case $1 in
*power.draw*)
    echo '0, 00000000:18:00.0, 87, 41, 70000, 11559, 64, 612.35, 1980, 2619'
    echo '1, 00000000:2A:00.0, 0, 0, 4, 81555, 30, [N/A], 345, 2619' ;;
*)
    echo '00000000:18:00.0, NVIDIA H100 80GB HBM3, GPU-00000000-0001, 81559'
    echo '00000000:2A:00.0, NVIDIA H100 80GB HBM3, GPU-00000000-0002, 81559' ;;
esac
";

/// A daemon on a machine with these two devices.
fn place() -> Place {
    let place = Place::new();
    let folder = place.file("programs");
    fs::create_dir(&folder).unwrap();
    let program = Path::new(&folder).join("nvidia-smi");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let alerts = place.file("alerts.toml");
    fs::write(&alerts, RULE).unwrap();
    let mut up = place.command(&["up", "--detach", "--alerts", &alerts]);
    assert!(up.env("PATH", path).status().unwrap().success());
    place
}

const RULE: &str = "format = 1\n[[alert]]\nname = \"hot\"\nmetric = \"DCGM_FI_DEV_GPU_TEMP\"\n\
                    above = 60\nsummary = \"a device is hot\"\n";

/// The text of the metrics.
fn metrics(place: &Place) -> String {
    let home = place.json(&["status", "--json"])["directory"].as_str().unwrap().to_owned();
    let mut socket = UnixStream::connect(Path::new(&home).join("motley.sock")).unwrap();
    let ask = "GET /metrics HTTP/1.1\r\nHost: motley\r\nConnection: close\r\n\r\n";
    socket.write_all(ask.as_bytes()).unwrap();
    let mut said = String::new();
    socket.read_to_string(&mut said).unwrap();
    said.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[test]
fn sensors_of_devices_are_metrics_and_shown_with_their_node() {
    let place = place();
    wait_until("the sensors were read", || metrics(&place).contains("DCGM_FI_DEV_POWER_USAGE"));
    let text = metrics(&place);
    let value = |name: &str, uuid: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with(name) && line.contains(uuid))?;
        Some(line.rsplit_once(' ').unwrap().1.parse().unwrap())
    };
    let (one, two) = ("UUID=\"GPU-00000000-0001\"", "UUID=\"GPU-00000000-0002\"");
    for (name, first, second) in [
        ("DCGM_FI_DEV_GPU_UTIL", 87.0, Some(0.0)),
        ("DCGM_FI_DEV_MEM_COPY_UTIL", 41.0, Some(0.0)),
        ("DCGM_FI_DEV_FB_USED", 70_000.0, Some(4.0)),
        ("DCGM_FI_DEV_FB_FREE", 11_559.0, Some(81_555.0)),
        ("DCGM_FI_DEV_GPU_TEMP", 64.0, Some(30.0)),
        ("DCGM_FI_DEV_POWER_USAGE", 612.35, None),
        ("DCGM_FI_DEV_SM_CLOCK", 1_980.0, Some(345.0)),
        ("DCGM_FI_DEV_MEM_CLOCK", 2_619.0, Some(2_619.0)),
    ] {
        assert_eq!((value(name, one), value(name, two)), (Some(first), second), "{name}");
    }
    for label in [
        "gpu=\"0\"",
        "device=\"nvidia0\"",
        "pci_bus_id=\"0000:18:00.0\"",
        "modelName=\"NVIDIA-H100-80GB-HBM3\"",
        "Hostname=\"",
    ] {
        let line = text.lines().find(|line| line.starts_with("DCGM_FI_DEV_GPU_TEMP{")).unwrap();
        assert!(line.contains(label), "{line}");
    }
    let devices = place.json(&["nodes", "--json"])[0]["devices"].clone();
    let told = |device: usize, field: &str| devices[device][field].as_f64();
    let of = |device| ["celsius", "watts", "busy"].map(|field| told(device, field));
    assert_eq!(of(0), [Some(64.0), Some(612.35), Some(0.87)]);
    assert_eq!(of(1), [Some(30.0), None, Some(0.0)]);
    wait_until("the alert fires", || place.run(&["alerts"]).1.contains("firing"));
}

/// What the page says: kind and labels by name, in the form of the text of metrics.
fn documented() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let text = fs::read_to_string(path).unwrap();
    let mut metrics = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, unit, meaning] = cells[..] else { panic!("{line}") };
        assert!(!unit.is_empty() && !meaning.is_empty(), "{line}");
        let labels = labels.split(',').map(|label| label.trim().trim_matches('`').to_owned());
        let labels = labels.filter(|label| label != "–").collect();
        let before = metrics.insert(name.trim_matches('`').to_owned(), (kind.to_owned(), labels));
        assert!(before.is_none(), "{name} is described twice");
    }
    metrics
}

#[test]
fn every_metric_is_described_with_its_kind_and_labels() {
    let place = place();
    place.wait(&place.submit(&["--", "true"]));
    wait_until("the sensors were read", || metrics(&place).contains("DCGM_FI_DEV_POWER_USAGE"));
    let text = metrics(&place);
    let described = documented();
    let mut shown = BTreeSet::new();
    let mut family = ("", "");
    for line in text.lines() {
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            family = typed.split_once(' ').unwrap();
            let kind = described.get(family.0).map(|(kind, _)| kind.as_str());
            assert_eq!(kind, Some(family.1), "docs/metrics.md describes {}", family.0);
            shown.insert(family.0.to_owned());
        } else if !line.starts_with('#') {
            let labels = line.split_once('{').map_or("", |(_, rest)| rest);
            let labels = labels.rsplit_once('}').map_or("", |(labels, _)| labels);
            let labels = labels.split("\",").filter_map(|label| Some(label.split_once('=')?.0));
            let found: BTreeSet<_> =
                labels.filter(|label| *label != "le").map(str::to_owned).collect();
            assert_eq!(found, described[family.0].1, "the labels of {}", family.0);
        }
    }
    // These depend on what there is: sensors of processors, and a receiver of alerts.
    let may_lack = ["kepler_node_cpu_joules", "motley_alert_notices", "motley_node_cpu_celsius"];
    let lacking = described.keys().filter(|name| !shown.contains(*name));
    let lacking: Vec<_> = lacking.filter(|name| !may_lack.contains(&name.as_str())).collect();
    assert!(lacking.is_empty(), "docs/metrics.md describes what is not there: {lacking:?}");
}

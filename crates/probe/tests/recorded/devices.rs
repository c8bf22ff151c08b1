//! Devices as drivers list them, and as the vendor's program tells of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fleet::Bytes;
use probe::Gaps;
use probe::devices::nvidia_smi::{Card, cards, find_in, query};
use probe::devices::{Device, Vendor, on_bus, read};
use tempfile::TempDir;

use crate::tree::{Tree, data};

const H100: &str = "00000000:18:00.0, NVIDIA H100 80GB HBM3, GPU-00000000-0001, 81559\n";

fn nvidia(tree: &Tree, address: &str, model: &str) {
    let text = format!(
        "Model: \t\t {model}\nIRQ:   \t\t 147\nGPU UUID: \t GPU-{address}\nVideo BIOS: \t \
         96.00.74\nBus Type: \t PCIe\nBus Location: \t {address}\n"
    );
    tree.put(&format!("proc/driver/nvidia/gpus/{address}/information"), &text);
    tree.put(&format!("sys/bus/pci/devices/{address}/numa_node"), "1\n");
}

fn amd(tree: &Tree, card: u32) -> String {
    let folder = format!("sys/class/drm/card{card}/device");
    tree.put(&format!("{folder}/vendor"), "0x1002\n");
    tree.put(&format!("{folder}/device"), "0x74a1\n");
    tree.put(&format!("{folder}/uevent"), "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:09:00.0\n");
    tree.put(&format!("{folder}/product_name"), "AMD Instinct MI300X\n");
    tree.put(&format!("{folder}/unique_id"), "18f68e602b8a790f\n");
    tree.put(&format!("{folder}/mem_info_vram_total"), "206141652992\n");
    tree.put(&format!("{folder}/numa_node"), "0\n");
    folder
}

fn found(tree: &Tree, cards: Option<&[Card]>) -> (Vec<Device>, Vec<String>) {
    let mut gaps = Gaps::default();
    let devices = read(&tree.root(), cards, &mut gaps).unwrap();
    (devices, gaps.0.iter().map(|gap| tree.relative(&gap.to_string())).collect())
}

fn error(tree: &Tree) -> String {
    tree.relative(&read(&tree.root(), None, &mut Gaps::default()).unwrap_err().to_string())
}

#[test]
fn devices_of_nvidia_are_listed_by_driver_and_program() {
    let tree = Tree::two_sockets();
    assert_eq!(found(&tree, None), (vec![], vec![]));
    nvidia(&tree, "0000:18:00.0", "NVIDIA H100 80GB HBM3");
    let (devices, gaps) = found(&tree, Some(&cards(H100).unwrap()));
    assert!(gaps.is_empty(), "{gaps:?}");
    let device = &devices[0];
    assert_eq!(device.model, "NVIDIA-H100-80GB-HBM3");
    assert_eq!((device.memory, device.domain), (Some(Bytes(81_559 << 20)), Some(1)));
    assert_eq!(device.uuid.as_deref(), Some("GPU-0000:18:00.0"));
    let (devices, gaps) = found(&tree, None);
    assert_eq!(devices[0].memory, None);
    assert_eq!(
        gaps,
        ["failed to read proc/driver/nvidia/gpus/0000:18:00.0/numa_status: it is not there, and \
          should be its memory; the memory of the device is not known without nvidia-smi"]
    );
}

#[test]
fn memory_that_the_system_shows_as_a_domain_tells_the_size_of_the_device() {
    let tree = Tree::two_sockets();
    nvidia(&tree, "0004:05:00.0", "Tesla V100-SXM2-16GB");
    let status = "Node:      255\nStatus:    online\nAddress:   0\nSize:      3f0000000\n";
    tree.put("proc/driver/nvidia/gpus/0004:05:00.0/numa_status", status);
    assert_eq!(found(&tree, None).0[0].memory, Some(Bytes(0x3_f000_0000)));
}

#[test]
fn a_device_without_a_model_is_named_by_the_program_or_left_out() {
    let tree = Tree::two_sockets();
    tree.put("proc/driver/nvidia/gpus/0000:18:00.0/power", "Runtime D3 status: ?\n");
    let (devices, gaps) = found(&tree, None);
    assert!(devices.is_empty() && gaps[0].ends_with("; the device is left out"), "{gaps:?}");
    let (devices, gaps) = found(&tree, Some(&cards(H100).unwrap()));
    assert_eq!(devices[0].model, "NVIDIA-H100-80GB-HBM3");
    assert!(gaps[0].ends_with("; the device is attached to no memory domain"), "{gaps:?}");
}

#[test]
fn a_device_of_the_driver_that_the_program_does_not_list_is_left_out() {
    let tree = Tree::two_sockets();
    nvidia(&tree, "0000:18:00.0", "NVIDIA H100 80GB HBM3");
    nvidia(&tree, "0000:2a:00.0", "NVIDIA H100 80GB HBM3");
    let (devices, gaps) = found(&tree, Some(&cards(H100).unwrap()));
    assert_eq!(devices.len(), 1);
    let expected = "failed to read proc/driver/nvidia/gpus/0000:2a:00.0: the device is not among \
                    those that nvidia-smi lists; the device is left out";
    assert_eq!(gaps, [expected]);
    assert_eq!(found(&tree, None).0.len(), 2, "nobody was asked");
    assert_eq!(found(&tree, Some(&[])).0.len(), 0);
}

#[test]
fn a_device_of_the_program_alone_is_a_device() {
    let tree = Tree::two_sockets();
    let (devices, gaps) = found(&tree, Some(&cards(H100).unwrap()));
    assert_eq!(devices[0].memory, Some(Bytes(81_559 << 20)));
    assert_eq!(devices[0].uuid.as_deref(), Some("GPU-00000000-0001"));
    assert!(gaps[0].ends_with("; the device is attached to no memory domain"), "{gaps:?}");
}

#[test]
fn devices_of_amd_are_listed_by_their_driver() {
    let tree = Tree::two_sockets();
    let folder = amd(&tree, 1);
    tree.put("sys/class/drm/card0/device/vendor", "0x1a03\n");
    tree.put("sys/class/drm/card1-DP-1/status", "connected\n");
    let (devices, gaps) = found(&tree, None);
    assert!(gaps.is_empty(), "{gaps:?}");
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].model, "AMD-Instinct-MI300X");
    assert_eq!(devices[0].address, "0000:09:00.0");
    assert_eq!(devices[0].uuid.as_deref(), Some("GPU-18f68e602b8a790f"));
    assert_eq!((devices[0].memory, devices[0].domain), (Some(Bytes(206_141_652_992)), Some(0)));
    tree.put(&format!("{folder}/product_name"), "\n");
    tree.put(&format!("{folder}/numa_node"), "-1\n");
    tree.drop(&format!("{folder}/mem_info_vram_total"));
    let (devices, gaps) = found(&tree, None);
    assert_eq!(devices[0].model, "AMD-74a1");
    assert_eq!((devices[0].memory, devices[0].domain), (None, None));
    assert_eq!(gaps.len(), 2, "{gaps:?}");
    tree.put(&format!("{folder}/uevent"), "DRIVER=amdgpu\n");
    assert!(error(&tree).ends_with("and should be a line PCI_SLOT_NAME=ADDRESS"));
    tree.put(&format!("{folder}/mem_info_vram_total"), "much");
    assert!(error(&tree).ends_with("it says `much`, and should be a number of bytes"));
}

#[test]
fn devices_are_numbered_by_model_and_then_by_address() {
    let tree = Tree::two_sockets();
    amd(&tree, 0);
    nvidia(&tree, "0000:81:00.0", "NVIDIA L40S");
    nvidia(&tree, "0000:18:00.0", "NVIDIA L40S");
    nvidia(&tree, "0000:90:00.0", "NVIDIA A2");
    let addresses: Vec<_> = found(&tree, None).0.into_iter().map(|one| one.address).collect();
    assert_eq!(addresses, ["0000:09:00.0", "0000:90:00.0", "0000:18:00.0", "0000:81:00.0"]);
}

#[test]
fn an_answer_of_the_program_is_read_line_by_line() {
    let two = format!("{H100}\n00000001:3B:00.0, NVIDIA GB10, [N/A], [N/A]\n");
    let cards = cards(&two).unwrap();
    assert_eq!(cards[0].address, "0000:18:00.0");
    assert_eq!(cards[0].memory, Some(Bytes(81_559 << 20)));
    assert_eq!((cards[1].address.as_str(), cards[1].memory), ("0001:3b:00.0", None));
    assert_eq!(cards[1].uuid, None);
}

#[test]
fn an_answer_that_is_none_is_refused() {
    for wrong in [
        "No devices were found",
        "00000000:18:00.0, NVIDIA H100, GPU-1",
        "00000000:18:00.0, NVIDIA H100, GPU-1, 81559 MiB",
        "00000000:18:00.0, , GPU-1, 81559",
        "0, NVIDIA H100, GPU-1, 81559",
        "00000000:18:00.0, NVIDIA H100, GPU-1, 18446744073709551615",
        "00000000:18:00.0, NVIDIA H100, GPU-1, 81559, 1",
    ] {
        assert_eq!(cards(wrong), Err(wrong.to_owned()));
    }
}

/// A program that stands in for NVIDIA's, where there is no device.
fn stand_in(script: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("nvidia-smi");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, program)
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn the_program_is_found_and_asked_for_what_is_needed() {
    let (folder, program) = stand_in(
        "[ \"$*\" = '--query-gpu=pci.bus_id,name,uuid,memory.total --format=csv,noheader,nounits' \
         ] || exit 3\necho '00000000:18:00.0, NVIDIA H100 80GB HBM3, GPU-1, 81559'",
    );
    assert_eq!(find_in(folder.path().as_os_str()), Some(program.clone()));
    assert_eq!(find_in(folder.path().join("none").as_os_str()), None);
    assert_eq!(query(&program, PATIENCE).unwrap().len(), 1);
}

#[test]
fn a_program_that_fails_floods_or_does_not_end_is_a_fault() {
    let fault = |script: &str, patience| {
        let (_folder, program) = stand_in(script);
        query(&program, patience).unwrap_err().to_string()
    };
    let failed = fault("echo 'NVIDIA-SMI has failed'; exit 9", PATIENCE);
    assert!(
        failed.contains("failed (exit status: 9) and said `NVIDIA-SMI has failed`"),
        "{failed}"
    );
    assert!(fault("echo hello", PATIENCE).ends_with("answered `hello`"));
    let flood = fault("exec head -c 2000000 /dev/zero", PATIENCE);
    assert!(flood.ends_with("answered more than 1048576 bytes"), "{flood}");
    let start = Instant::now();
    let late = fault("exec sleep 30", Duration::from_millis(50));
    assert!(late.ends_with("did not answer within 50ms"), "{late}");
    let closed = fault("exec >&-; exec sleep 30", Duration::from_millis(50));
    assert!(closed.ends_with("did not answer within 50ms"), "{closed}");
    assert!(start.elapsed() < PATIENCE, "it was ended and not waited for");
    let none = query(&PathBuf::from("/nowhere/nvidia-smi"), PATIENCE).unwrap_err().to_string();
    assert!(none.starts_with("ask /nowhere/nvidia-smi: it cannot be started"), "{none}");
}

/// The long form of what real devices say of themselves, put as the short one is asked for.
#[test]
fn what_real_devices_say_is_read() {
    let Some(folder) = data("probes/nvidia-smi-q") else { return };
    for (file, count, model, mebibytes) in [
        ("A100SXMx4.txt", 4, "NVIDIA-A100-SXM4-80GB", 81_920),
        ("H100SXMx8.txt", 8, "NVIDIA-H100-80GB-HBM3", 81_559),
        ("L40S.txt", 1, "NVIDIA-L40S", 46_068),
        ("RTX3090.txt", 2, "NVIDIA-GeForce-RTX-3090", 24_576),
        ("RTX6000Ada_x8.txt", 8, "NVIDIA-RTX-6000-Ada-Generation", 49_140),
    ] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let cards = cards(&short(&text)).unwrap();
        let tree = Tree::two_sockets();
        cards.iter().for_each(|card| nvidia(&tree, &card.address, &card.name));
        let (devices, _) = found(&tree, Some(&cards));
        assert_eq!(devices.len(), count, "{file}");
        for device in devices {
            let memory = device.memory.map(|bytes| bytes.0 >> 20);
            assert_eq!((device.model.as_str(), memory), (model, Some(mebibytes)), "{file}");
        }
    }
}

/// A line for each device of a long form.
fn short(text: &str) -> String {
    let devices = text.split("\nGPU 0").skip(1);
    let field = |device: &str, key: &str| {
        let lines = device.lines().filter_map(|line| line.split_once(':'));
        let mut values =
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim());
        values.next().unwrap().to_owned()
    };
    let line = |device: &str| {
        let memory = device.split("FB Memory Usage").nth(1).unwrap();
        let total = field(memory, "Total").replace(" MiB", "");
        let address = device.lines().next().unwrap();
        let (name, uuid) = (field(device, "Product Name"), field(device, "GPU UUID"));
        format!("0{address}, {name}, {uuid}, {total}\n")
    };
    devices.map(line).collect()
}

#[test]
fn accelerators_on_the_bus_are_seen_without_a_driver() {
    let tree = Tree::two_sockets();
    assert_eq!(on_bus(&tree.root()).unwrap(), []);
    for (address, vendor, class) in [
        ("0000:01:00.0", "0x10de", "0x030200"),
        ("0000:01:00.1", "0x10de", "0x040300"),
        ("0000:02:00.0", "0x1002", "0x038000"),
        ("0000:03:00.0", "0x1002", "0x030000"),
        ("0000:04:00.0", "0x8086", "0x030000"),
    ] {
        tree.put(&format!("sys/bus/pci/devices/{address}/vendor"), vendor);
        tree.put(&format!("sys/bus/pci/devices/{address}/class"), class);
    }
    assert_eq!(on_bus(&tree.root()).unwrap(), [Vendor::Nvidia, Vendor::Amd]);
}

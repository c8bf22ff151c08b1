//! What sensors say, from trees and answers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use fleet::Bytes;
use probe::Root;
use probe::sensors::{Energy, Reading, Readings, Zone, nvidia, read};

use crate::tree::{Tree, data, folder};

const MIB: u64 = 1 << 20;

fn amd(tree: &Tree) -> String {
    let folder = "sys/class/drm/card1/device";
    for (file, text) in [
        ("vendor", "0x1002\n"),
        ("uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:09:00.0\n"),
        ("gpu_busy_percent", "87\n"),
        ("mem_busy_percent", "12\n"),
        ("mem_info_vram_used", "1048576000\n"),
        ("mem_info_vram_total", "8589934592\n"),
        ("hwmon/hwmon4/temp1_input", "61500\n"),
        ("hwmon/hwmon4/power1_average", "212000000\n"),
        ("hwmon/hwmon4/freq1_input", "1700000000\n"),
        ("hwmon/hwmon4/freq2_input", "1000000000\n"),
    ] {
        tree.put(&format!("{folder}/{file}"), text);
    }
    folder.to_owned()
}

#[test]
fn an_answer_of_nvidia_smi_is_read_and_what_is_not_told_is_absent() {
    let answer = "0, 00000000:18:00.0, 97, 41, 70000, 11559, 64, 612.35, 1980, 2619\n\
                  1, 00000000:2A:00.0, [N/A], [Not Supported], 4, [Unknown Error], 30, N/A, \
                  [GPU requires reset], 0\n\n";
    let readings = nvidia::readings(answer).unwrap();
    let expected = Reading {
        address: "0000:18:00.0".to_owned(),
        name: "nvidia0".to_owned(),
        busy_percent: Some(97.0),
        memory_busy_percent: Some(41.0),
        memory_used: Some(Bytes(70_000 * MIB)),
        memory_free: Some(Bytes(11_559 * MIB)),
        celsius: Some(64.0),
        watts: Some(612.35),
        megahertz: Some(1980.0),
        memory_megahertz: Some(2619.0),
    };
    assert_eq!(readings[0], expected);
    let expected = Reading {
        address: "0000:2a:00.0".to_owned(),
        name: "nvidia1".to_owned(),
        memory_used: Some(Bytes(4 * MIB)),
        celsius: Some(30.0),
        memory_megahertz: Some(0.0),
        ..Reading::default()
    };
    assert_eq!(readings[1], expected);
    assert_eq!(nvidia::readings("").unwrap(), []);
}

#[test]
fn an_answer_that_makes_no_sense_is_refused_with_its_line() {
    for line in [
        "No devices were found",
        "0, 00000000:18:00.0, 97, 41, 70000, 11559, 64, 612.35, 1980",
        "0, 00000000:18:00.0, 97, 41, 70000, 11559, 64, 612.35, 1980, 2619, 7",
        "0, 00000000:18:00.0, warm, 41, 70000, 11559, 64, 612.35, 1980, 2619",
        "0, 00000000:18:00.0, inf, 41, 70000, 11559, 64, 612.35, 1980, 2619",
        "x, 00000000:18:00.0, 97, 41, 70000, 11559, 64, 612.35, 1980, 2619",
        "0, here, 97, 41, 70000, 11559, 64, 612.35, 1980, 2619",
    ] {
        assert_eq!(nvidia::readings(line), Err(line.to_owned()));
    }
    let huge = "0, 00000000:18:00.0, 1, 1, 1e30, -5, 1, 1, 1, 1";
    let huge = &nvidia::readings(huge).unwrap()[0];
    assert_eq!((huge.memory_used, huge.memory_free), (None, None));
}

#[test]
fn the_program_is_asked_for_its_sensors() {
    let folder = folder();
    let program = folder.path().join("nvidia-smi");
    let script = "#!/bin/sh\ncase $1 in *temperature.gpu,power.draw*) ;; *) exit 1;; esac\n\
                  [ \"$2\" = --format=csv,noheader,nounits ] || exit 2\n\
                  echo '3, 00000000:18:00.0, 1, 2, 3, 4, 5, 6, 7, 8'\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let readings = nvidia::query(&program, Duration::from_secs(60)).unwrap();
    assert_eq!((readings[0].name.as_str(), readings[0].watts), ("nvidia3", Some(6.0)));
    let missing = nvidia::query(&folder.path().join("missing"), Duration::from_secs(60));
    assert!(missing.unwrap_err().to_string().contains("cannot be started"));
}

#[test]
fn sensors_of_amd_are_in_sysfs() {
    let tree = Tree::two_sockets();
    let folder = amd(&tree);
    let reading = || read(&tree.root(), Vec::new()).devices.remove(0);
    let expected = Reading {
        address: "0000:09:00.0".to_owned(),
        name: "card1".to_owned(),
        busy_percent: Some(87.0),
        memory_busy_percent: Some(12.0),
        memory_used: Some(Bytes(1_048_576_000)),
        memory_free: Some(Bytes(8_589_934_592 - 1_048_576_000)),
        celsius: Some(61.5),
        watts: Some(212.0),
        megahertz: Some(1700.0),
        memory_megahertz: Some(1000.0),
    };
    assert_eq!(reading(), expected);
    // Newer chips tell the power of the moment.
    tree.drop(&format!("{folder}/hwmon/hwmon4/power1_average"));
    tree.put(&format!("{folder}/hwmon/hwmon4/power1_input"), "99000000");
    assert_eq!(reading().watts, Some(99.0));
    tree.put(&format!("{folder}/gpu_busy_percent"), "much");
    tree.drop(&format!("{folder}/mem_info_vram_total"));
    tree.drop(&format!("{folder}/hwmon/hwmon4/temp1_input"));
    let changed = reading();
    assert_eq!((changed.busy_percent, changed.memory_free, changed.celsius), (None, None, None));
    assert_eq!(changed.memory_used, expected.memory_used);
    tree.put(&format!("{folder}/vendor"), "0x8086");
    assert!(read(&tree.root(), Vec::new()).is_empty());
}

#[test]
fn the_warmest_input_of_a_processor_is_told() {
    let tree = Tree::two_sockets();
    let celsius = || read(&tree.root(), Vec::new()).processor_celsius;
    tree.put("sys/class/hwmon/hwmon0/name", "nvme");
    tree.put("sys/class/hwmon/hwmon0/temp1_input", "90000");
    assert_eq!(celsius(), None, "a disk is no processor");
    tree.put("sys/class/hwmon/hwmon1/name", "coretemp");
    tree.put("sys/class/hwmon/hwmon1/temp1_input", "51000");
    tree.put("sys/class/hwmon/hwmon1/temp2_input", "63000");
    tree.put("sys/class/hwmon/hwmon1/temp2_max", "100000");
    tree.put("sys/class/hwmon/hwmon2/name", "k10temp");
    tree.put("sys/class/hwmon/hwmon2/temp1_input", "-2000");
    assert_eq!(celsius(), Some(63.0));
}

#[test]
fn counters_of_energy_are_read_where_they_may_be() {
    let tree = Tree::two_sockets();
    let zone = |entry: &str, name: &str, energy: &str| {
        let folder = format!("sys/class/powercap/{entry}");
        tree.put(&format!("{folder}/name"), name);
        tree.put(&format!("{folder}/energy_uj"), energy);
    };
    tree.put("sys/class/powercap/intel-rapl/enabled", "1");
    zone("intel-rapl:0", "package-0\n", "240422366267\n");
    tree.put("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    zone("intel-rapl:0:0", "core", "118821284256");
    zone("intel-rapl:1", "package-1", "much");
    zone("intel-rapl-mmio:0", "package-0", "5");
    let of = |name: &str, path: &str, microjoules, most| Zone {
        name: name.to_owned(),
        path: path.to_owned(),
        microjoules,
        most,
    };
    let range = Some(262_143_328_850);
    let expected = [
        of("package", "/sys/class/powercap/intel-rapl:0", 240_422_366_267, range),
        of("core", "/sys/class/powercap/intel-rapl:0:0", 118_821_284_256, None),
    ];
    assert_eq!(read(&tree.root(), Vec::new()).zones, expected);
}

#[test]
fn energy_goes_on_where_a_counter_begins_anew() {
    let zone = |path: &str, microjoules, most| Zone {
        name: "package".to_owned(),
        path: path.to_owned(),
        microjoules,
        most,
    };
    let mut energy = Energy::default();
    let mut take = |one, other| -> Vec<f64> {
        energy.take(&[zone("a", one, Some(10_000_000)), zone("b", other, None)]);
        energy.joules().map(|(_, joules)| joules).collect()
    };
    assert_eq!(take(9_000_000, 9_000_000), [0.0, 0.0], "the first look only begins");
    assert_eq!(take(9_500_000, 9_500_000), [0.5, 0.5]);
    assert_eq!(take(1_000_000, 1_000_000), [2.0, 0.5], "without a range nothing is added");
    assert_eq!(take(1_000_000, 4_000_000), [2.0, 3.5]);
}

#[test]
fn where_there_is_no_sensor_nothing_is_said() {
    assert_eq!(read(&Tree::two_sockets().root(), Vec::new()), Readings::default());
    assert!(Readings::default().is_empty());
    let one = Readings { processor_celsius: Some(1.0), ..Readings::default() };
    assert!(!one.is_empty());
}

#[test]
fn a_recorded_tree_of_counters_is_read() {
    let Some(folder) = data("probes/sysfs") else { return };
    let tree = tempfile::tempdir().unwrap();
    let archive = folder.join("procfs-powercap-rapl.tar.gz");
    let mut tar = Command::new("tar");
    let done = tar.arg("-xzf").arg(archive).arg("-C").arg(tree.path()).status().unwrap();
    assert!(done.success());
    let zones = read(&Root::at(tree.path().join("fixtures")), Vec::new()).zones;
    let names: Vec<_> = zones.iter().map(|zone| &*zone.name).collect();
    assert_eq!(names, ["package", "core", "package"]);
    assert!(zones.iter().all(|zone| zone.microjoules > 0 && zone.most.is_some()));
}

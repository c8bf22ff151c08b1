//! Accelerators from an inventory file: shares, device memory, what tasks are told.

use std::fs;

use crate::place::{Place, wait_until};

const DEVICES: &str = "
format = 1
[[device]]
model = \"A100\"
count = 2
memory = \"40G\"
share = true
";

fn with_devices(text: &str) -> (Place, i32, String) {
    let place = Place::new();
    let file = place.file("devices.toml");
    fs::write(&file, text).expect("the directory can be written");
    let (status, _, errors) = place.run(&["up", "--detach", "--inventory", &file]);
    (place, status, errors)
}

#[test]
fn shares_of_a_device_add_up_and_tasks_are_told_which_is_theirs() {
    let (place, status, errors) = with_devices(DEVICES);
    assert_eq!(status, 0, "{errors}");
    let script = "echo $CUDA_VISIBLE_DEVICES; exec sleep 300";
    let half = ["--cpus", "0.1", "--gpu-share", "0.5", "--gpu-mem", "8G", "--", "sh", "-c", script];
    let jobs: Vec<String> = (0..5).map(|_| place.submit(&half)).collect();
    let running = || place.json(&["status", "--json"])["running"].as_u64();
    wait_until("four run", || running() == Some(4));
    let told = |job: &String| place.run(&["job", "logs", job]).1;
    wait_until("all have printed", || jobs[..4].iter().all(|job| !told(job).is_empty()));
    let mut numbers: Vec<_> = jobs[..4].iter().map(told).collect();
    numbers.sort();
    assert_eq!(numbers, ["0\n", "0\n", "1\n", "1\n"]);
    assert_eq!(place.json(&["job", "show", &jobs[4], "--json"])["state"], "waiting");
    place.run(&["job", "cancel", &jobs[0]]);
    wait_until("the fifth runs", || {
        place.json(&["job", "show", &jobs[4], "--json"])["state"] == "running"
    });
}

#[test]
fn device_memory_and_models_are_what_they_are() {
    let (place, ..) = with_devices(DEVICES);
    let job = place.submit(&["--gpus", "H100:1", "--", "true"]);
    let large = place.submit(&["--gpus", "1", "--gpu-mem", "80G", "--", "true"]);
    let reason = |job: &str| place.json(&["job", "show", job, "--json"])["reason"].to_string();
    wait_until("both are looked at", || {
        reason(&job).contains("H100") && reason(&large).contains("memory")
    });
    let hidden = place.submit(&["--", "sh", "-c", "echo \"[$CUDA_VISIBLE_DEVICES]\""]);
    place.wait(&hidden);
    assert_eq!(place.run(&["job", "logs", &hidden]).1, "[]\n");
}

#[test]
fn the_inventory_stays_in_force() {
    let (place, ..) = with_devices(DEVICES);
    place.kill_daemon();
    place.start();
    assert_eq!(place.json(&["nodes", "--json"])[0]["devices"].as_array().unwrap().len(), 2);
}

#[test]
fn each_field_of_an_inventory_counts_and_wrong_ones_are_refused() {
    let devices = |text: &str| {
        let (place, status, errors) = with_devices(text);
        assert_eq!(status, 0, "{errors}");
        let job = place.submit(&["--gpus", "1", "--", "sh", "-c", "env | grep VISIBLE"]);
        let seen = place.json(&["nodes", "--json"])[0]["devices"].to_string();
        let told = (place.wait(&job) == 0).then(|| place.run(&["job", "logs", &job]).1);
        format!("{seen} {told:?}")
    };
    let base = devices(DEVICES);
    for (old, new) in [
        ("A100", "H100"),
        ("count = 2", "count = 1"),
        ("40G", "80G"),
        ("share = true", "variable = \"ROCR_VISIBLE_DEVICES\""),
    ] {
        assert_ne!(devices(&DEVICES.replace(old, new)), base, "{new}");
    }
    for (old, new, expected) in [
        ("format = 1", "format = 2", "this program reads 1"),
        ("count = 2", "count = 0", "give 1 to 1024"),
        ("40G", "-1", "memory"),
        ("share = true", "kind = \"toaster\"", "give gpu, tpu, fpga, npu or qpu"),
        ("share = true", "colour = 1", "unknown field"),
        ("share = true", "domain = 99", "no memory domain 99"),
    ] {
        let (place, status, errors) = with_devices(&DEVICES.replace(old, new));
        assert!(status == 1 && errors.contains(expected), "{new}: {errors}");
        // It is not kept, so that the next daemon starts.
        place.start();
    }
}

//! Scripts as people write them for Slurm: what is read, or what exactly is refused.

use std::path::Path;

use motley::job_file::{self, JobFile};
use serde_json::{Value, json};

use crate::around;

fn script(name: &str, arguments: &[&str]) -> JobFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/job_files/scripts");
    let arguments: Vec<_> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    job_file::open(&folder.join(name), &arguments, &around()).unwrap()
}

/// The job of a script without faults: what it asks for and how it is kept, its program without
/// the text of the script, and what Slurm's scripts are told of themselves.
fn told(read: &JobFile) -> Value {
    assert_eq!(read.faults, []);
    let mut told = json!(read.jobs[0]);
    let slurm = |variable: &&Value| variable.as_str().unwrap().starts_with("SLURM_");
    let variables = told["environment"].as_array().unwrap().iter();
    let common = |variable: &&Value| {
        let text = variable.as_str().unwrap();
        let common = ["NNODES=1", "JOB_NUM_NODES=1", "PROCID=0", "LOCALID=0", "NODEID=0"];
        let here = ["SUBMIT_DIR=/here", "SUBMIT_HOST=node7.site"];
        !common.iter().chain(&here).any(|one| text == format!("SLURM_{one}"))
    };
    let variables: Vec<_> = variables.filter(slurm).filter(common).cloned().collect();
    told["environment"] = json!(variables);
    for argument in told["arguments"].as_array_mut().unwrap() {
        if argument.as_str().unwrap().contains('\n') {
            *argument = json!("(text)");
        }
    }
    told
}

/// A job of which nothing is said.
fn plain(name: &str, file: &str) -> Value {
    json!({
        "job": {
            "name": name,
            "tenant": "ann",
            "tasks": 1,
            "alternative": [{ "cores": 1 }],
        },
        "arguments": ["/bin/bash", "-c", "(text)", file],
        "directory": "/here",
        "environment": [
            "SLURM_CPUS_ON_NODE=1",
            "SLURM_JOB_CPUS_PER_NODE=1",
            format!("SLURM_JOB_NAME={name}"),
            "SLURM_NPROCS=1",
            "SLURM_NTASKS=1",
            "SLURM_TASKS_PER_NODE=1",
        ],
        "output": "kept",
        "time_limit": null,
        "restart": { "retries": 0, "requeue": true },
        "after": [],
        "first": 0,
        "held": false,
    })
}

/// The same with some places changed, and with these variables in place of those of their names.
fn but(mut told: Value, changes: &[(&str, Value)], variables: &[&str]) -> Value {
    for (place, value) in changes {
        match told.pointer_mut(place) {
            Some(old) => *old = value.clone(),
            None => {
                let (parent, name) = place.rsplit_once('/').unwrap();
                told.pointer_mut(parent).unwrap()[name] = value.clone();
            }
        }
    }
    let mut all: Vec<String> = serde_json::from_value(told["environment"].take()).unwrap();
    for variable in variables {
        let name = format!("SLURM_{}=", variable.split('=').next().unwrap());
        all.retain(|one| !one.starts_with(&name));
        all.push(format!("SLURM_{variable}"));
    }
    all.sort();
    told["environment"] = json!(all);
    told
}

const DAY: u64 = 86_400_000_000;
const GIB: u64 = 1 << 30;

#[test]
fn gpu_training() {
    let read = script("gpu_training.sh", &["--resume"]);
    let device = json!({ "kind": "gpu", "count": 2, "models": ["a100"] });
    let expected = but(
        plain("resnet", "gpu_training.sh"),
        &[
            ("/job/tenant", json!("vision")),
            ("/job/work", json!(216_000.0)),
            ("/job/alternative/0", json!({ "cores": 8, "memory": 64 * GIB, "device": device })),
            ("/time_limit", json!(2 * DAY + DAY / 2)),
            ("/output", json!({ "files": ["logs/resnet-%j.out", null] })),
            ("/arguments", json!(["/bin/bash", "-c", "(text)", "gpu_training.sh", "--resume"])),
        ],
        &[
            "CPUS_ON_NODE=8",
            "JOB_CPUS_PER_NODE=8",
            "CPUS_PER_TASK=8",
            "MEM_PER_NODE=65536",
            "GPUS_ON_NODE=2",
        ],
    );
    assert_eq!(told(&read), expected);
    assert_eq!(read.notes, []);
}

#[test]
fn one_sample_for_each_task_of_an_array() {
    let expected = but(
        plain("align", "samples_array.sh"),
        &[
            ("/job/tasks", json!(48)),
            ("/job/work", json!(21_600.0)),
            ("/job/alternative/0", json!({ "cores": 4, "memory": 16 * GIB })),
            ("/first", json!(1)),
            ("/time_limit", json!(DAY / 4)),
            ("/output", json!({ "files": ["logs/%j_%t.out", "logs/%j_%t.err"] })),
        ],
        &[
            "CPUS_ON_NODE=4",
            "JOB_CPUS_PER_NODE=4",
            "CPUS_PER_TASK=4",
            "MEM_PER_CPU=4096",
            "ARRAY_TASK_COUNT=48",
            "ARRAY_TASK_MIN=1",
            "ARRAY_TASK_MAX=48",
            "ARRAY_TASK_STEP=1",
        ],
    );
    assert_eq!(told(&script("samples_array.sh", &[])), expected);
}

#[test]
fn an_mpi_program_on_one_node() {
    let read = script("mpi_solver.sh", &[]);
    let expected = but(
        plain("cavity", "mpi_solver.sh"),
        &[
            ("/job/work", json!(2_700.0)),
            ("/job/alternative/0", json!({ "cores": 16, "memory": 32_000_u64 << 20 })),
            ("/time_limit", json!(2_700_000_000_u64)),
            ("/directory", json!("/scratch/cavity")),
            ("/arguments/0", json!("/bin/sh")),
        ],
        &[
            "CPUS_ON_NODE=16",
            "JOB_CPUS_PER_NODE=16",
            "NTASKS=16",
            "NPROCS=16",
            "TASKS_PER_NODE=16",
            "NTASKS_PER_NODE=16",
            "MEM_PER_CPU=2000",
        ],
    );
    let notes: Vec<_> = read.notes.iter().map(|note| (note.line, &*note.field)).collect();
    assert_eq!(notes, [(11, "srun")]);
    assert_eq!(told(&read), expected);
    let environment = &read.jobs[0].environment;
    let has = |variable: &str| environment.iter().any(|one| one == variable);
    assert!(has("OMP_PROC_BIND=close") && has("COLOUR=green") && !has("MOTLEY_JOB_ID=98"));
}

#[test]
fn a_chain_of_dependencies() {
    let after = json!([["1201", "done"], ["1202", "done"], ["cleanup", "any"]]);
    let expected = but(
        plain("join results", "dependency_chain.sh"),
        &[
            ("/job/priority", json!(50)),
            ("/job/work", json!(1_200.0)),
            ("/time_limit", json!(1_200_000_000)),
            ("/after", after),
        ],
        &[],
    );
    assert_eq!(told(&script("dependency_chain.sh", &[])), expected);
}

#[test]
fn a_login_shell_that_activates_conda_without_the_environment() {
    let read = script("conda_activation.sh", &[]);
    let expected = but(
        plain("annotate", "conda_activation.sh"),
        &[
            ("/job/alternative/0", json!({ "cores": 2, "memory": 6_000_u64 << 20 })),
            ("/output", json!({ "files": ["/dev/null", null] })),
            ("/restart/requeue", json!(false)),
            ("/arguments", json!(["/bin/bash", "-l", "-c", "(text)", "conda_activation.sh"])),
        ],
        &["CPUS_ON_NODE=2", "JOB_CPUS_PER_NODE=2", "CPUS_PER_TASK=2", "MEM_PER_NODE=6000"],
    );
    assert_eq!(told(&read), expected);
    let environment = &read.jobs[0].environment;
    let others: Vec<_> = environment.iter().filter(|it| !it.starts_with("SLURM_")).collect();
    assert_eq!(others, ["HOME=/ann", "PATH=/bin", "USER=ann"]);
}

#[test]
fn a_program_in_r() {
    let read = script("bootstrap.R", &["500"]);
    let expected = but(
        plain("bootstrap", "bootstrap.R"),
        &[
            ("/job/work", json!(108_000.0)),
            ("/job/alternative/0", json!({ "cores": 1, "memory": 3 * GIB })),
            ("/time_limit", json!(DAY + DAY / 4)),
            ("/output", json!({ "files": ["slurm-%j.out", "err-%j.txt"] })),
            ("/arguments", json!(["/bin/sh", "-c", "(text)", "bootstrap.R", "500"])),
        ],
        &["MEM_PER_NODE=3072"],
    );
    assert_eq!(told(&read), expected);
    let text = &read.jobs[0].arguments[2];
    assert!(text.contains("exec '/usr/bin/env' 'Rscript' /dev/fd/3 \"$@\" 3<<"), "{text}");
}

#[test]
fn a_sweep_over_a_list_gets_its_numbers_as_entries() {
    let read = script("parameter_sweep.sh", &[]);
    let expected = but(
        plain("sweep", "parameter_sweep.sh"),
        &[
            ("/job/tasks", json!(5)),
            ("/job/alternative/0/cores", json!(2)),
            ("/entries", json!(["0", "7", "8", "20", "40"])),
        ],
        &[
            "CPUS_ON_NODE=2",
            "JOB_CPUS_PER_NODE=2",
            "NTASKS=2",
            "NPROCS=2",
            "TASKS_PER_NODE=2",
            "ARRAY_TASK_COUNT=5",
            "ARRAY_TASK_MIN=0",
            "ARRAY_TASK_MAX=40",
            "ARRAY_TASK_STEP=7",
        ],
    );
    assert_eq!(told(&read), expected);
    let text = &read.jobs[0].arguments[2];
    assert!(text.contains("SLURM_ARRAY_TASK_ID=\"$MOTLEY_ENTRY\""), "{text}");
}

#[test]
fn a_notebook_that_is_held() {
    let expected = but(
        plain("notebook", "jupyter.sh"),
        &[
            (
                "/job/alternative/0",
                json!({
                    "cores": 6,
                    "memory": 24 * GIB,
                    "device": { "kind": "gpu", "count": 1 },
                }),
            ),
            ("/job/work", json!(28_800.0)),
            ("/time_limit", json!(DAY / 3)),
            ("/held", json!(true)),
            ("/output", json!({ "files": ["ann-node7-%j.log", null] })),
        ],
        &["CPUS_ON_NODE=6", "JOB_CPUS_PER_NODE=6", "MEM_PER_GPU=24576", "GPUS_ON_NODE=1"],
    );
    assert_eq!(told(&script("jupyter.sh", &[])), expected);
}

#[test]
fn a_run_that_goes_on_from_its_checkpoint() {
    let read = script("checkpoint.sh", &[]);
    let expected = but(
        plain("climate", "checkpoint.sh"),
        &[
            ("/job/alternative/0/cores", json!(16)),
            ("/output", json!({ "files": ["climate-%j.0.out", null] })),
        ],
        &["CPUS_ON_NODE=16", "JOB_CPUS_PER_NODE=16", "CPUS_PER_TASK=16"],
    );
    assert_eq!(told(&read), expected);
    let text = &read.jobs[0].arguments[2];
    assert!(text.contains("SLURM_RESTART_COUNT=\"$MOTLEY_ATTEMPT\""), "{text}");
    assert_eq!(text.lines().nth(6), Some("if [ \"${SLURM_RESTART_COUNT:-0}\" -gt 0 ]; then"));
}

#[test]
fn a_program_in_python() {
    let expected = but(
        plain("infer", "inference.py"),
        &[
            (
                "/job/alternative/0",
                json!({ "cores": 1, "device": { "kind": "gpu", "count": 1, "models": ["v100"] } }),
            ),
            ("/arguments", json!(["/bin/sh", "-c", "(text)", "inference.py", "a"])),
        ],
        &["GPUS_ON_NODE=1"],
    );
    assert_eq!(told(&script("inference.py", &["a"])), expected);
}

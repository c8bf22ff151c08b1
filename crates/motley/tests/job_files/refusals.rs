//! What a script may not ask for: named with its line and the nearest thing there is.

use std::path::Path;

use motley::job_file;
use serde_json::{Value, json};

use crate::{around, read};

fn faults(name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/job_files/scripts");
    let read = job_file::open(&folder.join(name), &[], &around()).unwrap();
    read.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_site_is_used_to_is_refused_by_name_with_the_nearest_thing() {
    const HARDWARE: &str = "name the hardware that it stands for: --gres=gpu:MODEL:N here, or \
                            `labels` in a job file";
    const MAIL: &str = "no mail is sent; `motley job wait JOB` returns when a job has ended";
    assert_eq!(
        faults("site_habits.sh"),
        [
            &format!("2: `--partition`: is not supported: {HARDWARE}"),
            &format!("3: `--constraint`: is not supported: {HARDWARE}"),
            "3: `-q`: is not supported: use --priority, or --account for who is charged",
            "4: `--nodes`: asks for 4 nodes, and a script runs on one: here are no `srun` and no \
             allocation over several; for one program on several nodes use a job file with `tasks \
             = 4` and `gang = true`",
            &format!("5: `--mail-type`: is not supported: {MAIL}"),
            &format!("6: `--mail-user`: is not supported: {MAIL}"),
            "7: `--exclusive`: is not supported: nobody else is given its cores and devices; ask \
             for all that it uses with --cpus-per-task and --gres",
            "8: `--mem`: is 0, all memory of a node, which is not supported: say how much",
            "9: `--array`: lets 8 of 200 tasks run at a time, which is not supported: as many run \
             as there is room for; leave %8 out",
            "10: `--open-mode`: is append, which is not supported: files are begun anew; put %j \
             into their names",
            "10: `--signal`: is not supported: a task that is stopped gets SIGTERM, and some \
             seconds later SIGKILL; trap it in the script",
            "11: `-w`: is not supported: `labels` in a job file say which nodes will do",
            "12: `--begin`: is not supported: a job begins when there is room; --hold keeps it \
             until `motley job release`",
        ]
    );
}

#[test]
fn slips_are_named() {
    assert_eq!(
        faults("slips.sh"),
        [
            "2: `--cpu-per-task`: is no option of sbatch that is known here; did you mean \
             --cpus-per-task?",
            "3: `-t`: is \"tomorrow\"; write minutes, or it like 30:00, 12:30:00 or 2-12:00:00",
            "4: `--mem`: is \"lots\"; write it like 4000 (megabytes), 16G or 16GB",
            "5: `-n`: is \"zero\"; write a whole number from 1",
            "6: `-o`: has %a in it, and there is no --array",
            "7: `--dependency`: lets any of several do, which is not supported: all must; use \
             commas",
            "10: `#SBATCH`: has a quote that is not closed",
            "11: `4`: is no option; a value with spaces is written in quotes",
            "12: `--hold`: takes no value",
            "13: `--chdir`: needs a value",
            "14: `--gres`: asks for shards; ask for a part of a GPU in a job file: device = { kind \
             = \"gpu\", share = 0.5 }",
            "15: `--array`: is \"5-1\"; write it like 0-9, 1,3,7 or 1-9:2",
            "16: `--export`: pass on the variable \"NOT_SET\": it is not set; write NAME=VALUE",
            "17: `-Z`: is no option of sbatch that is known here",
        ]
    );
}

/// The faults of a script with this directive in line 2.
fn refused(directive: &str) -> Vec<String> {
    let read = read("job.sh", &format!("#!/bin/sh\n#SBATCH {directive}\ntrue\n"));
    read.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn values_that_mean_nothing_here_are_refused() {
    for (directive, expected) in [
        ("--gres=gpu:1 --gpus=2", "`--gpus`: asks for other GPUs than --gres"),
        ("--gres=gpu:a100:1,gpu:v100:1", "`--gres`: names several things"),
        ("--gres=tmp:20G", "`--gres`: asks for \"tmp\"; only gpu is known here"),
        ("--gpus=a100", "`--gpus`: is \"a100\"; write it like 2 or a100:2"),
        ("--mem=1G --mem-per-cpu=1G", "`--mem-per-cpu`: stands beside --mem; give one"),
        ("--mem-per-gpu=1G", "`--mem-per-gpu`: goes with --gpus"),
        ("--cpus-per-gpu=2", "`--cpus-per-gpu`: goes with --gpus"),
        ("--gpus=1 -c 2 --cpus-per-gpu=2", "`--cpus-per-gpu`: stands beside --cpus-per-task"),
        ("-n 8 --ntasks-per-node=4", "`--ntasks-per-node`: leaves room for 4 of the 8 tasks"),
        ("-a 1,3 -o %a", "`-o`: has %a in it, and with a list or a step in --array"),
        ("-a 1-9 -o %3a", "`-o`: has %3 in it, which is not supported"),
        ("-o 'a\\b'", "`-o`: has a backslash"),
        ("--array=0-4000000:2", "`--array`: a list or a step goes up to 1000000 tasks"),
        ("-d after:3", "`-d`: waits for a start, which is not supported"),
        ("-d aftercorr:3", "`-d`: waits task by task"),
        ("-d singleton", "`-d`: waits for jobs of its name"),
        ("-d afterok", "`-d`: has \"afterok\", which names no job"),
        ("-d expand:3", "`-d`: has \"expand:3\"; write it like afterok:12"),
        ("-t 1-1-1", "`-t`: is \"1-1-1\""),
        ("-t 99999999999999999999", "`-t`: is"),
        ("--mem=99999999999999999T", "`--mem`: is"),
        ("--priority=TOP", "`--priority`: is \"TOP\"; write a whole number"),
        ("--open-mode=w", "`--open-mode`: is \"w\"; write truncate"),
        ("-J ' '", "`-J`: needs a value"),
    ] {
        let found = refused(directive);
        let expected = format!("2: {expected}");
        assert!(matches!(&found[..], [one] if one.starts_with(&expected)), "{found:#?}");
    }
}

#[test]
fn a_script_that_cannot_be_kept_is_refused() {
    let long = format!("#!/bin/sh\n{}", "x\n".repeat(50 << 10));
    assert!(read("a.sh", &long).faults[0].text.contains("more than 98304 bytes"));
    let dos = read("a.sh", "#!/bin/sh\r\ntrue\r\n");
    assert!(dos.faults[0].text.contains("carriage returns"));
    let huge = read("a.sh", "#!/bin/sh\n#SBATCH -c 2000000\n");
    let expected = "1: `alternative[0].cores`: is 2000000; give at most 1000000 cores";
    assert_eq!(huge.faults[0].to_string(), expected);
}

#[test]
fn what_comes_after_the_first_command_does_not_count_and_is_said() {
    let text = "#!/bin/sh\n\n# first\n#SBATCH -c 2\ntrue\n#SBATCH -c 3\n#SBATCHX\n";
    let read = read("a.sh", text);
    assert_eq!(read.jobs[0].job["alternative"][0]["cores"], 2);
    let notes: Vec<_> = read.notes.iter().map(ToString::to_string).collect();
    let expected = "comes after the first command, where sbatch does not read it";
    assert_eq!(notes, [format!("6: `#SBATCH`: {expected}")]);
}

#[test]
fn every_directive_changes_what_is_submitted() {
    let told = |directives: &str| -> Value {
        let read = read("job.sh", &format!("#!/bin/sh\n#SBATCH {directives}\ntrue\n"));
        assert_eq!(read.faults, [], "{directives}");
        json!(read.jobs[0])
    };
    let gpus = |count: u64| json!({ "kind": "gpu", "count": count });
    for (before, directive, place, expected) in [
        ("-H", "-A lab", "/job/tenant", json!("lab")),
        ("-H", "-a 3", "/first", json!(3)),
        ("-H", "-D /tmp", "/directory", json!("/tmp")),
        ("--gpus=2", "--cpus-per-gpu=3", "/job/alternative/0/cores", json!(6)),
        ("-n 2", "-c 3", "/job/alternative/0/cores", json!(6)),
        ("-H", "-d afternotok:4", "/after", json!([["4", "notdone"]])),
        ("-o o", "-e e", "/output/files/1", json!("e")),
        ("--export=COLOUR", "--export=A=1", "/environment/0", json!("A=1")),
        ("-n 2", "-G 4", "/job/alternative/0/device", gpus(4)),
        ("-n 2", "--gpus-per-node=4", "/job/alternative/0/device", gpus(4)),
        ("-n 2", "--gpus-per-task=4", "/job/alternative/0/device", gpus(8)),
        ("-n 2", "--gres=gpu:4", "/job/alternative/0/device", gpus(4)),
        ("-J x", "-H", "/held", json!(true)),
        ("-H", "-J name", "/job/name", json!("name")),
        ("-c 2", "--mem=1000K", "/job/alternative/0/memory", json!(1_024_000)),
        ("-c 2", "--mem-per-cpu=1", "/job/alternative/0/memory", json!(2 << 20)),
        ("-G 3", "--mem-per-gpu=1", "/job/alternative/0/memory", json!(3 << 20)),
        ("-H", "--no-requeue", "/restart/requeue", json!(false)),
        ("--no-requeue", "--requeue", "/restart/requeue", json!(true)),
        ("-N 1-4", "-n5", "/job/alternative/0/cores", json!(5)),
        ("-H", "--ntasks-per-node=5", "/job/alternative/0/cores", json!(5)),
        ("-H", "-o f-%A-%x-%n%%", "/output", json!({ "files": ["f-%j-job.sh-0%%", null] })),
        ("-H", "--priority=7", "/job/priority", json!(7)),
        ("-H", "-t 1-01:01", "/time_limit", json!(90_060_000_000_u64)),
        ("-t 5", "-t 0", "/time_limit", json!(null)),
        ("-H", "-HJ both", "/job/name", json!("both")),
    ] {
        let changed = told(&format!("{before} {directive}"));
        assert_eq!(changed.pointer(place), Some(&expected), "{before} {directive}");
        assert_ne!(told(before).pointer(place), Some(&expected), "{before}");
    }
}

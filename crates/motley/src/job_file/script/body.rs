//! How the body of a script runs: as which program, and with which variables.
//!
//! The text goes with the job, so that the file may change or go. A shell gets it
//! with `-c`; any other interpreter reads it from a descriptor. What is known
//! only once a task starts is set by the shell before anything else.

use super::super::{Around, Fault};
use super::Amounts;
use super::values::Array;

/// The longest script: it is one argument of a program, of which the system takes 128 KiB.
pub(super) const SCRIPT_BYTES_MAX: usize = 96 << 10;

/// The shells that read `-c TEXT`, in whose words the variables are set.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// Slurm's own programs, which are not there.
const COMMANDS: [&str; 6] = ["srun", "sbatch", "sbcast", "scontrol", "squeue", "scancel"];

/// The program that runs a script.
pub(super) fn program(
    text: &str,
    (file, arguments): (&str, &[String]),
    array: Option<&Array>,
) -> Vec<String> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut words = first.trim_start_matches("#!").split_whitespace().map(str::to_owned);
    let interpreter: Vec<String> = words.by_ref().collect();
    let is_shell =
        |word: &String| word.rsplit('/').next().is_some_and(|name| SHELLS.contains(&name));
    let prologue = prologue(array);
    let is_env = |word: &String| word.ends_with("/env");
    let shell = match &interpreter[..] {
        [shell, flags @ ..] if is_shell(shell) => Some((vec![shell.clone()], flags)),
        [env, shell, flags @ ..] if is_env(env) && is_shell(shell) => {
            Some((vec![env.clone(), shell.clone()], flags))
        }
        _ => None,
    };
    let mut program = match shell {
        // The variables stand where the first line was, so that the others keep their numbers.
        Some((shell, flags)) => {
            let script = format!("{prologue}\n{rest}");
            shell
                .into_iter()
                .chain(flags.iter().cloned())
                .chain(["-c".to_owned(), script])
                .collect()
        }
        None => {
            let end = end_of(text);
            let quoted: Vec<_> = interpreter.iter().map(|word| quoted(word)).collect();
            let script = format!(
                "{prologue}\nexec {} /dev/fd/3 \"$@\" 3<<'{end}'\n{text}\n{end}\n",
                quoted.join(" ")
            );
            ["/bin/sh".to_owned(), "-c".to_owned(), script].to_vec()
        }
    };
    program.push(file.to_owned());
    program.extend(arguments.iter().cloned());
    program
}

/// A line that a text does not have.
fn end_of(text: &str) -> String {
    let mut end = "MOTLEY_SCRIPT_ENDS".to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    end
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Sets what is known once a task starts. The tasks of an array have ids of their own in Slurm,
/// by which scripts name their files.
fn prologue(array: Option<&Array>) -> String {
    let index = match array {
        Some(Array::List(_)) => "$MOTLEY_ENTRY",
        _ => "$MOTLEY_TASK_INDEX",
    };
    let (id, of_array) = match array {
        Some(_) => (
            format!("${{MOTLEY_JOB_ID}}_{index}"),
            format!(" SLURM_ARRAY_JOB_ID=\"$MOTLEY_JOB_ID\" SLURM_ARRAY_TASK_ID=\"{index}\""),
        ),
        None => ("$MOTLEY_JOB_ID".to_owned(), String::new()),
    };
    format!(
        "export SLURM_JOB_ID=\"{id}\" SLURM_JOBID=\"{id}\"{of_array} SLURMD_NODENAME=\"$(uname -n)\"; \
         export SLURM_JOB_NODELIST=\"$SLURMD_NODENAME\" SLURM_NODELIST=\"$SLURMD_NODENAME\"; \
         [ \"$MOTLEY_ATTEMPT\" = 0 ] || export SLURM_RESTART_COUNT=\"$MOTLEY_ATTEMPT\""
    )
}

/// What is known of a script when it is submitted, in the variables of Slurm.
pub(super) fn variables(
    name: &str,
    (amounts, array): (&Amounts, Option<&Array>),
    around: &Around,
) -> Vec<String> {
    let mut variables = Vec::new();
    let mut set = |name: &str, value: String| variables.push(format!("SLURM_{name}={value}"));
    set("JOB_NAME", name.to_owned());
    set("SUBMIT_DIR", around.directory.display().to_string());
    set("SUBMIT_HOST", around.machine.clone());
    for variable in ["NNODES", "JOB_NUM_NODES"] {
        set(variable, "1".to_owned());
    }
    for variable in ["PROCID", "LOCALID", "NODEID"] {
        set(variable, "0".to_owned());
    }
    for variable in ["NTASKS", "NPROCS", "TASKS_PER_NODE"] {
        set(variable, amounts.tasks.to_string());
    }
    for variable in ["CPUS_ON_NODE", "JOB_CPUS_PER_NODE"] {
        set(variable, amounts.cores.to_string());
    }
    if let Some(tasks) = amounts.tasks_per_node {
        set("NTASKS_PER_NODE", tasks.to_string());
    }
    if let Some(cores) = amounts.cores_per_task {
        set("CPUS_PER_TASK", cores.to_string());
    }
    let megabytes = |bytes: u64| (bytes >> 20).to_string();
    match (amounts.memory_option, amounts.memory) {
        (Some("mem"), Some(bytes)) => set("MEM_PER_NODE", megabytes(bytes)),
        (Some("mem-per-cpu"), Some(bytes)) => {
            set("MEM_PER_CPU", megabytes(bytes / amounts.cores.max(1)));
        }
        (Some("mem-per-gpu"), Some(bytes)) => {
            let count = amounts.gpus.as_ref().map_or(1, |gpus| gpus.count.max(1));
            set("MEM_PER_GPU", megabytes(bytes / count));
        }
        _ => {}
    }
    if let Some(gpus) = &amounts.gpus {
        set("GPUS_ON_NODE", gpus.count.to_string());
    }
    if let Some(array) = array {
        let (first, last, step) = array.span();
        set("ARRAY_TASK_COUNT", array.count().to_string());
        set("ARRAY_TASK_MIN", first.to_string());
        set("ARRAY_TASK_MAX", last.to_string());
        set("ARRAY_TASK_STEP", step.to_string());
    }
    variables
}

/// The lines of a script that start what is not there.
pub(super) fn notes(text: &str) -> Vec<Fault> {
    let lines = (1..).zip(text.lines());
    let called = lines.filter_map(|(number, line)| {
        let word = line.split_whitespace().next()?;
        let text = "is a program of Slurm's, which may not be on this machine; on one node what it \
                    starts can be started without it";
        COMMANDS.contains(&word).then(|| Fault::new(number, word, text))
    });
    called.collect()
}

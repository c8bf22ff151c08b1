//! The options of sbatch that are known, and what is to be said of those that mean nothing here.

use controller::policy_file::nearest;

/// An option of sbatch.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) long: &'static str,
    short: Option<char>,
    pub(super) takes: Takes,
    /// Where it is not supported, why, or what to do.
    pub(super) refused: Option<&'static str>,
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// After `=` only.
    Perhaps,
    Value,
}

/// The option of this long name.
pub(super) fn long(name: &str) -> Result<&'static Known, String> {
    let name = match name {
        "workdir" => "chdir",
        "oversubscribe" | "share" => "oversubscribe",
        name => name,
    };
    KNOWN.iter().find(|known| known.long == name).ok_or_else(|| {
        let unknown = "is no option of sbatch that is known here";
        match nearest(name, KNOWN.iter().map(|known| known.long)) {
            Some(nearest) => format!("{unknown}; did you mean --{nearest}?"),
            None => unknown.to_owned(),
        }
    })
}

/// The option of this letter.
pub(super) fn short(letter: char) -> Result<&'static Known, String> {
    let found = KNOWN.iter().find(|known| known.short == Some(letter));
    found.ok_or_else(|| "is no option of sbatch that is known here".to_owned())
}

const fn read(long: &'static str, short: Option<char>) -> Known {
    Known { long, short, takes: Takes::Value, refused: None }
}

const fn flag(long: &'static str, short: Option<char>) -> Known {
    Known { long, short, takes: Takes::Nothing, refused: None }
}

const fn refused(
    long: &'static str,
    short: Option<char>,
    takes: Takes,
    nearest: &'static str,
) -> Known {
    Known { long, short, takes, refused: Some(nearest) }
}

const HARDWARE: &str =
    "name the hardware that it stands for: --gres=gpu:MODEL:N here, or `labels` in a job file";
const MAIL: &str = "no mail is sent; `motley job wait JOB` returns when a job has ended";
const ONE_NODE: &str = "a script runs on one node; ask for its cores with --ntasks and \
                        --cpus-per-task";
const CORES: &str = "cores are given whole and near each other; ask with --ntasks and \
                     --cpus-per-task";
const CALL: &str = "it is of the call and not of the job; leave it out";
const NOT_KEPT: &str = "there is nothing like it; leave it out";

/// What is known. What is not refused is read in `script.rs` and `amounts.rs`.
const KNOWN: &[Known] = &[
    read("account", Some('A')),
    read("array", Some('a')),
    read("chdir", Some('D')),
    read("cpus-per-gpu", None),
    read("cpus-per-task", Some('c')),
    read("dependency", Some('d')),
    read("error", Some('e')),
    read("export", None),
    read("gpus", Some('G')),
    read("gpus-per-node", None),
    read("gpus-per-task", None),
    read("gres", None),
    flag("hold", Some('H')),
    read("job-name", Some('J')),
    read("mem", None),
    read("mem-per-cpu", None),
    read("mem-per-gpu", None),
    flag("no-requeue", None),
    read("nodes", Some('N')),
    read("ntasks", Some('n')),
    read("ntasks-per-node", None),
    read("open-mode", None),
    read("output", Some('o')),
    read("priority", None),
    flag("requeue", None),
    read("time", Some('t')),
    refused("acctg-freq", None, Takes::Value, "use is looked at every five seconds; leave it out"),
    refused("batch", None, Takes::Value, HARDWARE),
    refused("bb", None, Takes::Value, "list what is read as `inputs` in a job file"),
    refused(
        "begin",
        Some('b'),
        Takes::Value,
        "a job begins when there is room; --hold keeps it \
             until `motley job release`",
    ),
    refused("cluster-constraint", None, Takes::Value, HARDWARE),
    refused(
        "clusters",
        Some('M'),
        Takes::Value,
        "there is one daemon; `motley submit --directory \
             DIR` chooses another",
    ),
    refused("comment", None, Takes::Value, "put it into the --job-name"),
    refused("constraint", Some('C'), Takes::Value, HARDWARE),
    refused("contiguous", None, Takes::Nothing, ONE_NODE),
    refused("core-spec", Some('S'), Takes::Value, CORES),
    refused("cores-per-socket", None, Takes::Value, CORES),
    refused("cpu-freq", None, Takes::Value, "clocks are not changed; leave it out"),
    refused(
        "deadline",
        None,
        Takes::Value,
        "`deadline` in a job file says when it should have \
             ended, from its submission on",
    ),
    refused("delay-boot", None, Takes::Value, NOT_KEPT),
    refused("distribution", Some('m'), Takes::Value, CORES),
    refused("exclude", Some('x'), Takes::Value, "`labels` in a job file say which nodes will do"),
    refused(
        "exclusive",
        None,
        Takes::Perhaps,
        "nobody else is given its cores and devices; ask \
             for all that it uses with --cpus-per-task and --gres",
    ),
    refused("export-file", None, Takes::Value, "use --export=NAME=VALUE"),
    refused("extra", None, Takes::Value, "put it into the --job-name"),
    refused("extra-node-info", Some('B'), Takes::Value, CORES),
    refused("get-user-env", None, Takes::Perhaps, "your environment is passed on; see --export"),
    refused("gid", None, Takes::Value, "a job runs as whoever submits it"),
    refused("gpu-bind", None, Takes::Value, "a script is given its GPUs, and binds its own tasks"),
    refused("gpu-freq", None, Takes::Value, "clocks are not changed; leave it out"),
    refused("gpus-per-socket", None, Takes::Value, "use --gpus-per-node"),
    refused("gres-flags", None, Takes::Value, "cores are chosen near the devices; leave it out"),
    refused("hint", None, Takes::Value, CORES),
    refused("ignore-pbs", None, Takes::Nothing, "#PBS lines are not read; leave it out"),
    refused(
        "input",
        Some('i'),
        Takes::Value,
        "a task reads an empty standard input; write \
             `program < FILE` in the script",
    ),
    refused(
        "kill-on-invalid-dep",
        None,
        Takes::Value,
        "a job that can never begin is cancelled; \
             leave it out",
    ),
    refused("licenses", Some('L'), Takes::Value, NOT_KEPT),
    refused("mail-type", None, Takes::Value, MAIL),
    refused("mail-user", None, Takes::Value, MAIL),
    refused("mcs-label", None, Takes::Value, NOT_KEPT),
    refused(
        "mem-bind",
        None,
        Takes::Value,
        "memory is taken near the cores; `numa = \"single\"` \
             in a job file keeps all in one domain",
    ),
    refused("mincpus", None, Takes::Value, ONE_NODE),
    refused("network", None, Takes::Value, NOT_KEPT),
    refused(
        "nice",
        None,
        Takes::Perhaps,
        "use --priority=N: larger goes first where the policy \
             orders by it",
    ),
    refused("no-kill", Some('k'), Takes::Perhaps, ONE_NODE),
    refused("nodefile", Some('F'), Takes::Value, "`labels` in a job file say which nodes will do"),
    refused("nodelist", Some('w'), Takes::Value, "`labels` in a job file say which nodes will do"),
    refused("ntasks-per-core", None, Takes::Value, CORES),
    refused("ntasks-per-gpu", None, Takes::Value, "use --ntasks and --gpus"),
    refused("ntasks-per-socket", None, Takes::Value, CORES),
    refused(
        "overcommit",
        Some('O'),
        Takes::Nothing,
        "ask for less with --cpus-per-task, or for a \
             part of a core with `cores` in a job file",
    ),
    refused(
        "oversubscribe",
        Some('s'),
        Takes::Nothing,
        "ask for a part of a core or of a GPU in \
             a job file: `cores = 0.5`, `share = 0.5`",
    ),
    refused("parsable", None, Takes::Nothing, CALL),
    refused("partition", Some('p'), Takes::Value, HARDWARE),
    refused("power", None, Takes::Value, NOT_KEPT),
    refused(
        "prefer",
        None,
        Takes::Value,
        "`alternative` in a job file names several kinds of \
             hardware, the most wanted first",
    ),
    refused("profile", None, Takes::Value, "`motley job show` says what a job used"),
    refused("propagate", None, Takes::Perhaps, "use `ulimit` in the script"),
    refused("qos", Some('q'), Takes::Value, "use --priority, or --account for who is charged"),
    refused("quiet", Some('Q'), Takes::Nothing, CALL),
    refused("reboot", None, Takes::Nothing, NOT_KEPT),
    refused(
        "reservation",
        None,
        Takes::Value,
        "nothing is reserved for some jobs only; use \
             --priority",
    ),
    refused(
        "signal",
        None,
        Takes::Value,
        "a task that is stopped gets SIGTERM, and some seconds \
             later SIGKILL; trap it in the script",
    ),
    refused("sockets-per-node", None, Takes::Value, CORES),
    refused("spread-job", None, Takes::Nothing, ONE_NODE),
    refused("switches", None, Takes::Value, ONE_NODE),
    refused("test-only", None, Takes::Nothing, "use `motley job check` or `motley submit --plan`"),
    refused("thread-spec", None, Takes::Value, CORES),
    refused("threads-per-core", None, Takes::Value, CORES),
    refused("time-min", None, Takes::Value, "use --time alone"),
    refused("tmp", None, Takes::Value, "disks are not counted; leave it out"),
    refused("tres-per-task", None, Takes::Value, "use --cpus-per-task and --gpus-per-task"),
    refused("uid", None, Takes::Value, "a job runs as whoever submits it"),
    refused("use-min-nodes", None, Takes::Nothing, ONE_NODE),
    refused("verbose", Some('v'), Takes::Nothing, CALL),
    refused("wait", Some('W'), Takes::Nothing, "use `motley job wait JOB`"),
    refused("wait-all-nodes", None, Takes::Value, ONE_NODE),
    refused("wckey", None, Takes::Value, "use --account for who is charged"),
    refused("wrap", None, Takes::Value, "it is of the call; use `motley submit -- COMMAND`"),
];

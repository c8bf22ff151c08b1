//! One machine for one test: a body, its keeper, and what they told.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use body_local::wire::{Contain, Rules};
use body_local::{Core, LocalBody, Machine, Settings, Visibility};
use fleet::{
    Action, Attempt, Body, Bytes, ClassId, Classes, DeviceClass, DeviceKind, Generation, Grant,
    Job, JobId, MilliCores, Node, NodeId, Observation, Order, Outcome, Output, Placement, Program,
    Rate, Receipt, RunId, RunSight, RunState, Span, StopCause, TaskIndex, Tenant, Time, Usage,
    User,
};
use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes, however loaded the machine is.
const BOUND: Duration = Duration::from_secs(120);

pub(crate) struct Place {
    pub(crate) body: LocalBody,
    pub(crate) settings: Settings,
    pub(crate) sights: Vec<RunSight>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) generation: u64,
    pub(crate) folder: tempfile::TempDir,
}

/// A place of four cores, all of which are the cpus that this test may use.
pub(crate) fn place() -> Place {
    place_with(|_| ())
}

/// The same, where tasks are contained so.
pub(crate) fn contained(contain: Contain) -> Place {
    place_with(|settings| settings.rules.contain = contain)
}

pub(crate) fn place_with(change: impl FnOnce(&mut Settings)) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings {
        directory: folder.path().join("keeper"),
        keeper: vec![env!("CARGO_BIN_EXE_motley-keeper").into()],
        machine: machine(),
        term: 1,
        newest: Generation(0),
        rules: Rules { grace_millis: 200, ..Rules::default() },
        look_every: Span::seconds(3_600),
    };
    change(&mut settings);
    let body = LocalBody::open(settings.clone()).unwrap();
    let (sights, receipts) = Default::default();
    Place { body, settings, sights, receipts, generation: 1, folder }
}

pub(crate) fn machine() -> Machine {
    let cpus = own_cpus();
    let core = |index: usize| Core { cpus: vec![cpus[index % cpus.len()]], domain: None };
    let class =
        |kind, model: &str| DeviceClass { kind, model: model.to_owned(), ..classes_of_nothing() };
    let classes = vec![class(DeviceKind::Cpu, "cpu"), class(DeviceKind::Gpu, "gpu")];
    let node = Node {
        id: NodeId(0),
        name: "here".to_owned(),
        cpu: ClassId(0),
        cores: MilliCores(4_000),
        memory: Bytes(8 << 30),
        devices: vec![ClassId(1); 2],
        labels: BTreeMap::new(),
        power: Default::default(),
        socket: MilliCores(0),
        network: Default::default(),
        topology: None,
        attachment: None,
    };
    let device = |value: &str| Visibility {
        variable: "CUDA_VISIBLE_DEVICES".to_owned(),
        value: value.to_owned(),
    };
    Machine {
        node: Arc::new(node),
        classes: Arc::new(Classes(classes)),
        cores: (0..4).map(core).collect(),
        memory_nodes: Vec::new(),
        devices: vec![device("3"), device("GPU-7")],
    }
}

/// The cpus that this process may run on.
pub(crate) fn own_cpus() -> Vec<u32> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        first.parse::<u32>().unwrap()..=last.parse().unwrap()
    };
    list.trim().split(',').flat_map(range).collect()
}

/// A program of the shell.
pub(crate) fn shell(text: &str) -> Program {
    Program {
        arguments: ["sh", "-c", text].map(str::to_owned).to_vec(),
        directory: "/".to_owned(),
        environment: Arc::new(vec!["PATH=/usr/bin:/bin".to_owned()]),
        output: Output::Discarded,
        time_limit: None,
        first: 0,
        entries: Arc::default(),
        user: User {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        },
    }
}

pub(crate) fn run(job: u64) -> RunId {
    RunId { job: JobId(job), task: TaskIndex(0), attempt: Attempt(0) }
}

/// One core and nothing else.
pub(crate) fn one_core() -> Grant {
    Grant { cores: MilliCores(1_000), ..Grant::default() }
}

fn job(run: RunId, program: Program) -> Arc<Job> {
    Arc::new(Job {
        id: run.job,
        name: String::new(),
        tenant: Tenant::new("somebody"),
        priority: 0,
        arrival: Time(0),
        tasks: 1_000,
        gang: None,
        work: None,
        deadline: None,
        alternatives: Arc::new(Vec::new()),
        datasets: None,
        program: Some(Arc::new(program)),
        restart: Default::default(),
        after: Vec::new(),
    })
}

impl Place {
    pub(crate) fn order_start(&self, run: RunId, program: Program, grant: Grant) -> Order {
        let placement = Placement {
            run,
            alternative: 0,
            node: NodeId(0),
            class: ClassId(0),
            grant,
            rate: Rate(1_000_000),
            duration: None,
        };
        let action = Action::Start { job: job(run, program), placement };
        Order { run, generation: Generation(self.generation), action }
    }

    pub(crate) fn start(&mut self, run: RunId, program: Program) {
        self.start_with(run, program, Grant::default());
    }

    pub(crate) fn start_with(&mut self, run: RunId, program: Program, grant: Grant) {
        let order = self.order_start(run, program, grant);
        self.body.carry_out(&[order]).unwrap();
    }

    pub(crate) fn stop(&mut self, run: RunId) {
        let action = Action::Stop(StopCause::Cancelled);
        let order = Order { run, generation: Generation(self.generation), action };
        self.body.carry_out(&[order]).unwrap();
    }

    /// Observes once, and keeps what was told.
    pub(crate) fn look(&mut self) -> Observation {
        let seen = self.body.observe().unwrap();
        self.sights.extend(seen.runs.iter().cloned());
        self.receipts.extend(seen.receipts.iter().cloned());
        seen
    }

    /// Waits until something is so.
    #[track_caller]
    pub(crate) fn wait_until<T>(&mut self, found: impl Fn(&Self) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            assert!(began.elapsed() < BOUND, "{:?} {:?}", self.sights, self.receipts);
            self.body.wait(Some(Time(now().0 + 100_000))).unwrap();
            self.look();
        }
    }

    /// How a run ended.
    #[track_caller]
    pub(crate) fn end_of(&mut self, run: RunId) -> RunState {
        let is_end =
            |sight: &&RunSight| sight.run == run && !matches!(sight.state, RunState::Running(_));
        self.wait_until(|place| place.sights.iter().find(is_end).map(|sight| sight.state))
    }

    /// What a run that has ended used.
    pub(crate) fn usage_of(&self, run: RunId) -> Usage {
        self.sights.iter().rfind(|sight| sight.run == run).unwrap().usage
    }

    #[track_caller]
    pub(crate) fn has_started(&mut self, run: RunId) {
        let is_it =
            |sight: &&RunSight| sight.run == run && matches!(sight.state, RunState::Running(_));
        self.wait_until(|place| place.sights.iter().find(is_it).map(drop));
    }

    /// What came of the latest order about a run.
    #[track_caller]
    pub(crate) fn outcome_of(&mut self, run: RunId) -> Outcome {
        self.wait_until(|place| {
            let about = |receipt: &&Receipt| receipt.run == run;
            place.receipts.iter().rfind(about).map(|receipt| receipt.outcome)
        })
    }

    /// Waits for a file with something in it.
    #[track_caller]
    pub(crate) fn text_of(&mut self, name: &str) -> String {
        let path = self.file(name);
        self.wait_until(|_| fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n')))
    }

    /// A file of the test's own folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets go of the body, as when its process is killed, and takes another.
    pub(crate) fn reopen(&mut self) {
        self.settings.term += 1;
        self.settings.newest = Generation(self.generation);
        self.body = LocalBody::open(self.settings.clone()).unwrap();
        self.sights.clear();
        self.receipts.clear();
    }

    pub(crate) fn connect(&self) -> UnixStream {
        UnixStream::connect(self.settings.directory.join("keeper.sock")).unwrap()
    }

    pub(crate) fn keeper(&self) -> Pid {
        rustix::net::sockopt::socket_peercred(self.connect()).unwrap().pid
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let path = self.settings.directory.join("keeper.sock");
        let Ok(stream) = UnixStream::connect(path) else { return };
        let Ok(peer) = rustix::net::sockopt::socket_peercred(&stream) else { return };
        // It ends its tasks, closes the connection, and is gone before the folder is.
        let _ = kill_process(peer.pid, Signal::TERM);
        let _ = stream.set_read_timeout(Some(BOUND));
        let _ = (&stream).read(&mut [0]);
    }
}

pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time(u64::try_from(since.as_micros()).unwrap())
}

/// Whether a process is there, and has not ended.
pub(crate) fn is_alive(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat[stat.rfind(')').unwrap()..].starts_with(") Z"))
}

/// Waits until a process is gone.
#[track_caller]
pub(crate) fn wait_until_gone(pid: i32) {
    let began = Instant::now();
    while is_alive(pid) {
        assert!(began.elapsed() < BOUND, "process {pid} lives on");
        std::thread::yield_now();
    }
}

fn classes_of_nothing() -> DeviceClass {
    DeviceClass {
        kind: DeviceKind::Cpu,
        model: String::new(),
        memory: Bytes(0),
        compute_units: 0,
        capabilities: Default::default(),
        share: fleet::ShareRule::Exclusive,
        profiles: Vec::new(),
        power: Default::default(),
    }
}

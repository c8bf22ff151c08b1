//! What a start costs: the cpu time of 2,000 `true` tasks, the keeper's and the body's own with it,
//! beside that of as many processes started and waited for by this one.
//!
//! `cargo run --release -p body-local --example starts [COUNT]`

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use body_local::wire::{Contain, Rules};
use body_local::{Core, LocalBody, Machine, Settings};
use fleet::{
    Action, Attempt, Body, Bytes, ClassId, Classes, DeviceClass, DeviceKind, Generation, Grant,
    Job, JobId, MilliCores, Node, NodeId, Order, Output, Placement, Program, Rate, RunId, RunState,
    ShareRule, Span, TaskIndex, Tenant, Time, User,
};

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("--directory") {
        let directory = std::env::args_os().nth(2).ok_or("no directory")?.into();
        return Ok(body_local::keeper::run(&body_local::keeper::KeeperSettings { directory })?);
    }
    let count: u32 = std::env::args().nth(1).map_or(Ok(2_000), |text| text.parse())?;
    println!("{:<40} {:>12} {:>12} {:>10}", "", "cpu ms/task", "keeper's", "tasks/s");
    floor(count)?;
    let all = Grant { memory: Bytes(64 << 20), ..one_core() };
    for (name, output, contain, grant) in [
        ("bare: no group, no output", Output::Discarded, Contain::Never, Grant::default()),
        ("a group", Output::Discarded, Contain::Always, Grant::default()),
        ("output kept", Output::Kept, Contain::Never, Grant::default()),
        ("group, output, pinned, memory limit", Output::Kept, Contain::Always, all),
    ] {
        measure(name, count, &(output, contain, grant))?;
    }
    Ok(())
}

/// Cpu time of this process and of what it has waited for, in seconds.
fn own_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    cpu_of(&stat, &[13, 14, 15, 16])
}

fn cpu_of(stat: &str, fields: &[usize]) -> f64 {
    let after = stat.rfind(')').map_or("", |at| &stat[at + 1..]);
    let values: Vec<f64> = after.split_whitespace().map(|one| one.parse().unwrap_or(0.0)).collect();
    fields.iter().filter_map(|field| values.get(field - 2)).sum::<f64>() / 100.0
}

fn floor(count: u32) -> Result<(), Box<dyn Error>> {
    let (began, cpu) = (Instant::now(), own_cpu());
    for _ in 0..count {
        let mut command = Command::new("/bin/true");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    }
    let (cpu, wall) = (own_cpu() - cpu, began.elapsed().as_secs_f64());
    say("started by this process", (cpu, cpu), wall, count);
    Ok(())
}

fn say(name: &str, (cpu, own): (f64, f64), wall: f64, count: u32) {
    let each = f64::from(count);
    let (cpu, own, rate) = (cpu / each * 1e3, own / each * 1e3, each / wall);
    println!("{name:<40} {cpu:>12.3} {own:>12.3} {rate:>10.0}");
}

fn measure(
    name: &str,
    count: u32,
    (output, contain, grant): &(Output, Contain, Grant),
) -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("starts-{}", std::process::id()));
    let mut body = LocalBody::open(settings(&directory, *contain)?)?;
    body.observe()?;
    let keeper = keeper_of(&directory)?;
    let keeper_cpu = || -> Result<(f64, f64), Box<dyn Error>> {
        let stat = fs::read_to_string(format!("/proc/{keeper}/stat"))?;
        Ok((cpu_of(&stat, &[13, 14, 15, 16]), cpu_of(&stat, &[13, 14])))
    };
    let job = job(output);
    let (began, own, before) = (Instant::now(), own_cpu(), keeper_cpu()?);
    let (mut started, mut ended) = (0, 0);
    while ended < count {
        let mut orders = Vec::new();
        while started < count && started - ended < 2 {
            orders.push(order(&job, started, grant));
            started += 1;
        }
        body.carry_out(&orders)?;
        body.wait(None)?;
        for sight in body.observe()?.runs {
            match sight.state {
                RunState::Running(_) => {}
                RunState::Done(_) => ended += 1,
                other => return Err(format!("{} ended: {other:?}", sight.run).into()),
            }
        }
        body.acknowledge()?;
    }
    let (wall, after) = (began.elapsed().as_secs_f64(), keeper_cpu()?);
    let cpu = own_cpu() - own + after.0 - before.0;
    say(name, (cpu, after.1 - before.1), wall, count);
    drop(body);
    rustix::process::kill_process(keeper_pid(keeper)?, rustix::process::Signal::TERM)?;
    while Path::new(&format!("/proc/{keeper}/exe")).exists() {
        std::thread::yield_now();
    }
    Ok(fs::remove_dir_all(directory)?)
}

fn keeper_pid(keeper: i32) -> Result<rustix::process::Pid, Box<dyn Error>> {
    Ok(rustix::process::Pid::from_raw(keeper).ok_or("no keeper")?)
}

fn keeper_of(directory: &Path) -> Result<i32, Box<dyn Error>> {
    let stream = std::os::unix::net::UnixStream::connect(directory.join("keeper.sock"))?;
    Ok(rustix::net::sockopt::socket_peercred(&stream)?.pid.as_raw_nonzero().get())
}

fn settings(directory: &Path, contain: Contain) -> Result<Settings, Box<dyn Error>> {
    let class = DeviceClass {
        kind: DeviceKind::Cpu,
        model: "cpu".to_owned(),
        memory: Bytes(0),
        compute_units: 0,
        capabilities: Default::default(),
        share: ShareRule::Exclusive,
        profiles: Vec::new(),
        power: Default::default(),
    };
    let node = Node {
        id: NodeId(0),
        name: "here".to_owned(),
        cpu: ClassId(0),
        cores: MilliCores(2_000),
        memory: Bytes(8 << 30),
        devices: Vec::new(),
        labels: BTreeMap::new(),
        power: Default::default(),
        socket: MilliCores(0),
        network: Default::default(),
        topology: None,
        attachment: None,
    };
    let core = |cpu| Core { cpus: vec![cpu], domain: None };
    Ok(Settings {
        directory: directory.to_owned(),
        keeper: vec![std::env::current_exe()?.into()],
        machine: Machine {
            node: Arc::new(node),
            classes: Arc::new(Classes(vec![class])),
            cores: vec![core(0), core(1)],
            memory_nodes: Vec::new(),
            devices: Vec::new(),
        },
        term: 1,
        newest: Generation(0),
        rules: Rules { contain, ..Rules::default() },
        look_every: Span::seconds(3_600),
    })
}

fn one_core() -> Grant {
    Grant { cores: MilliCores(1_000), ..Grant::default() }
}

fn job(output: &Output) -> Arc<Job> {
    let program = Program {
        arguments: vec!["true".to_owned()],
        directory: "/".to_owned(),
        environment: Arc::new(vec!["PATH=/usr/bin:/bin".to_owned()]),
        output: output.clone(),
        time_limit: None,
        user: User {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        },
        first: 0,
        entries: Arc::default(),
    };
    Arc::new(Job {
        id: JobId(1),
        name: String::new(),
        tenant: Tenant::new("somebody"),
        priority: 0,
        arrival: Time(0),
        tasks: u32::MAX,
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

fn order(job: &Arc<Job>, task: u32, grant: &Grant) -> Order {
    let run = RunId { job: job.id, task: TaskIndex(task), attempt: Attempt(0) };
    let placement = Placement {
        run,
        alternative: 0,
        node: NodeId(0),
        class: ClassId(0),
        grant: grant.clone(),
        rate: Rate(1_000_000),
        duration: None,
    };
    let generation = Generation(u64::from(task) + 1);
    Order { run, generation, action: Action::Start { job: Arc::clone(job), placement } }
}

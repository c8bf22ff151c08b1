//! Starting and ending the daemon.

use std::env;
use std::fs::OpenOptions;
use std::net::ToSocketAddrs as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use body_local::keeper::{self, KeeperSettings};
use server::Listen;
use server::api::{Down as How, StatusView};

use crate::args::live::{Down, Keeper, Up};
use crate::client::Client;
use crate::daemon::{self, Model, Orders, Place};
use crate::out;

/// How long a daemon may take to begin, or to end once nothing runs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is asked meanwhile.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) fn up(args: &Up) -> anyhow::Result<()> {
    let place = Place::choose(args.at.directory.as_deref())?;
    if args.detach {
        let status = start(args, &place)?;
        let address = status.address.map_or(String::new(), |address| format!(", at {address}/"));
        return out::print(&format!(
            "motley runs in {} as process {}, under policy {}{address}\n",
            status.directory, status.pid, status.policy
        ));
    }
    let program = env::current_exe().context("find this program")?;
    daemon::run(&Orders {
        place,
        inventory: args.inventory.clone(),
        model: match &args.model {
            Some(file) => Model::Of(file.clone()),
            None if args.no_model => Model::Without,
            None => Model::AsBefore,
        },
        policy: args.policy.clone(),
        alerts: args.alerts.clone(),
        listen: listen(args)?,
        keeper: vec![program.into(), "keeper".into()],
    })
}

/// Where it is to listen beside its socket.
fn listen(args: &Up) -> anyhow::Result<Option<Listen>> {
    let Some(given) = &args.listen else {
        ensure!(!args.behind_proxy, "use --behind-proxy: it goes with --listen");
        return Ok(None);
    };
    let mut found = given.to_socket_addrs().with_context(|| {
        format!("read --listen {given:?}: write ADDRESS:PORT, like 127.0.0.1:8080")
    })?;
    let address =
        found.next().with_context(|| format!("find the address of --listen {given:?}"))?;
    Ok(Some(Listen { address, is_behind_proxy: args.behind_proxy }))
}

pub(super) fn keeper(args: &Keeper) -> anyhow::Result<()> {
    keeper::run(&KeeperSettings { directory: args.directory.clone() }).context("keep tasks")
}

/// Starts a daemon that goes on by itself, and returns once it answers.
pub(super) fn start(args: &Up, place: &Place) -> anyhow::Result<StatusView> {
    if Client::connect(place).is_ok() {
        bail!("start a daemon in {}: one runs there already", place.directory().display());
    }
    place.make()?;
    let path = place.log_file();
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    let log = log.with_context(|| format!("open {}", path.display()))?;
    let from = log.metadata().map_or(0, |found| found.len());
    let mut command = Command::new(env::current_exe().context("find this program")?);
    command.arg("up").arg("--directory").arg(place.directory());
    if let Some(file) = &args.inventory {
        command.arg("--inventory").arg(file);
    }
    if let Some(file) = &args.model {
        command.arg("--model").arg(file);
    }
    if args.no_model {
        command.arg("--no-model");
    }
    if let Some(policy) = &args.policy {
        command.arg("--policy").arg(policy);
    }
    if let Some(file) = &args.alerts {
        command.arg("--alerts").arg(file);
    }
    if let Some(address) = &args.listen {
        command.arg("--listen").arg(address);
    }
    if args.behind_proxy {
        command.arg("--behind-proxy");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).process_group(0);
    let mut child = command.spawn().context("start the daemon")?;
    let began = Instant::now();
    loop {
        if let Ok(mut client) = Client::connect(place) {
            return client.status();
        }
        if child.try_wait().context("watch the daemon")?.is_some() {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let said = text.get(usize::try_from(from).unwrap_or(0)..).unwrap_or_default().trim();
            bail!("start the daemon: {}", said.strip_prefix("error: failed to ").unwrap_or(said));
        }
        if began.elapsed() > PATIENCE {
            bail!("start the daemon: it does not answer; {} may say why", path.display());
        }
        sleep(PAUSE);
    }
}

pub(super) fn down(args: &Down) -> anyhow::Result<()> {
    let place = Place::choose(args.at.directory.as_deref())?;
    let how = match (args.now, args.leave) {
        (true, _) => How::Now,
        (_, true) => How::Leave,
        _ => How::Drain,
    };
    let mut client = Client::connect(&place)?;
    let running = client.down(how)?;
    if how == How::Drain && running > 0 {
        out::print(&format!("waiting for {running} tasks to end; --now stops them\n"))?;
    }
    let mut began = Instant::now();
    while let Ok(mut client) = Client::connect(&place) {
        let status = client.status();
        if how == How::Drain && status.is_ok_and(|status| status.running > 0) {
            began = Instant::now();
        }
        if began.elapsed() > PATIENCE {
            bail!("end the daemon: it still runs; motley status says more");
        }
        sleep(PAUSE * 10);
    }
    out::print("motley has ended\n")
}

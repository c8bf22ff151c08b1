//! What NVIDIA's own program tells of its devices.
//!
//! The driver's files do not say how much memory a device has; `nvidia-smi`
//! does. It is asked once, for a bounded time and a bounded answer. Where the
//! program is not installed there is nothing to ask, and that is no fault.

use std::env;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fleet::Bytes;

use crate::error::{ProbeError, beginning};

/// One device, as the program tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Where it is on the PCI bus, as sysfs writes it.
    pub address: String,
    /// What NVIDIA calls it.
    pub name: String,
    /// Its name in `CUDA_VISIBLE_DEVICES`.
    pub uuid: Option<String>,
    /// Its memory; none where it has none of its own.
    pub memory: Option<Bytes>,
}

const QUESTION: &str = "--query-gpu=pci.bus_id,name,uuid,memory.total";
const FORMAT: &str = "--format=csv,noheader,nounits";

/// Sixteen devices take some 1.5 kB.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// How often it is looked whether the program has ended once its answer is there.
const PAUSE: Duration = Duration::from_millis(2);

/// The program on the search path; `None` where it is not installed.
#[must_use]
pub fn find() -> Option<PathBuf> {
    find_in(&env::var_os("PATH")?)
}

/// The program in one of these folders.
#[must_use]
pub fn find_in(folders: &OsStr) -> Option<PathBuf> {
    let programs = env::split_paths(folders).filter(|folder| folder.is_absolute());
    programs.map(|folder| folder.join("nvidia-smi")).find(|program| program.is_file())
}

/// Asks the program for its devices. Without persistence mode it wakes every device first, which
/// takes seconds; `patience` of ten is enough for eight.
///
/// # Errors
/// If it cannot be started, fails, takes too long, or answers what cannot be understood.
pub fn query(program: &Path, patience: Duration) -> Result<Vec<Card>, ProbeError> {
    ask(program, QUESTION, patience, cards)
}

/// Asks the program a question, and reads its answer; `read` gives back a line that is none.
pub(crate) fn ask<T>(
    program: &Path,
    question: &str,
    patience: Duration,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, ProbeError> {
    let fault = |fault| ProbeError::Program { program: program.to_owned(), fault };
    let mut command = Command::new(program);
    command
        .args([question, FORMAT])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child =
        command.spawn().map_err(|error| fault(format!("cannot be started: {error}")))?;
    let answer = answer(&mut child, patience);
    if answer.is_err() {
        // It may have ended by itself; either way it is waited for, so that it leaves nothing.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| fault(format!("cannot be waited for: {error}")))?;
    let text = answer.map_err(fault)?;
    if !status.success() {
        return Err(fault(format!("failed ({status}) and said `{}`", beginning(&text))));
    }
    read(&text).map_err(|line| fault(format!("answered `{}`", beginning(&line))))
}

/// What the program says until it ends.
fn answer(child: &mut Child, patience: Duration) -> Result<String, String> {
    let start = Instant::now();
    let late = || format!("did not answer within {patience:?}");
    let Some(output) = child.stdout.take() else { return Err("has no output".to_owned()) };
    let (sender, receiver) = mpsc::channel();
    // The reader ends when the program does, or is ended.
    thread::spawn(move || sender.send(read_output(output)));
    let text = receiver.recv_timeout(patience).map_err(|_| late())??;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if start.elapsed() > patience {
            return Err(late());
        }
        thread::sleep(PAUSE);
    }
    Ok(text)
}

fn read_output(output: ChildStdout) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = output.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > ANSWER_BYTES_MAX {
        return Err(format!("answered more than {ANSWER_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "answered what is no text".to_owned())
}

/// Reads an answer: a line for each device, of bus address, name, uuid and mebibytes.
///
/// # Errors
/// The line that is none.
pub fn cards(text: &str) -> Result<Vec<Card>, String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| card(line).ok_or_else(|| line.to_owned())).collect()
}

fn card(line: &str) -> Option<Card> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let [address, name, uuid, memory] = fields[..] else { return None };
    let memory = match memory {
        // Devices that share the memory of their node have none of their own.
        unknown if unknown.starts_with('[') => None,
        mebibytes => Some(Bytes(mebibytes.parse::<u64>().ok()?.checked_mul(1 << 20)?)),
    };
    let is_address = address.matches(':').count() == 2 && address.contains('.');
    let uuid = Some(uuid.to_owned()).filter(|uuid| uuid.starts_with("GPU-"));
    let (address, name) = (plain_address(address), name.to_owned());
    (is_address && !name.is_empty()).then_some(Card { address, name, uuid, memory })
}

/// An address as sysfs writes it: NVIDIA's program has `00000000:3B:00.0` for `0000:3b:00.0`.
pub(crate) fn plain_address(address: &str) -> String {
    let address = address.to_lowercase();
    match address.split_once(':') {
        Some((domain, rest)) if domain.len() == 8 && domain.starts_with("0000") => {
            format!("{}:{rest}", &domain[4..])
        }
        _ => address,
    }
}

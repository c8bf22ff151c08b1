//! From a program and a start to what the child needs: paths, lists, masks.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fleet::{Output, Program, RunId, User};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::sys::{self, Credentials, Launch, Sink, Stack};
use crate::wire::Start;

/// How many users' groups are remembered.
const USERS_MAX: usize = 1_000;

/// What every start of a keeper needs.
#[derive(Debug)]
pub(crate) struct Launcher {
    null: File,
    stack: Stack,
    users: BTreeMap<User, Credentials>,
    /// How many files a task may open: what the keeper was given before it took all it could.
    files: Option<(i32, u64, u64)>,
    /// What marks every process that it starts.
    token: String,
}

/// A program, made ready once for all tasks of a job.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) program: Program,
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    directory: CString,
}

/// What is different from start to start, beside what the wire says.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// Where its two streams go, where the keeper keeps them.
    pub(crate) streams: Option<[i32; 2]>,
    /// The folder of the control group that it is born into.
    pub(crate) birth: Option<i32>,
    /// Files of control groups into which it writes itself.
    pub(crate) joins: Vec<i32>,
    /// How much memory each of its processes may have, where no group limits it.
    pub(crate) memory_bytes: Option<u64>,
}

impl Launcher {
    pub(crate) fn new(token: &str) -> io::Result<Self> {
        let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        let token = token.to_owned();
        let (stack, users, files) = (Stack::new(), BTreeMap::new(), raise_files()?);
        Ok(Self { null, stack, users, files, token })
    }

    /// Starts a task and returns the number of its main process.
    ///
    /// # Errors
    /// What kept it from running.
    pub(crate) fn start(
        &mut self,
        prepared: &Prepared,
        start: &Start,
        surroundings: &Surroundings,
    ) -> io::Result<i32> {
        let program = &prepared.program;
        let output = self.sinks(program, start.run, surroundings)?;
        let user = credentials(&mut self.users, program.user)?;
        let mark = format!("{}={}", MARK, mark_of(&self.token, start.run));
        let added = start.environment.iter().map(String::as_str).chain([mark.as_str()]);
        let added: Vec<CString> = added.map(text).collect::<io::Result<_>>()?;
        let some_mask = |bits: &[u32]| (!bits.is_empty()).then(|| sys::mask(bits.iter().copied()));
        let memory = surroundings.memory_bytes.map(|most| (sys::LIMIT_DATA, most, most));
        let launch = Launch {
            program: &prepared.path,
            arguments: &prepared.arguments,
            environment: joined(&prepared.environment, &added),
            directory: &prepared.directory,
            output,
            null: self.null.as_raw_fd(),
            cpus: some_mask(&start.cpus),
            memory_nodes: some_mask(&start.memory_nodes),
            user,
            limits: self.files.into_iter().chain(memory).collect(),
            joins: surroundings.joins.clone(),
            group: surroundings.birth,
        };
        sys::launch(&launch, &mut self.stack)
    }

    fn sinks(
        &self,
        program: &Program,
        run: RunId,
        surroundings: &Surroundings,
    ) -> io::Result<[Sink; 2]> {
        let null = || Sink::Descriptor(self.null.as_raw_fd());
        let directory = Path::new(&program.directory);
        let file = |pattern: &str| -> io::Result<Sink> {
            let path = directory.join(filled_in(pattern, run, program.first));
            Ok(Sink::File(c_string(path.into_os_string().into_vec())?))
        };
        Ok(match &program.output {
            Output::Discarded => [null(), null()],
            Output::Kept => match surroundings.streams {
                Some(streams) => streams.map(Sink::Descriptor),
                None => [null(), null()],
            },
            Output::Files(first, None) => [file(first)?, Sink::Same],
            Output::Files(first, Some(second))
                if filled_in(first, run, program.first)
                    == filled_in(second, run, program.first) =>
            {
                [file(first)?, Sink::Same]
            }
            Output::Files(first, Some(second)) => [file(first)?, file(second)?],
        })
    }
}

impl Prepared {
    /// Makes a program ready.
    ///
    /// # Errors
    /// If it cannot be found, or has a NUL in it.
    pub(crate) fn new(program: Program) -> io::Result<Self> {
        let first = program.arguments.first().ok_or(io::ErrorKind::InvalidInput)?;
        let path = found(first, &program)?;
        let texts = |list: &[String]| list.iter().map(|one| text(one)).collect::<io::Result<_>>();
        Ok(Self {
            path: c_string(path.into_os_string().into_vec())?,
            arguments: texts(&program.arguments)?,
            environment: texts(&program.environment)?,
            directory: text(&program.directory)?,
            program,
        })
    }
}

/// The variable that marks every process of a run, so that it can be told whose it is.
const MARK: &str = "MOTLEY_RUN";

/// The value of the mark of a run: the keeper's token and the run. It ends with what no run's name
/// has in it, so that none begins like another.
pub(crate) fn mark_of(token: &str, run: RunId) -> String {
    format!("{token}:{run};")
}

/// Whether an environment, as the system shows it, has a mark that begins so.
pub(crate) fn has_mark(environment: &[u8], mark: &str) -> bool {
    let value = |entry: &[u8]| {
        let value = entry.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        Some(value.starts_with(mark.as_bytes()))
    };
    environment.split(|byte| *byte == 0).any(|entry| value(entry) == Some(true))
}

/// Lets this process open as many files as it may: it holds a few for every task that runs. Gives
/// back what held before.
fn raise_files() -> io::Result<Option<(i32, u64, u64)>> {
    let before = getrlimit(Resource::Nofile);
    let (Some(holds), Some(most)) = (before.current, before.maximum) else { return Ok(None) };
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: Some(most) })?;
    Ok(Some((sys::LIMIT_FILES, holds, most)))
}

/// Who a task becomes; nobody else where that is who the keeper is.
fn credentials(
    users: &mut BTreeMap<User, Credentials>,
    user: User,
) -> io::Result<Option<&Credentials>> {
    let own = rustix::process::geteuid();
    if user.uid == own.as_raw() {
        return Ok(None);
    }
    if !own.is_root() {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    if users.len() >= USERS_MAX {
        users.clear();
    }
    let credentials = users.entry(user).or_insert_with(|| {
        let groups = sys::groups_of(user.uid, user.gid);
        Credentials { uid: user.uid, gid: user.gid, groups }
    });
    Ok(Some(credentials))
}

/// What is added comes in place of what has the same name.
fn joined<'a>(environment: &'a [CString], added: &'a [CString]) -> Vec<&'a CStr> {
    let is_replaced = |entry: &&CStr| added.iter().any(|one| name(one) == name(entry));
    let kept = environment.iter().map(CString::as_c_str).filter(|entry| !is_replaced(entry));
    kept.chain(added.iter().map(CString::as_c_str)).collect()
}

fn name(entry: &CStr) -> Option<&[u8]> {
    entry.to_bytes().split(|byte| *byte == b'=').next()
}

/// Where a program is: as named where it has a slash, otherwise along the path.
fn found(name: &str, program: &Program) -> io::Result<PathBuf> {
    if name.contains('/') {
        return Ok(name.into());
    }
    let path = program.environment.iter().find_map(|entry| entry.strip_prefix("PATH="));
    let folders = path.unwrap_or("/usr/local/bin:/usr/bin:/bin").split(':');
    let is_program = |path: &PathBuf| {
        let metadata = std::fs::metadata(path);
        metadata.is_ok_and(|one| one.is_file() && one.permissions().mode() & 0o111 != 0)
    };
    let mut paths = folders.map(|folder| Path::new(&program.directory).join(folder).join(name));
    paths.find(is_program).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
}

/// A pattern with the numbers of the job and the task, of which the first has the number `first`.
fn filled_in(pattern: &str, run: RunId, first: u32) -> String {
    let mut path = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.as_str().chars().next()) {
            ('%', Some('j')) => path.push_str(&run.job.0.to_string()),
            ('%', Some('t')) => path.push_str(&first.saturating_add(run.task.0).to_string()),
            ('%', Some('%')) => path.push('%'),
            _ => {
                path.push(letter);
                continue;
            }
        }
        letters.next();
    }
    path
}

fn text(text: &str) -> io::Result<CString> {
    c_string(OsStr::new(text).as_bytes().to_vec())
}

fn c_string(bytes: Vec<u8>) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fleet::{Attempt, JobId, TaskIndex};

    use super::*;

    #[test]
    fn numbers_of_job_and_task_are_filled_in() {
        let run = RunId { job: JobId(7), task: TaskIndex(3), attempt: Attempt(1) };
        assert_eq!(filled_in("out-%j.%t.txt", run, 0), "out-7.3.txt");
        assert_eq!(filled_in("%t", run, 5), "8", "as the user counts");
        assert_eq!(filled_in("100%% %x %", run, 0), "100% %x %");
    }

    #[test]
    fn a_program_is_looked_for_along_its_own_path() {
        let environment = Arc::new(vec!["PATH=/nowhere:/usr/bin:/bin".to_owned()]);
        let program = Program { environment, directory: "/".to_owned(), ..Program::default() };
        assert!(found("true", &program).unwrap().ends_with("bin/true"));
        assert_eq!(found("./here", &program).unwrap(), Path::new("./here"));
        let error = found("no-such-program", &program).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
    }

    #[test]
    fn what_is_added_replaces_what_has_its_name() {
        let list = |texts: &[&str]| -> Vec<CString> {
            texts.iter().map(|one| text(one).unwrap()).collect()
        };
        let (own, added) = (list(&["A=1", "AB=2"]), list(&["A=3", "C=4"]));
        let joined: Vec<_> = joined(&own, &added).iter().map(|one| one.to_bytes()).collect();
        assert_eq!(joined, [&b"AB=2"[..], b"A=3", b"C=4"]);
    }

    #[test]
    fn a_mark_is_found_by_its_name_and_its_beginning() {
        assert!(has_mark(b"A=1\0MOTLEY_RUN=t:j1/0.0\0", "t:"));
        assert!(!has_mark(b"A=1\0MOTLEY_RUN=u:j1/0.0\0", "t:"));
        assert!(!has_mark(b"XMOTLEY_RUN=t:\0", "t:"));
    }
}

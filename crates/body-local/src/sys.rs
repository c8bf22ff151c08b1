//! The system calls that no safe library offers, each with the reason why it is sound.
//!
//! What starts a process is here whole: between the clone and the exec the
//! child shares the memory of its parent, which waits, so it may make system
//! calls and nothing else. It never allocates, never panics and never returns.

#![expect(unsafe_code, reason = "clone, wait4, signals and the like have no safe form")]

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// How many cpus and memory nodes a mask can name.
pub(crate) const MASK_BITS: usize = 4096;
/// Arguments of a raw call are as wide as a register.
const ZERO: c_long = 0;
/// As the number of a process: the caller.
const ITSELF: c_long = 0;

type Mask = [u64; MASK_BITS / 64];

/// As much stack as the few calls between clone and exec could ever take.
const STACK_BYTES: usize = 64 << 10;

/// Everything that a child needs between the clone and the exec.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    /// The program, as a path.
    pub(crate) program: &'a CStr,
    pub(crate) arguments: &'a [CString],
    pub(crate) environment: Vec<&'a CStr>,
    pub(crate) directory: &'a CStr,
    /// Where what it prints goes.
    pub(crate) output: [Sink; 2],
    /// An open `/dev/null`, which it reads.
    pub(crate) null: RawFd,
    /// The cpus that it may run on; any where there are none.
    pub(crate) cpus: Option<Box<Mask>>,
    /// The memory nodes that it may take memory of; any where there are none.
    pub(crate) memory_nodes: Option<Box<Mask>>,
    /// The user that it becomes; the same as its parent where there is none.
    pub(crate) user: Option<&'a Credentials>,
    /// Limits: the number of the resource, what holds, and how far the task may raise it.
    pub(crate) limits: Vec<(c_int, u64, u64)>,
    /// Files of control groups into which it writes itself.
    pub(crate) joins: Vec<RawFd>,
    /// The folder of the control group (version 2) that it is born into.
    pub(crate) group: Option<RawFd>,
}

/// Where one stream goes.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Into what is open already.
    Descriptor(RawFd),
    /// Into a file, opened as the user.
    File(CString),
    /// Into what the other stream goes into.
    Same,
}

/// Who a child becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) groups: Vec<u32>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Status(u8),
    Signal(u8),
}

/// A process that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    pub(crate) exit: Exit,
    /// Cpu time of it and of what it waited for.
    pub(crate) cpu_micros: u64,
    /// The most memory of one of them.
    pub(crate) memory_max_bytes: u64,
}

/// A mask with these bits; those beyond the mask are left out.
pub(crate) fn mask(bits: impl Iterator<Item = u32>) -> Box<Mask> {
    let mut mask = Box::new([0; MASK_BITS / 64]);
    for bit in bits.map(|bit| bit as usize).filter(|bit| *bit < MASK_BITS) {
        mask[bit / 64] |= 1 << (bit % 64);
    }
    mask
}

/// The stack of children, one after the other.
#[derive(Debug)]
pub(crate) struct Stack(Box<[u8]>);

impl Stack {
    pub(crate) fn new() -> Self {
        Self(vec![0; STACK_BYTES].into_boxed_slice())
    }

    fn top(&mut self) -> *mut c_void {
        let end = self.0.as_mut_ptr_range().end as usize;
        // Both architectures want the top at a multiple of 16.
        ptr::with_exposed_provenance_mut(end & !15)
    }

    /// Where the stack begins for clone3, and how much of it is used.
    fn extent(&mut self) -> (u64, u64) {
        let top = self.top() as usize;
        let base = self.0.as_mut_ptr().expose_provenance();
        (base as u64, (top - base) as u64)
    }
}

/// What the child sees of its parent's memory.
struct Child<'a> {
    launch: &'a Launch<'a>,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    parent: c_int,
    /// The error of the first step that failed; zero where none did.
    error: c_int,
}

/// Starts a process and returns its number once it runs its program.
///
/// # Errors
/// What kept it from running; then there is no process.
pub(crate) fn launch(launch: &Launch<'_>, stack: &mut Stack) -> io::Result<i32> {
    let arguments = pointers(launch.arguments.iter().map(CString::as_c_str));
    let environment = pointers(launch.environment.iter().copied());
    let mut child = Child {
        launch,
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        // SAFETY: getpid cannot fail and touches no memory.
        parent: unsafe { libc::getpid() },
        error: 0,
    };
    let pid = clone(&mut child, stack)?;
    // SAFETY: `child` is alive; the other process, which wrote to it, no longer shares our memory.
    let error = unsafe { ptr::read_volatile(&raw const child.error) };
    if error == 0 {
        return Ok(pid);
    }
    let mut status = 0;
    // SAFETY: `status` is ours; the process ends by itself, as its exec failed.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    Err(io::Error::from_raw_os_error(error))
}

/// A list as exec takes it: it ends with a null.
fn pointers<'a>(list: impl Iterator<Item = &'a CStr>) -> Vec<*const c_char> {
    list.map(CStr::as_ptr).chain([ptr::null()]).collect()
}

const CLONE_FLAGS: c_int = libc::CLONE_VM | libc::CLONE_VFORK;

#[cfg(target_arch = "x86_64")]
fn clone(child: &mut Child<'_>, stack: &mut Stack) -> io::Result<i32> {
    /// See `CLONE_INTO_CGROUP` in clone(2).
    const INTO_GROUP: u64 = 0x2_0000_0000;
    let group = child.launch.group;
    let (stack_base, stack_size) = stack.extent();
    // The fields of `clone_args`, version 2, in their order.
    let flags = CLONE_FLAGS as u64 | group.map_or(0, |_| INTO_GROUP);
    let folder = group.map_or(0, |fd| u64::try_from(fd).unwrap_or(0));
    let signal = libc::SIGCHLD as u64;
    let arguments: [u64; 11] = [flags, 0, 0, 0, signal, stack_base, stack_size, 0, 0, 0, folder];
    let result: i64;
    // SAFETY: the child gets a stack of its own and calls `run_child`, which never returns; the
    // parent is suspended until the child has left our memory, and resumes behind the call with
    // its registers and its stack as they were. `child` and `arguments` outlive that.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") arguments.as_ptr(),
            in("rsi") size_of_val(&arguments),
            in("r12") ptr::from_mut(child).cast::<c_void>(),
            in("r13") run_child as extern "C" fn(*mut c_void) -> c_int,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    match i32::try_from(result) {
        Ok(pid) if pid > 0 => Ok(pid),
        Ok(error) => Err(io::Error::from_raw_os_error(-error)),
        Err(_) => Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
}

/// Elsewhere the older call does, which cannot let a child be born into a group.
#[cfg(not(target_arch = "x86_64"))]
fn clone(child: &mut Child<'_>, stack: &mut Stack) -> io::Result<i32> {
    if child.launch.group.is_some() {
        return Err(io::Error::from_raw_os_error(libc::ENOSYS));
    }
    let argument = ptr::from_mut(child).cast::<c_void>();
    // SAFETY: as above: a stack of its own, a function that never returns, a parent that waits.
    let pid = unsafe { libc::clone(run_child, stack.top(), CLONE_FLAGS | libc::SIGCHLD, argument) };
    if pid > 0 { Ok(pid) } else { Err(io::Error::last_os_error()) }
}

/// Whether [`Launch::group`] is obeyed here.
pub(crate) const BIRTH_INTO_GROUP: bool = cfg!(target_arch = "x86_64");

extern "C" fn run_child(argument: *mut c_void) -> c_int {
    // SAFETY: the parent passed a `Child` that lives until we are gone, and touches nothing of it
    // meanwhile.
    let child = unsafe { &mut *argument.cast::<Child<'_>>() };
    // SAFETY: `prepare` and the calls here are system calls on memory that the parent keeps alive;
    // the lists of pointers end with a null.
    unsafe {
        child.error = match prepare(child) {
            Ok(()) => {
                let program = child.launch.program.as_ptr();
                libc::execve(program, child.arguments, child.environment);
                errno()
            }
            Err(error) => error,
        };
        libc::_exit(127)
    }
}

/// The steps before the exec; the error of the first that fails.
///
/// # Safety
/// To be called by a child of [`clone`] alone.
unsafe fn prepare(child: &Child<'_>) -> Result<(), c_int> {
    let launch = child.launch;
    // SAFETY: system calls on memory that outlives them, and on this process alone.
    unsafe {
        for join in &launch.joins {
            check(libc::write(*join, c"0".as_ptr().cast(), 1) as c_long)?;
        }
        check(libc::setsid().into())?;
        place(launch)?;
        for (resource, holds, most) in &launch.limits {
            let limit = libc::rlimit { rlim_cur: *holds, rlim_max: *most };
            let number = *resource as c_long;
            let old = ptr::null_mut::<libc::rlimit>();
            check(libc::syscall(libc::SYS_prlimit64, ITSELF, number, &raw const limit, old))?;
        }
        if let Some(user) = launch.user {
            become_user(user)?;
        }
        // After the change of user, which takes it away. Who sees another parent came too late.
        let (death, kill) = (libc::PR_SET_PDEATHSIG as c_long, libc::SIGKILL as c_long);
        check(libc::syscall(libc::SYS_prctl, death, kill, ZERO, ZERO, ZERO))?;
        if libc::getppid() != child.parent {
            return Err(libc::ESRCH);
        }
        check(libc::chdir(launch.directory.as_ptr()).into())?;
        connect_streams(launch)?;
        let (first, last): (c_long, c_long) = (3, c_int::MAX.into());
        check(libc::syscall(libc::SYS_close_range, first, last, ZERO))?;
        let none: u64 = 0;
        let size = size_of::<u64>();
        let (set, how) = (&raw const none, libc::SIG_SETMASK as c_long);
        check(libc::syscall(libc::SYS_rt_sigprocmask, how, set, ptr::null_mut::<u64>(), size))
    }
}

/// Pins cpus and memory.
///
/// # Safety
/// As [`prepare`].
unsafe fn place(launch: &Launch<'_>) -> Result<(), c_int> {
    // SAFETY: the masks are as long as is said, and only read.
    unsafe {
        if let Some(cpus) = &launch.cpus {
            let size = MASK_BITS / 8;
            check(libc::syscall(libc::SYS_sched_setaffinity, ITSELF, size, cpus.as_ptr()))?;
        }
        if let Some(nodes) = &launch.memory_nodes {
            let bind = libc::MPOL_BIND as c_long;
            // The call reads one bit less than it is told.
            let bits: c_long = 1024 + 1;
            check(libc::syscall(libc::SYS_set_mempolicy, bind, nodes.as_ptr(), bits))?;
        }
    }
    Ok(())
}

/// Becomes a user for good: with a user that is not root all capabilities go, and none come back.
///
/// # Safety
/// As [`prepare`]. Not by the library's own functions, which would do it to other threads too.
unsafe fn become_user(user: &Credentials) -> Result<(), c_int> {
    let (uid, gid) = (c_long::from(user.uid), c_long::from(user.gid));
    // SAFETY: the list of groups is as long as is said, and only read.
    unsafe {
        check(libc::syscall(libc::SYS_setgroups, user.groups.len(), user.groups.as_ptr()))?;
        check(libc::syscall(libc::SYS_setresgid, gid, gid, gid))?;
        check(libc::syscall(libc::SYS_setresuid, uid, uid, uid))?;
        let (no_new, one) = (libc::PR_SET_NO_NEW_PRIVS as c_long, 1 as c_long);
        check(libc::syscall(libc::SYS_prctl, no_new, one, ZERO, ZERO, ZERO))
    }
}

/// Makes the three streams what they should be.
///
/// # Safety
/// As [`prepare`].
unsafe fn connect_streams(launch: &Launch<'_>) -> Result<(), c_int> {
    // SAFETY: descriptors that the parent keeps open and paths that it keeps alive.
    unsafe {
        check(libc::dup2(launch.null, 0).into())?;
        let mut first = launch.null;
        for (number, sink) in (1..).zip(&launch.output) {
            let from = match sink {
                Sink::Descriptor(descriptor) => *descriptor,
                Sink::Same => first,
                Sink::File(path) => {
                    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND;
                    let opened = libc::open(path.as_ptr(), flags | libc::O_NOCTTY, 0o666);
                    check(opened.into())?;
                    opened
                }
            };
            check(libc::dup2(from, number).into())?;
            first = number;
        }
    }
    Ok(())
}

fn check(result: c_long) -> Result<(), c_int> {
    if result < 0 { Err(errno()) } else { Ok(()) }
}

fn errno() -> c_int {
    // SAFETY: the address is that of this thread's own error, always valid.
    unsafe { *libc::__errno_location() }
}

/// A child that has ended, if there is one.
pub(crate) fn reap() -> Option<Reaped> {
    let mut status = 0;
    // SAFETY: all zeroes are a valid `rusage`, and the call fills it in.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage), usage)
    };
    if pid <= 0 {
        return None;
    }
    let exit = if libc::WIFSIGNALED(status) {
        Exit::Signal(u8::try_from(libc::WTERMSIG(status)).unwrap_or(u8::MAX))
    } else {
        Exit::Status(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))
    };
    let micros = |time: libc::timeval| {
        let (seconds, rest) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec));
        seconds.unwrap_or(0) * 1_000_000 + rest.unwrap_or(0)
    };
    let cpu_micros = micros(usage.ru_utime) + micros(usage.ru_stime);
    let memory_max_bytes = u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10;
    Some(Reaped { pid, exit, cpu_micros, memory_max_bytes })
}

/// Lets every signal do what it does by default, blocks all of them, and gives what tells of those
/// that a keeper listens to. What a child inherits is then the same whoever started the keeper.
pub(crate) fn own_signals() -> io::Result<OwnedFd> {
    // SAFETY: sets are made by the calls that make them; no handler is installed. An action of the
    // system's own form that is all zeroes is the default, and `default` is as long as any is.
    unsafe {
        let (default, size) = ([0_u64; 32], size_of::<u64>());
        for signal in 1..=64 as c_long {
            // The library's own call leaves out signals that it keeps for itself. Those that cannot
            // be set need not be.
            let (action, old) = (default.as_ptr(), ptr::null_mut::<u64>());
            libc::syscall(libc::SYS_rt_sigaction, signal, action, old, size);
        }
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const all, ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut ours: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut ours);
        for signal in [libc::SIGCHLD, libc::SIGTERM] {
            libc::sigaddset(&raw mut ours, signal);
        }
        let flags = libc::SFD_NONBLOCK | libc::SFD_CLOEXEC;
        owned(libc::signalfd(-1, &raw const ours, flags))
    }
}

/// The next signal that [`own_signals`] tells of, if there is one.
pub(crate) fn next_signal(signals: &OwnedFd) -> Option<c_int> {
    let mut buffer = [0_u8; size_of::<libc::signalfd_siginfo>()];
    let read = rustix::io::read(signals, &mut buffer).ok()?;
    let number = buffer.first_chunk::<4>().filter(|_| read == buffer.len())?;
    c_int::try_from(u32::from_ne_bytes(*number)).ok()
}

/// Memory that a process writes to. Programs reserve much more than that, which would count too as
/// the size of its address space.
pub(crate) const LIMIT_DATA: c_int = libc::RLIMIT_DATA as c_int;
pub(crate) const LIMIT_FILES: c_int = libc::RLIMIT_NOFILE as c_int;
pub(crate) const SIGTERM: c_int = libc::SIGTERM;
pub(crate) const SIGKILL: c_int = libc::SIGKILL;
pub(crate) const SIGCONT: c_int = libc::SIGCONT;

/// Sends a signal to a process, or to a group where the number is negative.
pub(crate) fn send(pid: i32, signal: c_int) -> io::Result<()> {
    // Zero and minus one would reach processes that are none of our business.
    if matches!(pid, -1..=1) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: touches no memory.
    if unsafe { libc::kill(pid, signal) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes in the children of descendants whose own parents have ended.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: touches no memory.
    let result = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether the kernel's clock is kept in step with others; `None` where that cannot be asked.
pub(crate) fn is_clock_in_step() -> Option<bool> {
    // SAFETY: all zeroes are a valid `timex` that asks for nothing to be set; the call fills it in.
    let (state, timex) = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut timex), timex)
    };
    (state >= 0).then_some(timex.status & libc::STA_UNSYNC == 0)
}

/// Closes every descriptor from this number on: what a keeper was started with is not its own.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: called as a keeper begins, when nothing in it owns a descriptor yet.
    let result = unsafe {
        libc::syscall(libc::SYS_close_range, c_long::from(first), c_long::from(u32::MAX), ZERO)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The groups of a user, by the machine's own list; its main group alone where it has no name.
pub(crate) fn groups_of(uid: u32, gid: u32) -> Vec<u32> {
    const GROUPS_MAX: usize = 1 << 16;
    let mut text = vec![0; 16 << 10];
    // SAFETY: all zeroes are a valid `passwd`; the call writes into `text`, which outlives `entry`.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = ptr::null_mut();
    let length = text.len();
    // SAFETY: as above.
    let result = unsafe {
        let (entry, found) = (&raw mut entry, &raw mut found);
        libc::getpwuid_r(uid, entry, text.as_mut_ptr(), length, found)
    };
    if result != 0 || found.is_null() {
        return vec![gid];
    }
    // SAFETY: the entry was found, so its name is a string within `text`.
    let name = unsafe { CStr::from_ptr(entry.pw_name) };
    let mut groups = vec![0; GROUPS_MAX];
    let mut count = c_int::try_from(GROUPS_MAX).unwrap_or(c_int::MAX);
    // SAFETY: the list is as long as is said.
    let result =
        unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &raw mut count) };
    if result < 0 {
        return vec![gid];
    }
    groups.truncate(usize::try_from(count).unwrap_or(0));
    groups
}

fn owned(descriptor: c_int) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call that gave it made it for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

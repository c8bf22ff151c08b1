//! What the daemon asked of the system, as `strace` wrote it down.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One call that matters to what is on the disk, or that told somebody something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A folder was made.
    Folder(PathBuf),
    /// A file is there from now on, where it was not.
    Create(PathBuf),
    /// Bytes were written from this place on.
    Write(PathBuf, usize, Vec<u8>),
    /// A file has this length.
    Truncate(PathBuf, usize),
    /// A name was removed.
    Remove(PathBuf),
    /// A file or a folder is on the disk as it is.
    Sync(PathBuf),
    /// A client was told this.
    Told(String),
}

/// The calls that are traced.
pub(crate) const CALLS: &str = "mkdir,mkdirat,open,openat,creat,write,writev,pwrite64,pwritev,\
    pwritev2,ftruncate,truncate,unlink,unlinkat,rename,renameat,renameat2,link,linkat,fallocate,\
    copy_file_range,sendfile,msync,mmap,fsync,fdatasync,sync_file_range,sendto,sendmsg";

/// The events of a trace in the order in which the calls returned; what was told, in the order in
/// which it was begun. Calls on files that `is_ours` does not name are left out.
pub(crate) fn events(text: &str, is_ours: impl Fn(&Path) -> bool) -> Vec<Event> {
    let mut halves: BTreeMap<&str, String> = BTreeMap::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let whole = if let Some(half) = call.strip_suffix(" <unfinished ...>") {
            events.extend(told(half));
            halves.insert(thread, half.to_owned());
            continue;
        } else if let Some(rest) = call.strip_prefix("<... ") {
            let Some(half) = halves.remove(thread) else { continue };
            let rest = rest.split_once(" resumed>").map_or("", |(_, rest)| rest);
            if told(&half).is_some() { continue } else { half + rest }
        } else {
            call.to_owned()
        };
        events.extend(told(&whole).or_else(|| event(&whole, &is_ours)));
    }
    events
}

/// What a call told a client.
fn told(call: &str) -> Option<Event> {
    let (name, rest) = call.split_once('(')?;
    let is_to_client =
        matches!(name, "write" | "writev" | "sendto" | "sendmsg") && path_of(rest).is_none();
    let text = is_to_client.then(|| strings(rest).concat())?;
    let text = String::from_utf8(text).ok()?;
    // A refusal promises nothing.
    let (head, body) = text.split_once("\r\n\r\n")?;
    let is_told = head.starts_with("HTTP/1.1 2") && body.starts_with("{\"");
    is_told.then(|| Event::Told(body.to_owned()))
}

/// What a call that has returned changed.
fn event(call: &str, is_ours: &impl Fn(&Path) -> bool) -> Option<Event> {
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result: i64 = result.split(['<', ' ']).next()?.parse().ok()?;
    if result < 0 {
        return None;
    }
    let named = || strings(arguments).into_iter().next().map(path);
    let at = match name {
        "mkdir" | "mkdirat" | "open" | "openat" | "creat" | "unlink" | "unlinkat" | "truncate"
        | "rename" | "renameat" | "renameat2" | "link" | "linkat" => named()?,
        "mmap" => return mapped(arguments, is_ours),
        _ => path_of(arguments)?,
    };
    if !is_ours(&at) {
        return None;
    }
    // Short calls are filled up with blanks before their result.
    let last = arguments.trim_end().trim_end_matches(')').rsplit(", ").next();
    let last = || last.and_then(|word| word.parse().ok()).expect("a call ends with a number");
    match name {
        "mkdir" | "mkdirat" => Some(Event::Folder(at)),
        "open" | "openat" => arguments.contains("O_CREAT").then_some(Event::Create(at)),
        "pwrite64" => {
            let mut bytes = strings(arguments).into_iter().next()?;
            bytes.truncate(usize::try_from(result).ok()?);
            Some(Event::Write(at, last(), bytes))
        }
        "ftruncate" => Some(Event::Truncate(at, last())),
        "unlink" | "unlinkat" => Some(Event::Remove(at)),
        "fsync" | "fdatasync" => Some(Event::Sync(at)),
        // Room is set aside; nothing is written there.
        "fallocate" if arguments.contains("FALLOC_FL_KEEP_SIZE") => None,
        _ => panic!("the journal is written in a way that this test does not know: {name}"),
    }
}

/// A file that is written through memory would escape this test.
fn mapped(arguments: &str, is_ours: &impl Fn(&Path) -> bool) -> Option<Event> {
    let at = path_of(arguments.split(", ").nth(4)?);
    let is_written = arguments.contains("MAP_SHARED") && arguments.contains("PROT_WRITE");
    assert!(
        !(is_written && at.is_some_and(|at| is_ours(&at))),
        "the journal is mapped: {arguments}"
    );
    None
}

/// The path of the descriptor that comes first, where it is of a file.
fn path_of(arguments: &str) -> Option<PathBuf> {
    let (_, rest) = arguments.split_once('<')?;
    let text = String::from_utf8(hex(rest.split('>').next()?)).ok()?;
    text.starts_with('/').then(|| PathBuf::from(text.trim_end_matches("(deleted)")))
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// The strings among the arguments of a call.
fn strings(arguments: &str) -> Vec<Vec<u8>> {
    // Every byte is written as a number, so that a quotation mark ends a string.
    arguments.split('"').skip(1).step_by(2).map(hex).collect()
}

/// The bytes that are written like `\x2f`.
fn hex(text: &str) -> Vec<u8> {
    let numbers = text.split("\\x").skip(1);
    numbers.filter_map(|number| u8::from_str_radix(number.get(..2)?, 16).ok()).collect()
}

#[test]
fn calls_are_read_whole_or_in_halves() {
    let text = "7 openat(AT_FDCWD<\\x2f>, \"\\x2f\\x61\", O_RDWR|O_CREAT, 0600) = 3<\\x2f\\x61>\n\
        7 pwrite64(3<\\x2f\\x61>, \"\\x00\\x22\"..., 2, 4096 <unfinished ...>\n\
        8 writev(5<\\x73\\x6f\\x63\\x6b>, [{iov_base=\"\\x48\\x54\\x54\\x50\\x2f\\x31\\x2e\\x31\\x20\
        \\x32\\x30\\x30\\x20\\x4f\\x4b\\x0d\\x0a\\x0d\\x0a\", iov_len=19}, \
        {iov_base=\"\\x7b\\x22\\x64\", iov_len=3}], 2) = 22\n\
        7 <... pwrite64 resumed>)        = 2\n\
        7 fdatasync(3<\\x2f\\x61>) = 0\n\
        7 unlink(\"\\x2f\\x62\") = -1 ENOENT (No such file or directory)\n";
    let file = PathBuf::from("/a");
    let wanted = [
        Event::Create(file.clone()),
        Event::Told("{\"d".to_owned()),
        Event::Write(file.clone(), 4096, vec![0, 0x22]),
        Event::Sync(file.clone()),
    ];
    assert_eq!(events(text, |path| path == file), wanted);
}

//! Where the bytes come from: a file or a reader, gzip or not, within bounds.
//!
//! In come bytes; out goes a buffered reader of decompressed bytes that stops
//! at a line or a total that is too long, and the [`Format`] that the first
//! bytes show. Never looks at a file's name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::{Limit, ReadError};

/// The longest line. A job with thousands of rates is shorter.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// The most decompressed bytes of a format that is read line by line: ten million long lines.
const WHOLE_BYTES_MAX: u64 = 16 << 30;
/// The most decompressed bytes of a TOML file or a table of rates, which must be held whole, and is
/// some fifty times larger once it is parsed.
const TOML_BYTES_MAX: u64 = 32 << 20;
/// How much is looked at to tell the format.
const HEAD_BYTES: usize = 4096;

/// A format, as the first bytes show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A list of openb nodes.
    OpenbNodes,
    /// A list of openb pods.
    OpenbPods,
    /// A table of jobs whose header names Motley's own fields, or columns to be mapped to them.
    JobList,
    /// One JSON object a line.
    JsonLines,
    /// The Standard Workload Format.
    Swf,
    /// Everything else.
    Toml,
}

/// Bytes to read, with what is known of them.
pub(super) struct Source<'a> {
    /// The file, for messages.
    pub(super) file: String,
    /// What the first bytes show.
    pub(super) format: Format,
    /// The decompressed bytes, without a byte order mark.
    pub(super) bytes: BufReader<Bounded<'a>>,
    /// Whether they were compressed; an early end then means that some are missing.
    pub(super) gzip: bool,
}

/// Opens a file.
pub(super) fn open(path: &Path) -> Result<BufReader<File>, ReadError> {
    let file = path.display().to_string();
    let opened = File::open(path).and_then(|opened| match opened.metadata()?.is_dir() {
        true => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        false => Ok(opened),
    });
    match opened {
        Ok(opened) => Ok(BufReader::with_capacity(1 << 16, opened)),
        Err(source) => Err(ReadError::Open { file, source }),
    }
}

impl<'a> Source<'a> {
    /// Finds out what the bytes are.
    pub(super) fn detect(mut reader: impl BufRead + 'a, file: &str) -> Result<Self, ReadError> {
        let file = file.to_owned();
        let mut magic = Vec::new();
        let failed = |source| ReadError::Broken { file: file.clone(), source };
        (&mut reader).take(2).read_to_end(&mut magic).map_err(failed)?;
        let gzip = magic == [0x1f, 0x8b];
        let whole = Cursor::new(magic).chain(reader);
        let mut plain: Box<dyn Read + 'a> =
            if gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let mut head = Vec::new();
        (&mut plain)
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut head)
            .map_err(|error| failure(file.clone(), gzip, error))?;
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let format = Format::of(&head);
        let bounded = Bounded::new(Box::new(Cursor::new(head).chain(plain)), format);
        Ok(Self { file, format, bytes: BufReader::with_capacity(1 << 16, bounded), gzip })
    }

    /// The whole text of a file that must be held whole.
    pub(super) fn read_all(&mut self) -> Result<Vec<u8>, ReadError> {
        let mut all = Vec::new();
        match self.bytes.read_to_end(&mut all) {
            Ok(_) => Ok(all),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// The same of a format that is read line by line elsewhere, within the bound of what is held
    /// whole.
    pub(super) fn read_whole(&mut self) -> Result<Vec<u8>, ReadError> {
        self.bytes.get_mut().whole_max = TOML_BYTES_MAX;
        self.read_all()
    }

    /// Reads the next line into `line`, replacing what was there; false at the end.
    pub(super) fn read_line(&mut self, line: &mut Vec<u8>) -> Result<bool, ReadError> {
        line.clear();
        match self.bytes.read_until(b'\n', line) {
            Ok(length) => Ok(length > 0),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// What an error of the reader means.
    pub(super) fn failure(&self, error: io::Error) -> ReadError {
        failure(self.file.clone(), self.gzip, error)
    }
}

/// What an error of a reader means.
pub(super) fn failure(file: String, gzip: bool, source: io::Error) -> ReadError {
    if let Some(limit) = source.get_ref().and_then(|inner| inner.downcast_ref::<Limit>()) {
        return ReadError::TooLarge { file, limit: *limit };
    }
    match source.kind() {
        io::ErrorKind::UnexpectedEof if gzip => ReadError::Truncated { file },
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if gzip => {
            ReadError::Damaged { file, source }
        }
        _ => ReadError::Broken { file, source },
    }
}

impl Format {
    fn of(head: &[u8]) -> Self {
        let first = head.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
        if head.starts_with(b"sn,") {
            Self::OpenbNodes
        } else if head.starts_with(b"name,") && names_openb(first) {
            Self::OpenbPods
        } else if first.starts_with(b"{") {
            Self::JsonLines
        } else if first.starts_with(b";") || is_of_numbers(first) {
            Self::Swf
        } else if is_header(first) {
            Self::JobList
        } else {
            Self::Toml
        }
    }

    /// Whether it is a table whose first line names the columns.
    pub(super) fn is_csv(self) -> bool {
        matches!(self, Self::OpenbNodes | Self::OpenbPods | Self::JobList)
    }

    /// The name for messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::OpenbNodes => "an openb node list",
            Self::OpenbPods => "an openb pod list",
            Self::JobList => "a CSV of jobs",
            Self::JsonLines => "JSON lines",
            Self::Swf => "a log in the Standard Workload Format",
            Self::Toml => "TOML",
        }
    }
}

/// Whether a header has a column that only pod lists of openb have.
fn names_openb(header: &[u8]) -> bool {
    const COLUMNS: [&[u8]; 6] =
        [b"cpu_milli", b"memory_mib", b"num_gpu", b"gpu_milli", b"gpu_spec", b"pod_phase"];
    let mut columns = header.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    columns.any(|column| COLUMNS.contains(&column))
}

/// Whether a line is two numbers or more with space between, which no other format begins with.
fn is_of_numbers(line: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
    words.by_ref().take_while(|word| word.iter().all(is_part)).count() >= 2
        && words.peek().is_none()
}

/// Whether a line may be the header of a table, and nothing that TOML begins with.
fn is_header(line: &[u8]) -> bool {
    line.contains(&b',')
        && !line.contains(&b'=')
        && !line.starts_with(b"#")
        && !line.starts_with(b"[")
}

/// A reader that fails at a line or a total that is too long.
pub(super) struct Bounded<'a> {
    inner: Box<dyn Read + 'a>,
    line: u64,
    line_bytes: u64,
    whole_bytes: u64,
    whole_max: u64,
}

impl<'a> Bounded<'a> {
    fn new(inner: Box<dyn Read + 'a>, format: Format) -> Self {
        let whole_max = if format == Format::Toml { TOML_BYTES_MAX } else { WHOLE_BYTES_MAX };
        Self { inner, line: 1, line_bytes: 0, whole_bytes: 0, whole_max }
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.whole_bytes += length as u64;
        if self.whole_bytes > self.whole_max {
            return Err(io::Error::other(Limit::Whole { most: self.whole_max }));
        }
        for part in buffer[..length].split_inclusive(|byte| *byte == b'\n') {
            self.line_bytes += part.len() as u64;
            if self.line_bytes > LINE_BYTES_MAX {
                return Err(io::Error::other(Limit::Line {
                    line: self.line,
                    most: LINE_BYTES_MAX,
                }));
            }
            if part.ends_with(b"\n") {
                self.line += 1;
                self.line_bytes = 0;
            }
        }
        Ok(length)
    }
}

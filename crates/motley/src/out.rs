//! The only place that prints.
//!
//! Results go to standard output, in whole texts; errors and progress to
//! standard error. A reader that goes away (`motley … | head`) ends the
//! program quietly: [`is_gone`] tells that failure from others.

use std::io::{self, Write as _};

use anyhow::Context as _;
use serde::Serialize;

/// Prints a text, which ends its own last line.
///
/// # Errors
/// If standard output cannot be written to.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("write the output")
}

/// Prints bytes as they are.
///
/// # Errors
/// If standard output cannot be written to.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("write the output")
}

/// Prints bytes to standard error as they are.
///
/// # Errors
/// If standard error cannot be written to.
pub fn print_error_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    io::stderr().lock().write_all(bytes).context("write the errors")
}

/// Prints a value as JSON, for people to read too.
///
/// # Errors
/// If standard output cannot be written to.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value).context("write the result as JSON")?;
    print(&format!("{text}\n"))
}

/// Prints the whole chain of an error on one line of standard error.
pub fn print_error(error: &anyhow::Error) {
    let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
    // Where even this fails there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "error: failed to {}", chain.join(": "));
}

/// Whether the error is that nobody reads the output any more.
#[must_use]
pub fn is_gone(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    kinds.map(io::Error::kind).any(|kind| kind == io::ErrorKind::BrokenPipe)
}

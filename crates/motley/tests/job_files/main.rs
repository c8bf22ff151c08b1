//! Job files: what they say is what would be submitted, and what is wrong is said with its line.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod check;
mod faults;
mod fields;
mod order;
mod refusals;
mod scripts;
#[path = "../program/mod.rs"]
mod program;

use std::path::PathBuf;

use motley::job_file::{self, Around, JobFile};

/// Somebody's terminal.
fn around() -> Around {
    let variables = [
        ("HOME", "/ann"),
        ("PATH", "/bin"),
        ("USER", "ann"),
        ("COLOUR", "green"),
        ("SLURM_JOB_ID", "99"),
        ("MOTLEY_JOB_ID", "98"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Around { directory: PathBuf::from("/here"), variables, machine: "node7.site".to_owned() }
}

/// A file of this name and text, read.
fn read(name: &str, text: &str) -> JobFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    job_file::open(&path, &[], &around()).unwrap()
}

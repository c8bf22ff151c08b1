//! Job files: what they would submit, or what is wrong with them.

use std::path::Path;

use anyhow::ensure;
use serde::Serialize;

use crate::args::live::Check;
use crate::job_file::{self, Around, Fault};
use crate::{out, render};
use server::api::Submission;

/// What was found in one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    /// Why it could not be read at all.
    error: Option<String>,
    /// What is wrong in it.
    faults: Vec<Fault>,
    /// What is well to know.
    notes: Vec<Fault>,
    /// What would be submitted, where nothing is wrong.
    jobs: Vec<Submission>,
}

pub(super) fn run(args: &Check) -> anyhow::Result<()> {
    let around = Around::here()?;
    let checked: Vec<_> = args.files.iter().map(|file| check(file, &around)).collect();
    if args.json {
        out::print_json(&checked)?;
    } else {
        out::print(&checked.iter().map(text).collect::<String>())?;
    }
    let is_bad = |one: &&Checked| one.error.is_some() || !one.faults.is_empty();
    let bad = checked.iter().filter(is_bad).count();
    ensure!(bad == 0, "read {bad} of {}", render::count(checked.len() as u64, "job file"));
    Ok(())
}

fn check(path: &Path, around: &Around) -> Checked {
    let file = path.display().to_string();
    match job_file::open(path, &[], around) {
        Ok(mut read) => {
            if !read.faults.is_empty() {
                read.jobs.clear();
            }
            let job_file::JobFile { jobs, faults, notes } = read;
            Checked { file, error: None, faults, notes, jobs }
        }
        Err(error) => {
            let error = Some(format!("{error:#}"));
            Checked { file, error, faults: Vec::new(), notes: Vec::new(), jobs: Vec::new() }
        }
    }
}

fn text(checked: &Checked) -> String {
    let file = &checked.file;
    if let Some(error) = &checked.error {
        return format!("{file}: {error}\n");
    }
    let places = checked.faults.iter().chain(&checked.notes);
    let mut text: String = places.map(|fault| format!("{file}:{fault}\n")).collect();
    if checked.faults.is_empty() {
        let count = render::count(checked.jobs.len() as u64, "job");
        text.push_str(&format!("{file}: ok, {count}\n{}", render::job_file::jobs(&checked.jobs)));
    }
    text
}

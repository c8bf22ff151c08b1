//! A document of jobs: TOML or YAML that has been taken apart.

use super::located::{Located, Plain};
use super::{Around, Fault, JOBS_MAX, JobFile, fields, order};

/// The jobs of a document.
pub(super) fn read(document: Result<Located, Fault>, around: &Around) -> JobFile {
    let mut faults = Vec::new();
    let told = match document.and_then(|document| jobs(document, &mut faults)) {
        Ok(jobs) => {
            let told = jobs.iter().filter_map(|job| fields::job(job, around, &mut faults));
            told.collect()
        }
        Err(fault) => {
            faults.push(fault);
            Vec::new()
        }
    };
    let told = order::in_order(told, &mut faults);
    faults.sort();
    let jobs = told.into_iter().map(|told| told.submission).collect();
    JobFile { jobs, faults, notes: Vec::new() }
}

fn jobs(document: Located, faults: &mut Vec<Fault>) -> Result<Vec<Located>, Fault> {
    let Plain::Table(sections) = document.value else {
        let text = "is no table of sections; begin it with format = 1 and write [[job]] over each";
        return Err(Fault::new(document.line, "", text));
    };
    let (mut jobs, mut has_format) = (Vec::new(), false);
    for (name, section) in sections {
        match (name.as_str(), section.value) {
            ("format", Plain::Whole(1)) => has_format = true,
            ("format", value) => {
                let given = Located { line: section.line, value }.words();
                let text = format!("is {given}, but this reader knows format 1 only");
                return Err(Fault::new(section.line, "format", text));
            }
            ("job", Plain::List(items)) => jobs = items,
            ("job", _) => {
                let text = "must be a list of tables; write [[job]] over each";
                faults.push(Fault::new(section.line, "job", text));
            }
            (other, _) => {
                let text = "is not a section of this file; the sections are format, job";
                faults.push(Fault::new(section.line, other, text));
            }
        }
    }
    if !has_format {
        faults.push(Fault::new(1, "format", "is missing; begin the file with format = 1"));
    }
    if jobs.is_empty() && faults.is_empty() {
        faults.push(Fault::new(1, "job", "is missing; write [[job]] over each job"));
    }
    if let Some(job) = jobs.get(JOBS_MAX) {
        let text = format!("at most {JOBS_MAX} jobs are submitted in one go; split the file");
        return Err(Fault::new(job.line, "job", text));
    }
    Ok(jobs)
}

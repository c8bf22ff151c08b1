//! A script with `#SBATCH` lines, read as sbatch reads it.
//!
//! The directives say what one run of the script is given, on one node: sbatch
//! runs a script once, on as many cores as its tasks have together. What Slurm
//! means by a letter is meant here too; what has no meaning here is refused with
//! its line and the nearest thing there is. `docs/files.md` lists both.

mod amounts;
mod body;
mod directives;
mod options;
mod values;

use std::path::Path;

use fleet::{Ending, Output, Restart, Span};
use serde_json::{Map, Value, json};

use super::{Around, Fault, JobFile, Passed, Submission, fault_of, fill_in};
use amounts::Amounts;
use directives::Directives;
use values::Array;

/// The job of a script of this name, which gets these arguments.
pub(super) fn read(text: &str, (name, arguments): (&str, &[String]), around: &Around) -> JobFile {
    let mut directives = Directives::of(text);
    let mut notes = std::mem::take(&mut directives.notes);
    notes.extend(body::notes(text));
    let submission = submission(&mut directives, (text, name, arguments), around);
    let mut faults = directives.faults;
    if text.contains("\r\n") {
        let text = "the lines end as in DOS; take the carriage returns out: sed -i 's/\\r$//' FILE";
        faults.push(Fault::new(1, "", text));
    }
    if text.len() > body::SCRIPT_BYTES_MAX {
        let most = body::SCRIPT_BYTES_MAX;
        let text = format!("the script has more than {most} bytes; keep data in files of its own");
        faults.push(Fault::new(1, "", text));
    }
    if let (Value::Object(asked), true) = (&submission.job, faults.is_empty())
        && let Some((path, text)) = fault_of(asked)
    {
        faults.push(Fault::new(1, path, text));
    }
    faults.sort();
    JobFile { jobs: vec![submission], faults, notes }
}

/// The script, its name and its arguments.
type Script<'s> = (&'s str, &'s str, &'s [String]);

fn submission(directives: &mut Directives, script: Script<'_>, around: &Around) -> Submission {
    let (text, file, arguments) = script;
    let amounts = Amounts::of(directives);
    let name = directives.text("job-name").unwrap_or_else(|| file.to_owned());
    let time_limit = directives.read("time", values::time).flatten();
    let array = directives.read("array", values::array);
    let output = output(directives, (&name, array.as_ref()), around);
    let directory = directives.text("chdir");
    let directory = around.directory(directory.as_deref().map(Path::new)).unwrap_or_else(|error| {
        directives.faults.push(Fault::new(1, "", format!("{error:#}")));
        String::new()
    });
    let is_requeued = directives.read("requeue", |value| Ok(value != "no")).unwrap_or(true);
    let dependency = directives.read("dependency", values::dependency);
    let asked = asked(directives, (&name, &amounts), (time_limit, array.as_ref()), around);
    let variables = body::variables(&name, (&amounts, array.as_ref()), around);
    let environment = environment(directives, variables, around);
    let program = body::program(text, (file, arguments), array.as_ref());
    let (first, entries) = array.map_or((0, Vec::new()), Array::into_tasks);
    Submission {
        job: Value::Object(asked),
        arguments: program,
        directory,
        environment,
        output,
        time_limit,
        restart: Restart { retries: 0, requeue: is_requeued },
        after: dependency.unwrap_or_default(),
        first,
        entries,
        held: directives.has("hold"),
    }
}

/// What the job asks for, in the form of a workload file.
fn asked(
    directives: &mut Directives,
    (name, amounts): (&str, &Amounts),
    (time_limit, array): (Option<Span>, Option<&Array>),
    around: &Around,
) -> Map<String, Value> {
    let mut asked = Map::new();
    asked.insert("name".to_owned(), json!(name));
    if let Some(account) = directives.text("account") {
        asked.insert("tenant".to_owned(), json!(account));
    }
    if let Some(priority) = directives.read("priority", values::priority) {
        asked.insert("priority".to_owned(), json!(priority));
    }
    asked.insert("tasks".to_owned(), json!(array.map_or(1, Array::count)));
    asked.insert("alternative".to_owned(), json!([amounts.alternative()]));
    fill_in(&mut asked, time_limit, around);
    asked
}

/// Where output goes: kept where nothing is said.
fn output(
    directives: &mut Directives,
    (name, array): (&str, Option<&Array>),
    around: &Around,
) -> Output {
    let user = around.user().unwrap_or_default().to_owned();
    let pattern = values::Pattern { name, array, user: &user, machine: &around.machine };
    let output = directives.read("output", |text| pattern.file(text));
    let error = directives.read("error", |text| pattern.file(text));
    match (output, error) {
        (None, None) => Output::Kept,
        (Some(output), error) => Output::Files(output, error),
        // Where only errors are sent elsewhere, the rest goes where sbatch sends it.
        (None, error) => Output::Files(pattern.file("slurm-%j.out").unwrap_or_default(), error),
    }
}

/// What is exported, and what Slurm's scripts are told of themselves.
fn environment(
    directives: &mut Directives,
    variables: Vec<String>,
    around: &Around,
) -> Vec<String> {
    let export = directives.read("export", |text| Ok(values::export(text)));
    let (passed, mut given) = export.unwrap_or((Passed::All, Vec::new()));
    given.extend(variables);
    // What another scheduler said of another job is not said of this one.
    let mut own = around.clone();
    own.variables.retain(|(name, _)| !name.starts_with("SLURM_"));
    match own.environment(passed, &given) {
        Ok(environment) => environment,
        Err(error) => {
            directives.refuse("export", format!("{error:#}"));
            Vec::new()
        }
    }
}

/// The jobs that must have ended before.
type After = Vec<(String, Ending)>;

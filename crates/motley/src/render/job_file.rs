//! Words about jobs that would be submitted.

use fleet::{Bytes, Ending, Output};
use serde_json::Value;

use super::count;
use server::api::Submission;

/// The jobs, each with its place: what it would be given, and how it would be kept.
#[must_use]
pub fn jobs(jobs: &[Submission]) -> String {
    let names: Vec<&str> = jobs.iter().map(name).collect();
    (1..).zip(jobs).map(|(place, job)| one(place, job, &names)).collect()
}

fn name(job: &Submission) -> &str {
    job.job["name"].as_str().unwrap_or_default()
}

fn one(place: usize, told: &Submission, names: &[&str]) -> String {
    let tasks = told.job["tasks"].as_u64().unwrap_or(1);
    let mut text = format!("{place}. {}: {}", name(told), count(tasks, "task"));
    if tasks > 1 {
        let last = u64::from(told.first) + tasks - 1;
        text.push_str(&format!(", {} to {last}", told.first));
    }
    if !told.entries.is_empty() {
        text.push_str(", each with an entry");
    }
    text.push('\n');
    let mut line = |words: &str, value: &str| text.push_str(&format!("   {words} {value}\n"));
    for way in told.job["alternative"].as_array().into_iter().flatten() {
        line("each is given", &asked(way));
    }
    if let Some(limit) = told.time_limit {
        line("for at most", &limit.to_string());
    }
    for (named, ending) in &told.after {
        let place = named.strip_prefix('#').and_then(|place| place.parse::<usize>().ok());
        let named = place.and_then(|place| names.get(place - 1)).copied().unwrap_or(named);
        line("after", &format!("{named} {}", ended(*ending)));
    }
    if told.held {
        line("held", "until it is released");
    }
    if let Output::Files(file, error) = &told.output {
        line("prints into", file);
        error.iter().for_each(|file| line("and errors into", file));
    } else if told.output == Output::Discarded {
        line("prints", "into nothing");
    }
    line("runs", &command(&told.arguments));
    line("in", &told.directory);
    text
}

fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "has done its work",
        Ending::Any => "has ended",
        Ending::NotDone => "has failed",
    }
}

/// The fields of one way to run a task, as they are written.
fn asked(way: &Value) -> String {
    let fields = way.as_object().into_iter().flatten();
    let part = |(name, value): (&String, &Value)| match (name.as_str(), value.as_u64()) {
        ("memory", Some(bytes)) => format!("memory {}", Bytes(bytes)),
        _ => format!("{name} {}", words(value)),
    };
    fields.map(part).collect::<Vec<_>>().join(", ")
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" or "),
        Value::Object(_) => format!("({})", asked(value)),
        value => value.to_string(),
    }
}

/// A command on one line, of texts of several lines no more than how many.
fn command(arguments: &[String]) -> String {
    const CHARACTERS_MAX: usize = 100;
    let word = |text: &String| match text.lines().count() {
        0 | 1 => text.clone(),
        lines => format!("({lines} lines)"),
    };
    let line = arguments.iter().map(word).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

//! A job of a document: its own fields, and those that the reader of workload files knows.

use std::path::Path;

use fleet::{Ending, Output, Restart, Span};
use serde_json::{Map, Value, json};

use super::located::{Located, Plain};
use super::{Around, Fault, Passed, Submission, Told, entries, fault_of, fill_in};

/// The longest argument of a program, as the system takes it.
const ARGUMENT_BYTES_MAX: usize = (128 << 10) - 1;

/// The fields of an alternative; they may stand in the job where it has only one.
const OF_ALTERNATIVE: [&str; 9] = [
    "cores",
    "memory",
    "device",
    "numa",
    "memory_bandwidth",
    "network_bandwidth",
    "labels",
    "rates",
    "communication",
];

/// The fields of a job that say how it is kept, and not what it asks for.
const OWN: [&str; 17] = [
    "command",
    "script",
    "directory",
    "environment",
    "inherit",
    "output",
    "error",
    "time_limit",
    "retries",
    "requeue",
    "hold",
    "array",
    "entries",
    "each_line",
    "from_json",
    "after",
    "arrives",
];

/// A job, or nothing where it cannot be made sense of; faults are added to those there are.
pub(super) fn job(located: &Located, around: &Around, faults: &mut Vec<Fault>) -> Option<Told> {
    let Plain::Table(fields) = &located.value else {
        faults.push(Fault::new(located.line, "job", "must be a table of fields"));
        return None;
    };
    let mut own = Own { fields, line: located.line, faults };
    let submission = own.submission(around);
    let (after, after_lines) = own.after();
    let mut asked = own.asked(&submission);
    own.check_rates(&asked);
    fill_in(&mut asked, submission.time_limit, around);
    if let Some((path, text)) = fault_of(&asked) {
        let path = own.path_in_file(path);
        own.faults.push(Fault::new(located.line_of(&path), path, text));
    }
    let name = asked.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let job = Value::Object(asked);
    let submission = Submission { job, after, ..submission };
    Some(Told { name, line: located.line, submission, after_lines })
}

/// The fields of a job that are its own, and what is wrong with them.
struct Own<'f> {
    fields: &'f [(String, Located)],
    line: u64,
    faults: &'f mut Vec<Fault>,
}

impl Own<'_> {
    fn find(&self, name: &str) -> Option<&Located> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The field, as `read` takes it; a fault where it does not.
    fn read<T>(
        &mut self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(&Plain) -> Option<T>,
    ) -> Option<T> {
        let value = self.find(name)?;
        let taken = read(&value.value);
        if taken.is_none() {
            let fault = format!("is {}, but must be {wanted}", value.words());
            self.faults.push(Fault::new(value.line, name, fault));
        }
        taken
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, "a text", |value| match value {
            Plain::Text(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        })
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        self.read(name, "true or false", |value| match value {
            Plain::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    fn refuse(&mut self, name: &str, text: impl Into<String>) {
        let line = self.find(name).map_or(self.line, |value| value.line);
        self.faults.push(Fault::new(line, name, text));
    }

    /// The job but for what it asks for and what it begins after.
    fn submission(&mut self, around: &Around) -> Submission {
        let tasks = self.tasks();
        let restart = Restart {
            retries: self
                .read("retries", "a whole number from 0 to 4294967295", |value| match value {
                    Plain::Whole(number) => u32::try_from(*number).ok(),
                    _ => None,
                })
                .unwrap_or(0),
            requeue: self.flag("requeue").unwrap_or(true),
        };
        let directory = self.text("directory");
        let directory = around.directory(directory.as_deref().map(Path::new));
        Submission {
            job: Value::from(tasks.count),
            arguments: self.arguments(),
            directory: directory.unwrap_or_else(|error| {
                self.refuse("directory", format!("{error:#}"));
                String::new()
            }),
            environment: self.environment(around),
            output: self.output(),
            time_limit: self.time_limit(),
            restart,
            after: Vec::new(),
            first: tasks.first,
            entries: tasks.entries,
            held: self.flag("hold").unwrap_or(false),
        }
    }

    fn arguments(&mut self) -> Vec<String> {
        let arguments = self.command();
        if arguments.iter().any(|argument| argument.len() > ARGUMENT_BYTES_MAX) {
            let field = if self.find("script").is_some() { "script" } else { "command" };
            let text = format!(
                "has more than {ARGUMENT_BYTES_MAX} bytes in one piece, which the \
                                system does not start; put it into a file"
            );
            self.refuse(field, text);
        }
        arguments
    }

    fn command(&mut self) -> Vec<String> {
        let wanted = "a list of texts; a line for the shell goes into `script`";
        let command = self.read("command", wanted, texts);
        let script = self.text("script");
        match (command, script) {
            (Some(command), None) if command.is_empty() => {
                self.refuse("command", "is empty; give the program and its arguments");
                command
            }
            (Some(command), None) => command,
            (None, Some(script)) => ["/bin/sh", "-c", &script].map(str::to_owned).to_vec(),
            (Some(_), Some(_)) => {
                self.refuse("script", "stands beside `command`; give one of the two");
                Vec::new()
            }
            (None, None) => {
                if self.find("command").or_else(|| self.find("script")).is_none() {
                    let text = "is missing; give the program and its arguments, or a `script`";
                    self.refuse("command", text);
                }
                Vec::new()
            }
        }
    }

    fn environment(&mut self, around: &Around) -> Vec<String> {
        let passed = match self.flag("inherit") {
            Some(false) => Passed::Few,
            _ => Passed::All,
        };
        let given = self.read("environment", "a table of texts", |value| match value {
            Plain::Table(fields) => fields.iter().map(variable).collect::<Option<Vec<_>>>(),
            _ => None,
        });
        match around.environment(passed, &given.unwrap_or_default()) {
            Ok(environment) => environment,
            Err(error) => {
                self.refuse("environment", format!("{error:#}"));
                Vec::new()
            }
        }
    }

    fn output(&mut self) -> Output {
        let (output, error) = (self.text("output"), self.text("error"));
        let output = output.as_deref().map_or(Output::Kept, |text| match text {
            "keep" => Output::Kept,
            "none" => Output::Discarded,
            file => Output::Files(file.to_owned(), None),
        });
        match (output, error) {
            (Output::Files(file, _), error) => Output::Files(file, error),
            (output, None) => output,
            (output, Some(_)) => {
                self.refuse("error", "goes with a file for `output`; name one");
                output
            }
        }
    }

    fn time_limit(&mut self) -> Option<Span> {
        let value = self.find("time_limit")?;
        let line = value.line;
        match value.span() {
            Some(Ok(span)) if !span.is_zero() => Some(span),
            Some(Err(text)) => {
                self.faults.push(Fault::new(line, "time_limit", text));
                None
            }
            _ => {
                self.refuse("time_limit", "must be a span above zero, like \"1h30m\"");
                None
            }
        }
    }

    fn tasks(&mut self) -> entries::Tasks {
        let array = self.read("array", "FIRST-LAST in quotes, like \"1-100\"", |it| match it {
            Plain::Text(text) => Some(text.clone()),
            Plain::Whole(number) => Some(number.to_string()),
            _ => None,
        });
        let sources = ["entries", "each_line", "from_json"];
        let given: Vec<_> = sources.into_iter().filter(|it| self.find(it).is_some()).collect();
        if let [first, second, ..] = given[..] {
            self.refuse(second, format!("stands beside `{first}`; give one of the two"));
            return one_task();
        }
        let read = match given.first() {
            None => Ok(None),
            Some(&"entries") => Ok(self.read("entries", "a list of texts or numbers", texts)),
            Some(name) => match self.text(name) {
                Some(file) if *name == "each_line" => entries::of_lines(Path::new(&file)).map(Some),
                Some(file) => entries::of_json(Path::new(&file)).map(Some),
                None => Ok(None),
            },
        };
        let field = given.first().copied().unwrap_or("array");
        let tasks = read.and_then(|entries| entries::tasks(array.as_deref(), entries));
        let is_both = (array.is_some() || !given.is_empty()) && self.find("tasks").is_some();
        if is_both {
            self.refuse("tasks", format!("stands beside `{field}`, which says how many"));
        }
        tasks.unwrap_or_else(|error| {
            self.refuse(field, format!("{error:#}"));
            one_task()
        })
    }

    /// The jobs that it begins after, and the line of each.
    fn after(&mut self) -> (Vec<(String, Ending)>, Vec<u64>) {
        let wanted = "a list of jobs, like [{ job = \"prepare\", ending = \"done\" }]";
        let list = self.read("after", wanted, |value| match value {
            Plain::List(items) => Some(items.clone()),
            _ => None,
        });
        let mut after = (Vec::new(), Vec::new());
        for (index, item) in list.into_iter().flatten().enumerate() {
            match follows(&item) {
                Ok(one) => {
                    after.0.push(one);
                    after.1.push(item.line);
                }
                Err(text) => {
                    let field = format!("after[{index}]");
                    self.faults.push(Fault::new(item.line, field, text));
                }
            }
        }
        after
    }

    /// What the job asks for, in the form of a workload file.
    fn asked(&mut self, submission: &Submission) -> Map<String, Value> {
        let (mut asked, mut way) = (Map::new(), Map::new());
        for (name, value) in self.fields {
            let into = match name.as_str() {
                "arrives" => {
                    let text =
                        "has no effect here: a job arrives when it is submitted; leave it out";
                    self.faults.push(Fault::new(value.line, name.as_str(), text));
                    continue;
                }
                own if OWN.contains(&own) => continue,
                of_way if OF_ALTERNATIVE.contains(&of_way) => &mut way,
                _ => &mut asked,
            };
            match value.json() {
                Ok(json) => {
                    into.insert(name.clone(), json);
                }
                Err(fault) => self.faults.push(Fault { field: name.clone(), ..fault }),
            }
        }
        if !asked.contains_key("alternative") {
            if !way.contains_key("cores") && !way.contains_key("device") {
                way.insert("cores".to_owned(), json!(1));
            }
            asked.insert("alternative".to_owned(), json!([way]));
        } else if let Some((name, _)) = way.iter().next() {
            let text = "stands beside `alternative`; write it inside each alternative";
            self.refuse(name, text);
        }
        if !asked.contains_key("tasks") {
            asked.insert("tasks".to_owned(), submission.job.clone());
        }
        if !asked.contains_key("name") {
            let program = submission.arguments.first().map_or("job", String::as_str);
            let file = Path::new(program).file_name().and_then(|name| name.to_str());
            asked.insert("name".to_owned(), json!(file.unwrap_or(program)));
        }
        asked
    }

    /// Without work, the time limit says how much there is, in seconds: no rate goes with that.
    fn check_rates(&mut self, asked: &Map<String, Value>) {
        let ways = asked.get("alternative").and_then(Value::as_array).into_iter().flatten();
        let has_rates = ways.into_iter().any(|way| way.get("rates").is_some());
        if has_rates && !asked.contains_key("work") && self.find("time_limit").is_some() {
            self.refuse("time_limit", "stands beside `rates`, which need `work`; give that too");
        }
    }

    /// The path of a field as the file has it.
    fn path_in_file(&self, path: String) -> String {
        let inside = path.strip_prefix("alternative[0]");
        match inside.filter(|_| self.find("alternative").is_none()) {
            Some(rest) => rest.trim_start_matches('.').to_owned(),
            None => path,
        }
    }
}

fn one_task() -> entries::Tasks {
    entries::Tasks { count: 1, first: 0, entries: Vec::new() }
}

fn texts(value: &Plain) -> Option<Vec<String>> {
    let Plain::List(items) = value else { return None };
    let text = |item: &Located| match &item.value {
        Plain::Text(text) => Some(text.clone()),
        Plain::Whole(number) => Some(number.to_string()),
        Plain::Decimal(number) => Some(number.to_string()),
        _ => None,
    };
    items.iter().map(text).collect()
}

fn variable((name, value): &(String, Located)) -> Option<String> {
    let value = match &value.value {
        Plain::Text(text) => text.clone(),
        Plain::Whole(number) => number.to_string(),
        _ => return None,
    };
    Some(format!("{name}={value}"))
}

/// One job that must have ended before: its name or number, or a table of that and how it ended.
fn follows(item: &Located) -> Result<(String, Ending), String> {
    let named = |value: &Plain| match value {
        Plain::Text(name) if name.starts_with('#') => Err(format!("names {name:?}; give a name")),
        Plain::Text(name) if !name.is_empty() => Ok(name.clone()),
        Plain::Whole(number) if *number >= 0 => Ok(number.to_string()),
        _ => Err("must be the name or the number of a job".to_owned()),
    };
    let Plain::Table(fields) = &item.value else {
        return named(&item.value).map(|name| (name, Ending::Done));
    };
    let (mut job, mut ending) = (None, Ending::Done);
    for (name, value) in fields {
        match (name.as_str(), &value.value) {
            ("job", value) => job = Some(named(value)?),
            ("ending", Plain::Text(word)) => {
                ending = match word.as_str() {
                    "done" => Ending::Done,
                    "any" => Ending::Any,
                    "not-done" => Ending::NotDone,
                    _ => return Err(format!("ends {word:?}; use one of done, any, not-done")),
                }
            }
            ("ending", _) => return Err("ends how? use one of done, any, not-done".to_owned()),
            (other, _) => return Err(format!("has a field {other:?}; it has job and ending")),
        }
    }
    let job = job.ok_or("names no job; write { job = \"NAME\" }")?;
    Ok((job, ending))
}

//! The values of Slurm's options, each as Slurm writes it.

use std::collections::BTreeSet;

use fleet::{Ending, Span};

use super::super::Passed;
use super::After;
use crate::daemon::ENTRIES_MAX;

/// GPUs of one model, or of any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gpus {
    pub(super) model: Option<String>,
    pub(super) count: u64,
}

/// The numbers of the tasks of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Array {
    /// All from the first to the last.
    Range(u32, u32),
    /// These, ascending.
    List(Vec<u32>),
}

impl Array {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Range(first, last) => u64::from(last - first) + 1,
            Self::List(numbers) => numbers.len() as u64,
        }
    }

    /// The first and the last, and the step between them where it is one.
    pub(super) fn span(&self) -> (u32, u32, u32) {
        match self {
            Self::Range(first, last) => (*first, *last, 1),
            Self::List(numbers) => match numbers[..] {
                [first, second, .., last] => (first, last, second - first),
                [first, last] => (first, last, last - first),
                [only] => (only, only, 1),
                [] => (0, 0, 1),
            },
        }
    }

    /// The number of the first task; where they do not follow each other, what each gets.
    pub(super) fn into_tasks(self) -> (u32, Vec<String>) {
        match self {
            Self::Range(first, _) => (first, Vec::new()),
            Self::List(numbers) => (0, numbers.iter().map(u32::to_string).collect()),
        }
    }
}

/// `0-9`, `1,3,7`, `1-9:2`, and `%4` where it leaves room for all.
pub(super) fn array(text: &str) -> Result<Array, String> {
    let form = || format!("is {text:?}; write it like 0-9, 1,3,7 or 1-9:2");
    let (parts, limit) = match text.split_once('%') {
        Some((parts, limit)) => (parts, Some(limit.parse::<u64>().map_err(|_| form())?)),
        None => (text, None),
    };
    let ranges: Vec<_> = parts.split(',').map(range).collect::<Option<_>>().ok_or_else(form)?;
    let array = match ranges[..] {
        [(first, last, 1)] => Array::Range(first, last),
        _ => list(&ranges)?,
    };
    match limit {
        Some(limit) if limit < array.count() => Err(format!(
            "lets {limit} of {} tasks run at a time, which is not supported: as many run as there \
             is room for; leave %{limit} out",
            array.count()
        )),
        _ => Ok(array),
    }
}

/// `7`, `1-9` or `1-9:2`.
fn range(text: &str) -> Option<(u32, u32, u32)> {
    let (range, step) = match text.split_once(':') {
        Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)?),
        None => (text, 1),
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < u32::MAX).then_some((first, last, step))
}

fn list(ranges: &[(u32, u32, u32)]) -> Result<Array, String> {
    let counts = ranges.iter().map(|(first, last, step)| u64::from((last - first) / step) + 1);
    if counts.sum::<u64>() > ENTRIES_MAX as u64 {
        return Err(format!(
            "a list or a step goes up to {ENTRIES_MAX} tasks; write one FIRST-LAST"
        ));
    }
    let mut numbers = BTreeSet::new();
    for &(first, last, step) in ranges {
        numbers.extend((first..=last).step_by(step as usize));
    }
    let numbers: Vec<u32> = numbers.into_iter().collect();
    Ok(match numbers[..] {
        [first, .., last] if (last - first) as usize == numbers.len() - 1 => {
            Array::Range(first, last)
        }
        [only] => Array::Range(only, only),
        _ => Array::List(numbers),
    })
}

/// `90` minutes, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`, `D-HH:MM:SS`; nothing for no limit.
pub(super) fn time(text: &str) -> Result<Option<Span>, String> {
    if text.eq_ignore_ascii_case("UNLIMITED") || text.eq_ignore_ascii_case("INFINITE") {
        return Ok(None);
    }
    seconds(text).map(|seconds| (seconds > 0).then(|| Span::seconds(seconds))).ok_or_else(|| {
        format!("is {text:?}; write minutes, or it like 30:00, 12:30:00 or 2-12:00:00")
    })
}

fn seconds(text: &str) -> Option<u64> {
    /// Ten years; what Motley takes at most is longer.
    const SECONDS_MAX: u64 = 3_650 * 86_400;
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days.parse::<u64>().ok()?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (None, [minutes]) => (0, *minutes, 0),
        (None, [minutes, seconds]) => (0, *minutes, *seconds),
        (Some(_), [hours]) => (*hours, 0, 0),
        (Some(_), [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        _ => return None,
    };
    let terms = [(days.unwrap_or(0), 86_400), (hours, 3_600), (minutes, 60), (seconds, 1)];
    let mut sum = 0_u64;
    for (amount, unit) in terms {
        sum = sum.checked_add(amount.checked_mul(unit)?)?;
    }
    (sum <= SECONDS_MAX).then_some(sum)
}

/// Memory in bytes; without a letter it is in megabytes, and each is 1024 of the one before.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let upper = text.to_ascii_uppercase();
    let number = upper.trim_end_matches('B');
    let (number, power) = match number.char_indices().last() {
        Some((at, 'K')) => (&number[..at], 10),
        Some((at, 'M')) => (&number[..at], 20),
        Some((at, 'G')) => (&number[..at], 30),
        Some((at, 'T')) => (&number[..at], 40),
        _ => (number, 20),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << power));
    match bytes {
        Some(0) => {
            Err("is 0, all memory of a node, which is not supported: say how much".to_owned())
        }
        Some(bytes) => Ok(bytes),
        None => Err(format!("is {text:?}; write it like 4000 (megabytes), 16G or 16GB")),
    }
}

/// A number from 1.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("is {text:?}; write a whole number from 1"))
}

/// One node, or from one on.
pub(super) fn one_node(text: &str) -> Result<(), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (count(least)?, count(most)?) {
        (1, _) => Ok(()),
        (nodes, _) => Err(format!(
            "asks for {nodes} nodes, and a script runs on one: here are no `srun` and no \
             allocation over several; for one program on several nodes use a job file with \
             `tasks = {nodes}` and `gang = true`"
        )),
    }
}

/// How files for output are opened.
pub(super) fn open_mode(text: &str) -> Result<(), String> {
    match text {
        "truncate" => Ok(()),
        "append" => Err("is append, which is not supported: files are begun anew; put %j into \
                         their names"
            .to_owned()),
        other => Err(format!("is {other:?}; write truncate")),
    }
}

/// `gpu`, `gpu:2`, `gpu:a100:2`.
pub(super) fn gres(text: &str) -> Result<Option<Gpus>, String> {
    let several = || "names several things; a job file has `alternative` for a choice".to_owned();
    let mut all = None;
    for part in text.split(',').filter(|part| !matches!(*part, "" | "none")) {
        let part = part.strip_prefix("gres/").unwrap_or(part);
        let mut words = part.split(':');
        match words.next() {
            Some("gpu") => {}
            Some("shard") => {
                return Err("asks for shards; ask for a part of a GPU in a job file: \
                            device = { kind = \"gpu\", share = 0.5 }"
                    .to_owned());
            }
            Some(other) => {
                return Err(format!(
                    "asks for {other:?}; only gpu is known here, and other devices in a job file"
                ));
            }
            None => {}
        }
        let of_these = match (words.next(), words.next(), words.next()) {
            (None, ..) => Some(Gpus { model: None, count: 1 }),
            (Some(one), None, _) => match one.parse() {
                Ok(number) => (number > 0).then_some(Gpus { model: None, count: number }),
                Err(_) => Some(Gpus { model: Some(one.to_owned()), count: 1 }),
            },
            (Some(model), Some(number), None) => {
                Some(Gpus { model: Some(model.to_owned()), count: count(number)? })
            }
            _ => return Err(format!("is {part:?}; write it like gpu:2 or gpu:a100:2")),
        };
        if all.is_some() {
            return Err(several());
        }
        all = of_these;
    }
    Ok(all)
}

/// `2` or `a100:2`.
pub(super) fn gpus(text: &str) -> Result<Option<Gpus>, String> {
    let is_name = text.parse::<u64>().is_err() && !text.contains(':');
    if text.is_empty() || is_name {
        return Err(format!("is {text:?}; write it like 2 or a100:2"));
    }
    gres(&text.split(',').map(|part| format!("gpu:{part}")).collect::<Vec<_>>().join(","))
}

/// A larger one goes first.
pub(super) fn priority(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("is {text:?}; write a whole number"))
}

/// What is passed on of the environment, and what is set.
pub(super) fn export(text: &str) -> (Passed, Vec<String>) {
    let words = || text.split(',').map(str::trim).filter(|word| !word.is_empty());
    let is_all = words().any(|word| word == "ALL");
    let given = words().filter(|word| !matches!(*word, "ALL" | "NONE" | "NIL"));
    let passed = if is_all { Passed::All } else { Passed::Few };
    (passed, given.map(str::to_owned).collect())
}

/// `afterok:12:13,afterany:14`.
pub(super) fn dependency(text: &str) -> Result<After, String> {
    if text.contains('?') {
        return Err("lets any of several do, which is not supported: all must; use commas".into());
    }
    let mut after = After::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let mut words = part.split(':');
        let ending = match words.next() {
            Some("afterok") => Ending::Done,
            Some("afterany") => Ending::Any,
            Some("afternotok") => Ending::NotDone,
            Some("after") => {
                return Err(
                    "waits for a start, which is not supported: afterok and afterany wait \
                            for an end"
                        .to_owned(),
                );
            }
            Some("aftercorr") => {
                return Err("waits task by task, which is not supported: afterok waits for all \
                            tasks"
                    .to_owned());
            }
            Some("singleton") => {
                return Err("waits for jobs of its name, which is not supported: afterany:NAME \
                            waits for one"
                    .to_owned());
            }
            _ => return Err(format!("has {part:?}; write it like afterok:12")),
        };
        let before = after.len();
        after.extend(words.filter(|job| !job.is_empty()).map(|job| (job.to_owned(), ending)));
        if after.len() == before {
            return Err(format!("has {part:?}, which names no job; write it like afterok:12"));
        }
    }
    Ok(after)
}

/// What stands for something in the name of a file.
pub(super) struct Pattern<'p> {
    pub(super) name: &'p str,
    pub(super) array: Option<&'p Array>,
    pub(super) user: &'p str,
    pub(super) machine: &'p str,
}

impl Pattern<'_> {
    /// The same name in Motley's letters.
    pub(super) fn file(&self, text: &str) -> Result<String, String> {
        if text.is_empty() {
            return Err("needs the name of a file".to_owned());
        }
        if text.contains('\\') {
            return Err("has a backslash, which is not supported: write %% for a %".to_owned());
        }
        let mut parts = text.split('%');
        let mut name = parts.next().unwrap_or_default().to_owned();
        while let Some(part) = parts.next() {
            let Some(letter) = part.chars().next() else {
                // Two of them stand for one; what follows is the rest of the name.
                name.push_str("%%");
                name.push_str(parts.next().unwrap_or_default());
                continue;
            };
            name.push_str(&self.letter(letter)?);
            name.push_str(&part[letter.len_utf8()..]);
        }
        Ok(name)
    }

    fn letter(&self, letter: char) -> Result<String, String> {
        let plain = |text: &str| Ok(text.replace('%', "%%"));
        match (letter, self.array) {
            ('A', _) | ('j', None) => Ok("%j".to_owned()),
            ('j', Some(Array::Range(..))) => Ok("%j_%t".to_owned()),
            ('a', Some(Array::Range(..))) => Ok("%t".to_owned()),
            ('j' | 'a', Some(Array::List(_))) => Err(format!(
                "has %{letter} in it, and with a list or a step in --array no file can be named \
                 after a task; write one FIRST-LAST, or leave --output out"
            )),
            ('a', None) => Err("has %a in it, and there is no --array".to_owned()),
            ('x', _) => plain(self.name),
            ('u', _) => plain(self.user),
            ('N', _) => plain(self.machine.split('.').next().unwrap_or_default()),
            ('n' | 't', _) => plain("0"),
            (other, _) => Err(format!(
                "has %{other} in it, which is not supported; there are %j, %A, %a, %x, %u, %N, %n, \
                 %t and %%"
            )),
        }
    }
}

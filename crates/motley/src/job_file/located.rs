//! Values of a job file, each with its line.
//!
//! In comes the text of a TOML or a YAML document (JSON is YAML); out comes a
//! tree that is the same for both, so that whoever reads it need not know which
//! it was. It knows nothing of jobs.

use std::fmt;

use fleet::Span;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;
use toml::de::{DeTable, DeValue};

use super::Fault;

/// A value, and the line on which it begins; of a field, the line of its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Located {
    pub(super) line: u64,
    pub(super) value: Plain,
}

/// A value, whatever the format.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    Text(String),
    Whole(i64),
    Decimal(f64),
    Flag(bool),
    List(Vec<Located>),
    Table(Vec<(String, Located)>),
    /// What no field takes, by name.
    Other(&'static str),
}

/// The document of a TOML file.
pub(super) fn of_toml(text: &str) -> Result<Located, Fault> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let value = Plain::Table(of_table(table.get_ref(), &lines));
            Ok(Located { line: 1, value })
        }
        Err(error) => {
            let line = lines.at(error.span().map_or(0, |span| span.start));
            Err(Fault::new(line, "", format!("is not TOML: {}", error.message())))
        }
    }
}

fn of_table(table: &DeTable<'_>, lines: &Lines) -> Vec<(String, Located)> {
    let fields = table.iter().map(|(name, value)| {
        let line = lines.at(name.span().start);
        let told: &str = name.get_ref();
        (name.span().start, told.to_owned(), Located { line, value: of(value.get_ref(), lines) })
    });
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(start, ..)| *start);
    fields.into_iter().map(|(_, name, value)| (name, value)).collect()
}

fn of(value: &DeValue<'_>, lines: &Lines) -> Plain {
    match value {
        DeValue::String(text) => Plain::Text(text.as_ref().to_owned()),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(TOO_LARGE, Plain::Whole)
        }
        DeValue::Float(number) => number.as_str().parse().map_or(TOO_LARGE, Plain::Decimal),
        DeValue::Boolean(flag) => Plain::Flag(*flag),
        DeValue::Datetime(_) => Plain::Other("a date"),
        DeValue::Array(items) => Plain::List(
            items
                .iter()
                .map(|item| Located {
                    line: lines.at(item.span().start),
                    value: of(item.get_ref(), lines),
                })
                .collect(),
        ),
        DeValue::Table(table) => Plain::Table(of_table(table, lines)),
    }
}

const TOO_LARGE: Plain = Plain::Other("a number that is too large");

/// The document of a YAML or JSON file.
pub(super) fn of_yaml(text: &str) -> Result<Located, Fault> {
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    match serde_saphyr::from_str_with_options::<Spanned<Yaml>>(text, options) {
        Ok(document) => Ok(located(document)),
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line());
            Err(Fault::new(line, "", format!("is not YAML: {}", error.without_snippet())))
        }
    }
}

fn located(Spanned { value: Yaml(value), referenced, .. }: Spanned<Yaml>) -> Located {
    Located { line: referenced.line(), value }
}

struct Yaml(Plain);

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = Yaml;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Yaml, E> {
        Ok(Yaml(Plain::Flag(flag)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Yaml, E> {
        Ok(Yaml(Plain::Whole(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Yaml, E> {
        Ok(Yaml(i64::try_from(number).map_or(TOO_LARGE, Plain::Whole)))
    }

    fn visit_i128<E>(self, _: i128) -> Result<Yaml, E> {
        Ok(Yaml(TOO_LARGE))
    }

    fn visit_u128<E>(self, _: u128) -> Result<Yaml, E> {
        Ok(Yaml(TOO_LARGE))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Yaml, E> {
        Ok(Yaml(Plain::Decimal(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Yaml, E> {
        Ok(Yaml(Plain::Text(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml(Plain::Other("null")))
    }

    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml(Plain::Other("null")))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Yaml, D::Error> {
        Yaml::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Yaml, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(located(item));
        }
        Ok(Yaml(Plain::List(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Yaml, A::Error> {
        let mut table = Vec::new();
        while let Some(name) = fields.next_key::<Spanned<String>>()? {
            let value = fields.next_value::<Yaml>()?.0;
            table.push((name.value, Located { line: name.referenced.line(), value }));
        }
        Ok(Yaml(Plain::Table(table)))
    }
}

impl Located {
    /// The value as JSON.
    pub(super) fn json(&self) -> Result<Value, Fault> {
        let wrong = |what: &str| Fault::new(self.line, "", format!("{what} means nothing here"));
        Ok(match &self.value {
            Plain::Text(text) => Value::String(text.clone()),
            Plain::Whole(number) => Value::from(*number),
            Plain::Decimal(number) => match Number::from_f64(*number) {
                Some(number) => Value::Number(number),
                None => return Err(wrong(&format!("the number {number}"))),
            },
            Plain::Flag(flag) => Value::Bool(*flag),
            Plain::List(items) => {
                Value::Array(items.iter().map(Self::json).collect::<Result<_, _>>()?)
            }
            Plain::Table(fields) => {
                let fields = fields.iter().map(|(name, value)| Ok((name.clone(), value.json()?)));
                Value::Object(fields.collect::<Result<Map<_, _>, Fault>>()?)
            }
            Plain::Other(what) => return Err(wrong(what)),
        })
    }

    /// The line of what a path such as `alternative[0].device.share` leads to, as far as it does.
    pub(super) fn line_of(&self, path: &str) -> u64 {
        match (&self.value, path.strip_prefix('[')) {
            (Plain::List(items), Some(rest)) => {
                let Some((index, rest)) = rest.split_once(']') else { return self.line };
                let item = index.parse().ok().and_then(|index: usize| items.get(index));
                item.map_or(self.line, |item| item.line_of(rest))
            }
            (Plain::Table(fields), None) => {
                let path = path.strip_prefix('.').unwrap_or(path);
                let rest_after = |name: &str| {
                    let rest = path.strip_prefix(name)?;
                    (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
                };
                // A name may have dots in it, so the longest that will do is meant.
                let found = fields.iter().filter_map(|(name, it)| Some((rest_after(name)?, it)));
                let longest = found.min_by_key(|(rest, _)| rest.len());
                longest.map_or(self.line, |(rest, value)| value.line_of(rest))
            }
            _ => self.line,
        }
    }

    /// A span, written as text or as seconds.
    pub(super) fn span(&self) -> Option<Result<Span, String>> {
        let text = match &self.value {
            Plain::Text(text) => text.clone(),
            Plain::Whole(number) => number.to_string(),
            Plain::Decimal(number) => number.to_string(),
            _ => return None,
        };
        Some(text.parse().map_err(|error: fleet::parse::ParseError| error.to_string()))
    }

    /// What it is, for messages.
    pub(super) fn words(&self) -> String {
        match &self.value {
            Plain::Text(text) => format!("{:?}", short(text)),
            Plain::Whole(number) => number.to_string(),
            Plain::Decimal(number) => number.to_string(),
            Plain::Flag(flag) => flag.to_string(),
            Plain::List(_) => "a list".to_owned(),
            Plain::Table(_) => "a table".to_owned(),
            Plain::Other(what) => (*what).to_owned(),
        }
    }
}

/// A text, cut where it is too long to be repeated in a message.
pub(super) fn short(text: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Where each line ends.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let bytes = text.bytes().enumerate();
        Self(bytes.filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    /// The line of this byte, counted from 1.
    fn at(&self, byte: usize) -> u64 {
        self.0.partition_point(|end| *end < byte) as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "format = 1\n\n[[job]]\nname = \"a\"\nlist = [\n  1,\n  2.5,\n]\n[job.inner]\nflag = true\n";
    const YAML: &str =
        "format: 1\n\njob:\n- name: a\n  list:\n  - 1\n  - 2.5\n\n  inner:\n    flag: true\n";

    #[test]
    fn toml_and_yaml_are_the_same_values_on_their_lines() {
        let (toml, yaml) = (of_toml(TOML).unwrap(), of_yaml(YAML).unwrap());
        assert_eq!(toml.json().unwrap(), yaml.json().unwrap());
        for path in ["job", "job[0].name", "job[0].list[1]", "job[0].inner.flag"] {
            let line = |text: &str, word: &str| {
                text.lines().position(|line| line.contains(word)).unwrap() as u64 + 1
            };
            let word = match path.rsplit(['.', ']']).next() {
                Some("") => "2.5",
                Some(word) => word,
                None => path,
            };
            assert_eq!(toml.line_of(path), line(TOML, word), "{path}");
            assert_eq!(yaml.line_of(path), line(YAML, word), "{path}");
        }
    }

    #[test]
    fn what_is_neither_is_refused_with_its_line() {
        assert_eq!(of_toml("a = 1\nb =\n").unwrap_err().line, 2);
        assert_eq!(of_yaml("a: 1\nb: [\n").unwrap_err().line, 2);
        assert!(of_yaml("a: 1\na: 2\n").unwrap_err().text.contains("duplicate"));
    }
}

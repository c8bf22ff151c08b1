//! Values as they stand in TOML or JSON, before anyone knows what they mean.
//!
//! A [`Raw`] takes any value at all, so that a wrong one is refused where its
//! field is known, in this crate's words. A [`Table`] is a map that refuses a
//! name given twice, which a JSON reader would otherwise drop in silence. The
//! functions turn them into exact quantities, names and words.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use fleet::parse::ParseError;
use fleet::units::{
    Bandwidth, Bytes, Level, Milli, MilliCores, Milliwatts, Rate, Span, Time, Work,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::error::{Within, Wrong, shorten};
use super::fault::Fault;

/// The longest text of one value; names and units are shorter.
pub(super) const TEXT_BYTES_MAX: usize = 4096;
/// The longest span and the latest moment: a hundred years, so that sums of them stay far from
/// the end of time.
pub(super) const SPAN_MAX: Span = Span::seconds(36_500 * 86_400);

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i128),
    /// A number with a decimal point.
    Decimal(f64),
    /// Yes or no.
    Flag(bool),
    /// Something else, by name.
    Other(&'static str),
}

impl fmt::Display for Raw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "{:?}", shorten(text)),
            Self::Whole(number) => write!(out, "{number}"),
            Self::Decimal(number) => write!(out, "{number:?}"),
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::Other(name) => out.write_str(name),
        }
    }
}

/// A quantity that can be written as text and perhaps as a number.
pub(super) trait Quantity: FromStr<Err = ParseError> {
    /// From a number with a decimal point.
    fn of_decimal(number: f64) -> Result<Self, ParseError>;
}

macro_rules! quantity {
    ($($name:ty: $of_decimal:expr),* $(,)?) => {
        $(impl Quantity for $name {
            fn of_decimal(number: f64) -> Result<Self, ParseError> {
                $of_decimal(number)
            }
        })*
    };
}

quantity! {
    MilliCores: MilliCores::from_number,
    Milli: Milli::from_number,
    Rate: Rate::from_number,
    Work: Work::from_number,
    Level: Level::from_number,
    Bytes: |number: f64| number.to_string().parse(),
    Span: |number: f64| number.to_string().parse(),
    Milliwatts: |number: f64| number.to_string().parse(),
    Bandwidth: |number: f64| number.to_string().parse(),
}

/// The quantity.
pub(super) fn quantity<Q: Quantity>(raw: &Raw) -> Result<Q, Wrong> {
    let parsed = match raw {
        Raw::Text(text) => Q::from_str(text),
        Raw::Whole(number) => Q::from_str(&number.to_string()),
        Raw::Decimal(number) => Q::of_decimal(*number),
        Raw::Flag(_) | Raw::Other(_) => {
            return Err(Wrong::here(of_type(raw, "a number or a text with a unit")));
        }
    };
    parsed.map_err(|error| Wrong::here(Fault::Quantity(error)))
}

/// The quantity of an optional field, where it is given.
pub(super) fn optional<Q: Quantity>(raw: Option<&Raw>, field: &str) -> Result<Option<Q>, Wrong> {
    raw.map(quantity).transpose().within(field)
}

/// A span that is not longer than a century.
pub(super) fn span(raw: &Raw) -> Result<Span, Wrong> {
    let span = quantity::<Span>(raw)?;
    if span > SPAN_MAX {
        let wanted = "a span of at most 36500d";
        return Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted }));
    }
    Ok(span)
}

/// A moment, written as the span since the start.
pub(super) fn moment(raw: Option<&Raw>, field: &str) -> Result<Time, Wrong> {
    let since = raw.map(span).transpose().within(field)?;
    Ok(Time::default().after(since.unwrap_or_default()))
}

/// A whole number that `N` can hold and that is at least `least`.
pub(super) fn whole<N>(raw: &Raw, least: N, wanted: &'static str) -> Result<N, Wrong>
where
    N: TryFrom<i128> + PartialOrd,
{
    let Raw::Whole(number) = raw else {
        return Err(Wrong::here(of_type(raw, wanted)));
    };
    match N::try_from(*number) {
        Ok(number) if number >= least => Ok(number),
        _ => Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted })),
    }
}

/// Yes or no.
pub(super) fn flag(raw: &Raw) -> Result<bool, Wrong> {
    match raw {
        Raw::Flag(flag) => Ok(*flag),
        _ => Err(Wrong::here(of_type(raw, "true or false"))),
    }
}

/// A text.
pub(super) fn text<'a>(raw: &'a Raw, wanted: &'static str) -> Result<&'a str, Wrong> {
    match raw {
        Raw::Text(text) => Ok(text),
        _ => Err(Wrong::here(of_type(raw, wanted))),
    }
}

/// A name: a text that can be shown.
pub(super) fn name(raw: &Raw) -> Result<&str, Wrong> {
    let name = text(raw, "a name in quotes")?;
    check_name(name)?;
    Ok(name)
}

/// A name that must be there.
pub(super) fn required_name<'a>(
    raw: Option<&'a Raw>,
    field: &str,
    advice: &'static str,
) -> Result<&'a str, Wrong> {
    let raw = raw.ok_or_else(|| Wrong::at(field, Fault::Missing { advice }))?;
    name(raw).within(field)
}

/// Refuses a name that cannot be shown.
pub(super) fn check_name(name: &str) -> Result<(), Wrong> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(Wrong::here(Fault::Name { given: shorten(name) }));
    }
    Ok(())
}

/// A list of names.
pub(super) fn names(raws: Option<&Vec<Raw>>, field: &str) -> Result<Vec<String>, Wrong> {
    let raws = raws.map_or(&[][..], Vec::as_slice).iter().enumerate();
    raws.map(|(index, raw)| name(raw).map(str::to_owned).within_item(index).within(field)).collect()
}

/// Names with texts.
pub(super) fn labels(table: Option<&Table<Raw>>) -> Result<BTreeMap<String, String>, Wrong> {
    let mut labels = BTreeMap::new();
    for (key, raw) in table.iter().flat_map(|table| &table.0) {
        let value = check_name(key).and_then(|()| name(raw)).within(key).within("labels")?;
        labels.insert(key.clone(), value.to_owned());
    }
    Ok(labels)
}

/// Models with rates above zero.
pub(super) fn rates(table: &Table<Raw>) -> Result<BTreeMap<String, Rate>, Wrong> {
    let mut rates = BTreeMap::new();
    for (model, raw) in &table.0 {
        let rate = check_name(model).and_then(|()| quantity::<Rate>(raw)).within(model)?;
        if rate.is_zero() {
            let wanted = "a rate above zero, or leave the model out where the job cannot run";
            return Err(Wrong::at(model, Fault::Range { given: raw.to_string(), wanted }));
        }
        rates.insert(model.clone(), rate);
    }
    Ok(rates)
}

fn of_type(raw: &Raw, wanted: &'static str) -> Fault {
    Fault::Type { given: raw.to_string(), wanted }
}

/// A map that refuses a name given twice.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table<V>(pub(super) BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Table<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for TableVisitor<V> {
    type Value = Table<V>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<V>, A::Error> {
        let mut table = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            check_length(&key)?;
            let value = map.next_value()?;
            if table.contains_key(&key) {
                return Err(de::Error::custom(format!("duplicate field `{}`", shorten(&key))));
            }
            table.insert(key, value);
        }
        Ok(Table(table))
    }
}

/// A text type that is written as a table, and not as the list of its fields in order, which
/// derived types would take as well.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Strict<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Strict<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StrictVisitor(PhantomData))
    }
}

struct StrictVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StrictVisitor<T> {
    type Value = Strict<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a table of fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Strict<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Strict)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
        Ok(Raw::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Whole(number.into()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Raw, E> {
        Ok(Raw::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Decimal(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Raw, E> {
        check_length(text)?;
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Other("null"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Raw::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Raw::Other("a table or a date"))
    }
}

fn check_length<E: de::Error>(text: &str) -> Result<(), E> {
    if text.len() > TEXT_BYTES_MAX {
        let length = text.len();
        return Err(E::custom(format!("a text of {length} bytes; at most {TEXT_BYTES_MAX}")));
    }
    Ok(())
}

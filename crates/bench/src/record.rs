//! Records: what a bench measured, as data.

use std::fmt;

use serde::Serialize;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// What it is.
    pub name: String,
    /// How much it is.
    pub value: f64,
    /// In what unit.
    pub unit: &'static str,
    /// What it should be, where something is aimed at.
    pub aim: Option<Aim>,
    /// Whether it is.
    pub met: Option<bool>,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// At least this.
    Least(f64),
    /// At most this.
    Most(f64),
}

impl Record {
    /// A figure, rounded to six places so that its text is short.
    #[must_use]
    pub fn new(name: String, value: f64, unit: &'static str, aim: Option<Aim>) -> Self {
        let value = (value * 1e6).round() / 1e6;
        Self { name, value, unit, aim, met: aim.map(|aim| aim.is_met_by(value)) }
    }
}

impl Aim {
    /// Whether a figure is as it should be.
    #[must_use]
    pub fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::Least(least) => value >= least,
            Self::Most(most) => value <= most,
        }
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Least(least) => write!(out, ">= {least}"),
            Self::Most(most) => write!(out, "<= {most}"),
        }
    }
}

impl Serialize for Aim {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_says_whether_its_aim_is_met() {
        let record = |value, aim| Record::new("a".to_owned(), value, "%", aim);
        assert_eq!(record(0.02, Some(Aim::Most(0.03))).met, Some(true));
        assert_eq!(record(95.7, Some(Aim::Least(95.8))).met, Some(false));
        assert_eq!(record(95.7, None).met, None);
    }

    #[test]
    fn record_is_one_flat_object() {
        let record = Record::new("gate".to_owned(), 0.1, "pp", Some(Aim::Most(0.03)));
        let text = serde_json::to_string(&record).unwrap();
        let wanted = r#"{"name":"gate","value":0.1,"unit":"pp","aim":"<= 0.03","met":false}"#;
        assert_eq!(text, wanted);
    }
}

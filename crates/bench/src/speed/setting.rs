//! One setting: how large, how varied, how busy, and under which policy.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum as _;

use super::contender::Contender;

/// What is measured at once. Its text is its four parts with a comma between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// How many nodes the fleet has.
    pub nodes: u32,
    /// How many shapes jobs are drawn from.
    pub shapes: u32,
    /// How many jobs arrive each turn.
    pub arrivals: u32,
    /// Who plans.
    pub contender: Contender,
}

impl fmt::Display for Setting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, shapes, arrivals, contender } = self;
        write!(out, "{nodes},{shapes},{arrivals},{}", contender.name())
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').collect();
        let [nodes, shapes, arrivals, contender] = parts.as_slice() else {
            return Err("a setting like 100,100,1,plain".to_owned());
        };
        let count = |part: &str| part.parse().map_err(|_| format!("{part} is not a count"));
        Ok(Self {
            nodes: count(nodes)?,
            shapes: count(shapes)?,
            arrivals: count(arrivals)?,
            contender: Contender::from_str(contender, false)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        for contender in Contender::ALL {
            let setting = Setting { nodes: 100, shapes: 20, arrivals: 3, contender };
            assert_eq!(setting.to_string().parse(), Ok(setting));
        }
        assert!("100,20,3".parse::<Setting>().is_err());
        assert!("100,20,3,none".parse::<Setting>().is_err());
    }
}

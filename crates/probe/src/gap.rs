//! Gaps: what could not be read, and what is assumed instead.
//!
//! A machine with a thousand threads may lack the same file a thousand times.
//! Such gaps are one gap with a count, so that the list stays short.

use std::fmt;
use std::mem;

use crate::error::ProbeError;

/// Something that could not be read, and what is assumed instead.
#[derive(Debug)]
pub struct Gap {
    /// The first file that could not be read, and why.
    pub fault: ProbeError,
    /// What is assumed instead.
    pub instead: &'static str,
    /// How many files of this name had the same fault.
    pub times: u32,
}

impl Gap {
    fn is_like(&self, fault: &ProbeError, instead: &str) -> bool {
        self.instead == instead
            && self.fault.file() == fault.file()
            && mem::discriminant(&self.fault) == mem::discriminant(fault)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "failed to {}", self.fault)?;
        if let ProbeError::Unreadable { source, .. } = &self.fault {
            write!(out, ": {source}")?;
        }
        if self.times > 1 {
            write!(out, " (and {} more)", self.times - 1)?;
        }
        write!(out, "; {}", self.instead)
    }
}

/// The gaps of one reading.
#[derive(Debug, Default)]
pub struct Gaps(pub Vec<Gap>);

impl Gaps {
    /// Adds a gap, or counts it where there is one like it.
    pub(crate) fn add(&mut self, fault: ProbeError, instead: &'static str) {
        match self.0.iter_mut().find(|gap| gap.is_like(&fault, instead)) {
            Some(gap) => gap.times = gap.times.saturating_add(1),
            None => self.0.push(Gap { fault, instead, times: 1 }),
        }
    }

    /// What was read, or nothing and a gap.
    pub(crate) fn or_gap<T>(
        &mut self,
        read: Result<T, ProbeError>,
        instead: &'static str,
    ) -> Option<T> {
        read.map_err(|fault| self.add(fault, instead)).ok()
    }
}

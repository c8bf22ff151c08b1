//! Words for typed results.
//!
//! In come explanations and policies, out come sentences and tables for
//! operators. Everything is bounded: long lists end in how many more there
//! are, long names are clipped. Nothing here decides or prints.

mod choice;
mod drawing;
mod reason;
mod words;
pub mod comparison;
pub mod doctor;
pub mod page;
pub mod explain;
pub mod front;
pub mod live;
pub mod job_file;
pub mod simulation;

use comfy_table::{Table, presets};
use controller::policy_file;
use fleet::policy::Objective;
use fleet::{Bytes, ClassId, Classes, DeviceKind, NodeId, Policy, Time};

use crate::command::data::Listed;

pub use choice::{Placed, placed};
use reason::unmet;
pub use reason::{reason, waiting};

/// A name, clipped where it is long, and on one line.
#[must_use]
pub fn clipped(name: &str) -> String {
    words::clip(name)
}

/// What nodes and device classes are called.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    /// The device classes.
    pub classes: &'a Classes,
    /// The names of the nodes, by position.
    pub nodes: Vec<&'a str>,
    /// The signals that the policy weighs, by slot.
    pub externals: &'a [String],
    /// The time of day, where moments are told by it and not by the clock of a simulation.
    pub now: Option<Time>,
}

impl<'a> Names<'a> {
    fn node(&self, id: NodeId) -> String {
        match self.nodes.get(id.index()) {
            Some(name) => words::clip(name),
            None => id.to_string(),
        }
    }

    /// What an objective is called.
    fn objective(&self, objective: Objective) -> String {
        match objective {
            Objective::External(slot) => match self.externals.get(slot.index()) {
                Some(signal) => words::clip(signal),
                None => objective.name().to_owned(),
            },
            _ => objective.name().to_owned(),
        }
    }

    /// A moment: `1h30m` on the clock of a simulation, `in 5m` or `5m ago` by the time of day.
    fn moment(&self, time: Time) -> String {
        words::moment(time, self.now)
    }

    fn model(&self, id: ClassId) -> String {
        match self.classes.0.get(id.index()) {
            Some(class) => words::clip(&class.model),
            None => id.to_string(),
        }
    }
}

/// A table of policies.
#[must_use]
pub fn policies(policies: &[Policy]) -> String {
    let mut table = plain_table();
    table.set_header(["name", "order", "pick", "description"]);
    for policy in policies {
        let order: Vec<_> =
            policy.order.iter().map(|key| policy_file::order_key_name(*key)).collect();
        table.add_row([
            policy.name.clone(),
            order.join(", "),
            policy_file::pick_name(policy.pick).to_owned(),
            policy.description.clone(),
        ]);
    }
    lines_of(&table)
}

/// A table without lines, for terminals, files and pipes alike.
fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// A table of datasets.
#[must_use]
pub fn datasets(listed: &[Listed]) -> String {
    let mut table = plain_table();
    table.set_header(["name", "size", "nodes"]);
    for Listed { name, bytes, nodes } in listed {
        let size = Bytes(*bytes).to_string();
        table.add_row([words::clip(name), size, words::list(nodes, ", ")]);
    }
    lines_of(&table)
}

/// A kind of device, as people write it.
#[must_use]
pub fn kind(kind: DeviceKind) -> &'static str {
    words::kind(kind)
}

/// `1 node`, `2 nodes`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    words::count(number, noun)
}

/// The table's lines, without blanks at either end.
fn lines_of(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim())).collect()
}

#[cfg(test)]
mod tests;

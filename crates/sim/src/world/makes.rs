//! What could run where if nothing else did.

use std::collections::BTreeSet;

use fleet::node::{choose_devices, single_choices};
use fleet::{Alternative, ClassId, Classes, Free, Milli, Node, NodeId, Reach};

use crate::workload::Inventory;

/// The makes of a fleet: nodes that differ only in id and name stand here once, empty.
#[derive(Clone, Debug)]
pub struct Makes<'a> {
    /// The device classes.
    pub classes: &'a Classes,
    makes: Vec<(Node, Free)>,
}

impl<'a> Makes<'a> {
    /// The makes of this fleet.
    #[must_use]
    pub fn of(inventory: &'a Inventory) -> Self {
        let make = |node: &Node| Node { id: NodeId(0), name: String::new(), ..node.clone() };
        let makes: BTreeSet<Node> = inventory.nodes.iter().map(make).collect();
        let empty = |node: Node| {
            let free = node.capacity(&inventory.classes);
            (node, free)
        };
        Self { classes: &inventory.classes, makes: makes.into_iter().map(empty).collect() }
    }

    /// The classes on which a task could run this way, on some node of the fleet if it were empty,
    /// whatever rates are declared.
    #[must_use]
    pub fn classes_for(&self, way: &Alternative) -> BTreeSet<ClassId> {
        let mut found = BTreeSet::new();
        for (node, free) in &self.makes {
            let has_label = |(key, value)| node.labels.get(key) == Some(value);
            let request = &way.request;
            if request.cores <= node.cores
                && request.memory <= node.memory
                && way.labels.iter().all(has_label)
            {
                found.extend(self.classes_on(node, free, way));
            }
        }
        found
    }

    /// The classes of one empty node that would do.
    fn classes_on(&self, node: &Node, free: &Free, way: &Alternative) -> Vec<ClassId> {
        let mut found = way.classes_on(node, self.classes);
        if let Some(request) = &way.request.devices {
            found.retain(|class| {
                request.accepts(self.classes.get(*class))
                    && choose_devices(node, free, self.classes, request, *class).is_some()
            });
        }
        if way.request.reach == Reach::Single && !free.domains.is_empty() {
            let request = &way.request;
            found.retain(|class| {
                let asked = (request, *class);
                !single_choices(node, free, self.classes, asked, Milli(u32::MAX)).is_empty()
            });
        }
        found
    }
}

//! A fleet of any size, from a list of nodes.
//!
//! The list is repeated as often as it goes in whole, each time under fresh
//! names; what is left is taken evenly spread over the list. A fleet smaller
//! than the list is all of the second kind. So every size has nearly the mix
//! of models that the list has, and the same nodes every time.

use std::sync::Arc;

use fleet::{Node, NodeId};

/// A fleet of this many nodes like those of the list, which has at least one.
#[must_use]
pub fn nodes(list: &[Node], count: u32) -> Vec<Arc<Node>> {
    let length = list.len() as u64;
    let count = u64::from(count);
    let whole = count - count % length;
    let node = |position: u64| {
        let of_list = match position.checked_sub(whole) {
            None => position % length,
            Some(left) => left * length / (count - whole),
        };
        let make = &list[usize::try_from(of_list).expect("a position of the list")];
        let name = match position / length {
            0 => make.name.clone(),
            round => format!("{}.{round}", make.name),
        };
        let id = NodeId(u32::try_from(position).expect("a count of 32 bits"));
        Arc::new(Node { id, name, ..make.clone() })
    };
    (0..count).map(node).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::reference::site::tests::site;

    /// Six nodes: two of one device, then four of two.
    fn list() -> Vec<Node> {
        let node = |(number, shares): (u32, &[u32])| {
            let make = Node::clone(&site(8000, 8000, shares).node);
            Node { id: NodeId(number), name: format!("node-{number}"), ..make }
        };
        let one: &[u32] = &[1000];
        let two: &[u32] = &[1000, 1000];
        (0..).zip([one, one, two, two, two, two]).map(node).collect()
    }

    #[test]
    fn fleet_of_any_size_keeps_the_mix_and_numbers_and_names_its_nodes() {
        for (count, of_one_device) in [(3, 1), (6, 2), (9, 3), (12, 4), (21, 7)] {
            let nodes = nodes(&list(), count);
            let is_numbered = (0..count).eq(nodes.iter().map(|node| node.id.0));
            assert!(is_numbered && nodes.len() == count as usize);
            let names: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            assert_eq!(names.len(), nodes.len(), "{names:?}");
            let found = nodes.iter().filter(|node| node.devices.len() == 1).count();
            assert_eq!(found, of_one_device, "{count}");
        }
    }

    #[test]
    fn fleet_of_the_size_of_the_list_is_the_list() {
        let nodes = nodes(&list(), 6);
        assert!(nodes.iter().map(AsRef::as_ref).eq(&list()));
    }
}

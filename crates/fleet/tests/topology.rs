//! What a node may be said to be like inside.

use std::error::Error;

use fleet::topology::pcie_bandwidth;
use fleet::{Bandwidth, sketch};

/// Why a sketch with this inside is refused.
fn refusal(inside: &str) -> String {
    let text =
        format!("class epyc cpu\nclass a100 gpu\nnode n cores=8 mem=8Gi dev=a100*2\n{inside}");
    match sketch::snapshot(&text) {
        Ok(_) => "none".to_owned(),
        Err(error) => {
            let cause = error.source().and_then(|parts| parts.source());
            cause.map_or_else(|| error.to_string(), ToString::to_string)
        }
    }
}

const WHOLE: &str = "domain cores=8 mem=8Gi\n";

#[test]
fn domains_share_out_what_the_node_has() {
    assert_eq!(refusal(WHOLE), "none");
    let cases = [
        ("domain cores=7 mem=8Gi", "the domains have 7 cores together, and the node has 8"),
        ("domain cores=8 mem=9Gi", "the domains have 9Gi of memory together, and the node has 8Gi"),
        ("domain cores=8 mem=8Gi\ndomain dev=0", "domain 1 has neither cores nor memory"),
        ("domain cores=8 mem=8Gi dev=2", "domain 0 has device 2, and the node has 2"),
        ("domain cores=8 mem=4Gi dev=0\ndomain mem=4Gi dev=0", "device 0 is attached twice"),
        (
            "domain cores=8 mem=8Gi\ndistances 10,20",
            "there are 1 domains, and row 0 of the distances has 2 of them",
        ),
        (
            "domain cores=8 mem=4Gi\ndomain mem=4Gi\ndistances 10,20 20,20",
            "the distance from domain 1 to domain 1 is 20; within a domain it is 10, else 10 to 254",
        ),
        ("distances 10,20 20,10", "there are 0 domains, and row 0 of the distances has 2 of them"),
    ];
    for (inside, expected) in cases {
        assert_eq!(refusal(inside), expected, "{inside}");
    }
}

#[test]
fn switches_are_a_tree_and_nics_are_somewhere() {
    let cases = [
        ("pcie bw=1GB/s above=0", "PCIe switch 0 is below 0, which does not come before it"),
        (
            "pcie bw=1GB/s\npcie bw=1GB/s above=2\npcie bw=1GB/s above=1",
            "PCIe switch 1 is below 2, which does not come before it",
        ),
        ("pcie bw=0B/s", "PCIe switch 0 has a bandwidth of zero"),
        ("pcie bw=1GB/s dev=2", "PCIe switch 0 has device 2, and the node has 2"),
        ("pcie bw=1GB/s dev=0\npcie bw=1GB/s dev=0", "device 0 is below PCIe switch 1 and another"),
        ("nic bw=1GB/s in=0", "NIC 0 is at domain 0, and there are 0"),
        ("nic bw=0B/s", "NIC 0 has a bandwidth of zero"),
    ];
    for (inside, expected) in cases {
        assert_eq!(refusal(inside), expected, "{inside}");
    }
    assert_eq!(refusal(&format!("{WHOLE}pcie bw=1GB/s dev=0,1\nnic bw=1GB/s in=0")), "none");
}

#[test]
fn a_pcie_link_passes_what_its_generation_and_width_say() {
    let passes = |generation, width| pcie_bandwidth(generation, width).map(|found| found.0);
    assert_eq!(passes(1, 16), Some(4_000_000_000));
    assert_eq!(passes(2, 1), Some(500_000_000));
    assert_eq!(passes(3, 16), Some(15_753_846_144));
    assert_eq!(passes(4, 16), Some(31_507_692_304));
    assert_eq!(passes(5, 8), Some(31_507_692_304));
    assert_eq!(passes(6, 16), Some(121_000_000_000));
    assert_eq!((passes(7, 16), passes(4, 3), passes(0, 1)), (None, None, None));
    assert_eq!(Bandwidth(4_000_000_000).to_string(), "4GB/s");
}

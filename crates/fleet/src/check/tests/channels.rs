//! Faults in what is granted of channels.

use super::*;
use crate::id::ChannelIndex;
use crate::node::Grant;
use crate::units::{Bandwidth, Milli};

const CHANNELS: &str = "
    class epyc cpu
    class a100 gpu mem=40Gi
    node n cores=8 mem=64Gi dev=a100*2
      domain cores=8 mem=64Gi dev=0,1 bw=100GB/s
      pcie bw=20GB/s
      pcie dev=0,1 above=0 bw=16GB/s
      nic bw=10GB/s
      nic bw=10GB/s
    job held cores=1 mem=1Gi gpu=1 membw=50GB/s pciebw=6GB/s netbw=6GB/s
    job new cores=1 mem=1Gi gpu=1 membw=50GB/s pciebw=10GB/s netbw=6GB/s
    run held/0.0 n dev=0
";

/// The faults of a decision that starts `new`, broken like this.
fn faults(breaking: impl FnOnce(&mut Grant, &mut Milli)) -> Vec<String> {
    let snapshot = sketch::snapshot(CHANNELS).unwrap();
    let mut decision = decide(&snapshot, &["new/0.0 n dev=1"]);
    decision.explanation.oversubscribe = Milli::WHOLE;
    let grant = &mut decision.plan.placements[0].grant;
    // The first NIC is held.
    grant.channels[2].channel = ChannelIndex(3);
    breaking(grant, &mut decision.explanation.oversubscribe);
    check(&snapshot, &decision).iter().map(ToString::to_string).collect()
}

#[test]
fn what_fits_exactly_is_no_fault() {
    assert_eq!(faults(|_, _| {}), [""; 0]);
}

#[test]
fn no_channel_is_held_beyond_the_part_of_it_that_may_be() {
    let found = faults(|_, part| *part = Milli(900));
    let over = [
        "run j1/0.0 is granted 50000000000 bytes a second of the memory of domain d0 of node n0, which has 40000000000 left",
        "run j1/0.0 is granted 10000000000 bytes a second of channel ch1 of node n0, which has 8400000000 left",
    ];
    assert_eq!(found, over);
    let found = faults(|grant, _| grant.channels[2].channel = ChannelIndex(2));
    let over = "run j1/0.0 is granted 6000000000 bytes a second of channel ch2 of node n0, which has 4000000000 left";
    assert_eq!(found, [over]);
    assert_eq!(faults(|_, part| *part = Milli(1000)), [""; 0]);
}

#[test]
fn every_switch_above_a_device_is_held_with_what_it_moves() {
    let found = faults(|grant, _| _ = grant.channels.remove(0));
    let fault = "run j1/0.0 moves 10GB/s over channel ch0 of node n0 and is granted 0B/s";
    assert_eq!(found, [fault]);
    let found = faults(|grant, _| grant.channels[1].bandwidth = Bandwidth(1));
    let fault = "run j1/0.0 moves 10GB/s over channel ch1 of node n0 and is granted 1B/s";
    assert_eq!(found, [fault]);
}

#[test]
fn the_network_goes_over_one_nic() {
    let found = faults(|grant, _| _ = grant.channels.pop());
    let fault = "run j1/0.0 moves 6GB/s over the network and is granted 0B/s of 0 NICs";
    assert_eq!(found, [fault]);
    let found = faults(|grant, _| {
        grant.channels[2].bandwidth = Bandwidth(3_000_000_000);
        let other = crate::ChannelGrant { channel: ChannelIndex(2), ..grant.channels[2] };
        grant.channels.insert(2, other);
    });
    let fault = "run j1/0.0 moves 6GB/s over the network and is granted 6GB/s of 2 NICs";
    assert_eq!(found, [fault]);
}

#[test]
fn a_channel_is_known_and_named_once_in_order() {
    let found = faults(|grant, _| grant.channels.swap(0, 1));
    let fault = "run j1/0.0 is granted channel ch0 of node n0, unknown, twice or out of order";
    assert_eq!(found, [fault]);
    let found = faults(|grant, _| grant.channels[2].channel = ChannelIndex(4));
    let fault = "run j1/0.0 is granted channel ch4 of node n0, unknown, twice or out of order";
    assert_eq!(found, [fault]);
}

#[test]
fn a_domain_moves_its_part_of_what_is_stated() {
    let found = faults(|grant, _| grant.domains[0].load = Bandwidth(49_999_999_999));
    let fault = "run j1/0.0 asks for 50000000000 bytes a second of the memory of domain d0 and is granted 49999999999";
    assert_eq!(found, [fault]);
}

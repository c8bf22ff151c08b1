//! Faults in what is granted of memory domains, and reasons that speak of them.

use super::*;
use crate::id::DomainIndex;
use crate::node::Grant;
use crate::units::{Bytes, MilliCores};

const INSIDE: &str = "
    class epyc cpu
    class a100 gpu mem=40Gi
    node n cores=12 mem=64Gi dev=a100*2
      domain cores=4 mem=32Gi dev=0
      domain cores=8 mem=32Gi dev=1
    node flat cores=8 mem=64Gi dev=a100*2
    job held cores=3 mem=1Gi
    job one cores=2 mem=8Gi gpu=1 numa=single
    job any cores=4 mem=8Gi
    run held/0.0 n in=1
";

/// The faults of a decision that starts `one` and `any` on `n`, broken like this.
fn faults(breaking: impl FnOnce(&mut Grant, &mut Grant)) -> Vec<String> {
    let snapshot = sketch::snapshot(INSIDE).unwrap();
    let mut decision = decide(&snapshot, &["one/0.0 n dev=1 in=0", "any/0.0 n in=0"]);
    let [one, any] = &mut decision.plan.placements[..] else { panic!("two placements") };
    one.grant.domains[0].domain = DomainIndex(1);
    one.grant.domains[0].cores = MilliCores(1000);
    one.grant.domains.insert(0, one.grant.domains[0]);
    one.grant.domains[0].domain = DomainIndex(0);
    one.grant.domains[0].memory = Bytes::ZERO;
    breaking(&mut one.grant, &mut any.grant);
    check(&snapshot, &decision).iter().map(ToString::to_string).collect()
}

const SEVERAL: &str = "run j1/0.0 asks to be in one memory domain, and on node n0 it is not";
const OVER: &str =
    "run j2/0.0 is granted 4000 thousandths of a core of domain d0 of node n0, which has 3000 left";

#[test]
fn a_grant_in_two_domains_is_no_single_one_and_what_it_takes_is_taken() {
    assert_eq!(faults(|_, _| {}), [SEVERAL, OVER]);
}

#[test]
fn what_is_in_domains_must_add_up() {
    let found = faults(|one, _| one.domains[0].cores = MilliCores(500));
    let fault = "run j1/0.0 asks for 2000 thousandths of a core in domains and is granted 1500";
    assert_eq!(found[0], fault);
    let found = faults(|one, _| one.domains[1].memory = Bytes(7 << 30));
    let fault =
        "run j1/0.0 asks for 8589934592 bytes of memory in domains and is granted 7516192768";
    assert_eq!(found[0], fault);
}

#[test]
fn the_one_domain_must_be_that_of_the_devices() {
    let whole = |one: &mut Grant, _: &mut Grant| {
        one.domains.remove(0);
        one.domains[0].cores = MilliCores(2000);
        one.domains[0].domain = DomainIndex(0);
    };
    assert_eq!(faults(whole)[0], SEVERAL);
}

#[test]
fn a_domain_is_known_and_named_once_in_order() {
    let found = faults(|one, _| one.domains[1].domain = DomainIndex(2));
    assert_eq!(found[0], "run j1/0.0 is granted a part of domain d2, which node n0 does not have");
    let found = faults(|one, _| one.domains.reverse());
    assert_eq!(found[0], "run j1/0.0 is granted domain d0 of node n0 twice or out of order");
    let found = faults(|one, _| one.domains[1].domain = DomainIndex(0));
    assert_eq!(found[0], "run j1/0.0 is granted domain d0 of node n0 twice or out of order");
}

#[test]
fn a_node_without_domains_has_none_to_grant() {
    let snapshot = sketch::snapshot(INSIDE).unwrap();
    let mut decision = decide(&snapshot, &["any/0.0 flat"]);
    assert_eq!(check(&snapshot, &decision), []);
    let grant = &mut decision.plan.placements[0].grant;
    grant.domains.push(crate::DomainGrant { cores: grant.cores, ..Default::default() });
    let found: Vec<_> = check(&snapshot, &decision).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["run j2/0.0 is granted a part of domain d0, which node n1 does not have"]);
}

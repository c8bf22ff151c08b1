//! Any bytes at all: the readers answer and never panic.

use proptest::prelude::*;
use sim::read::{Arrivals, Options, inventory_from, workload_from};

use crate::support::{FLEET, JOBS, fleet};

const JSON: &str = r#"{"format": 1}
{"name": "x", "work": 1.5, "alternative": [{"cores": 1, "rates": {"A100": 3}, "device": {"kind": "gpu"}}]}
{"world": {"rate_error": 0.1, "outage": [{"node": "a", "at": "1s", "lasts": "1s", "kind": "crash"}]}}
"#;
const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\none,96000,393216,8,G2\ntwo,1,1,0,\n";
const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,\
creation_time,deletion_time,scheduled_time\np0,1,1,1,460,G2|T4,LS,Running,1,100,10\n";

/// Reads the bytes in every way that there is. What can be read can be planned with.
fn read_all_ways(bytes: &[u8]) {
    for skip_bad in [false, true] {
        let options = Options { skip_bad, ..Options::default() };
        if let Ok(read) = inventory_from(bytes, "any", &options) {
            let capacity =
                read.value.nodes.iter().map(|node| node.cores).sum::<fleet::MilliCores>();
            assert!(!capacity.is_zero());
        }
        for arrivals in [None, Some(Arrivals::Timed), Some(Arrivals::Order)] {
            let options = Options { arrivals, ..options.clone() };
            if let Ok(read) = workload_from(bytes, "any", &fleet(), &options) {
                assert!(read.value.jobs.is_sorted_by_key(|job| (job.arrival, job.id)));
                assert!(read.value.jobs.iter().all(|job| !job.alternatives.is_empty()));
            }
        }
    }
}

fn valid() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![FLEET, JOBS, JSON, NODES, PODS])
}

/// Small texts that break things: numbers at the edge, quotes, brackets, other units.
fn splinter() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"",
        b"0",
        b"-1",
        b"1e308",
        b"nan",
        b"inf",
        b"\"",
        b"'''",
        b"[",
        b"]]",
        b"{",
        b"}",
        b",",
        b"=",
        b"\n",
        b"\xff",
        b"18446744073709551616",
        b"9223372036854775807",
        b"null",
        b"true",
        b"\"1TiB\"",
        b".",
        b"#",
        b"\"\\u0000\"",
        b"[[node]]\n",
        b"[world]\n",
        b"1970-01-01",
    ];
    prop_oneof![
        prop::sample::select(known).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes);
        read_all_ways(&[b"\x1f\x8b\x08\x00", &bytes[..]].concat());
        read_all_ways(&[b"{", &bytes[..]].concat());
        read_all_ways(&[b"sn,cpu_milli,memory_mib,gpu,model\n", &bytes[..]].concat());
    }

    #[test]
    fn broken_files_are_answered(
        text in valid(),
        cuts in prop::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..12, splinter()),
            1..4,
        ),
    ) {
        let mut bytes = text.as_bytes().to_vec();
        for (at, length, splinter) in cuts {
            let start = at.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, splinter);
        }
        read_all_ways(&bytes);
    }
}

//! The seeds of the fuzz targets, replayed: what a fuzzer found once stays found.

#[path = "../../../fuzz/src/targets.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets are programs that name them")]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")
}

/// The names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is part of the repository");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("it can be listed").file_name().to_string_lossy().into_owned()
    };
    entries.map(name).collect()
}

#[test]
fn every_target_has_seeds_a_program_and_a_line_in_the_manifest() {
    let targets: BTreeSet<_> =
        targets::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names(&seeds()), targets);
    let programs = names(&seeds().join("../fuzz_targets"));
    assert_eq!(programs, targets.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(seeds().join("../Cargo.toml")).unwrap();
    for name in targets {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}

#[test]
fn every_seed_is_answered() {
    for (name, target) in targets::TARGETS {
        let folder = seeds().join(name);
        let files = names(&folder);
        assert!(files.len() >= 2, "{name} has seeds");
        for file in files {
            target(&fs::read(folder.join(file)).unwrap());
        }
    }
}

#[test]
fn no_target_panics_at_the_seeds_of_another_or_at_their_halves() {
    let all: Vec<Vec<u8>> = targets::TARGETS
        .iter()
        .flat_map(|(name, _)| names(&seeds().join(name)).into_iter().map(move |file| (name, file)))
        .map(|(name, file)| fs::read(seeds().join(name).join(file)).unwrap())
        .collect();
    for (_, target) in targets::TARGETS {
        for seed in &all {
            target(seed);
            target(&seed[..seed.len() / 2]);
        }
    }
}

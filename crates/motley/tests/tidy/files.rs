//! The files of the repository, and findings about them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::rust::code_of;

/// One file of the repository.
pub(crate) struct File {
    /// From the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) bytes: usize,
    /// Empty where it is not text.
    pub(crate) text: String,
    /// Of Rust: the text without comments, strings and characters.
    pub(crate) code: String,
}

pub(crate) static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let paths = known_to_git().unwrap_or_else(|| walk(&root()));
    paths.iter().filter_map(|path| File::read(path)).collect()
});

impl File {
    /// The file, if there is one: git may know files that were just removed.
    fn read(path: &str) -> Option<Self> {
        let content = std::fs::read(root().join(path)).ok()?;
        let bytes = content.len();
        Some(Self::new(path, &String::from_utf8(content).unwrap_or_default(), bytes))
    }

    pub(crate) fn new(path: &str, text: &str, bytes: usize) -> Self {
        let code = if path.ends_with(".rs") { code_of(text) } else { String::new() };
        Self { path: path.to_owned(), bytes, text: text.to_owned(), code }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_in_crate(&self, name: &str) -> bool {
        self.path.starts_with(&format!("crates/{name}/src/"))
    }

    /// The folder it is in, as the start of a path.
    pub(crate) fn folder(&self) -> &str {
        self.path.rfind('/').map_or("", |slash| &self.path[..=slash])
    }

    pub(crate) fn finding(&self, line: usize, rule: &str) -> String {
        format!("{}:{line}: {rule}", self.path)
    }
}

pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("a crate is two folders below the root").to_owned()
}

/// What git tracks or would add; `None` outside a checkout.
fn known_to_git() -> Option<Vec<String>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let paths: BTreeSet<_> = text.split_terminator('\0').map(str::to_owned).collect();
    paths.contains("Cargo.toml").then(|| paths.into_iter().collect())
}

/// Every file below a folder, but for what cargo and git keep there.
fn walk(folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the repository can be read") {
        let path = entry.expect("the repository can be read").path();
        if path.ends_with("target") || path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            paths.append(&mut walk(&path));
        } else {
            let inner = path.strip_prefix(root()).expect("the walk starts at the root");
            paths.push(inner.to_string_lossy().replace('\\', "/"));
        }
    }
    paths.sort();
    paths
}

pub(crate) fn file(path: &str) -> &'static File {
    let found = FILES.iter().find(|file| file.path == path);
    found.unwrap_or_else(|| panic!("{path}:1: the file is missing"))
}

#[track_caller]
pub(crate) fn expect_none(findings: impl IntoIterator<Item = String>) {
    let findings: Vec<_> = findings.into_iter().collect();
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
}

#[track_caller]
pub(crate) fn expect_none_in_files(rule: impl Fn(&File) -> Vec<String>) {
    expect_none(FILES.iter().flat_map(rule));
}

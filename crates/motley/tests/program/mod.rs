//! The program, run as its users run it.

use assert_cmd::Command;

/// What the program says: exit status, standard output, standard error.
pub(crate) fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("motley").unwrap().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Files in a folder of their own, by name.
pub(crate) fn files(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

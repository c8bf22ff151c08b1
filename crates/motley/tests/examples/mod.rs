//! The program, run among the examples of a page.

use std::path::PathBuf;

use assert_cmd::Command;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the program says in a folder of `docs`: exit status, standard output, standard error.
pub(crate) fn run(folder: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut program = Command::cargo_bin("motley").unwrap();
    let folder = root().join("docs").join(folder);
    let output = program.current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
pub(crate) fn done(folder: &str, arguments: &[&str]) -> String {
    let (status, output, error) = run(folder, arguments);
    assert_eq!((status, &*error), (0, ""), "{arguments:?}");
    output
}

//! Where things are in the directory of a keeper.

use std::path::{Path, PathBuf};

/// The socket on which a keeper listens.
pub(crate) fn socket(directory: &Path) -> PathBuf {
    directory.join("keeper.sock")
}

/// The keeper's own files.
pub(crate) fn own(directory: &Path) -> PathBuf {
    directory.join("keeper")
}

/// The file that a keeper holds a lock on for as long as it lives.
pub(crate) fn lock(directory: &Path) -> PathBuf {
    own(directory).join("lock")
}

/// Who the latest keeper is.
pub(crate) fn identity(directory: &Path) -> PathBuf {
    own(directory).join("identity")
}

/// What ended, for who comes after a keeper.
pub(crate) fn spool(directory: &Path) -> PathBuf {
    own(directory).join("spool")
}

/// What a keeper has to say for itself.
pub(crate) fn log(directory: &Path) -> PathBuf {
    own(directory).join("log")
}

/// What tasks printed.
pub(crate) fn output(directory: &Path) -> PathBuf {
    directory.join("output")
}

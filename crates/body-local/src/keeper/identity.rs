//! Who a keeper is, for who comes after it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::paths;

/// Who the latest keeper of a directory is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// What tells it from every other keeper, and marks its processes.
    pub(crate) token: String,
    /// The boot in which it began: after another one nothing of it is left.
    pub(crate) boot: String,
    /// The control groups below which all its tasks are.
    #[serde(default)]
    pub(crate) groups: Vec<PathBuf>,
}

/// The current boot.
pub(crate) fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

impl Identity {
    /// A new one.
    pub(crate) fn new() -> io::Result<Self> {
        let token = fs::read_to_string("/proc/sys/kernel/random/uuid")?.trim().to_owned();
        Ok(Self { token, boot: boot()?, groups: Vec::new() })
    }

    /// The latest of this directory, if there was one.
    pub(crate) fn read(directory: &Path) -> io::Result<Option<Self>> {
        match fs::read(paths::identity(directory)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes it the latest, in one step.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let path = paths::identity(directory);
        let beside = path.with_extension("new");
        fs::write(&beside, serde_json::to_vec(self)?)?;
        fs::rename(beside, path)
    }
}

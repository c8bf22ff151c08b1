//! Where the data lie.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

/// The environment variable that names the folder of data.
pub const VARIABLE: &str = "MOTLEY_DATA";

/// The folder where none is named.
const BESIDE: &str = "../shared/data";

/// The folder of data: the one given, else that of the environment, else the one beside the
/// repository.
///
/// # Errors
/// If there is no such folder.
pub fn folder(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let named = given.or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    let folder = named.unwrap_or_else(|| PathBuf::from(BESIDE));
    ensure!(
        folder.is_dir(),
        "find the data: {} is not a folder; name one by --data or {VARIABLE}",
        folder.display()
    );
    Ok(folder)
}

/// The folder of data where this part of it is there, wherever a test or a benchmark was started.
/// Those go without where it is not.
#[must_use]
pub fn at_hand(part: &str) -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(BESIDE);
    let folder = named.unwrap_or(beside);
    folder.join(part).is_dir().then_some(folder)
}

/// Opens a file of the folder, plain or with `.gz` at the end of its name, and reads all of it.
///
/// # Errors
/// If neither is there or can be read.
pub fn read(folder: &Path, file: &str) -> anyhow::Result<String> {
    use std::io::Read as _;
    let plain = folder.join(file);
    let (path, is_packed) = if plain.is_file() {
        (plain, file.ends_with(".gz"))
    } else {
        (folder.join(format!("{file}.gz")), true)
    };
    let opened = std::fs::File::open(&path).with_context(|| format!("open {}", path.display()))?;
    let mut text = String::new();
    let result = if is_packed {
        flate2::read::MultiGzDecoder::new(opened).read_to_string(&mut text)
    } else {
        std::io::BufReader::new(opened).read_to_string(&mut text)
    };
    result.with_context(|| format!("read {}", path.display()))?;
    Ok(text)
}

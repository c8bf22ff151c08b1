//! A disk that keeps what was synced, and of the rest what chance leaves.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::trace::Event;

/// Of what is written, this many bytes are kept together or lost together.
const SECTOR: usize = 512;

/// What is left of what was not synced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Luck {
    /// Nothing.
    None,
    /// Each sector, name and length by a coin that begins so.
    Coin(u64),
}

/// Names and what is in files, as the program sees it and as it would be after a loss of power.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    files: Vec<File>,
    /// Which file has which name; `None` where the name was removed.
    seen: BTreeMap<PathBuf, Option<usize>>,
    kept: BTreeMap<PathBuf, Option<usize>>,
    folders: BTreeMap<PathBuf, bool>,
}

#[derive(Debug, Default)]
struct File {
    kept: Vec<u8>,
    /// What was done to it since it was synced.
    changes: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Disk {
    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Folder(path) => {
                self.folders.insert(path.clone(), false);
            }
            Event::Create(path) => {
                if self.file(path).is_none() {
                    self.files.push(File::default());
                    self.seen.insert(path.clone(), Some(self.files.len() - 1));
                }
            }
            Event::Write(path, at, bytes) => {
                let change = Change::Write(*at, bytes.clone());
                self.of(path).changes.push(change);
            }
            Event::Truncate(path, length) => self.of(path).changes.push(Change::Length(*length)),
            Event::Remove(path) => {
                self.seen.insert(path.clone(), None);
            }
            Event::Sync(path) => self.sync(path),
            Event::Told(_) => {}
        }
    }

    fn file(&self, path: &Path) -> Option<usize> {
        self.seen.get(path).copied().flatten()
    }

    fn of(&mut self, path: &Path) -> &mut File {
        let file = self.file(path).expect("what is written to was made before");
        &mut self.files[file]
    }

    fn sync(&mut self, path: &Path) {
        if let Some(file) = self.file(path) {
            let file = &mut self.files[file];
            for change in std::mem::take(&mut file.changes) {
                change.apply(&mut file.kept);
            }
            return;
        }
        // A folder: the names in it.
        for (name, file) in &self.seen {
            if name.parent() == Some(path) {
                self.kept.insert(name.clone(), *file);
            }
        }
        for (folder, is_kept) in &mut self.folders {
            *is_kept |= folder.parent() == Some(path);
        }
    }

    /// Writes what is there after a loss of power into a folder, under the names that files had in
    /// the folder `from`.
    pub(crate) fn write(&self, from: &Path, to: &Path, luck: Luck) {
        let mut coin = luck.coin();
        let is_lost = |(folder, kept): (&PathBuf, &bool)| !kept && from.starts_with(folder);
        if self.folders.iter().any(is_lost) && !coin.flip() {
            return;
        }
        for (name, seen) in &self.seen {
            let kept = self.kept.get(name).copied().flatten();
            let file = if *seen == kept || coin.flip() { *seen } else { kept };
            let Some(file) = file.map(|file| &self.files[file]) else { continue };
            let mut bytes = file.kept.clone();
            for change in &file.changes {
                change.apply_some(&mut bytes, &mut coin);
            }
            fs::write(to.join(name.file_name().unwrap()), bytes).unwrap();
        }
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(at, written) => {
                let end = at + written.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*at..end].copy_from_slice(written);
            }
            Self::Length(length) => bytes.resize(*length, 0),
        }
    }

    fn apply_some(&self, bytes: &mut Vec<u8>, coin: &mut Coin) {
        match self {
            Self::Write(at, written) => {
                for (index, sector) in written.chunks(SECTOR).enumerate() {
                    if coin.flip() {
                        Self::Write(at + index * SECTOR, sector.to_vec()).apply(bytes);
                    }
                }
            }
            Self::Length(_) => {
                if coin.flip() {
                    self.apply(bytes);
                }
            }
        }
    }
}

impl Luck {
    fn coin(self) -> Coin {
        match self {
            Self::None => Coin(0),
            // Zero would stay zero.
            Self::Coin(seed) => Coin(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        }
    }
}

/// A coin: a shift register. One that is zero always falls on the same side.
struct Coin(u64);

impl Coin {
    fn flip(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 63 == 1
    }
}

#[test]
fn what_was_not_synced_is_lost_and_what_was_is_not() {
    let (home, file) = (PathBuf::from("/there"), PathBuf::from("/there/a"));
    let mut disk = Disk::default();
    let left = |disk: &Disk, luck| {
        let folder = tempfile::tempdir().unwrap();
        disk.write(&home, folder.path(), luck);
        fs::read(folder.path().join("a")).ok()
    };
    disk.take(&Event::Create(file.clone()));
    disk.take(&Event::Write(file.clone(), 0, vec![1; 4]));
    disk.take(&Event::Sync(file.clone()));
    assert_eq!(left(&disk, Luck::None), None, "its name was not synced");
    disk.take(&Event::Sync(home.clone()));
    assert_eq!(left(&disk, Luck::None), Some(vec![1; 4]));
    disk.take(&Event::Write(file.clone(), 4, vec![2; 2]));
    assert_eq!(left(&disk, Luck::None), Some(vec![1; 4]));
    let lucky = (1..50).any(|seed| left(&disk, Luck::Coin(seed)) == Some(vec![1, 1, 1, 1, 2, 2]));
    assert!(lucky);
    disk.take(&Event::Remove(file.clone()));
    assert_eq!(left(&disk, Luck::None), Some(vec![1; 4]), "its removal was not synced");
    disk.take(&Event::Sync(home.clone()));
    assert_eq!(left(&disk, Luck::None), None);
}

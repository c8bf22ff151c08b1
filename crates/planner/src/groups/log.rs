//! Which slots changed, in order, as far back as is worth remembering.

use super::GroupId;

/// The most changes that are remembered. Whoever is further behind looks at everything, which
/// costs as much as some ten thousand changes.
const LENGTH_MAX: usize = 1 << 17;

/// A change of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) slot: GroupId,
    /// How many nodes were in it before the change, and after it.
    pub(crate) before: u32,
    pub(crate) after: u32,
}

/// The slots that changed, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// How many changes came before those that are remembered.
    forgotten: u64,
    changes: Vec<Change>,
}

impl Log {
    /// How many changes there ever were.
    pub(crate) fn end(&self) -> u64 {
        self.forgotten + self.changes.len() as u64
    }

    /// The changes after the first `cursor` ones; `None` where they are not remembered any more.
    pub(crate) fn since(&self, cursor: u64) -> Option<&[Change]> {
        let skipped = usize::try_from(cursor.checked_sub(self.forgotten)?).ok()?;
        self.changes.get(skipped..)
    }

    pub(super) fn push(&mut self, slot: GroupId, before: u32, after: u32) {
        if self.changes.len() == LENGTH_MAX {
            self.changes.drain(..LENGTH_MAX / 2);
            self.forgotten += (LENGTH_MAX / 2) as u64;
        }
        self.changes.push(Change { slot, before, after });
    }

    /// Forgets everything: nobody is up to date any more.
    pub(super) fn forget(&mut self) {
        self.forgotten = self.end() + 1;
        self.changes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_from_any_point_that_is_remembered() {
        let mut log = Log::default();
        let start = log.end();
        log.push(GroupId(4), 0, 1);
        let middle = log.end();
        log.push(GroupId(7), 2, 1);
        let slots = |cursor| {
            let changes = log.since(cursor)?;
            Some(changes.iter().map(|change| change.slot.0).collect::<Vec<_>>())
        };
        assert_eq!(slots(start), Some(vec![4, 7]));
        assert_eq!(slots(middle), Some(vec![7]));
        assert_eq!(log.since(log.end()), Some(&[][..]));
        log.forget();
        assert_eq!(log.since(middle), None);
        assert_eq!(log.since(log.end()), Some(&[][..]));
    }

    #[test]
    fn old_changes_are_forgotten() {
        let mut log = Log::default();
        let start = log.end();
        for _ in 0..=LENGTH_MAX {
            log.push(GroupId(0), 1, 1);
        }
        assert_eq!(log.since(start), None);
        assert_eq!(log.since(log.end() - 10).map(<[_]>::len), Some(10));
    }
}

//! Sets of numbers of threads or memory domains, as the kernel writes them.
//!
//! Two forms: a list (`0-3,8`), and a mask of groups of 32 bits, the highest
//! first (`00000001,0000000f`). Either may be empty. A number beyond the largest
//! that a system can have is refused, so that no text can fill the memory.

use std::collections::BTreeSet;
use std::fmt;

/// The largest number of threads of a system, and of memory domains.
pub const NUMBERS_MAX: u32 = 65_536;

/// A set of numbers below [`NUMBERS_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers(BTreeSet<u32>);

impl Numbers {
    /// Reads a list such as `0-3,8`; `None` where it is none, or has numbers that are too large.
    #[must_use]
    pub fn from_list(text: &str) -> Option<Self> {
        let mut numbers = BTreeSet::new();
        if text.trim().is_empty() {
            return Some(Self(numbers));
        }
        let mut least = 0;
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            // The kernel's lists ascend; one that does not could be long without end.
            if first < least || first > last {
                return None;
            }
            least = last + 1;
            numbers.extend(first..=last);
        }
        Some(Self(numbers))
    }

    /// Reads a mask such as `00000001,0000000f`; `None` where it is none or too long.
    #[must_use]
    pub fn from_mask(text: &str) -> Option<Self> {
        let mut numbers = BTreeSet::new();
        let mut first: u32 = 0;
        for group in text.trim().rsplit(',') {
            let is_hex = group.chars().all(|digit| digit.is_ascii_hexdigit());
            if !is_hex || group.is_empty() || group.len() > 8 || first >= NUMBERS_MAX {
                return None;
            }
            let bits = u32::from_str_radix(group, 16).ok()?;
            numbers.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| first + bit));
            first += 32;
        }
        Some(Self(numbers))
    }

    /// Whether a number is in it.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        self.0.contains(&number)
    }

    /// Whether there is none in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Every number, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Those that are in both.
    #[must_use]
    pub fn both(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// Takes those of another in.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Those that are not in another.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }
}

impl FromIterator<u32> for Numbers {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self(numbers.into_iter().filter(|number| *number < NUMBERS_MAX).collect())
    }
}

impl fmt::Display for Numbers {
    /// As a list: `0-3,8`, which is what `taskset` and cpusets take.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.0.iter().copied().peekable();
        let mut is_first = true;
        while let Some(first) = numbers.next() {
            let mut last = first;
            while let Some(next) = numbers.next_if(|next| *next == last + 1) {
                last = next;
            }
            let comma = if is_first { "" } else { "," };
            match first == last {
                true => write!(out, "{comma}{first}")?,
                false => write!(out, "{comma}{first}-{last}")?,
            }
            is_first = false;
        }
        Ok(())
    }
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let is_plain = text.chars().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number < NUMBERS_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_and_masks_of_the_kernel_are_read() {
        let list = |text| Numbers::from_list(text).map(|numbers| numbers.to_string());
        let mask = |text| Numbers::from_mask(text).map(|numbers| numbers.to_string());
        assert_eq!(list("0-3,8,10-11\n").as_deref(), Some("0-3,8,10-11"));
        assert_eq!(list("").as_deref(), Some(""));
        assert_eq!(mask("0000,00000001,0000000f").as_deref(), Some("0-3,32"));
        assert_eq!(mask("fffff").as_deref(), Some("0-19"));
        assert_eq!(mask("00000000").as_deref(), Some(""));
    }

    #[test]
    fn what_is_no_list_or_mask_is_refused() {
        for wrong in
            ["a", "1-", "-1", "3-1", "2,1", "0-2,2", "1,,2", "65536", "0-4294967295", "+1", "0x1"]
        {
            assert_eq!(Numbers::from_list(wrong), None, "{wrong}");
        }
        let long = ["0"; 2049].join(",");
        for wrong in ["", "g", "1,", "000000001", "+1", &long] {
            assert_eq!(Numbers::from_mask(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_it_was(
            numbers in prop::collection::vec(0..NUMBERS_MAX, 0..50),
        ) {
            let numbers: Numbers = numbers.into_iter().collect();
            prop_assert_eq!(Numbers::from_list(&numbers.to_string()), Some(numbers));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-f,\\- x]{0,40}") {
            for numbers in [Numbers::from_list(&text), Numbers::from_mask(&text)] {
                prop_assert!(numbers.is_none_or(|one| one.iter().all(|it| it < NUMBERS_MAX)));
            }
        }
    }
}

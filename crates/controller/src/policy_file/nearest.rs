//! The valid word that a mistyped one is most like.

/// The candidate that `word` most probably stands for, if any is close enough to be worth a hint.
///
/// Close enough: at most one edit for every three letters, and one at least. An edit is a letter
/// too many, too few or wrong, or two neighbours swapped. Capitals do not count. Ties go to the
/// earlier candidate.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = letters(word);
    let within = |candidate: &&'a str| {
        let other = letters(candidate);
        let edits = edits(&folded, &other);
        (edits <= (folded.len().max(other.len()) / 3).max(1)).then_some((edits, *candidate))
    };
    let mut best: Option<(usize, &'a str)> = None;
    for (edits, candidate) in candidates.into_iter().filter_map(|candidate| within(&candidate)) {
        if best.is_none_or(|(least, _)| edits < least) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The letters that are compared. Bounded, so that a hostile word costs no more than a long one.
fn letters(word: &str) -> Vec<char> {
    const LETTERS_MAX: usize = 64;
    word.chars().flat_map(char::to_lowercase).take(LETTERS_MAX).collect()
}

/// The least number of edits between two words (optimal string alignment).
fn edits(from: &[char], to: &[char]) -> usize {
    let mut before = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, left) in from.iter().enumerate() {
        let mut this = vec![row + 1; to.len() + 1];
        for (column, right) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(left != right);
            this[column + 1] = replaced.min(last[column + 1] + 1).min(this[column] + 1);
            let swapped =
                row > 0 && column > 0 && from[row - 1] == *right && *left == to[column - 1];
            if swapped {
                this[column + 1] = this[column + 1].min(before[column - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, this);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 5] = ["completion", "utilisation", "energy", "deadline", "low"];

    #[test]
    fn a_mistyped_word_finds_its_neighbour() {
        assert_eq!(nearest("enrgy", WORDS), Some("energy"));
        assert_eq!(nearest("utilization", WORDS), Some("utilisation"));
        assert_eq!(nearest("Deadlien", WORDS), Some("deadline"));
        assert_eq!(nearest("lwo", WORDS), Some("low"));
    }

    #[test]
    fn a_strange_word_finds_nothing() {
        assert_eq!(nearest("carbon", WORDS), None);
        assert_eq!(nearest("", WORDS), None);
        assert_eq!(nearest("xyz", WORDS), None);
    }

    #[test]
    fn ties_go_to_the_earlier_candidate() {
        assert_eq!(nearest("bat", ["cat", "hat"]), Some("cat"));
    }
}

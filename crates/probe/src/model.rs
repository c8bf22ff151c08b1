//! Names of models, as fleet and workload files write them.
//!
//! Makers' names have marks and spaces (`Intel(R) Xeon(R) CPU E5-2680 0 @
//! 2.70GHz`); in files a model is one word, such as `EPYC-7763`.

/// A maker's name as one word: without marks, clock and the word *CPU*.
pub(crate) fn model(name: &str) -> String {
    let mut name = name.split('@').next().unwrap_or_default().to_owned();
    for mark in ["(R)", "(r)", "(TM)", "(tm)", "(C)", "(c)"] {
        name = name.replace(mark, " ");
    }
    let is_said_by_kind = |word: &&str| !["CPU", "Processor"].contains(word);
    let words: Vec<_> = name.split_whitespace().filter(is_said_by_kind).collect();
    let word = words.join("-").replace("--", "-");
    word.chars().filter(|letter| letter.is_ascii_graphic()).take(LETTERS_MAX).collect()
}

/// Longer names are cut; the longest known has some sixty letters.
const LETTERS_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_one_word_without_marks() {
        for (name, word) in [
            ("Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", "Intel-Xeon-E5-2680-0"),
            ("Intel(R) Xeon(R) CPU E7- 4870  @ 2.40GHz", "Intel-Xeon-E7-4870"),
            ("13th Gen Intel(R) Core(TM) i7-1370P", "13th-Gen-Intel-Core-i7-1370P"),
            ("AMD EPYC 7763 64-Core Processor", "AMD-EPYC-7763-64-Core"),
            ("NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB"),
            (" ", ""),
        ] {
            assert_eq!(model(name), word);
        }
    }
}

//! Names for streams of chance.
//!
//! What is drawn for one thing must not change because there is another one.
//! Each drawing therefore has dice of its own: those of the seed, on the stream
//! whose number is the [`fingerprint`] of what is drawn and for whom.

/// FNV-1a with 64 bits over the words, each ended by the byte `0xff`, which no text has. The same
/// on every machine, for ever: bundled results and seeds in reports depend on it.
pub(crate) fn fingerprint(words: &[&str]) -> u64 {
    fnv_1a(words.iter().flat_map(|word| word.bytes().chain([0xff])))
}

fn fnv_1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_fnv_1a() {
        // The test vectors of its authors.
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv_1a(text.bytes()), hash, "{text:?}");
        }
        assert_eq!(fingerprint(&["a", "b"]), fnv_1a([b'a', 0xff, b'b', 0xff].into_iter()));
        assert_ne!(fingerprint(&["ab", ""]), fingerprint(&["a", "b"]));
    }
}

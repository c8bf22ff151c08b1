//! Reading Rust, as far as the rules need it: code without prose, words, types, functions.

use crate::files::File;

/// Rust without comments, strings and characters; every line keeps its number.
pub(crate) fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let prose = prose_length(rest, code.chars().next_back());
        let (taken, tail) = rest.split_at(prose.max(letter.len_utf8()).min(rest.len()));
        if prose == 0 {
            code.push(letter);
        } else {
            code.push(' ');
            code.extend(taken.chars().filter(|letter| *letter == '\n'));
        }
        rest = tail;
    }
    code
}

/// The length of the comment, string or character that starts here; 0 where none does.
fn prose_length(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_length(rest);
    }
    if let Some(inner) = rest.strip_prefix('"') {
        return 2 + closing(inner, '"');
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        let mut letters = inner.chars();
        return match (letters.next(), letters.next()) {
            (Some('\\'), _) => 2 + closing(inner, '\''),
            (Some(one), Some('\'')) => 2 + one.len_utf8(),
            _ => 0, // a lifetime
        };
    }
    if rest.starts_with('r') && !before.is_some_and(is_of_word) {
        let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
        if rest[1 + hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = 2 + hashes;
            let length = rest[start..].find(&end);
            return length.map_or(rest.len(), |length| start + length + end.len());
        }
    }
    0
}

/// The bytes before the closing quote.
fn closing(inner: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, letter) in inner.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return index,
            _ => {}
        }
    }
    inner.len().saturating_sub(1)
}

/// The length of a comment that may hold others of its kind.
fn block_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut index = 0;
    while index < rest.len() {
        match &rest.as_bytes()[index..] {
            [b'/', b'*', ..] => (depth, index) = (depth + 1, index + 2),
            [b'*', b'/', ..] => (depth, index) = (depth - 1, index + 2),
            _ => index += 1,
        }
        if depth == 0 {
            return index;
        }
    }
    rest.len()
}

pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The words of a text with their lines, from 1.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let of_line = |(index, line)| words_of(line).map(move |word| (index + 1, word));
    text.lines().enumerate().flat_map(of_line)
}

pub(crate) fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter| !is_of_word(letter)).filter(|word| !word.is_empty())
}

/// Findings for every line on which the code has one of these words.
pub(crate) fn words_found(file: &File, banned: &[&str], rule: &str) -> Vec<String> {
    let found = words(&file.code).filter(|(_, word)| banned.contains(word));
    found.map(|(line, word)| file.finding(line, &format!("`{word}`: {rule}"))).collect()
}

/// A type that a file defines.
pub(crate) struct Type<'a> {
    pub(crate) line: usize,
    pub(crate) name: &'a str,
    pub(crate) is_public: bool,
}

pub(crate) fn types(file: &File) -> Vec<Type<'_>> {
    let mut types = Vec::new();
    let mut before = ["", ""];
    for (line, name) in words(&file.code) {
        let defines = ["struct", "enum", "trait", "type", "union"].contains(&before[1]);
        if defines && name.starts_with(char::is_uppercase) {
            types.push(Type { line, name, is_public: before[0] == "pub" });
        }
        before = [before[1], name];
    }
    // The macros of `fleet` that define public types.
    for call in ["quantity!(", "id!("] {
        for (at, _) in file.code.match_indices(call) {
            let inner = &file.code[at + call.len()..];
            let (skipped, name) = words(inner).next().unwrap_or_default();
            let line = file.code[..at].matches('\n').count() + skipped;
            types.push(Type { line, name, is_public: true });
        }
    }
    types
}

/// `DeviceRequest` is *device request*.
pub(crate) fn spoken(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            Some(word) if !letter.is_uppercase() => word.push(letter),
            _ => words.push(letter.to_lowercase().collect()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_no_code() {
        let code = |text: &str| code_of(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code("a // b \"c\"\nd"), "a d");
        assert_eq!(code("a /* b /* c */ d */ e"), "a e");
        assert_eq!(code(r#"a "b \" // c" d"#), "a d");
        assert_eq!(code("a r#\"b \" c\"# d"), "a d");
        assert_eq!(code(r"a '\'' b '{' c<'d> e"), "a b c<'d> e");
        assert_eq!(code("a \"not closed"), "a");
        assert_eq!(code("a \""), "a");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "one /* \n */ \"\n\" two";
        assert_eq!(words(&code_of(text)).collect::<Vec<_>>(), [(1, "one"), (3, "two")]);
    }

    #[test]
    fn types_are_found_and_spoken() {
        let text =
            "pub struct NodeEntry;\npub(crate) enum Way {}\nquantity!(\n  /// x\n  Bytes, u64\n);";
        let file = File::new("a.rs", text, 0);
        let found: Vec<_> =
            types(&file).iter().map(|one| (one.line, one.name, one.is_public)).collect();
        assert_eq!(found, [(1, "NodeEntry", true), (2, "Way", false), (5, "Bytes", true)]);
        assert_eq!(spoken("NodeEntry"), ["node", "entry"]);
    }
}

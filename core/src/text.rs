//! Character-safe cutting and folding of text: the one place that slices
//! strings by byte offset.

use unicode_normalization::UnicodeNormalization;

/// Returns the longest prefix of `text` that has at most `max_bytes` bytes and
/// ends between characters.
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    slice(text, 0, max_bytes)
}

/// Returns `text[start..end]` with both ends moved left to the nearest
/// character boundary and clamped to the text; never panics.
pub fn slice(text: &str, start: usize, end: usize) -> &str {
    let end = text.floor_char_boundary(end);
    let start = text.floor_char_boundary(start).min(end);
    text.get(start..end).unwrap_or("")
}

/// Counts UTF-16 code units, the unit of the agents' own caps.
pub fn n_utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Estimates how many tokens an agent's model spends on `text`.
///
/// Bytes over 3.6 for prose and over 2.4 for symbol-heavy text would be
/// closer; one divisor of 3 overestimates prose and is what budgets want.
pub fn n_tokens(text: &str) -> usize {
    text.len().div_ceil(3)
}

/// Folds for comparison: NFKD, combining marks dropped, lower case.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd()
        .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Composes to NFC, the form in which names are compared.
pub fn nfc(text: &str) -> String {
    text.nfc().collect()
}

/// Hashes bytes with 64-bit FNV-1a: stable across builds and machines, for
/// names and change detection, not for anything an attacker may choose.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slice_never_splits_a_character() {
        assert_eq!(slice("año", 0, 2), "a");
        assert_eq!(slice("año", 2, 99), "ño");
        assert_eq!(slice("año", 9, 3), "");
        assert_eq!(prefix("😀😀", 5), "😀");
    }

    #[test]
    fn fold_drops_case_and_marks() {
        assert_eq!(fold("Índice ÑANDÚ"), "indice nandu");
        assert_eq!(fold("ﬁn"), "fin");
    }

    #[test]
    fn fnv1a_has_the_published_values() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn utf16_units_count_surrogates_twice() {
        assert_eq!(n_utf16("é😀"), 3);
    }
}

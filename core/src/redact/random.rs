//! Random keys: how much of a value is words, and whether a person or a program
//! could have written it.

use super::value::{Traits, is_measure, is_placeholder, segments};

/// How much of the value is words, in percent of its letters. Capitals make
/// words only where there are no small letters beside them.
pub(super) fn wordiness(value: &[u8]) -> usize {
    let has_lower = value.iter().any(u8::is_ascii_lowercase);
    let mut letters = 0;
    let mut wordy = 0;
    let mut piece = 0..0;
    let mut close = |piece: &std::ops::Range<usize>| {
        let piece = value.get(piece.clone()).unwrap_or_default();
        let is_shouted = piece.get(1).is_some_and(u8::is_ascii_uppercase);
        if !(is_shouted && has_lower) && is_wordlike(piece) {
            wordy += piece.len();
        }
    };
    for (at, byte) in value.iter().enumerate() {
        let is_letter = byte.is_ascii_alphabetic() || *byte >= 0x80;
        letters += usize::from(is_letter);
        let last = at.checked_sub(1).map_or(b' ', |i| value[i]);
        let is_hump = byte.is_ascii_uppercase() && !last.is_ascii_uppercase();
        let is_drop = byte.is_ascii_lowercase() && last.is_ascii_uppercase() && piece.len() > 1;
        if !is_letter || is_hump || is_drop {
            close(&piece);
            piece.start = if is_letter { at } else { at + 1 };
        }
        piece.end = at + 1;
    }
    close(&piece);
    (wordy * 100).checked_div(letters).unwrap_or(0)
}

/// For each letter the letters that follow it in words, as bits from `a`: the
/// 297 pairs that make up 96.5 % of the letter pairs in 16,000 English and
/// Spanish words. 95 % of those words have three of four pairs among them;
/// random pieces of four to ten letters do in 6 to 26 % of cases.
const FOLLOWERS: [u32; 26] = [
    0x13e_bd6e, 0x116_4911, 0x01e_4d95, 0x016_d939, 0x1ff_fb7f, 0x11e_4931, 0x016_69d1, 0x01a_4111,
    0x2ae_f87f, 0x014_4011, 0x004_0110, 0x13c_d919, 0x114_d113, 0x03e_fd7d, 0x0fe_fd6f, 0x01e_c99d,
    0x010_0000, 0x13e_fd7f, 0x15d_ddb5, 0x11e_d9bd, 0x00e_b95f, 0x000_4111, 0x006_6191, 0x008_8110,
    0x00c_e110, 0x000_4111,
];

/// True for a piece of four letters or more that could be (part of) a word.
pub(super) fn is_wordlike(piece: &[u8]) -> bool {
    let letter = |byte: u8| usize::from((byte | 0x20).wrapping_sub(b'a'));
    let is_common = |pair: &[u8]| match pair {
        [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            FOLLOWERS[letter(*a)] >> letter(*b) & 1 == 1
        }
        // Letters beyond ASCII are those of words.
        [a, b] => (*a >= 0x80 || *b >= 0x80) && !a.is_ascii_digit() && !b.is_ascii_digit(),
        _ => false,
    };
    let is_vowel = |byte: &u8| b"aeiouyAEIOUY".contains(byte) || *byte >= 0x80;
    piece.len() >= 4
        && piece.iter().any(is_vowel)
        && piece.windows(2).filter(|pair| is_common(pair)).count() * 20
            >= (piece.len() - 1) * if piece.len() > 10 { 17 } else { 15 }
}

/// 8-4-4-4-12 hexadecimal.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// True for a key no person would choose: hexadecimal, UUID, or letters and
/// digits in no order. At least 16 bytes, or 12 when three kinds are mixed.
pub(super) fn is_random(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    let len = value.len();
    if len < 12 || traits.variety < 7 || is_placeholder(value) || is_measure(value) {
        return false;
    }
    if is_uuid(value) {
        return true;
    }
    let is_key_byte = |b: &u8| b.is_ascii_alphanumeric() || b"+/_-=.~%:$#@!*^&".contains(b);
    let is_range = memchr::memmem::find(value, b"..").is_some();
    if !value.iter().all(is_key_byte) || is_range || is_slug(value) || value.starts_with(b"age1") {
        return false;
    }
    if traits.is_hex {
        return len >= 20 && traits.digit > 0 && traits.n_letters() > 0 && traits.variety >= 8;
    }
    if is_interspersed(value) || is_base32(value) {
        return true;
    }
    let kinds = [traits.lower, traits.upper, traits.digit].iter().filter(|n| **n > 0).count();
    let wordiness = wordiness(value);
    if wordiness >= 50 || traits.symbol * 3 > len {
        return false;
    }
    match kinds {
        3 => true,
        2 if traits.digit > 0 => len >= 16 && traits.digit * 16 >= len && wordiness < 40,
        2 => len >= 20 && traits.turns * 5 >= len && wordiness < 30,
        _ => false,
    }
}

/// The share of letters, in percent, that stand in humps of three or more, as
/// in `camelCaseNames`: about 90 in names, 40 in random keys.
fn camel_share(value: &[u8]) -> usize {
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let mut in_humps = 0;
    let mut at = 0;
    while at < value.len() {
        let start = at;
        at += usize::from(value[at].is_ascii_uppercase());
        while value.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        in_humps += if at - start >= 3 { at - start } else { 0 };
        at = at.max(start + 1);
    }
    (in_humps * 100).checked_div(letters).unwrap_or(0)
}

/// Letters and digits in turns, without a separator: no name is like that.
pub(super) fn is_interspersed(value: &[u8]) -> bool {
    let is_key_byte = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'=');
    let turns = value.windows(2).filter(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic());
    value.len() >= 20 && value.iter().all(is_key_byte) && turns.count() >= 3
}

/// Base32 in capitals, as keys of a second factor are written.
fn is_base32(value: &[u8]) -> bool {
    let is_inner_digit = value.iter().rev().skip(4).any(u8::is_ascii_digit);
    value.len() >= 16
        && value.len().is_multiple_of(8)
        && is_inner_digit
        && value.iter().all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'))
}

/// True for hexadecimal of the length of a hash, and for UUIDs.
pub(super) fn is_hash_like(value: &[u8]) -> bool {
    is_uuid(value) || (value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit))
}

/// `aes256-cts-hmac-sha1-96`, `2024-01-02/deploy`: short parts of one kind
/// each, in one case. (A UUID is no slug: its parts mix letters and digits.)
pub(super) fn is_slug(value: &[u8]) -> bool {
    let has_lower = value.iter().any(u8::is_ascii_lowercase);
    let has_upper = value.iter().any(u8::is_ascii_uppercase);
    let parts = segments(value).count();
    // `mm256` counts as a word, `4f1c` does not.
    let of_one_kind = |part: &&[u8]| {
        let n_letters = part.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let rest = part.get(n_letters..).unwrap_or_default();
        part.len() <= 10 && rest.iter().all(u8::is_ascii_digit)
    };
    !(has_lower && has_upper)
        && parts >= 3
        && segments(value).filter(of_one_kind).count() * 2 >= parts
}

/// A random key without the looks of a mere identifier: what a bare `key` or
/// `auth` needs, where hashes and UUIDs are everyday.
pub(super) fn is_strongly_random(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    value.len() >= 20
        && !traits.is_hex
        && !is_uuid(value)
        && traits.upper > 0
        && traits.lower > 0
        && traits.turns * 8 >= value.len()
        && (wordiness(value) < 35 || is_interspersed(value))
        && camel_share(value) < 75
        && is_random(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::sample::assemble;

    #[test]
    fn keys_have_no_words_in_them() {
        for recipe in ["{h16}a1{h16}", "{l12}3{l8}7k9{l9}", "{a12}7{a20}", "{w20}4{w19}", "{q30}27"]
        {
            let n_random = (0..200).filter(|seed| is_random(assemble(recipe, *seed).as_bytes()));
            assert!(n_random.count() >= 196, "{recipe}");
        }
        for text in [
            "south-southwest-12",
            "invoiceHandlerFactory3",
            "OurCompany/Service/Secrets/Store",
            "checkWhetherTheTokenListIsEmpty2",
            "aes128-ctr-hmac-sha2-64",
            "_mm512_mask_add_epi32",
        ] {
            assert!(!is_random(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn words_are_told_from_letters_in_a_row() {
        for text in ["password", "montaña", "secretAccessKeys", "MEADOW_RIVER"] {
            assert!(wordiness(text.as_bytes()) >= 60, "{text}");
        }
        for text in ["xkqjzv", "qWzXvBnR", "zzgtxq-wvk"] {
            assert!(wordiness(text.as_bytes()) < 30, "{text}");
        }
    }
}

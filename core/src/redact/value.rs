//! What a value looks like: a placeholder, a
//! measure, a password a person chose, or just a word. References and random
//! keys have files of their own.
//!
//! Everything here reads the value once and nothing around it.

use super::random::wordiness;
use super::reference::is_type_name;
use super::words::{ALGORITHMS, NOUNS, PLACEHOLDERS, is_listed};

/// Counts by kind of character; bytes above ASCII count as letters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digit: usize,
    pub(super) symbol: usize,
    /// Changes between capital and small letters.
    pub(super) turns: usize,
    /// Different bytes.
    pub(super) variety: usize,
    /// Only `0-9a-fA-F`.
    pub(super) is_hex: bool,
}

impl Traits {
    pub(super) fn of(value: &[u8]) -> Self {
        let mut traits = Self { is_hex: true, ..Self::default() };
        let mut seen = [false; 256];
        let mut last_upper = None;
        for byte in value {
            seen[usize::from(*byte)] = true;
            traits.is_hex &= byte.is_ascii_hexdigit();
            match byte {
                b'0'..=b'9' => traits.digit += 1,
                b'A'..=b'Z' | b'a'..=b'z' => {
                    let is_upper = byte.is_ascii_uppercase();
                    traits.turns += usize::from(last_upper.is_some_and(|last| last != is_upper));
                    last_upper = Some(is_upper);
                    if is_upper { traits.upper += 1 } else { traits.lower += 1 }
                }
                0x80.. => traits.lower += 1,
                _ => traits.symbol += 1,
            }
        }
        traits.variety = seen.iter().filter(|seen| **seen).count();
        traits
    }

    pub(super) fn n_letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// Splits at everything that is neither letter nor digit.
pub(super) fn segments(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| !byte.is_ascii_alphanumeric() && *byte < 0x80)
        .filter(|segment| !segment.is_empty())
}

/// True for what stands where a credential would: masks, fillers, sequences
/// and "your-key-here". A filler word counts only as a whole segment.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    value.is_empty()
        || is_filler(value)
        || segments(value).any(|segment| segment.len() <= 12 && is_listed(PLACEHOLDERS, segment))
        || segments(value).all(|segment| is_listed(NOUNS, segment))
        || value.ends_with(b"EXAMPLE")
        || value.ends_with(b"EXAMPLEKEY")
}

/// True for masks (`****`, `••••`, `xxxx`, `...`), one byte over and over, and
/// runs of the alphabet or the digits.
fn is_filler(value: &[u8]) -> bool {
    let mut same = 1;
    let mut rising = 1;
    let mut last = None;
    for byte in value {
        same = if last == Some(*byte) { same + 1 } else { 1 };
        let follows = last.is_some_and(|last: u8| last.wrapping_add(1) == *byte);
        rising = if follows && byte.is_ascii_alphanumeric() { rising + 1 } else { 1 };
        last = Some(*byte);
        let mask = match byte {
            b'*' | b'.' => 3,
            b'x' | b'X' => 4,
            b'0'..=b'9' => 9,
            b'a'..=b'z' | b'A'..=b'Z' => 6,
            _ => 8,
        };
        if same >= mask || rising >= 8 {
            return true;
        }
    }
    let masks = ["…", "•", "●", "█", "∙", "⋯"];
    !value.is_ascii() && masks.iter().any(|mask| contains(value, mask.as_bytes()))
}

pub(super) fn contains(value: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(value, needle).is_some()
}

/// True for dates, times, numbers with units, versions, ratios.
pub(super) fn is_measure(value: &[u8]) -> bool {
    let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = value.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let is_version = matches!(value, [b'v' | b'V', b'0'..=b'9', ..]) && letters <= 2;
    let is_numeric = value.iter().all(|b| b.is_ascii_digit() || b":.,/-+TZ%xX_".contains(b));
    let starts_with_digit = value.first().is_some_and(u8::is_ascii_digit);
    let unit = value.len()
        - value.iter().rev().take_while(|b| b.is_ascii_alphabetic() || **b == b'%').count();
    let head = value.get(..unit).unwrap_or_default();
    let is_unit = starts_with_digit
        && value.len() - unit <= 4
        && head.iter().all(|b| b.is_ascii_digit() || b".,-/".contains(b))
        && unit < value.len()
        && unit < 7;
    let is_pair = |part: &[u8]| part.len() == 2 && part.iter().all(u8::is_ascii_hexdigit);
    let is_fingerprint = value.split(|b| *b == b':').filter(|part| is_pair(part)).count() >= 6;
    is_version || is_fingerprint || (is_numeric && (value.len() != digits || digits < 6)) || is_unit
}

/// True for the name of an algorithm or a standard: `AES-256`, `ed25519`.
fn is_algorithm(value: &[u8]) -> bool {
    let stem: Vec<u8> = value.iter().filter(|b| b.is_ascii_alphabetic()).copied().collect();
    value.len() <= 24 && is_listed(ALGORITHMS, &stem)
}

/// True for a password a person might have chosen or been given: letters with
/// a digit or a symbol inside, no white space, at least `min` characters.
pub(super) fn is_password(value: &[u8], min: usize) -> bool {
    let n_chars = value.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    let traits = Traits::of(value);
    if n_chars < min || traits.variety < 4 || value.iter().any(u8::is_ascii_whitespace) {
        return false;
    }
    if is_placeholder(value)
        || is_measure(value)
        || is_algorithm(value)
        || is_type_name(value)
        || is_email(value)
    {
        return false;
    }
    let inner = value.get(1..value.len() - 1).unwrap_or_default();
    let symbols = inner.iter().filter(|b| b"!@#$%^&*?~+=".contains(b)).count();
    let is_mixed = traits.upper > 0 && traits.lower > 0;
    (traits.digit > 0 && traits.n_letters() > 0)
        || (traits.digit > 0 && traits.symbol > 1 && traits.symbol + traits.digit >= 8)
        || (symbols > 0 && traits.n_letters() > 0 && (is_mixed || symbols > 1))
}

/// True for letters alone that are no words: what a generator without digits
/// gives. Only for labels that leave no doubt.
pub(super) fn is_letter_password(value: &[u8]) -> bool {
    let traits = Traits::of(value);
    value.len() >= 10
        && traits.lower + traits.upper == value.len()
        && traits.lower > 0
        && traits.upper > 0
        && traits.turns >= 2
        && wordiness(value) < 40
        && !is_placeholder(value)
}

fn is_email(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|b| *b == b'@') else { return false };
    let host = value.get(at + 1..).unwrap_or_default();
    at > 0
        && host.contains(&b'.')
        && host.iter().all(|b| b.is_ascii_alphanumeric() || b".-".contains(b))
        && host
            .rsplit(|b| *b == b'.')
            .next()
            .is_some_and(|end| end.len() >= 2 && end.iter().all(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_are_not_values() {
        for text in [
            "changeme",
            "YOUR_SECRET",
            "xoxp-your-user-token",
            "11111111111111111111",
            "********",
            "sk-...Wq3z",
            "AKIAIOSFODNN7EXAMPLE",
            "my-api-token",
            "ghp_abcdefghijklmnop",
            "••••••",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn people_choose_passwords_with_digits_and_symbols() {
        for text in ["L3chuz4_31", "roble-nieve-tren-7", "Otoño88@", "S0l&Sombra!", "tr4nv1a.22"] {
            assert!(is_password(text.as_bytes(), 6), "{text}");
        }
        for text in [
            "pending",
            "2027-01-30",
            "v2.10.4",
            "AES-256",
            "ed25519",
            "64k",
            "12/16",
            "__u64",
            "luis@example.org",
            "changeme2!changeme",
        ] {
            assert!(!is_password(text.as_bytes(), 6), "{text}");
        }
    }
}

//! What stands between a cue and its value.

use super::scan::{byte, has, is_letter, is_name_byte, line_start, run_end, skip, skip_markup};
use super::words::{COPULAS, NOT_AFTER, NOT_BEFORE, QUALIFIERS, is_listed};

/// What stands between label and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// `=`, `:`, `=>`, `→`: says "is".
    Sign,
    /// The next cell of a table row.
    Cell,
    /// `=` in the query of a URL.
    Query,
    /// `is`, `es`, a dash: may say "is".
    Loose,
    /// The line below, without a word.
    Below,
    /// Nothing but a space or a quotation mark.
    Beside,
    /// `==` and `,`: says "is" only before a quoted value.
    Quoted,
}

/// A join, the offset after it, and the words passed on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    pub(super) join: Join,
    pub(super) at: usize,
    pub(super) n_words: usize,
    /// One of the words says whose key it is: `clave maestra`.
    pub(super) is_qualified: bool,
}

/// Reads on from the end of the identifier that begins at `start`.
pub(super) fn read(text: &[u8], start: usize, end: usize) -> Option<Joined> {
    let mut at = end;
    let mut n_words = 0;
    let mut is_qualified = false;
    let is_tag = byte(text, start.wrapping_sub(1)) == b'<';
    for _ in 0..6 {
        let marked = skip_markup(text, at, b"\"'`*_])\\");
        let spaced = skip(text, marked, b" \t\r\n", 6);
        let join = |join, at| Some(Joined { join, at, n_words, is_qualified });
        if let Some(next) = named_value(text, spaced) {
            return join(Join::Sign, next);
        }
        if let Some((found, next)) = separator(text, spaced, is_tag) {
            return join(found, next);
        }
        if spaced == marked {
            return if is_cell_end(text, at, marked) { join(Join::Cell, marked) } else { None };
        }
        let has_line_end = text.get(marked..spaced)?.contains(&b'\n');
        if has_line_end && n_words == 0 {
            let end = run_end(text, spaced, 4, is_letter);
            let is_copula = end > spaced && is_listed(COPULAS, text.get(spaced..end)?);
            return if is_copula { join(Join::Loose, end) } else { join(Join::Below, marked) };
        }
        if b"\"'`*".contains(&byte(text, spaced))
            || has(text, spaced, "“")
            || has(text, spaced, "«")
        {
            return join(Join::Beside, spaced);
        }
        if byte(text, spaced) == b'(' {
            let close = run_end(text, spaced, 32, |b| b != b')');
            let inner = text.get(spaced + 1..close)?;
            let is_word = !inner.iter().any(u8::is_ascii_whitespace);
            if inner.len() >= 8 && is_word && inner.iter().any(u8::is_ascii_digit) {
                return join(Join::Beside, spaced + 1);
            }
            at = (byte(text, close) == b')').then_some(close + 1)?;
            continue;
        }
        let end = word_end(text, spaced);
        let word = text.get(spaced..end)?;
        if word.is_empty() || word.len() > 20 || !is_word_end(text, end) {
            return join(Join::Beside, spaced);
        }
        if is_listed(COPULAS, word) {
            return join(Join::Loose, after_adverb(text, end));
        }
        // `type="password" id="…"`: the next attribute.
        if byte(text, end) == b'=' && b"\"'".contains(&byte(text, marked.saturating_sub(1))) {
            return None;
        }
        if is_listed(NOT_AFTER, word) || is_listed(NOT_BEFORE, word) {
            return None;
        }
        n_words += 1;
        is_qualified |= is_listed(QUALIFIERS, word);
        at = end;
    }
    None
}

/// Passes over "now" in "the password is now …".
fn after_adverb(text: &[u8], at: usize) -> usize {
    let adverbs = [" now", " ahora", " currently", " still", " set to", " actualmente"];
    let adverb = adverbs.iter().find(|word| has(text, at, word));
    at + adverb.map_or(0, |word| word.len())
}

/// The end of a word of prose; an apostrophe may stand inside.
fn word_end(text: &[u8], at: usize) -> usize {
    let end = run_end(text, at, 24, is_letter);
    let is_elision = byte(text, end) == b'\'' && is_letter(byte(text, end + 1));
    if is_elision { run_end(text, end + 1, 20, is_letter) } else { end }
}

/// True where a word of prose may end; else what looks like one is a value.
fn is_word_end(text: &[u8], at: usize) -> bool {
    let is_last = !byte(text, at + 1).is_ascii_alphanumeric();
    match byte(text, at) {
        b'.' | b'-' | b'*' | b')' | b']' | b'}' | b'>' => is_last,
        b if is_name_byte(b) => false,
        b => b.is_ascii_whitespace() || b":=|,;\"'`".contains(&b) || b == 0,
    }
}

/// True when only closing tags stood between: `<td>Password</td><td>`.
fn is_cell_end(text: &[u8], at: usize, marked: usize) -> bool {
    marked > at && byte(text, marked - 1) == b'>' && byte(text, at) == b'<'
}

fn separator(text: &[u8], at: usize, is_tag: bool) -> Option<(Join, usize)> {
    const SIGNS: [(&str, Join); 21] = [
        ("===", Join::Quoted),
        ("==", Join::Quoted),
        ("=>", Join::Sign),
        (":=", Join::Sign),
        ("::", Join::Sign),
        ("=", Join::Sign),
        ("%3D", Join::Sign),
        ("%3d", Join::Sign),
        (":", Join::Sign),
        ("：", Join::Sign),
        ("＝", Join::Sign),
        ("→", Join::Sign),
        ("->", Join::Sign),
        ("⇒", Join::Sign),
        ("➜", Join::Sign),
        ("➡", Join::Sign),
        ("⟶", Join::Sign),
        ("—", Join::Loose),
        ("–", Join::Loose),
        (",", Join::Quoted),
        ("-", Join::Loose),
    ];
    match byte(text, at) {
        b'>' if is_tag => return Some((Join::Sign, at + 1)),
        // `process.env.X || "…"`, `env.get(X) ?? "…"`
        b'|' | b'?' if has(text, at, "||") || has(text, at, "??") => {
            let next = skip(text, at + 2, b" ", 3);
            return matches!(byte(text, next), b'"' | b'\'').then_some((Join::Sign, next));
        }
        b'|' => {
            let join = if is_table_row(text, at) { Join::Cell } else { Join::Beside };
            return Some((join, at + 1));
        }
        _ => {}
    }
    let (sign, join) = SIGNS.iter().find(|(sign, _)| has(text, at, sign))?;
    let next = at + sign.len();
    let needs_space = matches!(*sign, "::" | "-");
    (!needs_space || byte(text, next) == b' ').then_some((*join, next))
}

/// `name: DB_PASSWORD` is followed by `value: …`; `gh secret set NAME` by
/// `--body …`: the offset after the word for "value".
fn named_value(text: &[u8], at: usize) -> Option<usize> {
    for option in ["--body", "--value", "--secret-string"] {
        if has(text, at, option) {
            return Some(skip(text, at + option.len(), b" =", 1));
        }
    }
    let at = skip(text, at, b",", 1);
    let at = skip(text, at, b" \t\r\n\"'{", 24);
    let word = ["value", "Value", "default"].iter().find(|word| has(text, at, word))?;
    let at = skip(text, at + word.len(), b"\"' \t", 3);
    matches!(byte(text, at), b':' | b'=').then_some(at + 1)
}

/// True when the line of `at` begins with the bar of a table.
fn is_table_row(text: &[u8], at: usize) -> bool {
    let head = text.get(line_start(text, at, 400)..at).unwrap_or_default();
    head.iter().find(|b| !b" \t>*-".contains(b)) == Some(&b'|') || head.is_empty()
}

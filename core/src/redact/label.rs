//! Values announced by a label: `DB_PASSWORD=…`, `"apiKey": "…"`, `| clave
//! wifi | … |`, `the password for the NAS is …`.
//!
//! Read in four steps, each bounded: the identifier around the cue, what joins
//! it to a value ([`super::join`]), the value's extent ([`super::extent`]), and
//! whether the value is one ([`super::gate`]).

use super::columns;
use super::engine::Spans;
use super::extent::{self, Extent};
use super::gate;
use super::join::{self, Join, Joined};
use super::scan::{byte, is_name_byte, run_end};
use super::words::{Cue, GLUED, NOT_AFTER, NOT_BEFORE, QUALIFIERS, is_listed};

/// A label read up to the place where its value begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) cue: Cue,
    pub(super) join: Join,
    /// Words between the cue and the separator.
    pub(super) n_words: usize,
    /// The identifier or the words around it say which key, token or pass.
    pub(super) is_qualified: bool,
    /// An identifier as configuration writes them, not a word of prose.
    pub(super) is_config: bool,
    /// The cue is the whole identifier and stands in quotation marks.
    pub(super) is_whole: bool,
    /// An option of a command: `--password`.
    pub(super) is_option: bool,
    /// The cue is "key", not a word beside keys such as "auth".
    pub(super) is_key: bool,
    /// A user stands before the password: `user/password`, `usuario y clave`.
    pub(super) is_pair: bool,
    /// `PASS`, which a test runner says.
    pub(super) is_verdict: bool,
    /// `--- PASS`, which Go's says, before names of any make.
    pub(super) is_outcome: bool,
    /// "pass" is a verb more often than a noun.
    pub(super) is_verb: bool,
    pub(super) at: usize,
}

/// Reads on from a cue and reports the value it announces.
pub(super) fn detect(text: &[u8], at: usize, key: &str, cue: Cue, spans: &mut Spans) {
    let Some((label, start)) = read_label(text, at, key, cue) else { return };
    let Some(label) = read_join(text, label, start) else {
        columns::detect(text, start, &label, spans);
        return;
    };
    let first = match label.join {
        Join::Query => Some(extent::in_query(text, label.at)),
        _ => extent::after(text, label.at, spans),
    };
    let is_value = |extent: &Extent| gate::accepts(&label, text, *extent);
    let found = first.and_then(|first| {
        let second = || extent::second(text, first, label.is_pair, spans).filter(is_value);
        Some(first).filter(is_value).or_else(second).or_else(|| gate::groups(&label, text, first))
    });
    match found {
        Some(found) => spans.add(name_of(&label), found.start, found.end),
        None => columns::detect(text, start, &label, spans),
    }
}

/// The name in the marker.
pub(super) fn name_of(label: &Label) -> &'static str {
    match (label.join, label.cue) {
        (Join::Query, _) => "url-secret",
        (_, Cue::Password | Cue::Pass) => "password",
        _ => "secret",
    }
}

/// Reads the identifier around a cue; also returns where it begins.
fn read_label(text: &[u8], at: usize, key: &str, cue: Cue) -> Option<(Label, usize)> {
    let word = key.trim_matches(|c: char| !c.is_ascii_alphabetic());
    let at = at + key.find(word)?;
    let end = cue_end(text, at, at + word.len());
    let floor = at.saturating_sub(64);
    let start = (floor..at).rev().find(|i| !is_name_byte(byte(text, *i))).map_or(floor, |i| i + 1);
    let dashed = start;
    let start = (start..at).find(|i| !matches!(byte(text, *i), b'-' | b'.')).unwrap_or(at);
    if start >= 10 && text.get(start - 10..start) == Some(b"[REDACTED:") {
        return None;
    }
    // The `m` of a colour is not part of the name.
    let start = if byte(text, start) == b'm' && is_colour(text, start) { start + 1 } else { start };
    let stop = run_end(text, end, 64, is_name_byte);
    let stop = (end..stop).rev().find(|i| byte(text, *i) != b'.').map_or(end, |i| i + 1);
    let before = text.get(start.min(at)..at)?;
    let after = text.get(end..stop)?;
    let previous = previous_word(text, start);
    let is_denied = denies(before, NOT_BEFORE)
        || denies(after, NOT_AFTER)
        || (cue == Cue::Key && denies(after, &["id"]))
        || (word == "token" && denies(after, &["id", "uuid", "sha"]))
        || (cue != Cue::Password && is_listed(NOT_BEFORE, previous));
    let is_tailed = cue == Cue::Pass && after.len() > 8;
    if is_denied || is_tailed || !is_word(before, text.get(at..end)?, after, cue) {
        return None;
    }
    let quote = |at: usize| matches!(byte(text, at), b'"' | b'\'');
    let is_compound = before.contains(&b'_') || after.contains(&b'_');
    let label = Label {
        cue,
        join: Join::Sign,
        n_words: 0,
        is_qualified: is_qualified(before, after, previous),
        is_config: is_compound
            || is_shouted(text.get(start..stop)?)
            || quote(stop)
            || byte(text, start.wrapping_sub(1)) == b'<',
        is_option: start - dashed >= 2 && byte(text, dashed) == b'-',
        is_whole: quote(stop) && quote(start.wrapping_sub(1)),
        is_key: word == "key" || word == "llave",
        is_pair: is_listed(&["y", "e", "and", "und", "et"], previous)
            || matches!(byte(text, start.wrapping_sub(1)), b'/' | b'+' | b'&'),
        is_verdict: text.get(start..stop) == Some(b"PASS"),
        is_outcome: text.get(start.saturating_sub(4)..start) == Some(b"--- "),
        is_verb: word == "pass"
            && before.is_empty()
            && after.is_empty()
            && !is_listed(&["el", "mi", "tu", "su", "del", "un", "al"], previous),
        at: stop,
    };
    Some((label, start))
}

fn read_join(text: &[u8], label: Label, start: usize) -> Option<Label> {
    let is_parameter = matches!(byte(text, start.wrapping_sub(1)), b'?' | b'&')
        || text.get(start.wrapping_sub(5)..start) == Some(b"&amp;");
    if is_parameter && byte(text, label.at) == b'=' {
        return Some(Label { join: Join::Query, at: label.at + 1, ..label });
    }
    let joined = join::read(text, start, label.at)?;
    // The end of a line of base64 announces nothing.
    if joined.join == Join::Below && b"+/".contains(&byte(text, start.wrapping_sub(1))) {
        return None;
    }
    // `ENV NAME value`, `setx NAME value`: a setting without a sign.
    let is_set = joined.join == Join::Beside && joined.n_words == 0 && label.is_config;
    let is_set =
        is_set && is_listed(&["env", "arg", "set", "setx", "x", "gx"], previous_word(text, start));
    let is_qualified = label.is_qualified || joined.is_qualified;
    let Joined { join, at, n_words, .. } = joined;
    let join = if is_set { Join::Sign } else { join };
    Some(Label { join, at, n_words, is_qualified, ..label })
}

/// True when the identifier or the word before it says whose key it is.
fn is_qualified(before: &[u8], after: &[u8], previous: &[u8]) -> bool {
    let is_name = previous.first().is_some_and(u8::is_ascii_uppercase);
    !before.is_empty() || !after.is_empty() || is_name || is_listed(QUALIFIERS, previous)
}

fn is_colour(text: &[u8], at: usize) -> bool {
    text.get(at.saturating_sub(8)..at).is_some_and(|head| head.contains(&0x1B))
}

fn is_shouted(name: &[u8]) -> bool {
    name.len() > 3 && name.iter().all(|b| !b.is_ascii_lowercase())
}

/// Ends the cue where its word ends: `contrase` goes on with `ñ` in one or two
/// characters, or with `n`.
fn cue_end(text: &[u8], at: usize, end: usize) -> usize {
    if !text.get(at..end).is_some_and(|cue| cue.eq_ignore_ascii_case(b"contrase")) {
        return end;
    }
    let rest = text.get(end..).unwrap_or_default();
    let tilde = match rest {
        [0xC3, 0xB1 | 0x91, ..] => 2,
        [b'n' | b'N', 0xCC, 0x83, ..] => 3,
        [b'n' | b'N', ..] => 1,
        _ => return end,
    };
    end + tilde + usize::from(matches!(rest.get(tilde), Some(b'a' | b'A')))
}

/// True when the cue is a word of its own inside the identifier.
fn is_word(before: &[u8], cue_text: &[u8], after: &[u8], cue: Cue) -> bool {
    let tail = after.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let tail = after.get(..tail).unwrap_or_default();
    let hump = tail.first().is_some_and(u8::is_ascii_uppercase)
        && cue_text.last().is_some_and(u8::is_ascii_lowercase);
    let right = tail.is_empty() || hump || matches!(tail, b"s" | b"S");
    let glued = before.iter().rev().take_while(|b| b.is_ascii_alphabetic()).count();
    let glued = before.get(before.len() - glued..).unwrap_or_default();
    let hump = cue_text.first().is_some_and(u8::is_ascii_uppercase)
        && glued.last().is_some_and(u8::is_ascii_lowercase);
    let left = glued.is_empty()
        || hump
        || cue == Cue::Password && !glued.is_empty()
        || GLUED.iter().any(|word| ends_with_word(glued, word));
    left && right
}

fn ends_with_word(glued: &[u8], word: &str) -> bool {
    glued.len() >= word.len()
        && glued
            .get(glued.len() - word.len()..)
            .is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
        && (glued.len() == word.len()
            || glued.get(glued.len() - word.len()).is_some_and(u8::is_ascii_uppercase))
}

/// True when one of the identifier's own words is in `words`.
fn denies(part: &[u8], words: &[&str]) -> bool {
    let mut start = 0;
    for at in 0..=part.len() {
        let here = byte(part, at);
        let is_end = at == part.len() || !here.is_ascii_alphabetic();
        let is_hump =
            here.is_ascii_uppercase() && at > start && byte(part, at - 1).is_ascii_lowercase();
        if is_end || is_hump {
            if is_listed(words, part.get(start..at).unwrap_or_default()) {
                return true;
            }
            start = if is_hump { at } else { at + 1 };
        }
    }
    false
}

/// The word before `start` on the same line, when one space parts them.
fn previous_word(text: &[u8], start: usize) -> &[u8] {
    if start == 0 || byte(text, start - 1) != b' ' {
        return &[];
    }
    let end = start - 1;
    let floor = end.saturating_sub(24);
    let head = text.get(floor..end).unwrap_or_default();
    let n = head.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b >= 0x80).count();
    head.get(head.len() - n..).unwrap_or_default()
}

//! Whether what a label announces is a credential. The less the label and the
//! join say, the more the value has to look like one.

use super::extent::Extent;
use super::join::Join;
use super::label::Label;
use super::random::{
    is_hash_like, is_interspersed, is_random, is_slug, is_strongly_random, wordiness,
};
use super::reference::{is_reference, is_snake_name, is_template};
use super::scan::{byte, line_start, run_end};
use super::value::{is_letter_password, is_password, is_placeholder};
use super::words::Cue;

/// Of a longer value only this much is judged.
const MAX_JUDGED: usize = 256;

/// True when `extent` holds a value that the label makes a credential.
pub(super) fn accepts(label: &Label, text: &[u8], extent: Extent) -> bool {
    let value = text.get(extent.start..extent.end).unwrap_or_default();
    if value.len() > MAX_JUDGED {
        let head = value.get(..MAX_JUDGED / 2).unwrap_or(value);
        return is_random(head) && !is_template(head) && label.join != Join::Quoted;
    }
    let core = trim_end(value);
    let is_markup = matches!(core, [b'[' | b'&' | b'(', ..] | [b'!', b'[', ..]);
    if core.is_empty() || is_markup || is_template(core) {
        return false;
    }
    let is_list = label.join == Join::Quoted;
    if is_list && (!extent.is_quoted || !label.is_whole || core.contains(&b' ')) {
        return false;
    }
    let is_loose = matches!(label.join, Join::Loose | Join::Below | Join::Beside);
    if is_reference(trim_stop(core), extent.is_quoted && !is_list) || (is_loose && is_setting(core))
    {
        return false;
    }
    let is_password_cue = matches!(label.cue, Cue::Password | Cue::Pass);
    if label.is_option && label.n_words == 0 && matches!(label.join, Join::Sign | Join::Beside) {
        return accepts_option(is_password_cue, core);
    }
    let is_named = matches!(label.join, Join::Sign | Join::Cell)
        && label.n_words == 0
        && (label.is_config || extent.is_quoted);
    if is_password_cue && is_named && is_letter_password(core) {
        return true;
    }
    match label.cue {
        Cue::Password => accepts_password(label, core, extent.is_quoted),
        Cue::Pass => accepts_pass(label, core, extent.is_quoted),
        _ if is_hash_like(core) && is_about_hashes(text, label.at) => false,
        Cue::Secret => accepts_secret(label, core, extent.is_quoted),
        _ => accepts_key(label, core),
    }
}

/// `--password x`, `--token=x`.
fn accepts_option(is_password_cue: bool, value: &[u8]) -> bool {
    let is_chosen = is_password(value, if is_password_cue { 4 } else { 8 });
    let is_plain = is_password_cue || (wordiness(value) < 50 && !value.contains(&b','));
    !value.starts_with(b"-") && (is_random(value) || (is_chosen && is_plain))
}

/// True when the words before the value speak of a hash.
fn is_about_hashes(text: &[u8], at: usize) -> bool {
    let head = text.get(line_start(text, at, 48)..at).unwrap_or_default().to_ascii_lowercase();
    [&b"hash"[..], b"checksum", b"digest", b"huella", b"sha1", b"sha2", b"md5", b"commit"]
        .iter()
        .any(|word| memchr::memmem::find(&head, word).is_some())
}

/// A second factor's key in groups of four: `abcd efgh …`.
pub(super) fn groups(label: &Label, text: &[u8], first: Extent) -> Option<Extent> {
    let is_group = |at: usize| {
        let end = run_end(text, at, 5, |b| b.is_ascii_alphanumeric());
        let group = text.get(at..end).unwrap_or_default();
        let is_base32 = |b: &u8| matches!(b, b'2'..=b'7' | b'a'..=b'z' | b'A'..=b'Z');
        (group.len() == 4 && group.iter().all(is_base32)).then_some(end)
    };
    let (mut at, mut end, mut n_groups) = (first.start, first.start, 0);
    while let Some(next) = is_group(at) {
        (end, n_groups) = (next, n_groups + 1);
        if byte(text, next) != b' ' {
            break;
        }
        at = next + 1;
    }
    let digits = text.get(first.start..end)?.iter().filter(|b| b.is_ascii_digit()).count();
    let is_key =
        matches!(label.cue, Cue::Secret | Cue::Key | Cue::Pass) && label.join != Join::Query;
    let is_mixed = digits >= 2 || (digits == 1 && n_groups >= 6);
    (is_key && n_groups >= 4 && is_mixed).then_some(Extent { end, ..first })
}

/// `NAME=value`: the next setting, not the value of the one before.
fn is_setting(value: &[u8]) -> bool {
    let name = value.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    name > 1 && value.get(name) == Some(&b'=') && value.len() > name + 2
}

fn trim_stop(value: &[u8]) -> &[u8] {
    match value {
        [rest @ .., b'.'] if rest.contains(&b'.') => rest,
        _ => value,
    }
}

fn trim_end(value: &[u8]) -> &[u8] {
    let n = value.iter().rev().take_while(|b| b",;:".contains(b)).count();
    value.get(..value.len() - n).unwrap_or_default()
}

fn accepts_password(label: &Label, value: &[u8], is_quoted: bool) -> bool {
    match label.join {
        Join::Query => is_password(value, 6),
        Join::Quoted => is_password(value, 6) && has_mixed_kinds(value),
        Join::Sign => {
            let is_number = value.len() >= 6 && value.iter().all(u8::is_ascii_digit);
            is_password(value, 5)
                || is_random(value)
                || (is_number && label.n_words == 0 && !is_placeholder(value))
        }
        Join::Cell => !label.is_option && is_password(value, 6),
        Join::Below => is_password(value, 8) && has_mixed_kinds(value),
        Join::Loose => {
            is_password(value, if is_quoted { 6 } else { 7 }) && !value.starts_with(b"-")
        }
        Join::Beside => {
            let is_strong = is_password(value, 8) && !value.starts_with(b"-");
            is_strong && (is_quoted || (label.n_words == 0 && is_unmistakable(value)))
        }
    }
}

fn is_unmistakable(value: &[u8]) -> bool {
    has_mixed_kinds(value) || is_random(value)
}

fn has_mixed_kinds(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| usize::from(value.iter().any(test));
    has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_digit)
        + has(u8::is_ascii_punctuation)
        >= 3
}

fn accepts_pass(label: &Label, value: &[u8], is_quoted: bool) -> bool {
    let is_chosen = value.iter().any(u8::is_ascii_digit) || is_random(value);
    // `--- PASS: TestName42`: a verdict.
    let is_verdict =
        label.is_verdict && label.join == Join::Sign && !value.iter().any(u8::is_ascii_punctuation);
    if !is_chosen || is_verdict || label.is_outcome || value.starts_with(b"-") {
        return false;
    }
    match label.join {
        Join::Query => is_password(value, 8),
        Join::Sign | Join::Quoted | Join::Cell => is_password(value, 6) || is_random(value),
        Join::Loose => !label.is_verb && is_password(value, 8),
        Join::Below => !label.is_verb && is_password(value, 8) && has_mixed_kinds(value),
        Join::Beside => is_quoted && !label.is_verb && label.n_words <= 3 && is_password(value, 8),
    }
}

/// The value of a query parameter that is named like a secret.
pub(super) fn is_query_secret(value: &[u8]) -> bool {
    value.len() >= 12 && (is_random(value) || (is_password(value, 12) && wordiness(value) < 40))
}

/// A key no name in a program looks like: what stands beside a label without
/// any sign between.
fn is_surely_random(value: &[u8], n_words: usize) -> bool {
    let n_digits = value.iter().filter(|b| b.is_ascii_digit()).count();
    let is_plain = if is_hash_like(value) { n_words == 0 } else { is_interspersed(value) };
    let is_sure = is_strongly_random(value) && n_digits >= 3;
    is_random(value) && (is_plain || is_sure)
}

fn accepts_secret(label: &Label, value: &[u8], is_quoted: bool) -> bool {
    match label.join {
        Join::Query => is_query_secret(value),
        Join::Sign if label.n_words == 0 && label.is_config => {
            let is_name = is_slug(value) || is_snake_name(value);
            is_random(value) || (is_password(value, 8) && wordiness(value) < 60 && !is_name)
        }
        Join::Beside if !is_quoted => is_surely_random(value, label.n_words),
        _ => value.len() >= 16 && is_random(value),
    }
}

fn accepts_key(label: &Label, value: &[u8]) -> bool {
    match label.join {
        Join::Query => is_query_secret(value),
        Join::Loose | Join::Below | Join::Beside | Join::Quoted if !label.is_key => false,
        Join::Beside => is_surely_random(value, label.n_words),
        _ if label.is_qualified => value.len() >= 16 && is_random(value),
        _ => is_strongly_random(value),
    }
}

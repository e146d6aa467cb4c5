//! Values announced by a label: `DB_PASSWORD=…`, `"apiKey": "…"`, `| clave
//! wifi | … |`, `the password for the NAS is …`.
//!
//! Read in four steps, each bounded: the identifier around the cue, the words
//! between it and a separator, the separator, the value. The gate at the end
//! asks the more of the value the less the label says.

use super::engine::Spans;
use super::value::{
    is_letter_password, is_password, is_placeholder, is_random, is_reference, is_strongly_random,
    is_template, wordiness,
};
use super::words::{COPULAS, Cue, GLUED, NOT_AFTER, NOT_BEFORE};

/// What stands between label and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// `=`, `:`, `=>`, `→`, `|`: says "is".
    Sign,
    /// The next cell of a table.
    Cell,
    /// `=` in the query of a URL.
    Query,
    /// `is`, `es`, a dash, a new line: may say "is".
    Loose,
    /// Nothing but a space or a quotation mark.
    Beside,
    /// `==` and `,`: says "is" only before a quoted value.
    Quoted,
}

/// A label read up to the place where its value begins.
struct Label {
    cue: Cue,
    join: Join,
    /// Words between the cue and the separator.
    n_words: usize,
    /// The identifier or the words around it say which key, token or pass.
    is_qualified: bool,
    /// An identifier as configuration writes them, not a word of prose.
    is_config: bool,
    /// The cue is the whole identifier and stands in quotation marks.
    is_whole: bool,
    /// An option of a command: `--password`.
    is_option: bool,
    /// The cue is "key", not a word beside keys such as "auth".
    is_key: bool,
    /// "pass" is a verb more often than a noun.
    is_verb: bool,
    at: usize,
}

/// The part of a text that a value takes.
#[derive(Clone, Copy)]
struct Extent {
    start: usize,
    end: usize,
    is_quoted: bool,
}

/// Reads on from a cue and reports the value it announces.
pub(super) fn detect(text: &[u8], at: usize, key: &str, cue: Cue, spans: &mut Spans) {
    let Some(label) = read_label(text, at, key, cue) else { return };
    let Some(mut extent) = read_value(text, label.at, label.join) else { return };
    if !is_accepted(&label, text, extent) {
        let Some(next) = after_type(text, extent) else { return };
        extent = next;
        if !is_accepted(&label, text, extent) {
            return;
        }
    }
    let name = match (label.join, cue) {
        (Join::Query, _) => "url-secret",
        (_, Cue::Password | Cue::Pass) => "password",
        _ => "secret",
    };
    spans.add(name, extent.start, extent.end);
}

fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'.'
}

fn read_label(text: &[u8], at: usize, key: &str, cue: Cue) -> Option<Label> {
    let skip = key.bytes().take_while(|b| !b.is_ascii_alphabetic()).count();
    let at = at + skip;
    let end = cue_end(text, at, at - skip + key.len());
    let floor = at.saturating_sub(64);
    let start = (floor..at).rev().find(|i| !is_name_byte(byte(text, *i))).map_or(floor, |i| i + 1);
    let dashed = start;
    let start = (start..at).find(|i| !matches!(byte(text, *i), b'-' | b'.')).unwrap_or(at);
    if start >= 10 && text.get(start - 10..start) == Some(b"[REDACTED:") {
        return None;
    }
    let stop = (end..end + 64).find(|i| !is_name_byte(byte(text, *i))).unwrap_or(end);
    let stop = (end..stop).rev().find(|i| byte(text, *i) != b'.').map_or(end, |i| i + 1);
    let before = text.get(start..at)?;
    let after = text.get(end..stop)?;
    if !is_word(before, text.get(at..end)?, after, cue)
        || denies(before, NOT_BEFORE)
        || denies(after, NOT_AFTER)
    {
        return None;
    }
    let previous = previous_word(text, start);
    if matches!(cue, Cue::Secret | Cue::Key) && is_listed(NOT_BEFORE, previous) {
        return None;
    }
    let mut label = Label {
        cue,
        join: Join::Sign,
        n_words: 0,
        is_qualified: !before.is_empty() || !after.is_empty() || previous.len() > 1,
        is_config: before.contains(&b'_')
            || after.contains(&b'_')
            || is_shouted(text.get(start..stop)?)
            || matches!(byte(text, stop), b'"' | b'\'')
            || byte(text, start.wrapping_sub(1)) == b'<',
        is_option: start - dashed >= 2 && byte(text, dashed) == b'-',
        is_whole: matches!(byte(text, stop), b'"' | b'\'')
            && matches!(byte(text, start.wrapping_sub(1)), b'"' | b'\''),
        is_key: key == "key" || key == "llave",
        is_verb: key == "pass" && before.is_empty() && after.is_empty(),
        at: stop,
    };
    if matches!(byte(text, start.wrapping_sub(1)), b'?' | b'&')
        || text.get(start.wrapping_sub(5)..start) == Some(b"&amp;")
    {
        label.at = stop + 1;
        label.join = Join::Query;
        return (byte(text, stop) == b'=').then_some(label);
    }
    read_join(text, &mut label, start)?;
    Some(label)
}

fn is_shouted(name: &[u8]) -> bool {
    name.len() > 3 && name.iter().all(|b| !b.is_ascii_lowercase())
}

/// Ends the cue where its word ends: `contrase` goes on with `ñ`, `ñ` or `n`.
fn cue_end(text: &[u8], at: usize, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    if !text.get(at..end).is_some_and(|cue| cue.eq_ignore_ascii_case(b"contrase")) {
        return end;
    }
    let tails = [
        "ñas",
        "ñAS",
        "ÑAS",
        "n\u{303}as",
        "nas",
        "ña",
        "ÑA",
        "n\u{303}a",
        "N\u{303}A",
        "na",
        "NA",
        "\u{303}a",
    ];
    let tail = tails.iter().find(|tail| rest.starts_with(tail.as_bytes()));
    end + tail.map_or(0, |tail| tail.len())
}

/// True when the cue is a word of its own inside the identifier.
fn is_word(before: &[u8], cue_text: &[u8], after: &[u8], cue: Cue) -> bool {
    let tail = after.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let tail = after.get(..tail).unwrap_or_default();
    let hump = tail.first().is_some_and(u8::is_ascii_uppercase)
        && cue_text.last().is_some_and(u8::is_ascii_lowercase);
    let right = tail.is_empty() || hump || matches!(tail, b"s" | b"S" | b"es");
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

fn is_listed(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|listed| word.eq_ignore_ascii_case(listed.as_bytes()))
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

/// Reads words up to a separator. `start` is where the identifier begins.
fn read_join(text: &[u8], label: &mut Label, start: usize) -> Option<()> {
    let mut at = label.at;
    let is_tag = byte(text, start.wrapping_sub(1)) == b'<';
    for _ in 0..6 {
        let marked = skip(text, at, b"\"'`*_])\\", 5);
        let spaced = skip(text, marked, b" \t\r\n", 4);
        if let Some((join, next)) = separator(text, spaced, is_tag) {
            label.join = join;
            label.at = next;
            return Some(());
        }
        if spaced == marked {
            return None;
        }
        let has_line_end = text.get(marked..spaced)?.contains(&b'\n');
        if has_line_end && label.n_words == 0 {
            let end = (spaced..spaced + 4).find(|i| !is_letter(byte(text, *i))).unwrap_or(spaced);
            let is_copula = end > spaced && is_listed(COPULAS, text.get(spaced..end)?);
            label.join = Join::Loose;
            label.at = if is_copula { end } else { marked };
            return Some(());
        }
        if matches!(byte(text, spaced), b'"' | b'\'' | b'`' | b'*')
            || text.get(spaced..)?.starts_with("“".as_bytes())
        {
            label.join = Join::Beside;
            label.at = spaced;
            return Some(());
        }
        if byte(text, spaced) == b'(' {
            let close = (spaced..spaced + 32).find(|i| byte(text, *i) == b')')?;
            at = close + 1;
            continue;
        }
        let end = (spaced..spaced + 20).find(|i| !is_letter(byte(text, *i)))?;
        let word = text.get(spaced..end)?;
        if word.is_empty() || (is_name_byte(byte(text, end)) && !ends_word(text, end)) {
            label.join = Join::Beside;
            label.at = spaced;
            return Some(());
        }
        if is_listed(COPULAS, word) {
            label.join = Join::Loose;
            label.at = end;
            return Some(());
        }
        if is_listed(NOT_AFTER, word) || is_listed(NOT_BEFORE, word) {
            return None;
        }
        label.n_words += 1;
        at = end;
    }
    None
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// True for a full stop or dash that ends the word rather than continues it.
fn ends_word(text: &[u8], at: usize) -> bool {
    matches!(byte(text, at), b'.' | b'-') && !byte(text, at + 1).is_ascii_alphanumeric()
}

fn skip(text: &[u8], at: usize, set: &[u8], max: usize) -> usize {
    (at..at + max).find(|i| !set.contains(&byte(text, *i)) || *i >= text.len()).unwrap_or(at + max)
}

fn separator(text: &[u8], at: usize, is_tag: bool) -> Option<(Join, usize)> {
    let rest = text.get(at..)?;
    let signs: &[(&str, Join)] = &[
        ("===", Join::Quoted),
        ("==", Join::Quoted),
        ("=>", Join::Sign),
        (":=", Join::Sign),
        ("::", Join::Sign),
        ("=", Join::Sign),
        (":", Join::Sign),
        ("：", Join::Sign),
        ("→", Join::Sign),
        ("->", Join::Sign),
        ("—", Join::Loose),
        ("–", Join::Loose),
        (",", Join::Quoted),
        ("-", Join::Loose),
    ];
    match rest.first() {
        Some(b'>') if is_tag => return Some((Join::Sign, at + 1)),
        Some(b'|') => {
            let join = if is_table_row(text, at) { Join::Cell } else { Join::Beside };
            return Some((join, at + 1));
        }
        _ => {}
    }
    let (sign, join) = signs.iter().find(|(sign, _)| rest.starts_with(sign.as_bytes()))?;
    let next = at + sign.len();
    let needs_space = matches!(*sign, "::" | "-");
    (!needs_space || byte(text, next) == b' ').then_some((*join, next))
}

/// True when the line of `at` begins with the bar of a table.
fn is_table_row(text: &[u8], at: usize) -> bool {
    let floor = at.saturating_sub(400);
    let head = text.get(floor..at).unwrap_or_default();
    let head = head.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    head.iter().find(|b| !b" \t>*-".contains(b)) == Some(&b'|') || head.is_empty()
}

/// Finds the value's extent from just after the separator.
fn read_value(text: &[u8], at: usize, join: Join) -> Option<Extent> {
    if join == Join::Query {
        let end = (at..text.len().min(at + 4096))
            .find(|i| b" \t\r\n&\"'<>`)]|#\\;".contains(&byte(text, *i)));
        let end = end.unwrap_or(text.len().min(at + 4096));
        return Some(Extent { start: at, end, is_quoted: false });
    }
    let mut at = skip(text, skip(text, at, b"*", 2), b" \t", 40);
    let mut lines = 0;
    loop {
        let next = skip(text, at, b" \t*>|-", 12);
        if !matches!(byte(text, next), b'\n' | b'\r') || lines == 2 {
            break;
        }
        at = skip(text, next, b"\r\n", 2);
        let marked = skip(text, at, b" \t>", 12);
        let listed = skip(text, marked, b"-*", 1);
        at = if byte(text, listed) == b' ' { skip(text, listed, b" ", 4) } else { marked };
        lines += 1;
    }
    let bold = skip(text, at, b"*", 2);
    let n_stars = bold - at;
    if n_stars > 0 && !is_bold(text, bold) {
        return bare(text, at, 0);
    }
    let at = bold;
    quoted(text, at).or_else(|| bare(text, at, n_stars))
}

/// True when the stars before `at` are closed after the word they open.
fn is_bold(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..text.len().min(at + 600)).unwrap_or_default();
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default().trim_ascii_end().iter().rev().take(3).any(|b| *b == b'*')
}

fn quoted(text: &[u8], at: usize) -> Option<Extent> {
    let rest = text.get(at..)?;
    let pairs: &[(&str, &str)] = &[
        ("\\\"", "\\\""),
        ("\"", "\""),
        ("'", "'"),
        ("```", "```"),
        ("``", "``"),
        ("`", "`"),
        ("“", "”"),
        ("«", "»"),
        ("&quot;", "&quot;"),
    ];
    let (open, close) = pairs.iter().find(|(open, _)| rest.starts_with(open.as_bytes()))?;
    let inner = rest.get(open.len()..)?;
    let inner = inner.get(..4096).unwrap_or(inner);
    let line = memchr::memchr(b'\n', inner).map_or(inner, |end| inner.get(..end).unwrap_or(inner));
    let end = memchr::memmem::find(line, close.as_bytes())?;
    let start = at + open.len();
    // `"Basic"`-like words and a space are a caller's business; quotes around
    // quotes (`'"x"'`) are opened once more.
    let extent = Extent { start, end: start + end, is_quoted: true };
    Some(quoted_inside(text, extent).unwrap_or(extent))
}

fn quoted_inside(text: &[u8], extent: Extent) -> Option<Extent> {
    let inner = text.get(extent.start..extent.end)?;
    let (first, last) = (*inner.first()?, *inner.last()?);
    (inner.len() > 2 && first == last && b"\"'`".contains(&first)).then_some(Extent {
        start: extent.start + 1,
        end: extent.end - 1,
        is_quoted: true,
    })
}

fn bare(text: &[u8], at: usize, n_stars: usize) -> Option<Extent> {
    let limit = text.len().min(at + 4096);
    let stops = |i: usize| match byte(text, i) {
        b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'|' | b'<' | b'>' => true,
        b'\\' => matches!(byte(text, i + 1), b'n' | b'r' | b't' | b'"'),
        b',' | b';' => {
            let rest = text.get(i + 1..limit).unwrap_or_default();
            let name = rest.iter().take_while(|b| is_name_byte(**b) || **b == b' ').count();
            !byte(text, i + 1).is_ascii_graphic() || matches!(rest.get(name), Some(b'=' | b':'))
        }
        0xE2 => text.get(i..).is_some_and(|rest| {
            rest.starts_with("”".as_bytes()) || rest.starts_with("“".as_bytes())
        }),
        0x1B => true,
        _ => false,
    };
    let mut end = (at..limit).find(|i| stops(*i)).unwrap_or(limit);
    if n_stars > 0 {
        while end > at && byte(text, end - 1) == b'*' {
            end -= 1;
        }
    }
    while end > at && is_unbalanced(text.get(at..end)?) {
        end -= 1;
    }
    (end > at).then_some(Extent { start: at, end, is_quoted: false })
}

/// True when the last byte closes a bracket that the value does not open.
fn is_unbalanced(value: &[u8]) -> bool {
    let open = match value.last() {
        Some(b')') => b'(',
        Some(b']') => b'[',
        Some(b'}') => b'{',
        _ => return false,
    };
    !value.contains(&open)
}

/// `apiKey: string = "…"`: the value after a type.
fn after_type(text: &[u8], extent: Extent) -> Option<Extent> {
    let kind = text.get(extent.start..extent.end)?;
    if extent.is_quoted || kind.len() > 40 || kind.ends_with(b"=") {
        return None;
    }
    let equals = skip(text, extent.end, b" ", 3);
    if byte(text, equals) != b'=' || byte(text, equals + 1) == b'=' {
        return None;
    }
    quoted(text, skip(text, equals + 1, b" ", 3))
}

fn is_accepted(label: &Label, text: &[u8], extent: Extent) -> bool {
    let Some(value) = text.get(extent.start..extent.end) else { return false };
    let core = trim_end(value);
    if value.is_empty() || value.starts_with(b"[REDACTED") || is_template(value) {
        return false;
    }
    if value.starts_with(b"[") || value.starts_with(b"![") || value.starts_with(b"&H") {
        return false;
    }
    let is_list = label.join == Join::Quoted;
    if is_list && (!extent.is_quoted || !label.is_whole || core.contains(&b' ')) {
        return false;
    }
    let is_loose = matches!(label.join, Join::Loose | Join::Beside);
    if is_reference(trim_stop(core), extent.is_quoted && !is_list) || (is_loose && is_setting(core))
    {
        return false;
    }
    if label.is_option && label.n_words == 0 && matches!(label.join, Join::Sign | Join::Beside) {
        let min = if matches!(label.cue, Cue::Password | Cue::Pass) { 4 } else { 8 };
        let is_wordy = matches!(label.cue, Cue::Secret | Cue::Key) && wordiness(core) >= 50;
        return !core.starts_with(b"-") && is_password(core, min) && !is_wordy;
    }
    let is_named = matches!(label.join, Join::Sign | Join::Cell)
        && label.n_words == 0
        && (label.is_config || extent.is_quoted);
    if matches!(label.cue, Cue::Password | Cue::Pass) && is_named && is_letter_password(core) {
        return true;
    }
    match label.cue {
        Cue::Password => accepts_password(label, core, extent.is_quoted),
        Cue::Pass => accepts_pass(label, core, extent.is_quoted),
        Cue::Secret => accepts_secret(label, core),
        _ => accepts_key(label, core),
    }
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
        Join::Query => value.len() >= 8 && is_password(value, 8),
        Join::Sign | Join::Quoted => {
            let is_number = value.len() >= 6 && value.iter().all(u8::is_ascii_digit);
            is_password(value, 5) || (is_number && label.n_words == 0 && !is_placeholder(value))
        }
        Join::Cell => !label.is_option && is_password(value, 6),
        Join::Loose => {
            is_password(value, if is_quoted { 6 } else { 7 }) && !value.starts_with(b"-")
        }
        Join::Beside => {
            let is_strong = is_password(value, 8) && !value.starts_with(b"-");
            is_strong && (is_quoted || (label.n_words == 0 && has_mixed_kinds(value)))
        }
    }
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
    if !value.iter().any(u8::is_ascii_digit) || value.starts_with(b"-") {
        return false;
    }
    match label.join {
        Join::Query => is_password(value, 8),
        Join::Sign | Join::Quoted | Join::Cell => is_password(value, 6),
        Join::Loose => is_password(value, 8) && (!label.is_verb || has_mixed_kinds(value)),
        Join::Beside => is_quoted && !label.is_verb && label.n_words <= 3 && is_password(value, 8),
    }
}

fn accepts_secret(label: &Label, value: &[u8]) -> bool {
    match label.join {
        Join::Query => value.len() >= 12 && (is_random(value) || is_password(value, 12)),
        Join::Sign if label.n_words == 0 && label.is_config => {
            is_random(value) || (is_password(value, 8) && wordiness(value) < 60)
        }
        _ => value.len() >= 16 && is_random(value),
    }
}

fn accepts_key(label: &Label, value: &[u8]) -> bool {
    match label.join {
        Join::Query => value.len() >= 12 && (is_random(value) || is_password(value, 12)),
        Join::Loose | Join::Beside | Join::Quoted if !label.is_key => false,
        _ if label.is_qualified => value.len() >= 16 && is_random(value),
        _ => is_strongly_random(value),
    }
}

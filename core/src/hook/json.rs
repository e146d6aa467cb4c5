//! A borrowed reader for the one JSON object on a hook's stdin.
//!
//! Events can hold whole files: a `Write` over a 6 MB file sends 12 MB. So
//! nothing is built; values are found by skipping over what is not asked for
//! (strings with `memchr`) and decoded one by one. Invalid UTF-8 and lone
//! surrogates come out as U+FFFD.

use std::borrow::Cow;

/// How deep arrays and objects may nest; agents send a handful of levels.
const MAX_DEPTH: usize = 256;

/// A JSON value as it stands in the input.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// Takes a whole document: one value with blanks around it, and nothing
    /// else. `None` if it is not well formed.
    pub fn document(bytes: &'a [u8]) -> Option<Self> {
        let start = skip_blanks(bytes, 0);
        let end = value_end(bytes, start)?;
        (skip_blanks(bytes, end) == bytes.len()).then(|| Self(&bytes[start..end]))
    }

    /// Returns the value's own bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the members of an object, in order, names undecoded; none for
    /// any other value.
    pub fn members(self) -> impl Iterator<Item = (&'a [u8], Raw<'a>)> {
        let mut at = if self.0.first() == Some(&b'{') { 1 } else { self.0.len() };
        std::iter::from_fn(move || {
            let (name, value, next) = member(self.0, at)?;
            at = next;
            Some((name, value))
        })
    }

    /// Returns the elements of an array; none for any other value.
    pub fn items(self) -> impl Iterator<Item = Raw<'a>> {
        let mut at = if self.0.first() == Some(&b'[') { 1 } else { self.0.len() };
        std::iter::from_fn(move || {
            let start = skip_blanks(self.0, at);
            let end = value_end(self.0, start)?;
            at = after_comma(self.0, end);
            Some(Raw(&self.0[start..end]))
        })
    }

    /// Returns the member `name` of an object; the last one, as JavaScript does.
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        self.members().filter(|(key, _)| *key == name.as_bytes()).last().map(|(_, value)| value)
    }

    /// Returns a string's text.
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.text_within(usize::MAX)
    }

    /// Returns the beginning of a string's text: at most what `max_bytes` bytes
    /// of the input hold.
    pub fn text_within(self, max_bytes: usize) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let cut = &inner[..inner.len().min(max_bytes)];
        if memchr::memchr(b'\\', cut).is_some() {
            return Some(Cow::Owned(unescape(cut)));
        }
        Some(match String::from_utf8_lossy(cut) {
            // A character that the cut went through, not one of the input.
            Cow::Owned(text) if cut.len() < inner.len() => {
                Cow::Owned(text.trim_end_matches('\u{fffd}').to_owned())
            }
            text => text,
        })
    }

    /// Returns true for `true`.
    pub fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// Builds the whole value, for those who have to send it back.
    pub fn to_value(self) -> Option<serde_json::Value> {
        serde_json::from_slice(self.0).ok().or_else(|| {
            // Not valid UTF-8: agents send U+FFFD, but a broken byte should
            // cost a character, not the answer.
            serde_json::from_str(&String::from_utf8_lossy(self.0)).ok()
        })
    }
}

/// Whether a document is JSON to the letter: what a lenient reader takes for a
/// setting, the agent may refuse.
pub fn is_strict(bytes: &[u8]) -> bool {
    let rest = std::str::from_utf8(bytes).ok().and_then(|_| strict(skip(bytes), 0));
    rest.is_some_and(|rest| skip(rest).is_empty())
}

fn skip(bytes: &[u8]) -> &[u8] {
    bytes.get(skip_blanks(bytes, 0)..).unwrap_or_default()
}

/// Reads one value; returns what follows it.
fn strict(bytes: &[u8], depth: usize) -> Option<&[u8]> {
    match bytes.first()? {
        b'"' => strict_string(bytes),
        open @ (b'{' | b'[') if depth < MAX_DEPTH => {
            let close = open + 2;
            let mut rest = skip(&bytes[1..]);
            if rest.first() == Some(&close) {
                return Some(&rest[1..]);
            }
            loop {
                if *open == b'{' {
                    rest = skip(strict_string(rest)?).strip_prefix(b":").map(skip)?;
                }
                rest = skip(strict(rest, depth + 1)?);
                match rest.split_first()? {
                    (b',', after) => rest = skip(after),
                    (byte, after) if *byte == close => return Some(after),
                    _ => return None,
                }
            }
        }
        _ => {
            let end = value_end(bytes, 0)?;
            let scalar = std::str::from_utf8(&bytes[..end]).ok()?;
            let digits = scalar.strip_prefix('-').unwrap_or(scalar);
            let grouped =
                !digits.starts_with('0') || !matches!(digits.as_bytes().get(1), Some(b'0'..=b'9'));
            let is_number = grouped
                && digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.ends_with(|c: char| c.is_ascii_digit())
                && digits.bytes().filter(|b| *b == b'.').count() <= 1
                && digits.bytes().filter(|b| matches!(b, b'e' | b'E')).count() <= 1;
            (is_number || matches!(scalar, "true" | "false" | "null")).then(|| &bytes[end..])
        }
    }
}

fn strict_string(bytes: &[u8]) -> Option<&[u8]> {
    let end = string_end(bytes, 0)?;
    let mut inside = bytes[1..end - 1].iter();
    while let Some(byte) = inside.next() {
        match byte {
            ..=0x1f => return None,
            b'\\' => match inside.next()? {
                b'u' => {
                    for _ in 0..4 {
                        inside.next().filter(|b| b.is_ascii_hexdigit())?;
                    }
                }
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                _ => return None,
            },
            _ => {}
        }
    }
    Some(&bytes[end..])
}

/// Appends `text` as a JSON string.
pub fn push_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    let special = |b: &u8| matches!(b, b'"' | b'\\' | ..=0x1f);
    while let Some(at) = rest.iter().position(special) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            byte @ ..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.extend_from_slice(&[b'\\', byte]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// An object being written, member by member.
#[derive(Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Opens an object.
    pub fn object() -> Self {
        Self(b"{".to_vec())
    }

    /// Adds a member whose value is JSON already.
    #[must_use]
    pub fn json(mut self, name: &str, value: &[u8]) -> Self {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        push_text(name, &mut self.0);
        self.0.push(b':');
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a member as it stood in another object, its name undecoded.
    #[must_use]
    pub fn raw_json(mut self, name: &str, value: &[u8]) -> Self {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        self.0.extend_from_slice(value);
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        let mut json = Vec::with_capacity(value.len() + 16);
        push_text(value, &mut json);
        self.json(name, &json)
    }

    /// Closes the object.
    pub fn end(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// Reads the member that starts at `at` of an object; returns name, value and
/// where the next one starts.
fn member(bytes: &[u8], at: usize) -> Option<(&[u8], Raw<'_>, usize)> {
    let at = skip_blanks(bytes, at);
    let name_end = string_end(bytes, at)?;
    let colon = skip_blanks(bytes, name_end);
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let start = skip_blanks(bytes, colon + 1);
    let end = value_end(bytes, start)?;
    Some((&bytes[at + 1..name_end - 1], Raw(&bytes[start..end]), after_comma(bytes, end)))
}

/// Returns where the next member or element starts; the end if there is none.
fn after_comma(bytes: &[u8], end: usize) -> usize {
    let next = skip_blanks(bytes, end);
    if bytes.get(next) == Some(&b',') { next + 1 } else { bytes.len() }
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let n_blanks = rest.iter().position(|b| !b" \t\r\n".contains(b)).unwrap_or(rest.len());
    at + n_blanks
}

/// Returns the offset after the string that starts at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

/// Returns the offset after the value that starts at `at`.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match *bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => nested_end(bytes, at),
        _ => {
            let rest = &bytes[at..];
            let len = rest.iter().position(|b| b" \t\r\n,:]}[{\"".contains(b));
            let scalar = &rest[..len.unwrap_or(rest.len())];
            let is_number = matches!(scalar.first(), Some(b'-' | b'0'..=b'9'))
                && scalar
                    .iter()
                    .all(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
            let is_word = matches!(scalar, b"true" | b"false" | b"null");
            (is_number || is_word).then_some(at + scalar.len())
        }
    }
}

/// Checks that brackets match and members are separated; the finer grammar of
/// what nobody asks for is not this reader's business.
fn nested_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut open = Vec::with_capacity(8);
    let mut at = start;
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            bracket @ (b'{' | b'[') => {
                if open.len() == MAX_DEPTH {
                    return None;
                }
                open.push(bracket);
                at += 1;
            }
            bracket @ (b'}' | b']') => {
                // In ASCII a closing bracket is two after its opening one.
                if open.pop()? != bracket - 2 {
                    return None;
                }
                at += 1;
                if open.is_empty() {
                    return Some(at);
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => at += 1,
            _ => at = value_end(bytes, at)?,
        }
    }
}

/// Decodes the escapes of a string's inside; a cut escape at the end is
/// dropped.
fn unescape(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let Some((escape, after)) = rest[at + 1..].split_first() else {
            rest = &[];
            break;
        };
        rest = after;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'u' => {
                let (c, after) = unicode_escape(rest);
                let mut buffer = [0; 4];
                out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                rest = after;
            }
            other => out.push(*other),
        }
    }
    out.extend_from_slice(rest);
    match String::from_utf8(out) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// Decodes what follows `\u`, with its second half where it is a pair.
fn unicode_escape(bytes: &[u8]) -> (char, &[u8]) {
    let Some((high, rest)) = hex4(bytes) else {
        return (char::REPLACEMENT_CHARACTER, bytes);
    };
    if let Some(low) = rest.strip_prefix(b"\\u").and_then(hex4)
        && let Some(Ok(c)) = char::decode_utf16([high, low.0]).next()
        && c.len_utf16() == 2
    {
        return (c, low.1);
    }
    let c = char::from_u32(u32::from(high)).unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, rest)
}

fn hex4(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok().map(|unit| (unit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_serde_json_reads() {
        let text = "año \"x\" \\ / \n\t\r\u{8}\u{c}\u{1}\u{1f} \u{7f} 😀";
        let json = Writer::object().text(text, text).json("n", b"[1]").end();
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(value, serde_json::json!({ text: text, "n": [1] }));
        assert_eq!(Writer::object().end(), b"{}");
    }

    #[test]
    fn strict_is_what_serde_json_takes() {
        for json in [
            "{}",
            " [ ] ",
            "{\"a\": [1, -2.5e3, 0, 0.5, true, null, \"\\u00e9\\n\"], \"b\": {}}",
            "\"x\"",
            "",
            "{",
            "{\"a\" 1}",
            "{\"a\":1,}",
            "[1,]",
            "[1 2]",
            "{a:1}",
            "{'a':1}",
            "// c\n{}",
            "{} x",
            "[01]",
            "[1.]",
            "[-]",
            "[+1]",
            "[tru]",
            "[\"\\x\"]",
            "[\"\\u12\"]",
            "[\"\t\"]",
            "[}",
            "{]",
            "[1e]",
            "{\"a\":1 \"b\":2}",
            "[,1]",
            "{,}",
            "[nulls]",
            "[1.2.3]",
            "[\"a\":1]",
            "{\"a\"}",
        ] {
            let expected = serde_json::from_str::<serde_json::Value>(json).is_ok();
            assert_eq!(is_strict(json.as_bytes()), expected, "{json}");
        }
        assert!(!is_strict(b"[\"\xff\"]") && !is_strict("[".repeat(1000).as_bytes()));
    }

    fn text_of(json: &str, name: &str) -> Option<String> {
        Raw::document(json.as_bytes())?.get(name)?.text().map(Cow::into_owned)
    }

    #[test]
    fn strings_decode_as_serde_json_does() {
        for text in
            ["plain", "año 😀", "a\"b\\c/d", "\n\t\r\u{8}\u{c}\u{0}\u{1b}[0m", "", "\u{ffff}"]
        {
            for json in [
                serde_json::to_string(&serde_json::json!({ "k": text })).unwrap(),
                format!("{{\"k\":\"{}\"}}", escape_all(text)),
            ] {
                assert_eq!(text_of(&json, "k").as_deref(), Some(text), "{json}");
            }
        }
    }

    fn escape_all(text: &str) -> String {
        text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
    }

    #[test]
    fn broken_text_costs_a_character() {
        assert_eq!(text_of(r#"{"k":"a\ud83dz"}"#, "k").as_deref(), Some("a\u{fffd}z"));
        assert_eq!(text_of(r#"{"k":"a\uzzzz"}"#, "k").as_deref(), Some("a\u{fffd}zzzz"));
        let raw = Raw::document(b"{\"k\":\"a\xff\xfez\"}").unwrap();
        assert_eq!(raw.get("k").unwrap().text().unwrap(), "a\u{fffd}\u{fffd}z");
        assert!(raw.to_value().is_some());
    }

    #[test]
    fn members_are_found_at_their_own_level() {
        let json = r#" {"a":{"k":"inner"}, "n":[1,{"k":2}],"k" : "outer","z":null} "#;
        assert_eq!(text_of(json, "k").as_deref(), Some("outer"));
        let raw = Raw::document(json.as_bytes()).unwrap();
        assert_eq!(raw.get("a").unwrap().get("k").unwrap().text().unwrap(), "inner");
        assert_eq!(raw.get("n").unwrap().as_bytes(), br#"[1,{"k":2}]"#);
        let items: Vec<&[u8]> = raw.get("n").unwrap().items().map(Raw::as_bytes).collect();
        assert_eq!(items, [&b"1"[..], br#"{"k":2}"#]);
        assert_eq!(raw.items().count(), 0);
        assert_eq!(raw.members().count(), 4);
        assert!(raw.get("missing").is_none());
        assert_eq!(text_of(r#"{"k":"1","k":"2"}"#, "k").as_deref(), Some("2"));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for bad in [
            "",
            "  ",
            "x",
            "{",
            "{\"a\":1",
            "{\"a\":\"",
            "[}",
            "{]",
            "{}x",
            "{} {}",
            "\"\\",
            "nul",
            "{\"a\":[1,2}",
            "{\"a\":tru}",
        ] {
            assert!(Raw::document(bad.as_bytes()).is_none(), "{bad:?}");
        }
        assert!(Raw::document("[".repeat(100_000).as_bytes()).is_none());
    }

    #[test]
    fn a_beginning_ends_between_characters() {
        let raw = Raw::document("\"aé😀b\"".as_bytes()).unwrap();
        assert_eq!(raw.text_within(5).unwrap(), "aé");
        assert_eq!(raw.text_within(2).unwrap(), "a");
        assert_eq!(raw.text_within(99).unwrap(), "aé😀b");
        let raw = Raw::document(br#""ab\n\u00e9c""#).unwrap();
        assert_eq!(raw.text_within(3).unwrap(), "ab");
        assert_eq!(raw.text_within(4).unwrap(), "ab\n");
    }
}

//! A reader for one JSON document: a flat list of nodes that point into the
//! text, nothing copied.

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Other,
}

/// A value and where it stands in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The key with its quotes; empty in arrays.
    pub(super) key: (u32, u32),
    /// Index after the last descendant.
    pub(super) next: u32,
}

/// A parsed document.
pub(super) struct Doc<'a> {
    pub(super) raw: &'a [u8],
    pub(super) nodes: Vec<Node>,
}

/// Documents beyond this many bytes or levels are not parsed.
const MAX_BYTES: usize = 32 << 20;
const MAX_DEPTH: usize = 64;

impl<'a> Doc<'a> {
    /// Parses a whole document; `None` when it is not valid JSON.
    pub(super) fn parse(raw: &'a [u8]) -> Option<Self> {
        if raw.len() > MAX_BYTES {
            return None;
        }
        let mut doc = Self { raw, nodes: Vec::with_capacity(raw.len() / 24) };
        let at = doc.value(doc.space(0), (0, 0), 0)?;
        (doc.space(at) == raw.len()).then_some(doc)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.raw.get(at).copied()
    }

    fn space(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(|b| b.is_ascii_whitespace()) {
            at += 1;
        }
        at
    }

    fn value(&mut self, at: usize, key: (u32, u32), depth: usize) -> Option<usize> {
        let kind = match self.byte(at)? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Kind::Other,
            _ => return None,
        };
        let idx = self.nodes.len();
        let start = u32::try_from(at).ok()?;
        self.nodes.push(Node { kind, start, end: start, key, next: 0 });
        let end = match kind {
            Kind::Object | Kind::Array if depth < MAX_DEPTH => self.members(at, kind, depth)?,
            Kind::Object | Kind::Array => return None,
            Kind::String => self.string(at)?,
            Kind::Other => {
                let n = self
                    .raw
                    .get(at..)?
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
                    .count();
                at + n
            }
        };
        let next = u32::try_from(self.nodes.len()).ok()?;
        let node = self.nodes.get_mut(idx)?;
        node.end = u32::try_from(end).ok()?;
        node.next = next;
        Some(end)
    }

    fn members(&mut self, at: usize, kind: Kind, depth: usize) -> Option<usize> {
        let close = if kind == Kind::Object { b'}' } else { b']' };
        let mut at = self.space(at + 1);
        if self.byte(at)? == close {
            return Some(at + 1);
        }
        loop {
            let mut key = (0, 0);
            if kind == Kind::Object {
                if self.byte(at)? != b'"' {
                    return None;
                }
                let end = self.string(at)?;
                key = (u32::try_from(at).ok()?, u32::try_from(end).ok()?);
                at = self.space(end);
                if self.byte(at)? != b':' {
                    return None;
                }
                at = self.space(at + 1);
            }
            at = self.value(at, key, depth + 1)?;
            at = self.space(at);
            match self.byte(at)? {
                b',' => at = self.space(at + 1),
                b if b == close => return Some(at + 1),
                _ => return None,
            }
        }
    }

    /// The position after the string that starts at `at`.
    pub(super) fn string(&self, at: usize) -> Option<usize> {
        let mut at = at + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.raw.get(at..)?)?;
            if self.byte(at)? == b'"' {
                return Some(at + 1);
            }
            at += 2;
        }
    }

    /// The indices of the direct children of node `idx`.
    pub(super) fn children(&self, idx: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes.get(idx).map_or(0, |node| node.next as usize);
        let mut at = idx + 1;
        std::iter::from_fn(move || {
            let here = (at < end).then_some(at)?;
            at = self.nodes.get(here)?.next as usize;
            Some(here)
        })
    }

    pub(super) fn text(&self, idx: usize) -> &'a [u8] {
        self.nodes
            .get(idx)
            .and_then(|n| self.raw.get(n.start as usize..n.end as usize))
            .unwrap_or_default()
    }

    /// The key without its quotes.
    pub(super) fn key(&self, idx: usize) -> &'a [u8] {
        let (from, to) = self.nodes.get(idx).map_or((0, 0), |n| n.key);
        self.raw.get(from as usize + 1..(to as usize).saturating_sub(1)).unwrap_or_default()
    }

    pub(super) fn kind(&self, idx: usize) -> Kind {
        self.nodes.get(idx).map_or(Kind::Other, |n| n.kind)
    }

    /// The line (from 1) of a byte position.
    pub(super) fn line_of(&self, pos: u32) -> usize {
        1 + memchr::memchr_iter(b'\n', self.raw.get(..pos as usize).unwrap_or_default()).count()
    }
}

/// Decodes a JSON string body up to its closing quote; lone surrogates become
/// U+FFFD.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return,
            b'\\' => {
                at += 1;
                match text.get(at) {
                    Some(b'n') => out.push(b'\n'),
                    Some(b't') => out.push(b'\t'),
                    Some(b'r') => out.push(b'\r'),
                    Some(b'b') => out.push(8),
                    Some(b'f') => out.push(12),
                    Some(b'u') => {
                        let (c, width) = unicode(text.get(at + 1..).unwrap_or_default());
                        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        at += width;
                    }
                    Some(&other) => out.push(other),
                    None => return,
                }
                at += 1;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
}

/// Reads `XXXX` or `XXXX\uXXXX`; returns the character and the bytes read.
fn unicode(text: &[u8]) -> (char, usize) {
    let hex = |at: usize| {
        text.get(at..at + 4)
            .and_then(|h| std::str::from_utf8(h).ok())
            .and_then(|h| u32::from_str_radix(h, 16).ok())
    };
    let Some(high) = hex(0) else { return ('\u{fffd}', 0) };
    let low = hex(6).filter(|low| (0xdc00..0xe000).contains(low));
    if let Some(low) =
        low.filter(|_| (0xd800..0xdc00).contains(&high) && text.get(4..6) == Some(b"\\u"))
    {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or('\u{fffd}'), 10);
    }
    (char::from_u32(high).unwrap_or('\u{fffd}'), 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_documents_parse() {
        assert!(Doc::parse(b" {\"a\": [1, -2.5e3, null, \"x\\\"y\"]} ").is_some());
        for bad in ["{", "[1,]", "{\"a\" 1}", "[1] 2", "", "\"open"] {
            assert!(Doc::parse(bad.as_bytes()).is_none(), "{bad}");
        }
        assert!(Doc::parse("[".repeat(100_000).as_bytes()).is_none());
    }

    #[test]
    fn escapes_decode() {
        let mut out = Vec::new();
        unescape(br#"a\u00f1\ud83d\ude00\n\"q" rest"#, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "añ😀\n\"q");
    }
}

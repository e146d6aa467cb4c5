//! One JSON document: arrays of like items shortened to examples and to the
//! items that differ, with counts; everything else kept.
//!
//! The document is not copied into a tree of strings: a flat list of nodes
//! points into the text.

use super::template::{Map, hash};

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
    key: (u32, u32),
    /// Index after the last descendant.
    pub(super) next: u32,
}

/// A parsed document.
pub(super) struct Doc<'a> {
    pub(super) raw: &'a [u8],
    pub(super) nodes: Vec<Node>,
}

/// Documents beyond this many bytes or levels are not parsed.
const MAX_BYTES: usize = 8 << 20;
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

    fn string(&self, at: usize) -> Option<usize> {
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
    fn line_of(&self, pos: u32) -> usize {
        1 + memchr::memchr_iter(b'\n', self.raw.get(..pos as usize).unwrap_or_default()).count()
    }
}

/// How much is shown of long arrays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    first: usize,
    odd: usize,
    string: usize,
    /// Arrays and maps up to this length are shown whole.
    whole: usize,
}

/// From rich to poor.
pub(super) const DETAILS: [Detail; 4] = [
    Detail { first: 3, odd: 40, string: 400, whole: 24 },
    Detail { first: 2, odd: 24, string: 300, whole: 12 },
    Detail { first: 1, odd: 12, string: 160, whole: 6 },
    Detail { first: 1, odd: 5, string: 100, whole: 4 },
];

/// Renders a document in some detail. Returns the text and how many raw lines
/// it stands for without showing them.
pub(super) fn render(doc: &Doc<'_>, detail: Detail) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    Writer { doc, detail, out: &mut out }.value(0, 0);
    out
}

struct Writer<'a, 'b> {
    doc: &'a Doc<'a>,
    detail: Detail,
    out: &'b mut Vec<u8>,
}

/// Values up to this many bytes stay on one line.
const INLINE: usize = 90;

impl Writer<'_, '_> {
    fn value(&mut self, idx: usize, depth: usize) {
        match self.doc.kind(idx) {
            Kind::Object | Kind::Array => self.container(idx, depth),
            Kind::String => self.string(self.doc.text(idx)),
            Kind::Other => self.out.extend_from_slice(self.doc.text(idx)),
        }
    }

    fn string(&mut self, text: &[u8]) {
        let max = self.detail.string;
        if text.len() <= max + 40 {
            return self.out.extend_from_slice(text);
        }
        let safe = |mut at: usize| {
            while at > 0 && text.get(at).is_some_and(|b| (0x80..0xc0).contains(b)) {
                at -= 1;
            }
            at
        };
        let (head, tail) = (safe(max * 2 / 3), safe(text.len() - max / 3));
        self.out.extend_from_slice(text.get(..head).unwrap_or_default());
        self.out.extend_from_slice(format!("[… {} bytes]", tail - head).as_bytes());
        self.out.extend_from_slice(text.get(tail..).unwrap_or_default());
    }

    fn container(&mut self, idx: usize, depth: usize) {
        let object = self.doc.kind(idx) == Kind::Object;
        let (open, close) = if object { (b'{', b'}') } else { (b'[', b']') };
        let children: Vec<usize> = self.doc.children(idx).collect();
        let compact = self.compact(idx);
        if compact.len() <= INLINE {
            return self.out.extend_from_slice(&compact);
        }
        let shown = self.shown(&children, object);
        self.out.push(open);
        let mut last: Option<usize> = None;
        for &at in &shown {
            if let Some(gap) = gap(last, at) {
                self.gap(&children, gap, depth);
            }
            let Some(&child) = children.get(at) else { continue };
            self.newline(depth + 1);
            if object {
                self.key(child);
            }
            self.value(child, depth + 1);
            if at + 1 < children.len() {
                self.out.push(b',');
            }
            last = Some(at);
        }
        if let Some(gap) = gap(last, children.len()) {
            self.gap(&children, gap, depth);
        }
        if shown.len() < children.len() {
            self.tally(&children, depth);
        }
        self.newline(depth);
        self.out.push(close);
    }

    fn newline(&mut self, depth: usize) {
        self.out.push(b'\n');
        self.out.extend(std::iter::repeat_n(b' ', depth));
    }

    /// The key and its separator as the text spells them.
    fn key(&mut self, idx: usize) {
        let Some(node) = self.doc.nodes.get(idx) else { return };
        let raw = self.doc.raw.get(node.key.0 as usize..node.start as usize).unwrap_or_default();
        let spaced = raw.last().is_some_and(u8::is_ascii_whitespace);
        self.out.extend_from_slice(raw.trim_ascii_end());
        if spaced {
            self.out.push(b' ');
        }
    }

    /// The value on one line, spaces as in the text.
    fn compact(&self, idx: usize) -> Vec<u8> {
        let text = self.doc.text(idx);
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            if out.len() > INLINE {
                break;
            }
            if byte == b'"' {
                let end =
                    self.doc.string(self.doc.nodes.get(idx).map_or(0, |n| n.start as usize) + at);
                let len = end.map_or(1, |end| {
                    end - at - self.doc.nodes.get(idx).map_or(0, |n| n.start as usize)
                });
                out.extend_from_slice(text.get(at..at + len).unwrap_or_default());
                at += len.max(1);
                continue;
            }
            if byte.is_ascii_whitespace() {
                if matches!(out.last(), Some(b',' | b':')) {
                    out.push(b' ');
                }
            } else {
                out.push(byte);
            }
            at += 1;
        }
        out
    }

    /// Which children to show: all of a short list; of a long one the first,
    /// the last, and those that differ.
    fn shown(&self, children: &[usize], object: bool) -> Vec<usize> {
        let n = children.len();
        let whole = match (object, object && self.is_map(children)) {
            (false, _) => self.detail.whole,
            (_, true) => self.detail.whole * 3,
            (_, false) => 80,
        };
        if n <= whole.max(3) {
            return (0..n).collect();
        }
        let mut shown: Vec<usize> = (0..self.detail.first).chain([n - 1]).collect();
        shown.extend(odd(self.doc, children).into_iter().take(self.detail.odd));
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    /// Whether an object's keys are data, not names of fields: nearly all
    /// values are of one kind.
    fn is_map(&self, children: &[usize]) -> bool {
        [Kind::Object, Kind::Array, Kind::String, Kind::Other].iter().any(|&kind| {
            children.iter().filter(|&&c| self.doc.kind(c) == kind).count() * 10
                >= children.len() * 9
        })
    }

    fn gap(&mut self, children: &[usize], (from, to): (usize, usize), depth: usize) {
        let pos = |at: usize, end: bool| {
            children
                .get(at)
                .and_then(|&c| self.doc.nodes.get(c))
                .map_or(0, |n| if end { n.end } else { n.start })
        };
        let (first, last) =
            (self.doc.line_of(pos(from, false)), self.doc.line_of(pos(to - 1, true)));
        let n = to - from;
        self.newline(depth + 1);
        let mark = if first == last {
            format!("[… {n} of {} items, {from}-{}]", children.len(), to - 1)
        } else {
            format!("[… {first}-{last}: {n} of {} items]", children.len())
        };
        self.out.extend_from_slice(mark.as_bytes());
    }

    /// Counts the values of fields that have few.
    fn tally(&mut self, children: &[usize], depth: usize) {
        let mut fields: Vec<Field<'_>> = Vec::new();
        for &child in children.iter().filter(|&&c| self.doc.kind(c) == Kind::Object) {
            for field in self
                .doc
                .children(child)
                .filter(|&f| matches!(self.doc.kind(f), Kind::String | Kind::Other))
            {
                let key = self.doc.key(field);
                let at = fields.iter().position(|(k, ..)| *k == key);
                let at = at.or_else(|| {
                    (fields.len() < 16).then(|| {
                        fields.push((key, Vec::new(), false));
                        fields.len() - 1
                    })
                });
                let Some((_, values, many)) = at.and_then(|at| fields.get_mut(at)) else {
                    continue;
                };
                let text = self.doc.text(field);
                let known = values.len();
                match values.iter_mut().find(|(v, _)| *v == text) {
                    Some((_, n)) => *n += 1,
                    None if known < 6 && text.len() <= 40 => values.push((text, 1)),
                    None => *many = true,
                }
            }
        }
        let mut told = Vec::new();
        for (key, values, many) in fields {
            let total: u32 = values.iter().map(|(_, n)| n).sum();
            if many || values.len() < 2 || total as usize * 2 < children.len() {
                continue;
            }
            told.extend_from_slice(if told.is_empty() { b"[" } else { b"; " });
            told.extend_from_slice(key);
            for (nth, (value, n)) in values.iter().enumerate() {
                told.extend_from_slice(if nth == 0 { b": " } else { b", " });
                told.extend_from_slice(value);
                told.extend_from_slice(format!(" ×{n}").as_bytes());
            }
        }
        if !told.is_empty() {
            self.newline(depth + 1);
            self.out.extend_from_slice(&told);
            self.out.push(b']');
        }
    }
}

/// A field of many objects: its key, values with counts, whether it has more.
type Field<'a> = (&'a [u8], Vec<(&'a [u8], u32)>, bool);

/// The children that are left out between two shown ones.
fn gap(last: Option<usize>, next: usize) -> Option<(usize, usize)> {
    let from = last.map_or(0, |last| last + 1);
    (from < next).then_some((from, next))
}

/// The positions of children that differ from the others: in the value of a
/// field on which nine of ten agree, or by having a field that few have.
pub(super) fn odd(doc: &Doc<'_>, children: &[usize]) -> Vec<usize> {
    let n = children.len() as u32;
    let mut values: Map<u64, u32> = Map::default();
    let mut present: Map<u64, u32> = Map::default();
    let mut features: Vec<Vec<(u64, u64)>> = Vec::with_capacity(children.len());
    for &child in children {
        let mut own = Vec::new();
        collect(doc, child, 0, 0, &mut own);
        for &(path, value) in &own {
            *present.entry(path).or_default() += 1;
            *values.entry(path ^ value.rotate_left(17)).or_default() += 1;
        }
        features.push(own);
    }
    let mut top: Map<u64, u32> = Map::default();
    for own in &features {
        for &(path, value) in own {
            let count = values.get(&(path ^ value.rotate_left(17))).copied().unwrap_or(0);
            let best = top.entry(path).or_default();
            *best = (*best).max(count);
        }
    }
    let mut odd = Vec::new();
    for (at, own) in features.iter().enumerate() {
        let differs = own.iter().any(|&(path, value)| {
            let have = present.get(&path).copied().unwrap_or(0);
            let count = values.get(&(path ^ value.rotate_left(17))).copied().unwrap_or(0);
            let best = top.get(&path).copied().unwrap_or(0);
            have * 20 <= n || best * 10 >= have * 9 && count * 10 < have
        });
        if differs {
            odd.push(at);
        }
    }
    odd
}

/// The scalar fields of a value, as (path, value) hashes, three levels deep.
fn collect(doc: &Doc<'_>, idx: usize, path: u64, depth: usize, out: &mut Vec<(u64, u64)>) {
    match doc.kind(idx) {
        Kind::Object if depth < 4 => {
            for child in doc.children(idx) {
                let path = path.rotate_left(5) ^ hash(doc.key(child));
                collect(doc, child, path, depth + 1, out);
            }
        }
        Kind::Array => out.push((path ^ 1, u64::from(doc.text(idx).len() > 2))),
        Kind::Object => {}
        Kind::String if depth == 0 => {}
        Kind::String | Kind::Other => out.push((path | 2, hash(doc.text(idx)))),
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
    fn the_odd_item_is_shown_and_the_others_counted() {
        let items: Vec<String> = (0..100)
            .map(|i| format!("{{\"id\": {i}, \"status\": \"{}\", \"name\": \"service number {i} of the fleet, in zone a\"}}", if i == 43 { "Crash" } else { "Running" }))
            .collect();
        let raw = format!("{{\"items\": [\n{}\n], \"total\": 100}}", items.join(",\n"));
        let doc = Doc::parse(raw.as_bytes()).unwrap();
        let text = String::from_utf8(render(&doc, DETAILS[1])).unwrap();
        assert!(
            text.contains("\"id\": 43")
                && text.contains("Crash")
                && text.contains("\"total\": 100"),
            "{text}"
        );
        assert!(
            text.contains("of 100 items]")
                && text.contains("\"Running\" ×99")
                && !text.contains("\"id\": 50"),
            "{text}"
        );
    }

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

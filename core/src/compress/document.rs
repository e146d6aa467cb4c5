//! One JSON document: arrays of like items shortened to examples and to the
//! items that differ, with counts; everything else kept.

use super::hash::{Map, hash};
use super::json::{Doc, Kind};

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
        // Where every eighth item is odd, none is.
        let odd = odd(self.doc, children);
        let most = if odd.len() * 8 > n { self.detail.odd / 4 } else { self.detail.odd };
        shown.extend(odd.into_iter().take(most));
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
}

//! Raw bytes → the lines a reader would have seen: colours dropped, text that
//! a terminal would have overwritten split into states of its own.
//!
//! Every line remembers its number in the raw text, so that a range printed in
//! a marker is the range `sed -n` shows. Bytes that are not UTF-8 stay as they
//! are.

/// One line, or one overwritten state of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    start: u32,
    end: u32,
    /// 1-based number in the raw text.
    pub(super) no: u32,
}

/// The lines of an output, in one buffer.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buf: Vec<u8>,
    lines: Vec<Line>,
    /// How many lines the raw text has.
    pub(super) n_raw: u32,
}

impl Lines {
    /// Splits and cleans `raw`. Inputs over 4 GiB are not expected; a caller
    /// caps them first.
    pub(super) fn new(raw: &[u8]) -> Self {
        let mut lines = Self { buf: Vec::with_capacity(raw.len()), ..Self::default() };
        let body = raw.strip_suffix(b"\n").unwrap_or(raw);
        if raw.is_empty() {
            return lines;
        }
        for line in body.split(|&byte| byte == b'\n') {
            lines.n_raw += 1;
            lines.push_raw(line, lines.n_raw);
        }
        lines
    }

    /// An empty set that lines are pushed to.
    pub(super) fn empty() -> Self {
        Self::default()
    }

    /// Appends one raw line: cleaned, and split at every overwrite.
    pub(super) fn push_raw(&mut self, line: &[u8], no: u32) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if memchr::memchr3(b'\x1b', b'\r', b'\x08', line).is_none() {
            return self.push(line, no);
        }
        let first = self.lines.len();
        let mut start = self.buf.len();
        let mut at = 0;
        while let Some(&byte) = line.get(at) {
            match byte {
                b'\r' => {
                    self.end_state(start, first, no);
                    start = self.buf.len();
                    at += 1;
                }
                b'\x1b' => {
                    let (len, overwrites) = escape(line.get(at..).unwrap_or_default());
                    if overwrites {
                        self.end_state(start, first, no);
                        start = self.buf.len();
                    }
                    at += len;
                }
                b'\x08' => {
                    if self.buf.len() > start {
                        self.buf.pop();
                    }
                    at += 1;
                }
                _ => {
                    self.buf.push(byte);
                    at += 1;
                }
            }
        }
        if self.buf.get(start..).is_some_and(|state| !is_blank(state)) || self.lines.len() == first
        {
            self.finish(start, no);
        } else {
            self.buf.truncate(start);
        }
    }

    /// Ends a state that is about to be overwritten; blank ones and repeats of
    /// the state before leave no trace.
    fn end_state(&mut self, start: usize, first: usize, no: u32) {
        let blank = self.buf.get(start..).is_none_or(is_blank);
        let repeat = self.lines.len() > first
            && self
                .lines
                .last()
                .is_some_and(|last| self.bytes(last) == self.buf.get(start..).unwrap_or_default());
        if blank || repeat {
            self.buf.truncate(start);
        } else {
            self.finish(start, no);
        }
    }

    fn push(&mut self, line: &[u8], no: u32) {
        let start = self.buf.len();
        self.buf.extend_from_slice(line);
        self.finish(start, no);
    }

    fn finish(&mut self, start: usize, no: u32) {
        while self.buf.len() > start && self.buf.last().is_some_and(|b| matches!(b, b' ' | b'\t')) {
            self.buf.pop();
        }
        let end = u32::try_from(self.buf.len()).unwrap_or(u32::MAX);
        self.lines.push(Line { start: u32::try_from(start).unwrap_or(end), end, no });
    }

    fn bytes(&self, line: &Line) -> &[u8] {
        self.buf.get(line.start as usize..line.end as usize).unwrap_or_default()
    }

    /// The text of line `idx`; empty when out of range.
    pub(super) fn get(&self, idx: usize) -> &[u8] {
        self.lines.get(idx).map_or(&[], |line| self.bytes(line))
    }

    /// The raw line number of line `idx`.
    pub(super) fn no(&self, idx: usize) -> u32 {
        self.lines.get(idx).map_or(0, |line| line.no)
    }

    /// How many lines there are, states counted one by one.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// All texts in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| self.bytes(line))
    }

    /// Bytes after cleaning, without line ends.
    pub(super) fn n_bytes(&self) -> usize {
        self.buf.len()
    }
}

/// Whether `text` is empty or white space only.
pub(super) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

/// The length of the escape sequence that `text` starts with, and whether it
/// makes the terminal write over what the line already shows.
fn escape(text: &[u8]) -> (usize, bool) {
    match text.get(1) {
        Some(b'[') => {
            let mut at = 2;
            while text.get(at).is_some_and(|b| (0x20..0x40).contains(b)) {
                at += 1;
            }
            let overwrites = match text.get(at) {
                // Erase the whole line; go to a column; go up.
                Some(b'K') => text.get(2) == Some(&b'2'),
                Some(b'G' | b'A' | b'F' | b'H' | b'J') => true,
                _ => false,
            };
            // A sequence that is cut off has no final byte.
            let ended = text.get(at).is_some_and(|b| (0x40..0x7f).contains(b));
            (at + usize::from(ended), overwrites)
        }
        Some(b']') => {
            let end = text.iter().position(|&b| b == b'\x07').map(|at| at + 1);
            let st =
                text.windows(2).position(|w| w == b"\x1b\\").filter(|&at| at > 0).map(|at| at + 2);
            (end.into_iter().chain(st).min().unwrap_or(2), false)
        }
        Some(b'(' | b')' | b'#') => (3.min(text.len()), false),
        Some(_) => (2, false),
        None => (1, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(raw: &[u8]) -> Vec<(u32, String)> {
        let lines = Lines::new(raw);
        (0..lines.len())
            .map(|i| (lines.no(i), String::from_utf8_lossy(lines.get(i)).into_owned()))
            .collect()
    }

    #[test]
    fn colours_and_crlf_disappear() {
        assert_eq!(
            texts(b"\x1b[31mred\x1b[0m\r\nplain\r\n"),
            [(1, "red".into()), (2, "plain".into())]
        );
    }

    #[test]
    fn overwritten_states_are_lines_with_the_same_number() {
        assert_eq!(
            texts(b"a\n 1%\r 2%\r\x1b[2K\x1b[1Gdone"),
            [(1, "a".into()), (2, " 1%".into()), (2, " 2%".into()), (2, "done".into())]
        );
    }

    #[test]
    fn blank_lines_count_and_odd_bytes_stay() {
        let lines = Lines::new(b"x\n\n\xf1\0y\n");
        assert_eq!((lines.n_raw, lines.len()), (3, 3));
        assert_eq!(lines.get(2), b"\xf1\0y");
        assert_eq!(Lines::new(b"").len(), 0);
    }

    #[test]
    fn links_and_charset_switches_are_skipped() {
        assert_eq!(texts(b"\x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b(Bz"), [(1, "link z".into())]);
        assert_eq!(texts(b"cut \x1b["), [(1, "cut".into())]);
        assert_eq!(texts(b"cut \x1b[39;\x1b[0m off"), [(1, "cut  off".into())]);
    }
}

//! Cuts text into words, compounds and bigrams, folded.
//!
//! A run is a stretch of word characters and joiners between them. Most runs
//! are one plain ASCII word, which is the fast path; the others are taken
//! apart: at the hard joiners `/ : @ # +` into segments, at the soft ones
//! `- _ . '` into words, and words at changes of case and before digits.

use super::MAX_TERM_BYTES;
use super::fold;
use crate::text;

/// One thing found in a text; all but `End` are folded terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A word that may have a stem.
    Word(&'a str),
    /// A compound as a whole.
    Whole(&'a str),
    /// A word without a stem: a number, a cut blob, `c++`.
    Verbatim(&'a str),
    /// Two neighbouring characters of a script without spaces, or the only
    /// character of such a run.
    Gram(&'a str),
    /// One character of a longer run of such a script.
    Single(&'a str),
    /// The end of a run: what follows belongs to another.
    End,
}

/// More parts than this are no name but an encoded blob.
const MAX_PARTS: usize = 6;

const WORD: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const JOINER: u8 = 8;

/// Class of every ASCII byte.
const CLASS: [u8; 128] = {
    let mut t = [0; 128];
    let mut i = 0;
    while i < 128 {
        t[i] = match i as u8 {
            b'a'..=b'z' => WORD,
            b'A'..=b'Z' => WORD | UPPER,
            b'0'..=b'9' => WORD | DIGIT,
            b'_' | b'-' | b'.' | b':' | b'/' | b'@' | b'+' | b'#' | b'\'' => JOINER,
            _ => 0,
        };
        i += 1;
    }
    t
};

fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | ':' | '/' | '@' | '+' | '#' | '\'' | '\u{2019}')
}

fn is_hard(c: char) -> bool {
    matches!(c, '/' | ':' | '@' | '#' | '+')
}

/// A pass over one text with its reused buffers.
pub(super) struct Scanner<'a> {
    text: &'a str,
    buf: String,
    whole: String,
}

type Emit<'e> = dyn FnMut(Piece<'_>) + 'e;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, buf: String::with_capacity(64), whole: String::with_capacity(64) }
    }

    /// Emits everything in the text, in order.
    pub(super) fn run(mut self, emit: &mut Emit<'_>) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            if b < 128 && CLASS[usize::from(b)] & WORD == 0 {
                at += 1;
                continue;
            }
            let (end, flags) = ascii_run(bytes, at);
            let is_complex = bytes.get(end).is_some_and(|b| *b >= 128);
            if is_complex || flags & (JOINER | DIGIT) != 0 || mixed_case(bytes, at, end) {
                at = self.complex(at, emit);
            } else {
                self.plain(at, end, emit);
                at = end;
            }
        }
    }

    /// A run of ASCII letters in one case.
    fn plain(&mut self, start: usize, end: usize, emit: &mut Emit<'_>) {
        self.buf.clear();
        let word = text::slice(self.text, start, end.min(start + MAX_TERM_BYTES));
        self.buf.push_str(word);
        self.buf.make_ascii_lowercase();
        emit(Piece::Word(&self.buf));
        emit(Piece::End);
    }

    /// Any other run; returns where it ends.
    fn complex(&mut self, start: usize, emit: &mut Emit<'_>) -> usize {
        let rest = text::slice(self.text, start, self.text.len());
        let Some(first) = rest.chars().next() else {
            return self.text.len();
        };
        if !fold::is_word(first) {
            return start + first.len_utf8();
        }
        if fold::is_unspaced(first) {
            let len = length(rest, fold::is_unspaced);
            self.grams(text::prefix(rest, len), emit);
            return start + len;
        }
        let len = length(rest, |c| {
            (fold::is_word(c) && !fold::is_unspaced(c)) || is_joiner(c) || fold::is_mark(c)
        });
        let run = text::prefix(rest, len);
        let trimmed = run.trim_end_matches(is_joiner);
        let suffix = symbol_suffix(trimmed, text::slice(run, trimmed.len(), run.len()));
        self.compound(trimmed, suffix, emit);
        emit(Piece::End);
        start + len
    }

    fn compound(&mut self, run: &str, suffix: &str, emit: &mut Emit<'_>) {
        if !suffix.is_empty() {
            let last = run.rsplit(is_joiner).next().unwrap_or(run);
            self.buf.clear();
            fold::push(last, &mut self.buf);
            self.buf.push_str(suffix);
            emit(Piece::Verbatim(&self.buf));
        }
        if !run.contains(is_joiner) {
            return self.word(run, emit);
        }
        if let Some(word) = contraction(run, &mut self.whole) {
            let word = word.to_owned();
            return self.word(&word, emit);
        }
        self.whole_of(run, emit);
        if !run.contains(is_hard) {
            return self.parts(run, emit);
        }
        for segment in run.split(is_hard) {
            let segment = segment.trim_matches(is_joiner);
            if segment.contains(is_joiner) {
                self.whole_of(segment, emit);
            }
            self.parts(segment, emit);
        }
    }

    /// Emits a compound as one term: without `-`, `_` and `'`.
    fn whole_of(&mut self, run: &str, emit: &mut Emit<'_>) {
        if run.len() > MAX_TERM_BYTES {
            return;
        }
        self.buf.clear();
        for c in run.chars().filter(|c| !matches!(c, '-' | '_' | '\'' | '\u{2019}')) {
            fold::push_char(c, &mut self.buf);
        }
        if self.buf.chars().any(fold::is_word) {
            emit(Piece::Whole(&self.buf));
        }
    }

    fn parts(&mut self, segment: &str, emit: &mut Emit<'_>) {
        for part in segment.split(is_joiner).filter(|p| !p.is_empty()) {
            self.word(part, emit);
        }
    }

    /// Emits a word without joiners, and its parts where its case or a final
    /// number shows some.
    fn word(&mut self, word: &str, emit: &mut Emit<'_>) {
        self.buf.clear();
        fold::push(text::prefix(word, MAX_TERM_BYTES), &mut self.buf);
        if self.buf.is_empty() {
            return;
        }
        let is_name = word.bytes().any(|b| b.is_ascii_digit());
        let parts = camel_parts(word);
        match (is_name, parts.n > 1) {
            (false, false) => return emit(Piece::Word(&self.buf)),
            (true, false) => emit(Piece::Verbatim(&self.buf)),
            (_, true) => emit(Piece::Whole(&self.buf)),
        }
        for part in parts.iter(word) {
            let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
            if letters.len() > 2 && letters.chars().all(char::is_alphabetic)
                || parts.n > 1 && part.len() > 1
            {
                self.buf.clear();
                fold::push(if letters.len() > 2 { letters } else { part }, &mut self.buf);
                emit(Piece::Word(&self.buf));
            }
        }
    }

    fn grams(&mut self, run: &str, emit: &mut Emit<'_>) {
        let mut chars = run.chars().filter(|c| !fold::is_mark(*c)).peekable();
        let mut n = 0;
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            self.buf.clear();
            fold::push_char(c, &mut self.buf);
            if next.is_some() || n > 0 {
                emit(Piece::Single(&self.buf));
            }
            if let Some(d) = next {
                fold::push_char(d, &mut self.buf);
            }
            if (next.is_some() || n == 0) && !self.buf.is_empty() {
                emit(Piece::Gram(&self.buf));
            }
            n += 1;
        }
        emit(Piece::End);
    }
}

/// Returns the end of the ASCII run at `at` and the classes seen in it.
fn ascii_run(bytes: &[u8], at: usize) -> (usize, u8) {
    let (mut end, mut flags) = (at, 0);
    while let Some(class) = bytes.get(end).and_then(|b| CLASS.get(usize::from(*b))) {
        if *class == 0 {
            break;
        }
        if class & JOINER != 0 {
            // A joiner belongs to the run only when a word goes on after it.
            let next = bytes.get(end + 1).copied().unwrap_or(b' ');
            let goes_on = next >= 128 || CLASS[usize::from(next)] != 0;
            if !goes_on && !matches!(bytes[end], b'+' | b'#') {
                break;
            }
        }
        flags |= class;
        end += 1;
    }
    (end, flags)
}

/// True when a letter after the first is upper case and another is lower.
fn mixed_case(bytes: &[u8], start: usize, end: usize) -> bool {
    let rest = bytes.get(start + 1..end).unwrap_or_default();
    rest.iter().any(u8::is_ascii_uppercase) && rest.iter().any(u8::is_ascii_lowercase)
}

fn length(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// The `++` of `C++` and the `#` of `C#`, which are part of the name.
fn symbol_suffix<'a>(run: &str, tail: &'a str) -> &'a str {
    let last = run.rsplit(is_joiner).next().unwrap_or(run);
    if tail.starts_with("++") {
        text::prefix(tail, 2)
    } else if tail.starts_with('#')
        && last.len() <= 2
        && last.bytes().all(|b| b.is_ascii_alphabetic())
    {
        text::prefix(tail, 1)
    } else {
        ""
    }
}

/// Returns the one word an English contraction stands for: `don't` as `dont`,
/// `Tesla's` as `Tesla`.
fn contraction<'a>(run: &str, buf: &'a mut String) -> Option<&'a str> {
    let (head, tail) = run.split_once(['\'', '\u{2019}'])?;
    if head.is_empty() || head.contains(is_joiner) || tail.contains(is_joiner) {
        return None;
    }
    let tail = tail.to_ascii_lowercase();
    buf.clear();
    buf.push_str(head);
    match tail.as_str() {
        "s" => {}
        "t" | "re" | "ve" | "ll" | "d" | "m" => buf.push_str(&tail),
        _ => return None,
    }
    Some(buf)
}

/// Where a word changes case.
struct Parts {
    /// Ends of the parts, in bytes.
    ends: [usize; MAX_PARTS],
    n: usize,
}

impl Parts {
    fn iter<'w>(&self, word: &'w str) -> impl Iterator<Item = &'w str> {
        let ends = self.ends;
        (0..self.n).map(move |i| {
            let start = if i == 0 { 0 } else { ends[i - 1] };
            text::slice(word, start, ends[i])
        })
    }
}

/// Splits before an upper-case letter that follows a lower-case one or starts
/// a word after an acronym; a word of more than [`MAX_PARTS`] is left whole.
fn camel_parts(word: &str) -> Parts {
    let whole = Parts { ends: [word.len(); MAX_PARTS], n: 1 };
    // `APIs` is a plural, not `AP` and `Is`.
    if word.strip_suffix('s').is_some_and(|w| w.bytes().all(|b| b.is_ascii_uppercase())) {
        return whole;
    }
    let mut parts = Parts { ends: [0; MAX_PARTS], n: 0 };
    let mut chars = word.char_indices().peekable();
    let mut before = None::<char>;
    while let Some((at, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, d)| d.is_lowercase());
        let splits = c.is_uppercase() && before.is_some_and(|b| !b.is_uppercase() || next_is_lower);
        if splits {
            if parts.n + 1 >= MAX_PARTS {
                return whole;
            }
            parts.ends[parts.n] = at;
            parts.n += 1;
        }
        before = Some(c);
    }
    parts.ends[parts.n] = word.len();
    parts.n += 1;
    parts
}

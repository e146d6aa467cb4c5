//! Template clustering: which lines are of one make, and which line differs
//! from its own kind.
//!
//! A one-pass variant of Drain (He et al., ICWS 2017): lines with the same
//! number of tokens and the same first word are compared with the templates
//! seen so far; tokens that hold a digit or a path vary freely, words may vary
//! up to a share. No word list decides what is rare, so it works in any
//! language. Inside a cluster, a line that differs where nearly all others
//! agree is an outlier.

use std::hash::Hasher;

use super::hash::{Fnv, Map, hash};
use super::lines::Lines;
use super::words;

/// Tokens looked at per line; the rest of a long line is taken as the same.
const MAX_TOKENS: usize = 24;
/// A value is "what nearly all agree on" from this share on.
const AGREE: f64 = 0.9;
/// Templates of a group that a line is compared with, newest first: prose has
/// as many as lines.
const MAX_GROUP: usize = 24;
/// Clusters smaller than this have no norm to differ from.
const NORM_SIZE: u32 = 8;

/// The cluster number of every line, and what is odd.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    /// Cluster of each line; blank lines share [`BLANK`].
    pub(super) of: Vec<u32>,
    /// Lines per cluster.
    pub(super) size: Vec<u32>,
    /// Lines that differ from their own cluster where it agrees.
    pub(super) outlier: Vec<bool>,
}

/// The cluster of blank lines.
pub(super) const BLANK: u32 = u32::MAX;

impl Clusters {
    /// The size of the cluster that line `idx` is in; 0 for a blank line.
    pub(super) fn size_of(&self, idx: usize) -> u32 {
        self.of.get(idx).and_then(|&c| self.size.get(c as usize)).copied().unwrap_or(0)
    }

    /// Whether line `idx` differs from its own kind.
    pub(super) fn is_outlier(&self, idx: usize) -> bool {
        self.outlier.get(idx).copied().unwrap_or(false)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// Letters only: part of the template.
    Word,
    /// Holds a digit.
    Number,
    /// Holds a path separator.
    Path,
    /// A word that states an outcome or a level: never merged with another.
    Status,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    class: Class,
    hash: u64,
    start: u32,
    len: u32,
}

/// Values seen at one position of a cluster, at most a few.
#[derive(Default, Clone, Debug)]
struct Values {
    seen: Vec<(u64, u32)>,
    overflow: u32,
    max: f64,
    second: f64,
    sum: f64,
    n_numbers: u32,
    /// Tokens that hold a digit.
    n_digits: u32,
}

#[derive(Debug)]
struct Template {
    tokens: Vec<Token>,
    wild: u32,
    values: Vec<Values>,
}

/// Clusters all lines.
pub(super) fn cluster(lines: &Lines) -> Clusters {
    let mut builder = Builder::default();
    let mut all: Vec<Token> = Vec::with_capacity(lines.n_bytes() / 6);
    let mut spans = Vec::with_capacity(lines.len());
    for line in lines.iter() {
        let from = all.len();
        tokens(line, &mut all);
        spans.push((from, all.len()));
        let toks = all.get(from..).unwrap_or_default();
        builder.add(line, toks);
    }
    let outlier = (0..lines.len())
        .map(|idx| {
            let (from, to) = spans.get(idx).copied().unwrap_or((0, 0));
            builder.differs(idx, lines.get(idx), all.get(from..to).unwrap_or_default())
        })
        .collect();
    Clusters { of: builder.of, size: builder.size, outlier }
}

#[derive(Default)]
struct Builder {
    groups: Map<(u64, u64), Vec<u32>>,
    templates: Vec<Template>,
    of: Vec<u32>,
    size: Vec<u32>,
}

impl Builder {
    fn add(&mut self, line: &[u8], toks: &[Token]) {
        if toks.is_empty() {
            // Rulers and brackets: the line itself is its template.
            let id =
                if super::lines::is_blank(line) { BLANK } else { self.intern(hash(line), toks) };
            self.count(id);
            return;
        }
        let key = (toks.len() as u64, group_key(toks));
        let group = self.groups.entry(key).or_default();
        let found = group.iter().rev().take(MAX_GROUP).copied().find(|&id| {
            self.templates.get(id as usize).is_some_and(|template| matches(template, toks))
        });
        let id = found.unwrap_or_else(|| {
            let id = u32::try_from(self.templates.len()).unwrap_or(BLANK - 1);
            group.push(id);
            self.templates.push(Template {
                tokens: toks.to_vec(),
                wild: 0,
                values: vec![Values::default(); toks.len()],
            });
            self.size.push(0);
            id
        });
        if let Some(template) = self.templates.get_mut(id as usize) {
            absorb(template, line, toks);
        }
        self.count(id);
    }

    fn intern(&mut self, key: u64, toks: &[Token]) -> u32 {
        let group = self.groups.entry((0, key)).or_default();
        if let Some(&id) = group.first() {
            return id;
        }
        let id = u32::try_from(self.templates.len()).unwrap_or(BLANK - 1);
        group.push(id);
        self.templates.push(Template { tokens: toks.to_vec(), wild: 0, values: Vec::new() });
        self.size.push(0);
        id
    }

    fn count(&mut self, id: u32) {
        self.of.push(id);
        if let Some(size) = self.size.get_mut(id as usize) {
            *size += 1;
        }
    }

    /// Whether a line differs from its cluster at a position where nearly all
    /// agree, or holds a number far above all others there.
    fn differs(&self, idx: usize, line: &[u8], toks: &[Token]) -> bool {
        let Some(&id) = self.of.get(idx) else { return false };
        let n = self.size.get(id as usize).copied().unwrap_or(0);
        let Some(template) = self.templates.get(id as usize).filter(|_| n >= NORM_SIZE) else {
            return false;
        };
        toks.iter().zip(&template.values).any(|(tok, values)| {
            let top = values.seen.iter().map(|&(_, count)| count).max().unwrap_or(0);
            if f64::from(top) >= AGREE * f64::from(n) {
                let own = values.seen.iter().find(|&&(hash, _)| hash == tok.hash);
                return own.is_none_or(|&(_, count)| count < top);
            }
            if f64::from(values.n_digits) >= AGREE * f64::from(n) && tok.class != Class::Number {
                return true; // `nan` among numbers
            }
            let mean = values.sum / f64::from(values.n_numbers.max(1));
            values.n_numbers >= 2 * NORM_SIZE
                && values.max > 8.0 * mean
                && values.max > 3.0 * values.second
                && number(token_bytes(line, tok)).is_some_and(|v| v >= values.max)
        })
    }
}

fn token_bytes<'a>(line: &'a [u8], tok: &Token) -> &'a [u8] {
    line.get(tok.start as usize..(tok.start + tok.len) as usize).unwrap_or_default()
}

fn absorb(template: &mut Template, line: &[u8], toks: &[Token]) {
    for ((own, tok), values) in template.tokens.iter_mut().zip(toks).zip(&mut template.values) {
        if own.class == Class::Word && own.hash != tok.hash && own.hash != 0 {
            own.hash = 0;
            template.wild += 1;
        }
        values.n_digits += u32::from(tok.class == Class::Number);
        let known = values.seen.len();
        match values.seen.iter_mut().find(|(hash, _)| *hash == tok.hash) {
            Some((_, count)) => *count += 1,
            None if known < 8 => values.seen.push((tok.hash, 1)),
            None => values.overflow += 1,
        }
        if let Some(value) =
            (tok.class == Class::Number).then(|| number(token_bytes(line, tok))).flatten()
        {
            values.n_numbers += 1;
            values.sum += value;
            if value > values.max {
                values.second = values.max;
                values.max = value;
            } else if value > values.second {
                values.second = value;
            }
        }
    }
}

/// The number a token starts with, when only a unit follows it.
fn number(token: &[u8]) -> Option<f64> {
    let end = token.iter().position(|b| !b.is_ascii_digit() && *b != b'.').unwrap_or(token.len());
    if end == 0
        || end > 12
        || token
            .get(end..)
            .is_some_and(|unit| unit.len() > 2 || unit.iter().any(u8::is_ascii_digit))
    {
        return None;
    }
    std::str::from_utf8(token.get(..end)?).ok()?.parse().ok()
}

/// What lines of one kind always share: a leading word, else the make of the
/// first token.
fn group_key(toks: &[Token]) -> u64 {
    let mut fnv = Fnv::default();
    match toks.first() {
        Some(first) if toks.len() > 1 && matches!(first.class, Class::Word | Class::Status) => {
            fnv.write_u64(first.hash);
        }
        // One word alone is a name in a listing: all of them are one kind.
        Some(first) => fnv.write_u64(first.class as u64),
        None => {}
    }
    fnv.finish()
}

fn matches(template: &Template, toks: &[Token]) -> bool {
    let n = toks.len() as u32;
    if n == 1 {
        return true;
    }
    let mut unequal = 0;
    for (own, tok) in template.tokens.iter().zip(toks) {
        match (own.class, tok.class) {
            (Class::Status, _) | (_, Class::Status) if own.hash != tok.hash => return false,
            (Class::Word, Class::Word) if own.hash == tok.hash || own.hash == 0 => {}
            (Class::Word, Class::Word) => unequal += 1,
            (Class::Word, _) | (_, Class::Word) => unequal += 1,
            _ => {}
        }
    }
    // A third of the tokens may be variables.
    3 * (unequal + template.wild) <= n.max(3)
}

fn tokens(line: &[u8], out: &mut Vec<Token>) {
    let from = out.len();
    let mut at = 0;
    while at < line.len() && out.len() - from < MAX_TOKENS {
        let width = separator(line, at);
        if width > 0 {
            at += width;
            continue;
        }
        let start = at;
        let mut fnv = Fnv::default();
        let (mut digit, mut slash) = (false, false);
        while at < line.len() && separator(line, at) == 0 {
            let byte = line.get(at).copied().unwrap_or(b' ');
            digit |= byte.is_ascii_digit();
            slash |= byte == b'/' || byte == b'\\';
            fnv.write(&[byte]);
            at += 1;
        }
        let class = if slash {
            Class::Path
        } else if digit {
            Class::Number
        } else if words::is_status(line.get(start..at).unwrap_or_default()) {
            Class::Status
        } else {
            Class::Word
        };
        out.push(Token {
            class,
            hash: fnv.finish() | 1,
            start: u32::try_from(start).unwrap_or(0),
            len: u32::try_from(at - start).unwrap_or(0),
        });
    }
}

/// The width of the separator at `at`; 0 inside a token.
fn separator(line: &[u8], at: usize) -> usize {
    match line.get(at) {
        Some(
            b' ' | b'\t' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b';'
            | b':' | b'=' | b'"' | b'\'' | b'`' | b'|',
        ) => 1,
        // Box drawing and block elements: trees, tables, progress bars.
        Some(0xe2) if matches!(line.get(at + 1), Some(0x94..=0x96)) => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Clusters {
        cluster(&Lines::new(text.as_bytes()))
    }

    #[test]
    fn numbers_paths_and_names_vary_inside_a_cluster() {
        let c = of(
            "Compiling memchr v2.8.3\nCompiling syn v3.0.1\nCompiling quote v1.0.47\nFinished now\n",
        );
        assert_eq!(c.of, [0, 0, 0, 1]);
        assert_eq!(c.size, [3, 1]);
    }

    #[test]
    fn a_status_word_makes_another_cluster() {
        let c = of("test a ... ok\ntest b ... ok\ntest c ... FAILED\n");
        assert_eq!(c.of[0], c.of[1]);
        assert_ne!(c.of[0], c.of[2]);
    }

    #[test]
    fn one_line_with_another_value_is_the_outlier() {
        let mut text: String =
            (0..40).map(|i| format!("{i},cliente_{i},pagado,{}\n", i * 7)).collect();
        text.push_str("17,cliente_3,impagado,9\n");
        let c = of(&text);
        assert_eq!(c.size_of(0), 41);
        assert_eq!(c.outlier.iter().filter(|&&o| o).count(), 1);
        assert!(c.is_outlier(40));
    }

    #[test]
    fn a_number_far_above_the_others_is_an_outlier() {
        let mut text: String =
            (0..40).map(|i| format!("GET a{i} took {}ms\n", 10 + i % 7)).collect();
        text.push_str("GET a7 took 9000ms\n");
        let c = of(&text);
        assert!(c.is_outlier(40));
        assert_eq!(c.outlier.iter().filter(|&&o| o).count(), 1);
    }

    #[test]
    fn a_counter_has_no_outliers() {
        let text: String = (1..=300).map(|i| format!("línea {i}\n")).collect();
        let c = of(&text);
        assert_eq!(c.size, [300]);
        assert!(c.outlier.iter().all(|o| !o));
    }
}

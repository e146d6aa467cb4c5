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

/// Small, because an output has tens of thousands of them.
#[derive(Clone, Copy, Debug)]
struct Token {
    hash: u32,
    start: u32,
    len: u16,
    class: Class,
}

/// Values told apart at one position of a cluster.
const MAX_VALUES: usize = 8;

/// What was seen at one position of a cluster.
#[derive(Default, Clone, Debug)]
struct Values {
    seen: [(u32, u32); MAX_VALUES],
    n_seen: u8,
    /// Tokens that hold a digit.
    n_digits: u32,
    n_numbers: u32,
    max: u64,
    second: u64,
    sum: u64,
}

/// What a position of a whole cluster holds.
#[derive(Clone, Copy, Debug)]
enum Norm {
    Any,
    /// Nearly always this value.
    Value(u32),
    /// Nearly always a number.
    Digits,
    /// One number is far above all others: this one.
    Below(u64),
}

#[derive(Debug)]
struct Template {
    tokens: Vec<Token>,
    wild: u32,
    /// The line that made it.
    first: u32,
    /// Empty while there is one line only.
    values: Vec<Values>,
}

/// Clusters all lines.
pub(super) fn cluster(lines: &Lines) -> Clusters {
    let mut builder = Builder::default();
    let mut toks: Vec<Token> = Vec::with_capacity(MAX_TOKENS);
    for line in lines.iter() {
        tokens(line, &mut toks);
        builder.add(lines, line, &toks);
    }
    let norms: Vec<Option<Vec<Norm>>> =
        builder.templates.iter().zip(&builder.size).map(|(t, &n)| norms(t, n)).collect();
    let outlier = lines
        .iter()
        .zip(&builder.of)
        .map(|(line, &id)| {
            let Some(Some(norms)) = norms.get(id as usize) else { return false };
            tokens(line, &mut toks);
            toks.iter().zip(norms).any(|(tok, norm)| breaks(line, tok, *norm))
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
    fn add(&mut self, lines: &Lines, line: &[u8], toks: &[Token]) {
        if toks.is_empty() && super::lines::is_blank(line) {
            return self.of.push(BLANK);
        }
        // Rulers and brackets: the line itself is its template.
        let key = if toks.is_empty() { hash(line) } else { group_key(toks) };
        let group = self.groups.entry((toks.len() as u64, key)).or_default();
        let found = group.iter().rev().take(MAX_GROUP).copied().find(|&id| {
            self.templates.get(id as usize).is_some_and(|template| matches(template, toks))
        });
        let id = found.unwrap_or_else(|| {
            let id = u32::try_from(self.templates.len()).unwrap_or(BLANK - 1);
            group.push(id);
            let first = u32::try_from(self.of.len()).unwrap_or(0);
            self.templates.push(Template {
                tokens: toks.to_vec(),
                wild: 0,
                first,
                values: Vec::new(),
            });
            self.size.push(0);
            id
        });
        self.of.push(id);
        if let Some(size) = self.size.get_mut(id as usize) {
            *size += 1;
        }
        if let (Some(template), Some(_)) = (self.templates.get_mut(id as usize), found) {
            absorb_into(template, lines, line, toks);
        }
    }
}

/// Adds a line to a template that has one already; the first line is counted
/// together with the second.
fn absorb_into(template: &mut Template, lines: &Lines, line: &[u8], toks: &[Token]) {
    if template.values.is_empty() {
        template.values = vec![Values::default(); toks.len()];
        let first = lines.get(template.first as usize);
        let mut own = Vec::with_capacity(toks.len());
        tokens(first, &mut own);
        absorb(template, first, &own);
    }
    absorb(template, line, toks);
}

fn absorb(template: &mut Template, line: &[u8], toks: &[Token]) {
    for ((own, tok), values) in template.tokens.iter_mut().zip(toks).zip(&mut template.values) {
        if own.class == Class::Word && own.hash != tok.hash && own.hash != 0 {
            own.hash = 0;
            template.wild += 1;
        }
        let known = usize::from(values.n_seen);
        match values.seen.iter_mut().take(known).find(|(hash, _)| *hash == tok.hash) {
            Some((_, count)) => *count += 1,
            None => {
                if let Some(free) = values.seen.get_mut(known) {
                    *free = (tok.hash, 1);
                    values.n_seen += 1;
                }
            }
        }
        if tok.class == Class::Number {
            values.n_digits += 1;
            if let Some(value) = number(token_bytes(line, tok)) {
                values.n_numbers += 1;
                values.sum = values.sum.saturating_add(value);
                if value > values.max {
                    values.second = values.max;
                    values.max = value;
                } else if value > values.second {
                    values.second = value;
                }
            }
        }
    }
}

/// What all but a few lines of a cluster of `n` have in common; `None` when
/// there is nothing to differ from.
fn norms(template: &Template, n: u32) -> Option<Vec<Norm>> {
    if n < NORM_SIZE {
        return None;
    }
    let nearly_all = |count: u32| f64::from(count) >= AGREE * f64::from(n) && count < n;
    let norms: Vec<Norm> = template
        .values
        .iter()
        .map(|values| {
            let top =
                values.seen.iter().max_by_key(|(_, count)| *count).copied().unwrap_or_default();
            let far = values.max > 8 * (values.sum / u64::from(values.n_numbers.max(1)))
                && values.max > 3 * values.second;
            if nearly_all(top.1) {
                Norm::Value(top.0)
            } else if top.1 == n {
                Norm::Any
            } else if nearly_all(values.n_digits) {
                Norm::Digits
            } else if values.n_numbers >= 2 * NORM_SIZE && far {
                Norm::Below(values.max)
            } else {
                Norm::Any
            }
        })
        .collect();
    norms.iter().any(|norm| !matches!(norm, Norm::Any)).then_some(norms)
}

fn breaks(line: &[u8], tok: &Token, norm: Norm) -> bool {
    match norm {
        Norm::Any => false,
        Norm::Value(hash) => tok.hash != hash,
        Norm::Digits => tok.class != Class::Number, // `nan` among numbers
        Norm::Below(max) => number(token_bytes(line, tok)).is_some_and(|value| value >= max),
    }
}

fn token_bytes<'a>(line: &'a [u8], tok: &Token) -> &'a [u8] {
    let start = tok.start as usize;
    line.get(start..start + usize::from(tok.len)).unwrap_or_default()
}

/// The whole number a token starts with, when only a fraction and a unit of
/// two letters follow it.
fn number(token: &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    let mut digits = 0;
    let mut at = 0;
    while let Some(byte) = token.get(at).filter(|b| b.is_ascii_digit()) {
        value = value * 10 + u64::from(byte - b'0');
        digits += 1;
        at += 1;
        if digits > 12 {
            return None;
        }
    }
    if token.get(at) == Some(&b'.') {
        at += 1 + token.get(at + 1..)?.iter().take_while(|b| b.is_ascii_digit()).count();
    }
    let unit = token.get(at..)?;
    (digits > 0 && unit.len() <= 2 && !unit.iter().any(u8::is_ascii_digit)).then_some(value)
}

/// What lines of one kind always share: a leading word, else the make of the
/// first token.
fn group_key(toks: &[Token]) -> u64 {
    let mut fnv = Fnv::default();
    match toks.first() {
        Some(first) if toks.len() > 1 && matches!(first.class, Class::Word | Class::Status) => {
            fnv.write_u32(first.hash);
        }
        // One word alone is a name in a listing: all of them are one kind.
        Some(first) => fnv.write_u64(first.class as u64),
        None => {}
    }
    fnv.finish()
}

fn matches(template: &Template, toks: &[Token]) -> bool {
    let n = toks.len() as u32;
    if n <= 1 {
        return true;
    }
    let mut unequal = 0;
    for (own, tok) in template.tokens.iter().zip(toks) {
        match (own.class, tok.class) {
            (Class::Status, _) | (_, Class::Status) if own.hash != tok.hash => return false,
            (Class::Word, Class::Word) if own.hash == tok.hash || own.hash == 0 => {}
            (Class::Word, _) | (_, Class::Word) => unequal += 1,
            _ => {}
        }
    }
    // A third of the tokens may be variables.
    3 * (unequal + template.wild) <= n.max(3)
}

const SEPARATOR: u8 = 1;
const DIGIT: u8 = 2;
const SLASH: u8 = 4;
/// May start a box-drawing character, which separates as well.
const LEAD: u8 = 8;

/// What each byte is.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let separators = b" \t()[]{}<>,;:=\"'`|";
    let mut at = 0;
    while at < separators.len() {
        table[separators[at] as usize] = SEPARATOR;
        at += 1;
    }
    let mut digit = b'0';
    while digit <= b'9' {
        table[digit as usize] = DIGIT;
        digit += 1;
    }
    table[b'/' as usize] = SLASH;
    table[b'\\' as usize] = SLASH;
    table[0xe2] = LEAD;
    table
};

/// Splits a line into its first [`MAX_TOKENS`] tokens.
fn tokens(line: &[u8], out: &mut Vec<Token>) {
    out.clear();
    let mut start = 0;
    while out.len() < MAX_TOKENS {
        let rest = line.get(start..).unwrap_or_default();
        let Some(skip) = rest.iter().position(|&b| BYTES[usize::from(b)] != SEPARATOR) else {
            return;
        };
        start += skip;
        let (mut sum, mut flags, mut end, mut gap) = (Fnv::default(), 0_u8, line.len(), 1);
        for (at, &byte) in rest.iter().enumerate().skip(skip) {
            let kind = BYTES[usize::from(byte)];
            if kind == SEPARATOR {
                end = start - skip + at;
                break;
            }
            // Box drawing and block elements: trees, tables, progress bars.
            if kind == LEAD && matches!(rest.get(at + 1), Some(0x94..=0x96)) {
                (end, gap) = (start - skip + at, 3);
                break;
            }
            flags |= kind;
            sum.byte(byte);
        }
        if end > start {
            out.push(token(line, start, end, sum.finish(), flags));
        }
        start = end + gap;
    }
}

fn token(line: &[u8], start: usize, end: usize, sum: u64, flags: u8) -> Token {
    let class = if flags & SLASH != 0 {
        Class::Path
    } else if flags & DIGIT != 0 {
        Class::Number
    } else if words::is_status(line.get(start..end).unwrap_or_default()) {
        Class::Status
    } else {
        Class::Word
    };
    Token {
        // 0 stands for "varies".
        hash: u32::try_from((sum >> 32) ^ (sum & 0xffff_ffff)).unwrap_or(0) | 1,
        start: u32::try_from(start).unwrap_or(0),
        len: u16::try_from(end - start).unwrap_or(u16::MAX),
        class,
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

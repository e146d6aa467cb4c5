//! The pattern language of the shape table: the part of regular expressions
//! that credentials need, over bytes, read only when a candidate turns up.
//!
//! Literals, `\x` escapes, classes with ranges, `.`-free groups `(?:a|b)`, one
//! capture `(…)` around what is to be hidden, and the counts `? * + {m} {m,}
//! {m,n}`, all greedy. A count applies to a class, a literal or a group (a
//! group only `?`). There is no look-around and no nested repetition, so an
//! attempt costs what it reads; a general engine compiles this table in 37 ms
//! (4 ms lazily), this one reads a pattern in under a microsecond.

/// A set of bytes.
pub(super) type Set = [bool; 256];

/// How far an unbounded repetition reads when more pattern follows it.
const MAX_INNER: usize = 1 << 16;

#[derive(Debug)]
enum Op {
    Byte(u8),
    Set { set: Box<Set>, min: usize, max: usize },
    Split(Vec<usize>),
    Jump(usize),
    Open,
    Close,
    End,
}

/// A pattern ready to run.
#[derive(Debug)]
pub(super) struct Program {
    ops: Vec<Op>,
}

/// What an attempt found: the end of the match and the span to hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An attempt's working memory.
struct Run<'t> {
    text: &'t [u8],
    open: usize,
    close: usize,
    furthest: usize,
}

impl Program {
    /// Reads a pattern; `None` when it is not in the language.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let mut parser = Parser { bytes: pattern.as_bytes(), at: 0, ops: Vec::new() };
        parser.alternatives()?;
        if parser.at != parser.bytes.len() {
            return None;
        }
        parser.ops.push(Op::End);
        Some(Self { ops: parser.ops })
    }

    /// Tries the pattern at exactly `at`. The error is how far the attempt
    /// read: nothing that starts before it inside the same run can do better.
    pub(super) fn match_at(&self, text: &[u8], at: usize) -> Result<Match, usize> {
        let mut run = Run { text, open: at, close: usize::MAX, furthest: at };
        match self.step(&mut run, 0, at) {
            Some(end) if run.close == usize::MAX => Ok(Match { start: at, end }),
            Some(_) => Ok(Match { start: run.open, end: run.close }),
            None => Err(run.furthest),
        }
    }

    fn step(&self, run: &mut Run<'_>, mut pc: usize, mut at: usize) -> Option<usize> {
        loop {
            run.furthest = run.furthest.max(at);
            match self.ops.get(pc)? {
                Op::Byte(byte) => {
                    if run.text.get(at) != Some(byte) {
                        return None;
                    }
                    at += 1;
                }
                Op::Set { set, min, max } => {
                    let n = run_len(set, run.text, at, *max);
                    run.furthest = run.furthest.max(at + n);
                    if n < *min {
                        return None;
                    }
                    if self.is_last(pc + 1) || self.cannot_start_inside(pc + 1, set) {
                        at += n;
                    } else {
                        return (*min..=n).rev().find_map(|n| self.step(run, pc + 1, at + n));
                    }
                }
                Op::Split(targets) => {
                    return targets.iter().find_map(|target| self.step(run, *target, at));
                }
                Op::Jump(target) => {
                    pc = *target;
                    continue;
                }
                Op::Open => run.open = at,
                Op::Close => run.close = at,
                Op::End => return Some(at),
            }
            pc += 1;
        }
    }

    fn is_last(&self, mut pc: usize) -> bool {
        loop {
            match self.ops.get(pc) {
                Some(Op::Close) => pc += 1,
                Some(Op::Jump(target)) => pc = *target,
                Some(Op::End) | None => return true,
                _ => return false,
            }
        }
    }

    /// True when what follows needs a byte that `set` cannot give, so that
    /// giving back part of a greedy run is pointless.
    fn cannot_start_inside(&self, mut pc: usize, set: &Set) -> bool {
        loop {
            match self.ops.get(pc) {
                Some(Op::Byte(byte)) => return !set[usize::from(*byte)],
                Some(Op::Set { set: next, min, .. }) if *min > 0 => {
                    return !set.iter().zip(next.iter()).any(|(a, b)| *a && *b);
                }
                Some(Op::Open | Op::Close) => pc += 1,
                Some(Op::Jump(target)) => pc = *target,
                _ => return false,
            }
        }
    }
}

/// Counts the bytes from `at` on that are in `set`, at most `max`.
fn run_len(set: &Set, text: &[u8], at: usize, max: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.get(..max).unwrap_or(rest);
    rest.iter().position(|byte| !set[usize::from(*byte)]).unwrap_or(rest.len())
}

struct Parser<'p> {
    bytes: &'p [u8],
    at: usize,
    ops: Vec<Op>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    /// `a|b|c` up to the closing bracket or the end.
    fn alternatives(&mut self) -> Option<()> {
        let split = self.ops.len();
        self.ops.push(Op::Split(Vec::new()));
        let mut starts = Vec::new();
        let mut jumps = Vec::new();
        loop {
            starts.push(self.ops.len());
            self.sequence()?;
            if !self.eat(b"|") {
                break;
            }
            jumps.push(self.ops.len());
            self.ops.push(Op::Jump(0));
        }
        let end = self.ops.len();
        for jump in jumps {
            self.ops[jump] = Op::Jump(end);
        }
        self.ops[split] = match starts.as_slice() {
            [only] => Op::Jump(*only),
            _ => Op::Split(starts),
        };
        Some(())
    }

    fn sequence(&mut self) -> Option<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b'|' | b')' => break,
                b'(' => self.group()?,
                _ => {
                    let set = self.item()?;
                    self.count(set)?;
                }
            }
        }
        Some(())
    }

    fn group(&mut self) -> Option<()> {
        let is_capture = !self.eat(b"(?:");
        if is_capture {
            self.eat(b"(");
        }
        let optional = self.ops.len();
        self.ops.push(Op::Jump(optional + 1));
        if is_capture {
            self.ops.push(Op::Open);
        }
        self.alternatives()?;
        if is_capture {
            self.ops.push(Op::Close);
        }
        if !self.eat(b")") {
            return None;
        }
        if self.eat(b"?") {
            self.ops[optional] = Op::Split(vec![optional + 1, self.ops.len()]);
        }
        Some(())
    }

    /// One class or literal.
    fn item(&mut self) -> Option<Set> {
        let mut set = [false; 256];
        match self.peek()? {
            b'[' => {
                self.at += 1;
                while self.peek()? != b']' {
                    let low = self.literal()?;
                    let is_range = self.peek()? == b'-' && *self.bytes.get(self.at + 1)? != b']';
                    let high = if is_range {
                        self.at += 1;
                        self.literal()?
                    } else {
                        low
                    };
                    set[usize::from(low)..=usize::from(high)].fill(true);
                }
                self.at += 1;
            }
            _ => set[usize::from(self.literal()?)] = true,
        }
        Some(set)
    }

    fn literal(&mut self) -> Option<u8> {
        self.eat(b"\\");
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn count(&mut self, set: Set) -> Option<()> {
        let (min, max) = match self.peek() {
            Some(b'?') => (0, 1),
            Some(b'*') => (0, MAX_INNER),
            Some(b'+') => (1, MAX_INNER),
            Some(b'{') => {
                self.at += 1;
                let min = self.number()?;
                let max = match self.peek()? {
                    b',' => {
                        self.at += 1;
                        if self.peek()? == b'}' { usize::MAX } else { self.number()? }
                    }
                    _ => min,
                };
                (min, max)
            }
            _ => {
                let mut bytes = (0..=u8::MAX).filter(|byte| set[usize::from(*byte)]);
                let op = match (bytes.next(), bytes.next()) {
                    (Some(only), None) => Op::Byte(only),
                    _ => Op::Set { set: Box::new(set), min: 1, max: 1 },
                };
                self.ops.push(op);
                return Some(());
            }
        };
        self.at += 1;
        self.ops.push(Op::Set { set: Box::new(set), min, max });
        Some(())
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.bytes.get(self.at..)?;
        let n = digits.iter().position(|byte| !byte.is_ascii_digit())?;
        let number = std::str::from_utf8(digits.get(..n)?).ok()?.parse().ok()?;
        self.at += n;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, hidden: Option<&str>) {
        let program = Program::parse(pattern).unwrap();
        let found = program.match_at(text.as_bytes(), 0).ok();
        let found = found.and_then(|m| text.get(m.start..m.end));
        assert_eq!(found, hidden, "{pattern} on {text}");
    }

    #[test]
    fn counts_are_greedy_and_reach_the_end_of_the_alphabet() {
        check("ab_[a-z]{2,}", "ab_cdefg.", Some("ab_cdefg"));
        check("ab_[a-z]{6,}", "ab_cdefg.", None);
        check("a[0-9-]{2}", "a1-9", Some("a1-"));
        check("a[0-9]?b", "ab", Some("ab"));
    }

    #[test]
    fn groups_choose_the_first_alternative_that_completes() {
        check("x(?:a|ab)c", "xabc", Some("xabc"));
        check("x(?:-y)?z", "x-yz", Some("x-yz"));
        check("x(?:-y)?z", "xz", Some("xz"));
        check("a|b[c]|d", "bc", Some("bc"));
    }

    #[test]
    fn the_capture_is_what_is_hidden() {
        check("k=([a-z]{2,});", "k=abc;", Some("abc"));
        check("(?:q|k=([a-z]{2,}))", "q", Some("q"));
    }

    #[test]
    fn a_literal_inside_the_class_is_found_by_giving_back() {
        check("s-[A-Z0-9]{2,20}T3[A-Z0-9]{2,}", "s-ABCT3XYZ", Some("s-ABCT3XYZ"));
    }

    #[test]
    fn what_is_not_in_the_language_is_refused() {
        for pattern in ["(a", "[a", "a{2", "a)"] {
            assert!(Program::parse(pattern).is_none(), "{pattern}");
        }
    }
}

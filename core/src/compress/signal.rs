//! What one line says by itself: how bad it is, whether it names a place in
//! a file, whether it is a stack frame, a source quotation or a ruler.

use super::lines::is_blank;
use super::place::{Frame, frame, is_position, is_quote, place};
use super::words::{Word, word};

/// How bad a line says things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Severity {
    /// Nothing, or success.
    #[default]
    None,
    /// A failure word somewhere in it.
    Weak,
    /// A warning.
    Warning,
    /// A failure, said in a place where tools put verdicts.
    Strong,
}

/// The signals of one line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signal {
    /// White space only.
    pub(super) blank: bool,
    /// How bad.
    pub(super) severity: Severity,
    /// States a success and no failure.
    pub(super) pass: bool,
    /// Names a file and a line number.
    pub(super) place: bool,
    /// Gives a count of outcomes, such as `3 failed, 229 passed`.
    pub(super) tally: bool,
    /// A stack frame.
    pub(super) frame: Frame,
    /// Source text quoted by a compiler, or its underline.
    pub(super) quote: bool,
    /// Punctuation only.
    pub(super) ruler: bool,
    /// Columns of white space before the text.
    pub(super) indent: u16,
}

/// Reads the signals of a cleaned line. Only the first 2,000 bytes count.
pub(super) fn signal(line: &[u8]) -> Signal {
    if is_blank(line) {
        return Signal { blank: true, ..Signal::default() };
    }
    let indent = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let text = line.get(indent..line.len().min(2000)).unwrap_or_default();
    let ruler = is_ruler(text);
    let frame = frame(text);
    let mut signal = Signal {
        ruler,
        frame,
        quote: is_quote(text),
        indent: u16::try_from(indent).unwrap_or(u16::MAX),
        ..Signal::default()
    };
    if !ruler {
        let said = read_words(text);
        signal.severity = said.severity;
        signal.pass = said.pass;
        signal.tally = said.tally;
        signal.place = place(text).is_some() || is_position(text);
        if signal.place && said.severity == Severity::Weak {
            signal.severity = Severity::Strong;
        }
    }
    if signal.quote || frame != Frame::None {
        // Quoted code says nothing about the run.
        signal.severity = Severity::None;
        signal.tally = false;
    }
    signal
}

struct Said {
    severity: Severity,
    pass: bool,
    tally: bool,
}

/// Words that follow a number in a tally.
const COUNTED: &[&[u8]] = &[
    b"assertions",
    b"checks",
    b"deletions",
    b"deletion",
    b"errored",
    b"error",
    b"errors",
    b"errores",
    b"erreurs",
    b"fehler",
    b"examples",
    b"failed",
    b"failing",
    b"failure",
    b"failures",
    b"fallos",
    b"file",
    b"files",
    b"ignored",
    b"insertion",
    b"insertions",
    b"issues",
    b"issue",
    b"package",
    b"packages",
    b"passed",
    b"passing",
    b"pending",
    b"problem",
    b"problems",
    b"skipped",
    b"test",
    b"tests",
    b"pruebas",
    b"todo",
    b"total",
    b"upgraded",
    b"vulnerabilities",
    b"warning",
    b"warnings",
    b"avisos",
    b"advertencias",
    b"xfailed",
    b"xpassed",
    b"suites",
    b"tasks",
    b"targets",
    b"matches",
    b"resources",
    b"added",
    b"changed",
    b"destroyed",
    b"destroy",
    b"add",
    b"change",
    b"rows",
    b"filas",
    b"commits",
    b"requests",
    b"jobs",
    b"steps",
    b"scenarios",
    b"specs",
    b"modules",
    b"crates",
    b"offenses",
    b"violations",
    b"violation",
    b"offense",
];

/// A verdict mark at the start of a line.
fn lead_mark(text: &[u8]) -> Option<Word> {
    const BAD: &[&[u8]] = &[
        "✗".as_bytes(),
        "✖".as_bytes(),
        "×".as_bytes(),
        "✘".as_bytes(),
        "●".as_bytes(),
        "❌".as_bytes(),
        "⨯".as_bytes(),
        "✕".as_bytes(),
        b"not ok",
        b"FAIL",
        b"--- FAIL",
        b"ERR!",
        b"E   ",
        b"fatal:",
        b"***",
    ];
    const GOOD: &[&[u8]] = &[
        "✓".as_bytes(),
        "✔".as_bytes(),
        "√".as_bytes(),
        "✅".as_bytes(),
        b"ok ",
        b"PASS",
        b"--- PASS",
    ];
    if !matches!(
        text.first(),
        Some(0xe2 | 0xc3 | b'n' | b'F' | b'-' | b'E' | b'f' | b'*' | b'o' | b'P')
    ) {
        return None;
    }
    if BAD.iter().any(|mark| text.starts_with(mark)) {
        Some(Word::Failure)
    } else if GOOD.iter().any(|mark| text.starts_with(mark)) {
        Some(Word::Success)
    } else {
        None
    }
}

fn read_words(text: &[u8]) -> Said {
    let lead = lead_mark(text);
    let mut said = Said {
        severity: if lead == Some(Word::Failure) { Severity::Strong } else { Severity::None },
        pass: lead == Some(Word::Success),
        tally: false,
    };
    let mut spot = Spot { text, start: 0, end: 0, first: true, number: None, negated: false };
    let mut last = Word::Plain;
    while spot.next() {
        let token = spot.token();
        if token.iter().all(u8::is_ascii_digit) {
            spot.number = Some((token.iter().all(|&b| b == b'0'), spot.end));
            last = Word::Plain;
            continue;
        }
        let inside_name = spot.is_inside_name();
        last = if inside_name { Word::Plain } else { word(token) };
        said.tally |= !inside_name && spot.count().is_some() && is_counted(token);
        match last {
            Word::Failure if !spot.is_zero() => {
                let severity = if spot.is_failure() { Severity::Strong } else { Severity::Weak };
                said.severity = said.severity.max(severity);
            }
            Word::Warning if spot.is_warning() && !spot.is_zero() => {
                said.severity = said.severity.max(Severity::Warning);
            }
            _ => {}
        }
        spot.negated = matches!(token, b"no" | b"No" | b"without" | b"sin" | b"zero");
        spot.first = false;
        spot.number = None;
    }
    if last == Word::Success || said.pass {
        said.pass = said.severity != Severity::Strong || lead == Some(Word::Success);
        if said.pass && !said.tally {
            said.severity = Severity::None;
        }
    }
    said
}

/// A word of a line and what stands before and after it.
struct Spot<'a> {
    text: &'a [u8],
    start: usize,
    end: usize,
    /// No other word came before.
    first: bool,
    /// The last number: whether it is zero, and where it ends.
    number: Option<(bool, usize)>,
    /// `no` or the like came right before.
    negated: bool,
}

impl<'a> Spot<'a> {
    /// Moves to the next word; false at the end of the line.
    fn next(&mut self) -> bool {
        let rest = self.text.get(self.end..).unwrap_or_default();
        let Some(skip) = rest.iter().position(|b| is_word(*b)) else { return false };
        self.start = self.end + skip;
        let rest = self.text.get(self.start..).unwrap_or_default();
        self.end = self.start + rest.iter().position(|b| !is_word(*b)).unwrap_or(rest.len());
        true
    }

    fn token(&self) -> &'a [u8] {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    fn after(&self) -> Option<u8> {
        self.text.get(self.end).copied()
    }

    /// The number right before, as in `3 failed`: whether it is zero.
    fn count(&self) -> Option<bool> {
        self.number.filter(|(_, end)| self.start <= end + 1).map(|(is_zero, _)| is_zero)
    }

    fn is_error_name(&self) -> bool {
        let token = self.token();
        token.len() > 7 && (token.ends_with(b"Error") || token.ends_with(b"Exception"))
    }

    /// Whether the word is a part of a path or of an identifier.
    fn is_inside_name(&self) -> bool {
        let before = self.start.checked_sub(1).and_then(|at| self.text.get(at));
        match (before, self.after()) {
            (Some(b'.' | b'$'), Some(b':') | None) if self.is_error_name() => false,
            (Some(b'/' | b'_' | b'-' | b'.' | b'$' | b'#' | b'@' | b'\\'), _) => true,
            (_, Some(b'/' | b'_' | b'(' | b'\\' | b'@')) => true,
            (_, Some(b'.' | b'-')) => self.text.get(self.end + 1).is_some_and(|b| is_word(*b)),
            _ => false,
        }
    }

    /// `no errors`, `0 failed`, `errors: 0`.
    fn is_zero(&self) -> bool {
        self.count() == Some(true) || self.negated || counts_zero(self.text, self.end)
    }

    /// Whether the word stands where tools state levels and outcomes.
    fn is_stated(&self) -> bool {
        self.first
            || self.count() == Some(false)
            || matches!(self.after(), Some(b':' | b'['))
            || self.token().iter().all(u8::is_ascii_uppercase)
    }

    /// Whether a warning's word is a level, as in `[root warning]`.
    fn is_warning(&self) -> bool {
        self.is_stated() || self.after() == Some(b']')
    }

    /// Whether a failure's word is a verdict, not a part of a sentence.
    fn is_failure(&self) -> bool {
        let next = self.text.get(self.end + 1);
        self.is_stated()
            || self.after() == Some(b'!')
            || self.token() == b"Error" && next.is_some_and(u8::is_ascii_digit)
            || matches!(self.token(), b"panicked" | b"Uncaught" | b"Unhandled")
            || self.token().len() > 8 && self.is_error_name()
    }
}

fn is_counted(token: &[u8]) -> bool {
    (3..=15).contains(&token.len())
        && token.first().is_some_and(u8::is_ascii_alphabetic)
        && COUNTED.iter().any(|word| word.len() == token.len() && word.eq_ignore_ascii_case(token))
}

/// Whether `: 0` or `=0` follows, as in `errors: 0`.
fn counts_zero(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..text.len().min(at + 6)).unwrap_or_default();
    let Some(rest) = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"=")) else {
        return false;
    };
    let rest = rest.trim_ascii_start();
    rest.first() == Some(&b'0') && !matches!(rest.get(1), Some(b'0'..=b'9' | b'x' | b'.'))
}

/// Letters, digits and whatever is not ASCII.
fn is_word(byte: u8) -> bool {
    const WORD: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        table
    };
    WORD[usize::from(byte)]
}

/// Nothing but punctuation and box drawing.
fn is_ruler(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => return false,
            // E2 94..96 box drawing, E2 8E misc technical (⎯), E2 80 dashes and ellipsis.
            0xe2 if matches!(text.get(at + 1), Some(0x80 | 0x8e | 0x94..=0x96)) => at += 3,
            0x80.. => return false,
            _ => at += 1,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(line: &str) -> Severity {
        signal(line.as_bytes()).severity
    }

    #[test]
    fn failures_are_strong_where_tools_put_verdicts() {
        for line in [
            "error[E0425]: cannot find value `x`",
            "src/a.c:4:9: error: ‘t’ undeclared",
            "FAILED tests/a.py::test_x - boom",
            "test tests::a ... FAILED",
            "thread 'main' panicked at src/lib.rs:1:2:",
            "not ok 301 - cierre de caja",
            "make: *** [Makefile:12: obj/x.o] Error 1",
            "tienda.carrito.StockError: sin stock",
            "  × bloque 13 > caso 7",
            "2026-11-02 21:01:03,031 [MainThread] ERROR tienda.http - POST /api",
            "--- FAIL: TestX (0.00s)",
            "[error] \tes.CajaSpec",
            "3 failed, 229 passed",
        ] {
            assert_eq!(severity(line), Severity::Strong, "{line}");
        }
    }

    #[test]
    fn zero_counts_and_names_are_no_failures() {
        for line in [
            "test_1: 0 errors, 0 failures, error_rate=0.00 ... ok",
            "test parse::error ... ok",
            "src/error.rs",
            "no errors found",
            "errors: 0, failed=0",
            "ok 12 - error handling",
            "Compiling thiserror-impl v2.0.1",
        ] {
            assert_eq!(severity(line), Severity::None, "{line}");
        }
        assert_eq!(severity("src/mod03.c:4:9: aviso: variable sin usar"), Severity::Warning);
    }

    #[test]
    fn places_frames_and_quotes_are_seen() {
        let has = |line: &str| signal(line.as_bytes()).place;
        assert!(
            has("  --> nucleo/src/lib.rs:16:9")
                && has("src/a.ts(3,7): error TS1")
                && has("  File \"/x/app.py\", line 18, in f")
        );
        assert!(!has("at 12:30 the job") && !has("http://host:8080/x") && !has("ratio 1.5:3"));
        let frame = |line: &str| signal(line.as_bytes()).frame;
        assert_eq!(frame("    at cobra (/home/a/src/pagos.js:3:115)"), Frame::User);
        assert_eq!(
            frame("    at Module._compile (node:internal/modules/cjs/loader:1521:14)"),
            Frame::Library
        );
        assert_eq!(frame("    #1 0x564 in lee src/lee.c:9"), Frame::User);
        assert_eq!(frame("at last the build is done"), Frame::None);
        assert!(
            signal(b"   16 |     let x = 3;").quote
                && signal(b"   |     ^^^").quote
                && !signal(b"0|fila 0").quote
        );
        assert!(
            signal("⎯⎯⎯⎯".as_bytes()).ruler && signal(b"======").ruler && !signal(b"== x ==").ruler
        );
    }
}

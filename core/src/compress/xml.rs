//! Reports in XML: JUnit's and its many imitators, checkstyle's, and any other
//! whose elements have a line and a message.

use super::failures::{self, Failure};
use super::findings::{self, Finding};

/// Renders a report in about `max_bytes`; `None` where there is none, or it
/// reports nothing.
pub(super) fn render(raw: &[u8], max_bytes: usize) -> Option<Vec<u8>> {
    let head = raw.get(..raw.len().min(2000))?;
    let roots: [&[u8]; 3] = [b"<?xml", b"<testsuite", b"<checkstyle"];
    let start = roots.iter().filter_map(|root| memchr::memmem::find(head, root)).min()?;
    let end = raw.iter().rposition(|&b| b == b'>')? + 1;
    let mut report = Report::default();
    report.read(raw.get(start..end)?);
    if report.failures.is_empty() && report.findings.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for around in [raw.get(..start)?, raw.get(end..)?] {
        for line in around.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            super::render::shown(line, &mut out);
            out.push(b'\n');
        }
    }
    out.extend(report.totals);
    if !report.findings.is_empty() {
        out.extend(findings::list(&report.findings, max_bytes));
    }
    if !report.failures.is_empty() {
        out.extend(failures::list(&report.failures, max_bytes));
    }
    Some(out)
}

#[derive(Default)]
struct Report<'a> {
    file: &'a [u8],
    /// Class and name of the test case being read.
    case: Option<(&'a [u8], &'a [u8])>,
    /// The text belongs to the last failure.
    in_failure: bool,
    body: &'a [u8],
    totals: Vec<u8>,
    findings: Vec<Finding<'a>>,
    failures: Vec<Failure>,
}

impl<'a> Report<'a> {
    fn read(&mut self, xml: &'a [u8]) {
        let mut at = 0;
        while let Some(rest) = xml.get(at..) {
            let Some(open) = memchr::memchr(b'<', rest) else { break };
            self.text(rest.get(..open).unwrap_or_default());
            let tag = rest.get(open..).unwrap_or_default();
            let body: &[u8] = b"<![CDATA[";
            let (mark, close): (usize, &[u8]) = if tag.starts_with(body) {
                (body.len(), b"]]>")
            } else if tag.starts_with(b"<!--") {
                (4, b"-->")
            } else {
                (1, b">")
            };
            let Some(inner) = tag.get(mark..) else { break };
            let Some(end) = tag_end(inner, close) else { break };
            let inside = inner.get(..end).unwrap_or_default();
            match mark {
                1 => self.tag(inside),
                4 => {}
                _ => self.text(inside),
            }
            at += open + mark + end + close.len();
        }
    }

    /// Text between tags: what a failure says.
    fn text(&mut self, text: &'a [u8]) {
        if !self.in_failure || text.trim_ascii().is_empty() {
            return;
        }
        self.body = text.trim_ascii();
        if let Some(failure) = self.failures.last_mut() {
            if !failure.message.is_empty() {
                failure.message.push(b'\n');
            }
            unescape(text.trim_ascii(), &mut failure.message);
        }
    }

    fn tag(&mut self, tag: &'a [u8]) {
        if let Some(name) = tag.strip_prefix(b"/") {
            match name.trim_ascii() {
                b"testcase" => self.case = None,
                b"failure" | b"error" => self.end_failure(),
                _ => {}
            }
            return;
        }
        let name_len = tag.iter().take_while(|b| !b.is_ascii_whitespace() && **b != b'/').count();
        let (name, rest) = tag.split_at(name_len);
        let attribute = |wanted: &[u8]| attributes(rest).find(|(key, _)| *key == wanted);
        let get = |wanted: &[u8]| attribute(wanted).map(|(_, value)| value);
        match name {
            b"testsuites" | b"testsuite" => {
                self.count(rest);
                self.file = get(b"name").unwrap_or_default();
            }
            b"file" => self.file = get(b"name").or_else(|| get(b"path")).unwrap_or_default(),
            b"testcase" => {
                let class = get(b"classname").or_else(|| get(b"class")).unwrap_or_default();
                self.case = get(b"name").map(|name| (class, name));
                if tag.ends_with(b"/") {
                    self.case = None;
                }
            }
            b"failure" | b"error" if self.case.is_some() => {
                let (class, case) = self.case.unwrap_or_default();
                let mut failure = Failure { name: Vec::new(), message: Vec::new() };
                unescape(class, &mut failure.name);
                failure.name.extend_from_slice(if class.is_empty() { b"" } else { b" " });
                unescape(case, &mut failure.name);
                unescape(get(b"message").unwrap_or_default(), &mut failure.message);
                self.failures.push(failure);
                self.in_failure = !tag.ends_with(b"/");
            }
            _ => {
                if let (Some(line), Some(said)) = (get(b"line"), get(b"message")) {
                    let mut message = get(b"severity").unwrap_or_default().to_vec();
                    message.extend_from_slice(if message.is_empty() { b"" } else { b" " });
                    unescape(said, &mut message);
                    let file = get(b"file").unwrap_or(self.file);
                    let column = get(b"column").unwrap_or_default();
                    self.findings.push(Finding {
                        file,
                        line,
                        column,
                        message,
                        ..Finding::default()
                    });
                }
            }
        }
    }

    /// A linter's failure names a place in its text: it is a finding.
    fn end_failure(&mut self) {
        self.in_failure = false;
        let Some(rest) = std::mem::take(&mut self.body).strip_prefix(b"line ") else { return };
        let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
        let (line, rest) = rest.split_at(digits(rest));
        let Some(rest) = rest.strip_prefix(b", col ").filter(|_| !line.is_empty()) else { return };
        let column = rest.get(..digits(rest)).unwrap_or_default();
        let Some(Failure { name, message }) = self.failures.pop() else { return };
        let said = message.split(|&b| b == b'\n').next().unwrap_or_default();
        let rule = name.rsplit(|&b| b == b' ').next().unwrap_or_default();
        let message = [said, b" ", rule].concat();
        self.findings.push(Finding {
            file: self.file,
            line,
            column,
            message,
            ..Finding::default()
        });
    }

    /// States what a suite counts, unless it is a part of one that did.
    fn count(&mut self, rest: &[u8]) {
        const COUNTS: [&[u8]; 4] = [b"tests", b"failures", b"errors", b"skipped"];
        if !self.totals.is_empty() {
            return;
        }
        for (key, value) in attributes(rest).filter(|(key, _)| COUNTS.contains(key)) {
            self.totals.extend_from_slice(key);
            self.totals.extend_from_slice(b": ");
            self.totals.extend_from_slice(value);
            self.totals.push(b'\n');
        }
    }
}

/// Where a tag or section that `close` ends is closed; quoted values may hold
/// what looks like the end.
fn tag_end(inner: &[u8], close: &[u8]) -> Option<usize> {
    if close != b">" {
        return memchr::memmem::find(inner, close);
    }
    let mut quote = None;
    inner.iter().position(|&byte| match quote {
        Some(open) => {
            if byte == open {
                quote = None;
            }
            false
        }
        None if byte == b'"' || byte == b'\'' => {
            quote = Some(byte);
            false
        }
        None => byte == b'>',
    })
}

/// The attributes of a tag, values still escaped.
fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        let equals = memchr::memchr(b'=', rest)?;
        let key = rest.get(..equals)?.trim_ascii();
        let value = rest.get(equals + 1..)?.trim_ascii_start();
        let quote = *value.first().filter(|b| matches!(b, b'"' | b'\''))?;
        let value = value.get(1..)?;
        let end = memchr::memchr(quote, value)?;
        rest = value.get(end + 1..)?;
        Some((key, value.get(..end)?))
    })
}

/// Appends a text with its entities decoded; an unknown one stays as it is.
fn unescape(text: &[u8], out: &mut Vec<u8>) {
    const ENTITIES: [(&[u8], u8); 7] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
        (b"&#39;", b'\''),
        (b"&#10;", b'\n'),
    ];
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'&', rest).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        let rest = rest.get(plain..).unwrap_or_default();
        let known = ENTITIES.iter().find(|(name, _)| rest.starts_with(name));
        at += plain + known.map_or(rest.len().min(1), |(name, _)| name.len());
        match known {
            Some((_, byte)) => out.push(*byte),
            None => out.extend(rest.first()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(xml: &str) -> String {
        String::from_utf8(render(xml.as_bytes(), 2000).unwrap()).unwrap()
    }

    #[test]
    fn failed_cases_are_named_with_their_message() {
        let xml = "..F<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\" tests=\"3\" failures=\"1\"><testcase classname=\"a.B\" name=\"ok\"/>\
            <testcase classname=\"a.B\" name=\"x &gt; y\"><failure message=\"left 1\">left 1\n<![CDATA[at src/b.rs:3]]></failure></testcase></testsuite></testsuites>\nbye\n";
        assert_eq!(
            text(xml),
            "..F\nbye\ntests: 3\nfailures: 1\nnot passed:\na.B x > y\n  left 1\n  at src/b.rs:3\n"
        );
    }

    #[test]
    fn elements_with_a_line_and_a_message_are_findings() {
        let xml = "<checkstyle><file name=\"/p/a.js\"><error line=\"3\" column=\"1\" severity=\"error\" message=\"&apos;x&apos; > 1\"/></file></checkstyle>";
        assert!(text(xml).ends_with("error 'x' > 1\n  a.js:3:1\n"), "{}", text(xml));
        let junit = "<testsuite name=\"/p/a.js\"><testcase name=\"no-var\"><failure message=\"Bad\"><![CDATA[line 4, col 2, Error - Bad]]></failure></testcase></testsuite>";
        assert!(text(junit).ends_with("Bad no-var\n  a.js:4:2\n"), "{}", text(junit));
    }

    #[test]
    fn other_documents_and_broken_ones_are_none() {
        for xml in
            ["<?xml version='1.0'?><a b='1'/>", "<testsuite", "", "<testsuite name=\"x", "plain"]
        {
            assert!(render(xml.as_bytes(), 2000).is_none(), "{xml}");
        }
    }
}

//! Reports in JSON, of test runners and of linters (eslint, ruff, pyright, rubocop, golangci-lint,
//! semgrep, stylelint, phpstan …): any object with a message and a line is a
//! finding.

use super::failures::{self, Failure};
use super::findings::{Finding, list};
use super::json::{Doc, Kind, unescape};

const FILE: &[&[u8]] = &[
    b"filePath",
    b"filename",
    b"file_name",
    b"file",
    b"path",
    b"uri",
    b"source",
    b"Filename",
    b"abs_path",
];
const LINE: &[&[u8]] = &[
    b"line",
    b"row",
    b"startLine",
    b"start_line",
    b"Line",
    b"lineNumber",
    b"line_start",
    b"beginLine",
];
const COLUMN: &[&[u8]] =
    &[b"column", b"col", b"character", b"Column", b"column_start", b"start_column", b"startColumn"];
const RULE: &[&[u8]] = &[
    b"ruleId",
    b"rule",
    b"code",
    b"cop_name",
    b"check_id",
    b"message-id",
    b"FromLinter",
    b"symbol",
    b"identifier",
    b"rule_id",
    b"type",
];
const MESSAGE: &[&[u8]] = &[b"message", b"msg", b"text", b"Text", b"description", b"desc"];
const LEVEL: &[&[u8]] = &[b"severity", b"level", b"Severity"];

const NAME: &[&[u8]] = &[b"fullName", b"fullTitle", b"nodeid", b"title", b"name"];
const STATUS: &[&[u8]] = &[b"status", b"outcome", b"state", b"result"];
const REASON: &[&[u8]] = &[b"message", b"failureMessage", b"longrepr", b"stack"];

/// Renders a report of a test runner (jest, vitest, mocha, pytest,
/// playwright …): its totals and what failed; `None` when nothing in
/// the document looks like a failed test.
pub(super) fn tests(doc: &Doc<'_>, max_bytes: usize) -> Option<Vec<u8>> {
    const RUNNERS: &[&[u8]] =
        &[b"\"assertionResults\"", b"\"fullTitle\"", b"\"nodeid\"", b"\"specs\""];
    if !RUNNERS.iter().any(|key| memchr::memmem::find(doc.raw, key).is_some()) {
        return None;
    }
    let mut failures: Vec<Failure> = Vec::new();
    failed(doc, 0, 0, &mut failures);
    if failures.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    totals(doc, 0, 0, &mut out);
    out.extend(failures::list(&failures, max_bytes));
    Some(out)
}

/// Scalars that count something, from the upper levels.
fn totals(doc: &Doc<'_>, idx: usize, depth: usize, out: &mut Vec<u8>) {
    for child in doc.children(idx) {
        let (key, value) = (doc.key(child), doc.text(child));
        match doc.kind(child) {
            Kind::Other if !matches!(value, b"0" | b"false" | b"null") && value.len() < 12 => {
                out.extend_from_slice(key);
                out.extend_from_slice(b": ");
                out.extend_from_slice(value);
                out.push(b'\n');
            }
            Kind::Object if depth == 0 => totals(doc, child, depth + 1, out),
            _ => {}
        }
    }
}

fn failed(doc: &Doc<'_>, idx: usize, depth: usize, out: &mut Vec<Failure>) {
    if depth > 24 {
        return;
    }
    let scalar = |keys: &[&[u8]]| field(doc, idx, keys, 1).map(|f| text(doc, f));
    if doc.kind(idx) == Kind::Object {
        let status = scalar(STATUS).unwrap_or_default();
        let is_bad =
            [b"failed".as_slice(), b"fail", b"error", b"timedOut", b"broken"].contains(&status);
        let inner = doc.children(idx).any(|c| {
            doc.kind(c) == Kind::Array
                && matches!(doc.key(c), b"assertionResults" | b"tests" | b"specs" | b"suites")
                && doc.text(c).len() > 2
        });
        if let Some(name) = scalar(NAME).filter(|_| is_bad && !inner) {
            let mut failure = Failure { name: Vec::new(), message: Vec::new() };
            unescape(name, &mut failure.name);
            unescape(reason(doc, idx, 0).unwrap_or_default(), &mut failure.message);
            out.push(failure);
            return;
        }
    }
    for child in doc.children(idx) {
        failed(doc, child, depth + 1, out);
    }
}

/// The first text that says why: a message here, in `err`, or in a list.
fn reason<'a>(doc: &Doc<'a>, idx: usize, depth: usize) -> Option<&'a [u8]> {
    let own = field(doc, idx, REASON, 1).map(|f| text(doc, f)).filter(|m| !m.is_empty());
    if own.is_some() || depth > 3 {
        return own;
    }
    let lists = doc
        .children(idx)
        .find(|&c| matches!(doc.key(c), b"failureMessages" | b"errors") && doc.text(c).len() > 2);
    if let Some(first) = lists.and_then(|list| doc.children(list).next()) {
        return if doc.kind(first) == Kind::String {
            Some(text(doc, first))
        } else {
            reason(doc, first, depth + 1)
        };
    }
    doc.children(idx)
        .filter(|&c| {
            matches!(doc.key(c), b"err" | b"error" | b"call" | b"crash" | b"setup" | b"failure")
        })
        .find_map(|c| reason(doc, c, depth + 1))
}

/// The file a finding is in and where the finding's own fields are, filled on
/// the way down.
#[derive(Clone, Copy, Default)]
struct Context<'a> {
    file: &'a [u8],
}

/// Renders a report, or `None` when the document is not one: it has fewer than
/// three findings, or they are a small part of it.
pub(super) fn render(doc: &Doc<'_>, max_bytes: usize) -> Option<Vec<u8>> {
    let mut findings = Vec::new();
    visit(doc, 0, Context::default(), 0, &mut findings);
    let located = findings.iter().filter(|f| !f.file.is_empty()).count();
    if findings.len() < 3
        || located * 10 < findings.len() * 9
        || doc.raw.len() > findings.len() * 4000
    {
        return None;
    }
    let mut out = Vec::new();
    for key in [b"errorCount".as_slice(), b"warningCount"] {
        total(doc, key, &mut out);
    }
    out.extend(list(&findings, max_bytes));
    Some(out)
}

fn visit<'a>(
    doc: &Doc<'a>,
    idx: usize,
    context: Context<'a>,
    depth: usize,
    out: &mut Vec<Finding<'a>>,
) {
    if depth > 24 {
        return;
    }
    let mut context = context;
    if doc.kind(idx) == Kind::Object {
        if let Some(file) = field(doc, idx, FILE, 2).filter(|&f| doc.kind(f) == Kind::String) {
            context.file = text(doc, file);
        }
        let message = field(doc, idx, MESSAGE, 1).filter(|&m| doc.kind(m) == Kind::String);
        if let (Some(message), Some(line)) = (message, field(doc, idx, LINE, 3)) {
            let get = |keys, levels| {
                field(doc, idx, keys, levels).map_or(b"".as_slice(), |f| text(doc, f))
            };
            let mut said = Vec::new();
            for part in [get(LEVEL, 2), get(RULE, 2)].iter().filter(|part| !part.is_empty()) {
                said.extend_from_slice(part);
                said.push(b' ');
            }
            unescape(text(doc, message), &mut said);
            said.iter_mut().filter(|b| **b == b'\n').for_each(|b| *b = b' ');
            out.push(Finding {
                file: context.file,
                line: text(doc, line),
                column: get(COLUMN, 3),
                message: said,
                ..Finding::default()
            });
            return;
        }
    }
    for child in doc.children(idx) {
        let key = doc.key(child);
        let mut inner = context;
        if key.contains(&b'/') || key.contains(&b'.') && key.len() > 4 {
            inner.file = key; // phpstan: {"files": {"src/a.php": {…}}}
        }
        visit(doc, child, inner, depth + 1, out);
    }
}

/// A scalar field by one of several names, here or in an object below that
/// tells the place.
fn field(doc: &Doc<'_>, idx: usize, keys: &[&[u8]], levels: usize) -> Option<usize> {
    for key in keys {
        let found = doc
            .children(idx)
            .find(|&c| doc.key(c) == *key && matches!(doc.kind(c), Kind::String | Kind::Other));
        if found.is_some() {
            return found;
        }
    }
    if levels <= 1 {
        return None;
    }
    const PLACES: &[&[u8]] = &[
        b"location",
        b"range",
        b"start",
        b"Pos",
        b"position",
        b"loc",
        b"extra",
        b"physicalLocation",
        b"region",
    ];
    doc.children(idx)
        .filter(|&c| doc.kind(c) == Kind::Object && PLACES.contains(&doc.key(c)))
        .find_map(|c| field(doc, c, keys, levels - 1))
}

/// A scalar without its quotes; `null` is empty.
fn text<'a>(doc: &Doc<'a>, idx: usize) -> &'a [u8] {
    let raw = doc.text(idx);
    match raw {
        b"null" => b"",
        _ => raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\"")).unwrap_or(raw),
    }
}

/// Adds the sum of a counter that stands in every file's entry.
fn total(doc: &Doc<'_>, key: &[u8], out: &mut Vec<u8>) {
    let sum: u64 = doc
        .children(0)
        .flat_map(|entry| doc.children(entry).filter(|&f| doc.key(f) == key).collect::<Vec<_>>())
        .filter_map(|f| std::str::from_utf8(doc.text(f)).ok()?.parse::<u64>().ok())
        .sum();
    if sum > 0 {
        out.extend_from_slice(key);
        out.extend_from_slice(format!(": {sum}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_findings_are_listed_once_with_all_places() {
        let raw = br#"[{"filePath":"/p/src/a.ts","messages":[{"ruleId":"no-var","severity":2,"message":"Unexpected var.","line":4,"column":2},
            {"ruleId":"no-var","severity":2,"message":"Unexpected var.","line":9,"column":2}],"errorCount":2},
            {"filePath":"/p/src/b.ts","messages":[{"ruleId":"no-any","severity":1,"message":"Unexpected \"any\".","line":1,"column":1}],"errorCount":0}]"#;
        let text = String::from_utf8(render(&Doc::parse(raw).unwrap(), 2000).unwrap()).unwrap();
        assert_eq!(
            text,
            "errorCount: 2\n3 findings in 2 files under /p/src/\n2 no-var Unexpected var. ×2\n  a.ts:4:2,9:2\n1 no-any Unexpected \"any\".\n  b.ts:1:1\n"
        );
    }

    #[test]
    fn nested_places_are_found() {
        let raw = br#"[{"code":"F401","filename":"/p/x.py","location":{"column":5,"row":3},"message":"`os` unused"},
            {"code":"F401","filename":"/p/y.py","location":{"column":5,"row":7},"message":"`os` unused"},
            {"code":"E1","filename":"/p/y.py","location":{"column":1,"row":1},"message":"m"}]"#;
        let text = String::from_utf8(render(&Doc::parse(raw).unwrap(), 2000).unwrap()).unwrap();
        assert!(text.contains("F401 `os` unused ×2\n  x.py:3:5\n  y.py:7:5\n"), "{text}");
        assert!(render(&Doc::parse(b"{\"a\":[1,2,3]}").unwrap(), 2000).is_none());
    }
}

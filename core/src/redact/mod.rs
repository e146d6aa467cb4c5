//! The credential filter: every way in and every way out goes through it.
//!
//! [`Filter::scrub`] replaces what it finds with `[REDACTED:name]`. Two tables
//! are its data: shapes that are known by their own looks, and words that
//! announce a value. Nothing is compiled or built at start: text without a
//! candidate costs one pass and no memory. It works on bytes, never panics,
//! reads every text in linear time, and finds nothing in its own output.

mod columns;
mod command;
mod engine;
mod extent;
mod gate;
mod join;
mod label;
mod pattern;
mod pem;
mod phrase;
mod prefilter;
mod random;
mod reference;
mod runs;
#[cfg(test)]
mod sample;
mod scan;
mod score;
mod table;
mod user;
mod value;
mod web;
mod words;

use std::fmt;
use std::ops::{Deref, Range};

use engine::Span;

pub use score::{Recall, Score, Secret};
pub use user::UserPattern;

/// Text that has passed the filter. Only this module can make one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Redacted(String);

impl Redacted {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Gives the text away, and with it the proof that it was filtered.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the bytes of `range` as filtered text; both ends move left to
    /// a character boundary and are clamped to the text.
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self(crate::text::slice(&self.0, range.start, range.end).to_owned())
    }
}

impl Deref for Redacted {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Redacted {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How often a pattern was found: all that logs and reports may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name in the marker.
    pub name: String,
    /// Number of markers put in under this name.
    pub count: usize,
}

/// A filtered text and what was hidden in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// The text with its credentials replaced.
    pub text: Redacted,
    /// Names and counts, ordered by name; empty when nothing was hidden.
    pub found: Vec<Finding>,
}

/// The built-in tables, a user's own patterns, and values that are no secret.
#[derive(Debug, Default)]
pub struct Filter {
    user: Vec<user::Rule>,
    allow: Vec<String>,
}

/// Passes over one text at most: hiding a value can bring a cue nearer to
/// another, so a text is read again until nothing new turns up.
const MAX_PASSES: usize = 8;

impl Filter {
    /// Creates a filter with the built-in tables only. Costs nothing.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Creates a filter that also knows a user's patterns, and leaves alone
    /// every value in `allow` (whole value, any case kept; a final `*` stands
    /// for any ending). Fails when a pattern is not a regular expression or a
    /// name is not made of small letters, digits and hyphens.
    pub fn new(user_patterns: &[UserPattern], allow: &[String]) -> crate::error::Result<Self> {
        let user =
            user_patterns.iter().map(user::Rule::new).collect::<crate::error::Result<_>>()?;
        Ok(Self { user, allow: allow.to_vec() })
    }

    /// Replaces the credentials in `text`.
    pub fn scrub(&self, text: &str) -> Scrubbed {
        let (bytes, found) = self.scrub_bytes(text.as_bytes());
        // Spans end on character boundaries, so this never has to repair.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Scrubbed { text: Redacted(text), found }
    }

    /// Replaces the credentials in any bytes; what is not UTF-8 passes as it is.
    pub fn scrub_bytes(&self, bytes: &[u8]) -> (Vec<u8>, Vec<Finding>) {
        let mut found = Vec::new();
        let mut text = bytes.to_vec();
        for _ in 0..MAX_PASSES {
            let spans = self.spans(&text);
            if spans.is_empty() {
                break;
            }
            text = replace(&text, &spans, &mut found);
        }
        sort_by_name(&mut found);
        (text, found)
    }

    /// Returns what would be hidden, for a report to a person: name and place
    /// of each value, in text order. Never log the text it points at.
    pub fn preview(&self, text: &str) -> Vec<(String, Range<usize>)> {
        let spans = self.spans(text.as_bytes());
        spans.iter().map(|span| (span.name.to_owned(), span.start..span.end)).collect()
    }

    /// Returns what would be hidden in `bytes`: disjoint, in text order.
    fn spans(&self, bytes: &[u8]) -> Vec<Span<'_>> {
        let mut spans: Vec<Span<'_>> = engine::find(bytes);
        user::find(&self.user, bytes, &mut spans);
        spans.retain(|span| !self.is_allowed(bytes.get(span.start..span.end).unwrap_or_default()));
        unite(bytes, spans)
    }

    fn is_allowed(&self, value: &[u8]) -> bool {
        self.allow.iter().any(|allowed| match allowed.strip_suffix('*') {
            Some(head) => value.starts_with(head.as_bytes()),
            None => value == allowed.as_bytes(),
        })
    }
}

/// Sorts a handful.
fn sort_by_name(found: &mut [Finding]) {
    for end in 1..found.len() {
        let mut at = end;
        while at > 0 && found[at - 1].name > found[at].name {
            found.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts, widens to character boundaries and joins overlapping spans.
fn unite<'n>(bytes: &[u8], mut spans: Vec<Span<'n>>) -> Vec<Span<'n>> {
    let is_inner = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    for span in &mut spans {
        while span.start > 0 && is_inner(span.start) {
            span.start -= 1;
        }
        while is_inner(span.end) {
            span.end += 1;
        }
    }
    spans.sort_unstable_by_key(|span| (span.start, span.rank, span.end, span.name));
    let mut united: Vec<Span<'n>> = Vec::with_capacity(spans.len());
    for span in spans {
        match united.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if span.rank < last.rank {
                    (last.rank, last.name) = (span.rank, span.name);
                }
            }
            _ => united.push(span),
        }
    }
    united
}

fn replace(bytes: &[u8], spans: &[Span<'_>], found: &mut Vec<Finding>) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for span in spans {
        out.extend_from_slice(bytes.get(from..span.start).unwrap_or_default());
        out.extend_from_slice(b"[REDACTED:");
        out.extend_from_slice(span.name.as_bytes());
        out.push(b']');
        from = span.end;
        match found.iter_mut().find(|finding| finding.name == span.name) {
            Some(finding) => finding.count += 1,
            None => found.push(Finding { name: span.name.to_owned(), count: 1 }),
        }
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests;

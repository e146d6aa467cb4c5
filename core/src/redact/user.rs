//! A user's own patterns from the configuration.

use regex_lite::Regex;

use super::engine::Span;
use crate::error::{Error, ErrorKind, Result};

/// A pattern as the configuration gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPattern {
    /// The name in the marker: small letters, digits and hyphens.
    pub name: String,
    /// A regular expression; group 1, where there is one, is what is hidden.
    pub pattern: String,
    /// The pattern is tried only on text that holds one of these (any case);
    /// empty tries it on every text.
    pub keywords: Vec<String>,
}

/// A user's pattern, ready to run.
#[derive(Debug)]
pub(super) struct Rule {
    name: String,
    regex: Regex,
    keywords: Vec<Vec<u8>>,
}

impl Rule {
    pub(super) fn new(pattern: &UserPattern) -> Result<Self> {
        let name = &pattern.name;
        let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if name.is_empty() || !name.bytes().all(is_name) {
            let doing =
                format!("redact pattern {name:?}: a name is small letters, digits and hyphens");
            return Err(Error::new(ErrorKind::Config, doing));
        }
        let regex = Regex::new(&pattern.pattern).map_err(|error| {
            Error::with(ErrorKind::Config, format!("redact pattern {name:?}"), error)
        })?;
        let keywords = pattern.keywords.iter().map(|word| word.to_ascii_lowercase().into_bytes());
        Ok(Self { name: name.clone(), regex, keywords: keywords.collect() })
    }

    fn is_candidate(&self, bytes: &[u8]) -> bool {
        let holds =
            |word: &Vec<u8>| bytes.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word));
        self.keywords.is_empty() || self.keywords.iter().any(|word| word.is_empty() || holds(word))
    }
}

/// Adds what the rules find in the parts of `bytes` that are UTF-8.
pub(super) fn find<'n>(rules: &'n [Rule], bytes: &[u8], spans: &mut Vec<Span<'n>>) {
    for rule in rules.iter().filter(|rule| rule.is_candidate(bytes)) {
        let mut base = 0;
        for chunk in bytes.utf8_chunks() {
            for found in rule.regex.captures_iter(chunk.valid()) {
                let Some(hidden) = found.get(1).or_else(|| found.get(0)) else { continue };
                if hidden.is_empty()
                    || found.get(0).is_some_and(|m| m.as_str().contains("[REDACTED:"))
                {
                    continue;
                }
                let (start, end) = (base + hidden.start(), base + hidden.end());
                spans.push(Span { start, end, name: &rule.name, rank: 0 });
            }
            base += chunk.valid().len() + chunk.invalid().len();
        }
    }
}

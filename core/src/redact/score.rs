//! Scores the filter on labelled notes: recall for each kind of credential,
//! false alarms for each class of harmless text. Pure; the caller reads files.

use std::collections::BTreeMap;

use super::Filter;

/// One credential in a labelled note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its kind.
    pub kind: String,
    /// The exact text.
    pub value: String,
}

/// How a kind of credential fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recall {
    /// Credentials of the kind.
    pub total: usize,
    /// Hidden to the last character.
    pub full: usize,
    /// Hidden in part.
    pub partial: usize,
}

/// The figures of a labelled set.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// By kind of credential.
    pub kinds: BTreeMap<String, Recall>,
    /// By class of harmless text: notes, and notes in which something was hidden.
    pub classes: BTreeMap<String, (usize, usize)>,
    /// What went wrong: note identifier, kind or class.
    pub misses: Vec<(String, String)>,
    /// Hidden spans of over 300 characters that hold six words or more.
    pub n_swallowed: usize,
    /// Notes in which a second run over the result finds more.
    pub n_unstable: usize,
}

impl Score {
    /// Adds a note with `secrets` in it.
    pub fn add_positive(&mut self, filter: &Filter, id: &str, text: &str, secrets: &[Secret]) {
        let spans = self.read(filter, text);
        for secret in secrets {
            let recall = self.kinds.entry(secret.kind.clone()).or_default();
            recall.total += 1;
            let mut n_left = 0;
            let mut n_bytes = 0;
            for (at, _) in text.match_indices(&secret.value) {
                let range = at..at + secret.value.len();
                n_bytes += range.len();
                n_left += range
                    .filter(|i| !spans.iter().any(|(start, end)| start <= i && i < end))
                    .count();
            }
            if n_left == 0 && n_bytes > 0 {
                recall.full += 1;
                continue;
            }
            recall.partial += usize::from(n_left < n_bytes);
            self.misses.push((id.to_owned(), secret.kind.clone()));
        }
    }

    /// Adds a note of class `class` in which nothing may be hidden.
    pub fn add_negative(&mut self, filter: &Filter, id: &str, text: &str, class: &str) {
        let is_hit = !self.read(filter, text).is_empty();
        let (total, hits) = self.classes.entry(class.to_owned()).or_default();
        *total += 1;
        *hits += usize::from(is_hit);
        if is_hit {
            self.misses.push((id.to_owned(), class.to_owned()));
        }
    }

    fn read(&mut self, filter: &Filter, text: &str) -> Vec<(usize, usize)> {
        let spans: Vec<(usize, usize)> =
            filter.spans(text.as_bytes()).iter().map(|span| (span.start, span.end)).collect();
        self.n_swallowed += spans
            .iter()
            .filter(|(start, end)| {
                let hidden = text.get(*start..*end).unwrap_or_default();
                let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
                end - start > 300 && hidden.split_whitespace().filter(is_word).count() >= 6
            })
            .count();
        let once = filter.scrub(text).text;
        self.n_unstable += usize::from(filter.scrub(&once).text != once);
        spans
    }

    /// Mean over the kinds of the share that was hidden to the last character.
    pub fn macro_recall(&self) -> f64 {
        let shares = self.kinds.values().map(|r| r.full as f64 / r.total.max(1) as f64);
        shares.sum::<f64>() / self.kinds.len().max(1) as f64
    }

    /// Share of harmless notes in which something was hidden.
    pub fn false_rate(&self) -> f64 {
        let (total, hits) =
            self.classes.values().fold((0, 0), |(t, h), (total, hits)| (t + total, h + hits));
        hits as f64 / total.max(1) as f64
    }
}

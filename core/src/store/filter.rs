//! What a note must be to be found: tags, frontmatter fields, folder, dates.

use std::collections::HashSet;

use chrono::DateTime;

use super::reader::{Reader, SkipSet};
use super::record::NoteRow;
use super::segment::{DOC_BYTES, Doc, Kind};
use crate::error::Result;
use crate::text::{fold, prefix};

/// Conditions on a note; all must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFilter {
    /// Tags it must have, each itself or one nested below it, folded.
    pub tags: Vec<String>,
    /// Its `type`.
    pub kind: Option<String>,
    /// Its `domain`.
    pub domain: Option<String>,
    /// Its `status`.
    pub status: Option<String>,
    /// A folder it lies in, at any depth.
    pub folder: Option<String>,
    /// Earliest day of its last change, ISO.
    pub since: Option<String>,
    /// Day before which it was last changed, ISO.
    pub before: Option<String>,
}

impl NoteFilter {
    /// Says whether it accepts every note.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes a condition written as `field:value`; false when it is none.
    pub fn set(&mut self, condition: &str) -> bool {
        let Some((field, value)) = condition.split_once(':') else { return false };
        if value.is_empty() {
            return false;
        }
        let text = Some(value.to_owned());
        match field {
            "tag" => self.tags.push(fold(value.trim_start_matches('#'))),
            "type" => self.kind = text,
            "domain" => self.domain = text,
            "status" => self.status = text,
            "folder" => self.folder = Some(value.trim_matches('/').to_owned()),
            "since" if is_date(value) => self.since = text,
            "before" if is_date(value) => self.before = text,
            _ => return false,
        }
        true
    }

    /// Says whether a note meets all conditions.
    pub fn accepts(&self, note: &NoteRow) -> bool {
        let is = |wanted: &Option<String>, actual: &Option<String>| {
            wanted.as_ref().is_none_or(|wanted| {
                actual.as_ref().is_some_and(|actual| fold(actual) == fold(wanted))
            })
        };
        let day = note.day();
        is(&self.kind, &note.meta.kind)
            && is(&self.domain, &note.meta.domain)
            && is(&self.status, &note.meta.status)
            && self.folder.as_ref().is_none_or(|folder| is_below(&note.path, folder))
            && self.since.as_ref().is_none_or(|since| day.as_str() >= since.as_str())
            && self.before.as_ref().is_none_or(|before| day.as_str() < before.as_str())
            && self
                .tags
                .iter()
                .all(|tag| note.meta.tags.iter().any(|own| is_tag_below(&fold(own), tag)))
    }
}

impl NoteRow {
    /// Day of the note's last change, ISO: what it says itself, else its
    /// file's time.
    pub fn day(&self) -> String {
        let stated = self.meta.updated.as_deref().or(self.meta.created.as_deref());
        match stated {
            Some(day) => prefix(day, 10).to_owned(),
            None => DateTime::from_timestamp_nanos(self.mtime_ns).format("%Y-%m-%d").to_string(),
        }
    }
}

/// Says whether a path lies in a folder, which may be given by its last parts.
fn is_below(path: &str, folder: &str) -> bool {
    let (path, folder) = (format!("/{}", fold(path)), format!("/{}/", fold(folder)));
    path.contains(&folder)
}

/// Says whether a tag is `wanted` or nested below it (`a/b` below `a`).
fn is_tag_below(tag: &str, wanted: &str) -> bool {
    tag.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Says whether `value` is a day, a month or a year in ISO form.
fn is_date(value: &str) -> bool {
    let parts: Vec<&str> = value.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    matches!(lengths[..], [4] | [4, 2] | [4, 2, 2])
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
}

impl Reader {
    /// Returns the ids of the notes that `filter` accepts.
    pub fn notes_where(&self, filter: &NoteFilter) -> Result<HashSet<i64>> {
        let mut ids = HashSet::new();
        self.each_note(|note| {
            if filter.accepts(&note) {
                ids.insert(note.id);
            }
        })?;
        Ok(ids)
    }

    /// Adds to `skip` every document whose note `keep` refuses.
    pub fn skip_unless(&self, skip: &mut SkipSet, keep: impl Fn(i64) -> bool) -> Result<()> {
        for segment in self.segments() {
            self.each_block(segment, Kind::Doc, |n, block| {
                let first = segment.first_doc + (n * Kind::Doc.per_block()) as u32;
                for (at, bytes) in block.as_chunks::<DOC_BYTES>().0.iter().enumerate() {
                    if !keep(Doc::from_bytes(bytes).note_id.into()) {
                        skip.insert(first + at as u32);
                    }
                }
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NoteMeta;

    fn note(path: &str, tags: &[&str], updated: Option<&str>) -> NoteRow {
        NoteRow {
            id: 1,
            path: path.into(),
            mtime_ns: 1_700_000_000_000_000_000,
            size: 0,
            hash: Vec::new(),
            meta: NoteMeta {
                kind: Some("How-To".into()),
                tags: tags.iter().map(|tag| (*tag).into()).collect(),
                updated: updated.map(Into::into),
                ..NoteMeta::default()
            },
            first_chunk: 1,
            n_chunks: 1,
        }
    }

    fn accepts(condition: &str, note: &NoteRow) -> bool {
        let mut filter = NoteFilter::default();
        assert!(filter.set(condition), "{condition}");
        filter.accepts(note)
    }

    #[test]
    fn conditions_hold_for_what_they_name_and_what_lies_below() {
        let note = note("01-Projects/Web/a.md", &["lang/Rust"], Some("2025-03-04T10:00"));
        for yes in [
            "tag:lang",
            "tag:#lang/rust",
            "type:how-to",
            "folder:web",
            "since:2025",
            "folder:01-projects/web",
            "since:2025-03-04",
            "before:2025-03-05",
        ] {
            assert!(accepts(yes, &note), "{yes}");
        }
        for no in [
            "tag:la",
            "tag:lang/rustic",
            "type:how",
            "folder:we",
            "status:done",
            "since:2025-03-05",
            "before:2025-03-04",
            "folder:a.md",
        ] {
            assert!(!accepts(no, &note), "{no}");
        }
    }

    #[test]
    fn a_note_without_a_date_has_that_of_its_file() {
        let note = note("a.md", &[], None);
        assert_eq!(note.day(), "2023-11-14");
        assert!(accepts("since:2023-11", &note) && !accepts("since:2024", &note));
    }
}

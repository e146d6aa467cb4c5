//! The vault as agents may see it: the four tools without the protocol.
//!
//! The index is opened anew for each call, which costs a millisecond and makes
//! calls independent of each other and of the indexer; the model stays open.

use std::path::PathBuf;
use std::sync::OnceLock;

use postil_core::config::Config;
use postil_core::embed::Embedder;
use postil_core::error::{Error, ErrorKind, Result};
use postil_core::recall::budget::{Limits, cut};
use postil_core::recall::render::{self, defused, render};
use postil_core::recall::{Answer, Options, Query, parse, recall};
use postil_core::redact::Filter;
use postil_core::store::{NoteFilter, NoteRow, Opened, Reader};
use postil_core::text::n_tokens;

use crate::shape::{Context, Entry, Found, GetContext, ListNotes, Listed, Passage, Search};

/// Longest text of one passage of `search`, in bytes; `read_note` has the rest.
const MAX_PASSAGE_BYTES: usize = 2_400;

/// An answer that is no answer: what is wrong, and what to do instead.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Short name for programs.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) suggestion: String,
}

impl Failure {
    pub(crate) fn new(
        code: &'static str,
        message: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Self {
        Self { code, message: message.into(), suggestion: suggestion.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (code, suggestion) = match error.kind() {
            ErrorKind::Store => ("index", "ask the user to run `postil index`"),
            ErrorKind::Config => ("config", "ask the user to run `postil doctor`"),
            _ => ("failed", "try again; if it persists, ask the user to run `postil doctor`"),
        };
        Self::new(code, error.to_string(), suggestion)
    }
}

/// The open vault.
pub(crate) struct Notes {
    pub(crate) config: Config,
    pub(crate) filter: Filter,
    pub(crate) max_tokens: usize,
    embedder: OnceLock<Option<Embedder>>,
}

impl Notes {
    /// Checks the configuration; index and model may come later.
    pub(crate) fn open(config: Config, max_tokens: usize) -> Result<Self> {
        let filter = config.filter()?;
        Ok(Self { config, filter, max_tokens, embedder: OnceLock::new() })
    }

    /// Opens what the first answer needs, so that it is as quick as the others.
    pub(crate) fn warm(&self) {
        if let Ok(reader) = self.reader() {
            let _ = recall(&reader, self.embedder(), &Query::plain("warm"), &Options::default());
        }
    }

    pub(crate) fn reader(&self) -> std::result::Result<Box<Reader>, Failure> {
        let db = &self.config.paths.index;
        match Reader::open(db)? {
            Opened::Ready(reader) => Ok(reader),
            Opened::Absent | Opened::Foreign => Err(Failure::new(
                "index",
                format!("there is no index at {}", db.display()),
                "ask the user to run `postil index`",
            )),
        }
    }

    pub(crate) fn root(&self, reader: &Reader) -> std::result::Result<PathBuf, Failure> {
        match &self.config.vault {
            Some(vault) => Ok(vault.clone()),
            None => reader.meta("vault")?.map(PathBuf::from).ok_or_else(|| {
                Failure::new(
                    "config",
                    "no vault is configured",
                    "ask the user to run `postil init`",
                )
            }),
        }
    }

    /// Words alone are better than nothing.
    fn embedder(&self) -> Option<&Embedder> {
        let open =
            || Embedder::open(&self.config.paths.model, &self.config.tables()).ok().flatten();
        self.embedder.get_or_init(open).as_ref()
    }

    /// Says whether agents may see a note.
    pub(crate) fn allows(&self, note: &NoteRow) -> bool {
        note.meta.for_agents && !self.is_excluded(&note.path)
    }

    /// Says whether a path lies in a folder that agents never see.
    pub(crate) fn is_excluded(&self, path: &str) -> bool {
        let folders = self.config.inject.excluded.iter().chain(&self.config.excluded);
        folders.into_iter().any(|folder| {
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// Filters a text on its way out.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.filter.scrub(text).text.into_string()
    }

    fn recall(&self, query: &str, limit: usize) -> std::result::Result<Answer, Failure> {
        if query.trim().is_empty() {
            return Err(Failure::new("input", "the query is empty", "say what to look for"));
        }
        let reader = self.reader()?;
        // Excluded folders are few: ask for more and drop theirs.
        let options = Options { limit: limit * 2, for_agents: true, ..Options::default() };
        let mut answer = recall(&reader, self.embedder(), &parse(query), &options)?;
        answer.hits.retain(|hit| self.allows(&hit.note));
        // Conditions alone ask for no meaning.
        if !parse(query).text.trim().is_empty() && answer.is_beside_the_point(&reader)? {
            answer.hits.clear();
        }
        answer.hits.truncate(limit);
        Ok(answer)
    }

    pub(crate) fn search(&self, args: &Search) -> std::result::Result<Found, Failure> {
        let limit = args.limit.unwrap_or(8).clamp(1, 50);
        let answer = self.recall(&args.query, limit)?;
        let mut left = self.max_tokens;
        let mut is_truncated = false;
        let mut passages = Vec::new();
        for hit in &answer.hits {
            let text = defused(&self.scrub(&hit.chunk.text));
            let shown = cut(&text, MAX_PASSAGE_BYTES.min(left * 3));
            is_truncated |= shown.len() < text.len();
            if left < 100 {
                is_truncated = true;
                break;
            }
            let passage = Passage {
                path: hit.note.path.clone(),
                title: self.scrub(&hit.note.meta.title),
                heading: self.scrub(&hit.chunk.heading),
                line: hit.chunk.line,
                date: hit.note.day(),
                tags: hit.note.meta.tags.clone(),
                score: hit.score,
                text: shown,
            };
            // What JSON and the other fields take.
            left = left.saturating_sub(n_tokens(&passage.text) + 80);
            passages.push(passage);
        }
        let suggestion = passages.is_empty().then(|| {
            "no note bears on this; try other words, fewer conditions, or list_notes".to_owned()
        });
        Ok(Found { passages, is_truncated, suggestion })
    }

    pub(crate) fn context(&self, args: &GetContext) -> std::result::Result<Context, Failure> {
        let tokens = args.max_tokens.unwrap_or(self.config.inject.prompt_tokens);
        let tokens = tokens.clamp(200, self.max_tokens);
        let answer = self.recall(&args.query, 12)?;
        let passages: Vec<render::Passage> =
            answer.hits.iter().map(render::Passage::from).collect();
        let limits = Limits { utf16: tokens * 3, passages: 10, ..Limits::tokens(tokens) };
        let shown = render(None, &passages, limits);
        let block = self.scrub(&shown.text);
        Ok(Context { n_tokens: n_tokens(&block), n_passages: shown.shown.len(), block })
    }

    pub(crate) fn list(&self, args: &ListNotes) -> std::result::Result<Listed, Failure> {
        let filter = filter(args)?;
        let reader = self.reader()?;
        let mut notes = self.visible(&reader, &filter)?;
        notes.sort_by(|a, b| b.day().cmp(&a.day()).then_with(|| a.path.cmp(&b.path)));
        let offset = args.offset.unwrap_or(0);
        let limit = args.limit.unwrap_or(100).clamp(1, 500);
        let n_notes = notes.len();
        let mut left = self.max_tokens;
        let mut entries: Vec<Entry> = Vec::new();
        for note in notes.into_iter().skip(offset).take(limit) {
            let entry = Entry {
                title: self.scrub(&note.meta.title),
                date: note.day(),
                kind: note.meta.kind,
                tags: note.meta.tags,
                path: note.path,
            };
            let size = entry.path.len() + entry.title.len() + entry.tags.concat().len();
            let tokens = size / 3 + 25;
            if tokens > left && !entries.is_empty() {
                break;
            }
            left = left.saturating_sub(tokens);
            entries.push(entry);
        }
        let next = offset + entries.len();
        Ok(Listed { notes: entries, n_notes, next_offset: (next < n_notes).then_some(next) })
    }

    /// Returns the notes that agents may see and that meet the conditions.
    pub(crate) fn visible(
        &self,
        reader: &Reader,
        filter: &NoteFilter,
    ) -> std::result::Result<Vec<NoteRow>, Failure> {
        let mut notes = Vec::new();
        reader.each_note(|note| {
            if self.allows(&note) && filter.accepts(&note) {
                notes.push(note);
            }
        })?;
        Ok(notes)
    }
}

fn filter(args: &ListNotes) -> std::result::Result<NoteFilter, Failure> {
    let mut filter = NoteFilter::default();
    let conditions = [
        ("folder", &args.folder),
        ("tag", &args.tag),
        ("type", &args.kind),
        ("domain", &args.domain),
        ("status", &args.status),
        ("since", &args.since),
        ("before", &args.before),
    ];
    for (name, value) in conditions {
        // Agents fill what they do not mean with an empty text.
        let Some(value) = value.as_deref().filter(|value| !value.is_empty()) else { continue };
        if !filter.set(&format!("{name}:{value}")) {
            return Err(Failure::new(
                "input",
                format!("{name}: {value:?} is not understood"),
                "days are written 2026, 2026-03 or 2026-03-01",
            ));
        }
    }
    Ok(filter)
}

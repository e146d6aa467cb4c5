//! Expected against found, line by line.

use postil_core::ingest::resolve::is_file;
use postil_core::store::{Opened, Reader};
use serde_json::Value;

use super::cases::Expect::{
    self, Aliases, AtMost, Backlinks, Chunks, Created, Description, Found, Has, Headings, Lacks,
    Links, Missing, NotOdd, NotSkipped, Odd, Orphan, Skipped, Tags, Title,
};
use crate::harness::World;

/// Compares, prints each line, and fails at the end.
pub(super) struct Table<'a> {
    world: &'a World,
    report: &'a Value,
    reader: Box<Reader>,
    n: usize,
    wrong: Vec<String>,
}

impl<'a> Table<'a> {
    pub(super) fn new(world: &'a World, report: &'a Value) -> Self {
        let Opened::Ready(reader) = Reader::open(&world.index_file()).unwrap() else {
            panic!("no index");
        };
        Self { world, report, reader, n: 0, wrong: Vec::new() }
    }

    pub(super) fn check(&mut self, case: &str, expected: &[Expect]) {
        for expected in expected {
            let (what, wanted, found) = self.compare(expected);
            self.line(case, &what, &wanted, &found);
        }
    }

    /// One more line, of anything that has a text.
    pub(super) fn equal(&mut self, case: &str, what: &str, wanted: &str, found: &str) {
        self.line(case, what, &[wanted.to_owned()], &[found.to_owned()]);
    }

    fn line(&mut self, case: &str, what: &str, wanted: &[String], found: &[String]) {
        let is_right = wanted == found;
        let mark = if is_right { "ok   " } else { "WRONG" };
        let line = format!("{mark} {case}: {what}: expected {wanted:?}, found {found:?}");
        println!("{line}");
        self.n += 1;
        if !is_right {
            self.wrong.push(line);
        }
    }

    pub(super) fn end(self) {
        println!("{} expectations, {} wrong", self.n, self.wrong.len());
        assert!(self.wrong.is_empty(), "\n{}", self.wrong.join("\n"));
    }

    fn compare(&self, expected: &Expect) -> (String, Vec<String>, Vec<String>) {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match expected {
            Found(word, notes) => {
                let mut wanted: Vec<String> = owned(notes);
                wanted.sort();
                (format!("search {word}"), wanted, self.search(word))
            }
            Title(path, title) => (
                format!("title of {path}"),
                owned(&[title]),
                self.of(path, |note| vec![note.title]),
            ),
            Tags(path, tags) => {
                (format!("tags of {path}"), owned(tags), self.of(path, |note| note.tags))
            }
            Aliases(path, aliases) => {
                (format!("aliases of {path}"), owned(aliases), self.of(path, |note| note.aliases))
            }
            Created(path, day) => {
                let found = self.of(path, |note| vec![note.created.unwrap_or("-".into())]);
                (format!("day of {path}"), owned(&[day]), found)
            }
            Description(path, text) => {
                let found = self.of(path, |note| vec![note.description.unwrap_or("-".into())]);
                (format!("description of {path}"), owned(&[text]), found)
            }
            AtMost(path, most) => {
                let n = self.chunks(path).len();
                let wanted = format!("at most {most} chunks");
                let found = if n > 0 && n <= *most { wanted.clone() } else { n.to_string() };
                (format!("chunks of {path}"), vec![wanted], vec![found])
            }
            Odd(path, text) => {
                let found = self.odd(path);
                let is_told = found.iter().any(|line| line.contains(text));
                let found = if is_told { vec![(*text).to_owned()] } else { found };
                (format!("told of {path}"), owned(&[text]), found)
            }
            NotOdd(path) => (format!("told of {path}"), Vec::new(), self.odd(path)),
            Orphan(path, is_orphan) => {
                let found = self.reader.orphans().unwrap().iter().any(|orphan| orphan == path);
                (format!("{path} an orphan"), vec![is_orphan.to_string()], vec![found.to_string()])
            }
            Missing(path, targets) => {
                (format!("missing targets of {path}"), owned(targets), self.missing(path))
            }
            Headings(path, headings) => {
                let mut found: Vec<String> =
                    self.chunks(path).into_iter().map(|chunk| chunk.heading).collect();
                found.dedup();
                (format!("headings of {path}"), owned(headings), found)
            }
            Links(path, targets) => (format!("links of {path}"), owned(targets), self.links(path)),
            Backlinks(path, sources) => {
                (format!("links to {path}"), owned(sources), self.backlinks(path))
            }
            Skipped(path, reason) => {
                let found = self
                    .skipped(path)
                    .map(|found| if found.contains(reason) { (*reason).to_owned() } else { found });
                (format!("{path} skipped"), owned(&[reason]), found.into_iter().collect())
            }
            NotSkipped(path) => {
                (format!("{path} skipped"), Vec::new(), self.skipped(path).into_iter().collect())
            }
            Has(path, text) => {
                let has = self.chunks(path).iter().any(|chunk| chunk.text.contains(text));
                let found = if has { vec![(*text).to_owned()] } else { Vec::new() };
                (format!("{text:?} in {path}"), owned(&[text]), found)
            }
            Lacks(path, text) => {
                let has = self.chunks(path).iter().any(|chunk| chunk.text.contains(text));
                let found = if has { vec![(*text).to_owned()] } else { Vec::new() };
                (format!("{text:?} in {path}"), Vec::new(), found)
            }
            Chunks(path, least) => {
                let chunks = self.chunks(path);
                let longest = chunks.iter().map(|chunk| chunk.text.chars().count()).max();
                let is_right = chunks.len() >= *least && longest.is_some_and(|n| n <= 4_100);
                let found = format!("{} chunks, longest {longest:?}", chunks.len());
                let wanted = format!("at least {least} chunks of at most 4100 characters");
                let found = if is_right { wanted.clone() } else { found };
                (format!("chunks of {path}"), vec![wanted], vec![found])
            }
        }
    }

    /// The notes that a search for the word finds, sorted.
    fn search(&self, word: &str) -> Vec<String> {
        let run = self.world.run("search", &["--json", "--limit", "20", word], "");
        let mut paths: Vec<String> = match run.json() {
            Value::Array(hits) => {
                hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
            }
            other => panic!("no array: {other}"),
        };
        paths.sort();
        paths.dedup();
        paths
    }

    fn note(&self, path: &str) -> Option<postil_core::store::NoteRow> {
        self.reader.note_at(path).unwrap()
    }

    fn of(
        &self,
        path: &str,
        field: impl FnOnce(postil_core::model::NoteMeta) -> Vec<String>,
    ) -> Vec<String> {
        self.note(path).map_or_else(|| vec!["(no such note)".into()], |note| field(note.meta))
    }

    fn chunks(&self, path: &str) -> Vec<postil_core::store::ChunkRow> {
        let Some(note) = self.note(path) else { return Vec::new() };
        let ids = note.first_chunk..note.first_chunk + i64::from(note.n_chunks);
        ids.map(|id| self.reader.chunk(id).unwrap().unwrap()).collect()
    }

    fn path_of(&self, id: i64) -> String {
        self.reader.note(id).unwrap().unwrap().path
    }

    fn links(&self, path: &str) -> Vec<String> {
        let Some(note) = self.note(path) else { return vec!["(no such note)".into()] };
        let links = self.reader.links_from(note.id).unwrap();
        links
            .iter()
            .map(|link| link.to_note.map_or_else(|| "-".to_owned(), |id| self.path_of(id)))
            .collect()
    }

    fn missing(&self, path: &str) -> Vec<String> {
        let unresolved = self.reader.unresolved().unwrap().into_iter();
        let own = unresolved.filter(|(from, _, target)| from == path && !is_file(target));
        own.map(|(_, _, target)| target).collect()
    }

    fn odd(&self, path: &str) -> Vec<String> {
        let odd = self.report["odd"].as_array().unwrap().iter();
        let own = odd.filter(|item| item["path"] == path);
        own.map(|item| item["what"].as_str().unwrap().to_owned()).collect()
    }

    fn backlinks(&self, path: &str) -> Vec<String> {
        let Some(note) = self.note(path) else { return vec!["(no such note)".into()] };
        let links = self.reader.links_to(note.id).unwrap();
        let mut sources: Vec<String> =
            links.iter().map(|link| self.path_of(link.note_id)).collect();
        sources.sort();
        sources.dedup();
        sources
    }

    fn skipped(&self, path: &str) -> Option<String> {
        let skipped = self.report["skipped"].as_array().unwrap();
        let item = skipped.iter().find(|item| item["path"] == path)?;
        Some(item["reason"].as_str().unwrap().to_owned())
    }
}

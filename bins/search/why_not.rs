//! Why a note is not among the passages, step by step, as the search itself
//! goes: indexed, filtered, found, ranked, cut off.

use std::collections::HashSet;
use std::path::Path;

use postil_cli::is_called;
use postil_core::analyse;
use postil_core::error::Result;
use postil_core::ingest::{key, source};
use postil_core::model::Language;
use postil_core::recall::{Options, Query, recall};
use postil_core::store::{NoteFilter, NoteRow};

use crate::args::Args;
use crate::vault::{Vault, relative};

/// How far down the ranking is looked.
const DEEP: usize = 1_000;

/// Answers for the note that is called `name`.
pub(crate) fn why_not(vault: &Vault, args: &Args, name: &str) -> Result<String> {
    let name = relative(name, vault.root.as_deref());
    let mut notes = Vec::new();
    vault.reader.each_note(|note| {
        if is_called(&note.path, &note.meta.title, &name) {
            notes.push(note);
        }
    })?;
    if notes.is_empty() {
        return not_indexed(vault, &name);
    }
    let mut text = String::new();
    for note in &notes {
        let reason = reason(vault, args, note)?;
        text.push_str(&vault.scrub(&format!("{}: {reason}\n", note.path)));
    }
    Ok(text)
}

fn reason(vault: &Vault, args: &Args, note: &NoteRow) -> Result<String> {
    let query = &args.query;
    if !query.filter.accepts(note) {
        return Ok(format!("filtered: {}", refused(&query.filter, note)));
    }
    let options = crate::options(args);
    if options.for_agents && !note.meta.for_agents {
        return Ok("filtered: it says `agent: false`".to_owned());
    }
    let deep = Options { limit: DEEP, ..options.clone() };
    let answer = recall(&vault.reader, vault.embedder.as_ref(), query, &deep)?;
    let shown = recall(&vault.reader, vault.embedder.as_ref(), query, &options)?;
    if crate::is_beside_the_point(vault, args, &shown)? {
        return Ok("nothing bears on the query; --all shows what is least far from it".to_owned());
    }
    if let Some(at) = shown.hits.iter().position(|hit| hit.note.id == note.id) {
        let line = shown.hits[at].chunk.line;
        return Ok(format!("it is there: passage {} (line {line})", at + 1));
    }
    if let Some(at) = answer.hits.iter().position(|hit| hit.note.id == note.id) {
        let hit = &answer.hits[at];
        let last = shown.hits.last().map_or(0.0, |hit| hit.score);
        return Ok(format!(
            "below the cut-off: passage {} with a score of {:.3}, of {} shown down to {last:.3}; \
             its best passage is at line {} ({})",
            at + 1,
            hit.score,
            shown.hits.len(),
            hit.chunk.line,
            crate::explain::hit(hit),
        ));
    }
    let bare = Query { text: query.text.clone(), filter: query.filter.clone(), ..Query::default() };
    if bare != *query {
        let without = recall(&vault.reader, vault.embedder.as_ref(), &bare, &deep)?;
        if without.hits.iter().any(|hit| hit.note.id == note.id) {
            return Ok(format!("filtered: {}", phrases(query)));
        }
    }
    no_match(vault, query, note, answer.language)
}

/// Names the conditions that the note does not meet.
fn refused(filter: &NoteFilter, note: &NoteRow) -> String {
    let one = |set: &dyn Fn(&mut NoteFilter)| {
        let mut single = NoteFilter::default();
        set(&mut single);
        single.accepts(note)
    };
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let mut failed = Vec::new();
    for tag in &filter.tags {
        if !one(&|single| single.tags.push(tag.clone())) {
            failed.push(format!("tag:{tag}, it has {}", listed(&note.meta.tags)));
        }
    }
    if !one(&|single| single.kind.clone_from(&filter.kind)) {
        failed.push(format!("type:{}, its is {}", or_none(&filter.kind), or_none(&note.meta.kind)));
    }
    if !one(&|single| single.domain.clone_from(&filter.domain)) {
        let own = or_none(&note.meta.domain);
        failed.push(format!("domain:{}, its is {own}", or_none(&filter.domain)));
    }
    if !one(&|single| single.status.clone_from(&filter.status)) {
        let own = or_none(&note.meta.status);
        failed.push(format!("status:{}, its is {own}", or_none(&filter.status)));
    }
    if !one(&|single| single.folder.clone_from(&filter.folder)) {
        failed.push(format!("folder:{}", or_none(&filter.folder)));
    }
    if !one(&|single| single.since.clone_from(&filter.since)) {
        failed.push(format!("since:{}, it changed on {}", or_none(&filter.since), note.day()));
    }
    if !one(&|single| single.before.clone_from(&filter.before)) {
        failed.push(format!("before:{}, it changed on {}", or_none(&filter.before), note.day()));
    }
    failed.join("; ")
}

fn phrases(query: &Query) -> String {
    let quoted = |words: &[String]| {
        words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
    };
    match (query.phrases.is_empty(), query.excluded.is_empty()) {
        (false, true) => format!("no passage of it that matches holds {}", quoted(&query.phrases)),
        (true, false) => format!("every passage that matches holds {}", quoted(&query.excluded)),
        _ => format!(
            "no passage that matches holds {} and not {}",
            quoted(&query.phrases),
            quoted(&query.excluded)
        ),
    }
}

/// Says which words of the query the note has, and how near its meaning is.
fn no_match(vault: &Vault, query: &Query, note: &NoteRow, language: Language) -> Result<String> {
    let mut held: HashSet<String> = HashSet::new();
    let mut nearest: Option<f32> = None;
    let wanted = vault.embedder.as_ref().map(|embedder| embedder.query(&query.text).vector);
    for id in note.first_chunk..note.first_chunk + i64::from(note.n_chunks) {
        let Some(chunk) = vault.reader.chunk(id)? else { continue };
        let text = format!("{}\n{}\n{}", note.meta.title, chunk.heading, chunk.text);
        analyse::terms(&text, chunk.language, &mut |term| {
            held.insert(term.to_owned());
        });
        if let (Some(embedder), Some(wanted)) = (&vault.embedder, &wanted) {
            let own = embedder.chunk(&chunk.text).vector;
            let cosine = own.iter().zip(wanted).map(|(a, b)| a * b).sum::<f32>();
            nearest = Some(nearest.map_or(cosine, |best| best.max(cosine)));
        }
    }
    let mut words: Vec<(u16, bool, String)> = Vec::new();
    for term in analyse::query(&query.text, language) {
        let is_held = held.contains(&term.term);
        match words.iter_mut().find(|word| word.0 == term.word) {
            Some(word) => word.1 |= is_held,
            None => words.push((term.word, is_held, term.term)),
        }
    }
    let of = |wanted: bool| -> Vec<String> {
        words.iter().filter(|word| word.1 == wanted).map(|word| word.2.clone()).collect()
    };
    let meaning = nearest.map_or_else(String::new, |cosine| {
        format!("; by meaning its nearest passage has a cosine of {cosine:.3}")
    });
    Ok(format!(
        "no match: of the query's words it has {}, and lacks {}{meaning}; others are nearer",
        listed(&of(true)),
        listed(&of(false)),
    ))
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The note is not in the index: because of the vault, or of the rules?
fn not_indexed(vault: &Vault, name: &str) -> Result<String> {
    let Some(root) = &vault.root else {
        return Ok(format!("{name}: not indexed, and no vault is configured to look in\n"));
    };
    let scope = source::Scope {
        allowed: vault.config.allowed.clone(),
        excluded: vault.config.excluded.clone(),
    };
    let file = root.join(key::to_path(name));
    let files = match file.is_file() {
        true => vec![name.to_owned()],
        false => files_called(root, name),
    };
    if files.is_empty() {
        return Ok(format!("{name}: no such note in {}\n", root.display()));
    }
    let walk = source::walk(root, &scope)?;
    let mut text = String::new();
    for path in files {
        let skipped = walk.skipped.iter().find(|skipped| skipped.path == path);
        let reason = match skipped {
            Some(skipped) => format!("not indexed: {}", skipped.reason),
            None if walk.files.iter().any(|file| file.path == path) => {
                "not indexed yet; run `postil index`".to_owned()
            }
            None if below(&path, &scope.excluded) => {
                "ignored: its folder is in `excluded` of config.toml".to_owned()
            }
            None if !scope.allowed.is_empty() && !below(&path, &scope.allowed) => {
                "ignored: its folder is not in `allowed` of config.toml".to_owned()
            }
            None if path.split('/').any(|part| part.starts_with('.')) => {
                "ignored: it lies in a hidden folder".to_owned()
            }
            None if !path.ends_with(".md") && !path.ends_with(".markdown") => {
                "ignored: not a Markdown note by its name".to_owned()
            }
            None => "ignored: a rule in .indexignore matches it".to_owned(),
        };
        text.push_str(&vault.scrub(&format!("{path}: {reason}\n")));
    }
    Ok(text)
}

fn below(path: &str, folders: &[String]) -> bool {
    folders.iter().any(|folder| {
        path.strip_prefix(folder.trim_matches('/')).is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Looks through all files of the vault, also those the index leaves out; links
/// are not followed.
fn files_called(root: &Path, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if let Ok(inside) = path.strip_prefix(root) {
                let inside = key::of(inside);
                if is_called(&inside, "", name) {
                    found.push(inside);
                }
            }
        }
    }
    found.sort();
    found
}

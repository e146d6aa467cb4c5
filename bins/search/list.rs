//! `list docs|tags|stats`: what is in the index, without a question.

use std::collections::BTreeMap;

use postil_core::error::Result;
use postil_core::store::NoteRow;
use serde_json::{Value, json};

use crate::args::{Args, Form, List};
use crate::vault::Vault;

/// Returns the list and how many entries it has.
pub(crate) fn list(vault: &Vault, args: &Args, list: List) -> Result<(String, usize)> {
    let mut notes = Vec::new();
    vault.reader.each_note(|note| {
        if args.query.filter.accepts(&note) {
            notes.push(note);
        }
    })?;
    match list {
        List::Docs => docs(vault, args, notes),
        List::Tags => tags(vault, args, &notes),
        List::Stats => stats(vault, args, &notes),
    }
}

fn docs(vault: &Vault, args: &Args, mut notes: Vec<NoteRow>) -> Result<(String, usize)> {
    let n = notes.len();
    let text = match args.form {
        Form::Json => {
            let docs: Vec<Value> = notes.iter().map(doc).collect();
            format!("{}\n", Value::from(docs))
        }
        Form::Names => notes.iter().map(|note| format!("{}\n", note.path)).collect(),
        _ => {
            notes.sort_by(|a, b| b.day().cmp(&a.day()).then_with(|| a.path.cmp(&b.path)));
            let line = |note: &NoteRow| {
                let chunks = note.n_chunks;
                format!("{}  {chunks:>4}  {}  {}\n", note.day(), note.path, note.meta.title)
            };
            notes.iter().map(line).collect()
        }
    };
    Ok((vault.scrub(&text), n))
}

fn doc(note: &NoteRow) -> Value {
    json!({
        "path": note.path,
        "title": note.meta.title,
        "type": note.meta.kind,
        "domain": note.meta.domain,
        "status": note.meta.status,
        "tags": note.meta.tags,
        "aliases": note.meta.aliases,
        "date": note.day(),
        "chunks": note.n_chunks,
    })
}

fn tags(vault: &Vault, args: &Args, notes: &[NoteRow]) -> Result<(String, usize)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for tag in notes.iter().flat_map(|note| &note.meta.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    let mut tags: Vec<(&str, u64)> = counts.into_iter().collect();
    tags.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let n = tags.len();
    let text = match args.form {
        Form::Json => {
            let tags: Vec<Value> =
                tags.iter().map(|(tag, n)| json!({"tag": tag, "notes": n})).collect();
            format!("{}\n", Value::from(tags))
        }
        Form::Names => tags.iter().map(|(tag, _)| format!("{tag}\n")).collect(),
        _ => tags.iter().map(|(tag, n)| format!("{n:>6}  #{tag}\n")).collect(),
    };
    Ok((vault.scrub(&text), n))
}

/// Counts of one field of the notes, the most frequent first.
fn counts<'a>(values: impl Iterator<Item = &'a str>) -> Vec<(&'a str, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    counts
}

fn stats(vault: &Vault, args: &Args, notes: &[NoteRow]) -> Result<(String, usize)> {
    let (mut n_links, mut n_broken, mut n_chunks) = (0_u64, 0_u64, 0_u64);
    for note in notes {
        n_chunks += u64::from(note.n_chunks);
        for link in vault.reader.links_from(note.id)? {
            n_links += 1;
            n_broken += u64::from(link.to_note.is_none() && !link.link.is_embed);
        }
    }
    let index = &vault.config.paths.index;
    let bytes = std::fs::metadata(index).map_or(0, |meta| meta.len());
    let model = vault.reader.meta("model")?.filter(|model| !model.is_empty());
    let top =
        |note: &NoteRow| note.path.split_once('/').map_or("", |(folder, _)| folder).to_owned();
    let folders: Vec<String> = notes.iter().map(top).collect();
    let fields = [
        ("folders", counts(folders.iter().map(String::as_str).filter(|name| !name.is_empty()))),
        ("types", counts(notes.iter().filter_map(|note| note.meta.kind.as_deref()))),
        ("domains", counts(notes.iter().filter_map(|note| note.meta.domain.as_deref()))),
        ("tags", counts(notes.iter().flat_map(|note| note.meta.tags.iter().map(String::as_str)))),
    ];
    if args.form == Form::Json {
        let mut value = json!({
            "vault": vault.root,
            "index": index,
            "index_bytes": bytes,
            "model": model,
            "segments": vault.reader.n_segments(),
            "notes": notes.len(),
            "chunks": n_chunks,
            "links": n_links,
            "broken_links": n_broken,
        });
        for (name, counts) in fields {
            let counts = counts.into_iter().map(|(key, n)| (key.to_owned(), n.into()));
            value[name] = Value::Object(counts.collect());
        }
        return Ok((vault.scrub(&format!("{value}\n")), notes.len()));
    }
    let mut text = String::new();
    if let Some(root) = &vault.root {
        text.push_str(&format!("vault     {}\n", root.display()));
    }
    text.push_str(&format!("index     {} ({:.1} MB)\n", index.display(), bytes as f64 / 1e6));
    text.push_str(&format!("model     {}\n", model.as_deref().unwrap_or("none: words only")));
    text.push_str(&format!("notes     {} in {n_chunks} passages\n", notes.len()));
    text.push_str(&format!("links     {n_links}, {n_broken} of them to no note\n"));
    for (name, counts) in fields {
        let shown: Vec<String> =
            counts.iter().take(8).map(|(key, n)| format!("{key} ({n})")).collect();
        let more = counts.len().saturating_sub(8);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
        text.push_str(&format!("{name:<9} {shown}{more}\n"));
    }
    Ok((vault.scrub(&text), notes.len()))
}

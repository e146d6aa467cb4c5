//! Passages as a person reads them in a terminal.

use postil_cli::is_called;
use postil_core::error::Result;
use postil_core::recall::{Answer, Hit};

use crate::args::Args;
use crate::explain;
use crate::highlight::Highlight;
use crate::screen::{Role, Screen, printable};
use crate::snippet;
use crate::vault::{Vault, relative};

/// Tags shown with a passage.
const MAX_TAGS: usize = 5;

/// Indent of what belongs to a passage.
const INDENT: &str = "   ";

/// Renders all passages.
pub(crate) fn listing(answer: &Answer, vault: &Vault, args: &Args, screen: &Screen) -> String {
    let highlight = Highlight::new(&args.query.text, answer.language);
    let mut text = String::new();
    if args.explain && !answer.hits.is_empty() {
        text.push_str(&screen.paint(Role::Dim, &explain::weights(answer, args, vault)));
        text.push_str("\n\n");
    }
    for (idx, hit) in answer.hits.iter().enumerate() {
        if idx > 0 {
            text.push('\n');
        }
        text.push_str(&passage(idx + 1, hit, &highlight, vault, args, screen));
    }
    text
}

fn passage(
    number: usize,
    hit: &Hit,
    highlight: &Highlight,
    vault: &Vault,
    args: &Args,
    screen: &Screen,
) -> String {
    let width = screen.width - INDENT.len() - 2;
    let language = hit.chunk.language;
    let rows = snippet::rows(&printable(&hit.chunk.text), highlight, language, width, args.full);
    let line = snippet::line_of(vault, hit, &rows, highlight);
    let path = vault.shown(&hit.note.path);
    let mut text =
        format!("{number}. {}{}\n", screen.paint(Role::Title, &name(hit)), facts(hit, screen));
    text.push_str(&format!(
        "{INDENT}{}:{}{}\n",
        screen.paint(Role::Path, &printable(&path)),
        screen.paint(Role::Line, &line.to_string()),
        screen.paint(Role::Dim, state(hit, vault)),
    ));
    if args.explain {
        text.push_str(&format!("{INDENT}{}\n", screen.paint(Role::Dim, &explain::hit(hit))));
    }
    for row in rows {
        let lit = lit(&row.text, highlight, hit, screen);
        text.push_str(format!("{INDENT}{} {lit}", screen.paint(Role::Dim, "│")).trim_end());
        text.push('\n');
    }
    text
}

/// `note › heading`; the title once.
pub(crate) fn name(hit: &Hit) -> String {
    let (title, heading) = (hit.note.meta.title.as_str(), hit.chunk.heading.as_str());
    let name = match heading.strip_prefix(title) {
        _ if heading.is_empty() => title.to_owned(),
        Some(rest) if rest.is_empty() || rest.starts_with(" › ") => heading.to_owned(),
        _ => format!("{title} › {heading}"),
    };
    printable(&name).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn facts(hit: &Hit, screen: &Screen) -> String {
    let mut text = format!("  {}", screen.paint(Role::Dim, &hit.note.day()));
    for tag in hit.note.meta.tags.iter().take(MAX_TAGS) {
        text.push(' ');
        text.push_str(&screen.paint(Role::Tag, &format!("#{}", printable(tag))));
    }
    text
}

/// What happened to the note since it was indexed.
fn state(hit: &Hit, vault: &Vault) -> &'static str {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(meta) = std::fs::metadata(vault.file(&hit.note.path)) else {
        return "  (gone since it was indexed)";
    };
    let mtime_ns = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
    if mtime_ns == hit.note.mtime_ns { "" } else { "  (edited since it was indexed)" }
}

/// Lights up the words of the query in one row.
fn lit(row: &str, highlight: &Highlight, hit: &Hit, screen: &Screen) -> String {
    if !screen.has_color {
        return row.to_owned();
    }
    let mut text = String::new();
    let mut at = 0;
    for (range, _) in highlight.matches(row, hit.chunk.language) {
        text.push_str(row.get(at..range.start).unwrap_or(""));
        text.push_str(&screen.paint(Role::Match, row.get(range.clone()).unwrap_or("")));
        at = range.end;
    }
    text.push_str(row.get(at..).unwrap_or(""));
    text
}

/// Tab-separated rows for pickers: `path:line`, name, date, tags.
pub(crate) fn rows(answer: &Answer, query: &str, vault: &Vault) -> String {
    let row = |hit: &Hit| {
        let line = snippet::best_line(vault, hit, query, answer.language);
        let tags: Vec<String> = hit.note.meta.tags.iter().map(|tag| format!("#{tag}")).collect();
        let path = vault.file(&hit.note.path).display().to_string();
        let fields = [format!("{path}:{line}"), name(hit), hit.note.day(), tags.join(" ")];
        let fields = fields.map(|field| printable(&field).replace('\n', " "));
        fields.join("\t") + "\n"
    };
    answer.hits.iter().map(row).collect()
}

/// The passage that holds a line of a note, its words lit; empty if there is no
/// such note.
pub(crate) fn show(
    vault: &Vault,
    args: &Args,
    screen: &Screen,
    path: &str,
    line: u32,
) -> Result<String> {
    let path = relative(path, vault.root.as_deref());
    let mut found = vault.reader.note_at(&path)?;
    if found.is_none() {
        vault.reader.each_note(|note| {
            if found.is_none() && is_called(&note.path, &note.meta.title, &path) {
                found = Some(note);
            }
        })?;
    }
    let Some(note) = found else { return Ok(String::new()) };
    let mut held = None;
    for id in note.first_chunk..note.first_chunk + i64::from(note.n_chunks) {
        match vault.reader.chunk(id)? {
            Some(chunk) if chunk.line <= line || held.is_none() => held = Some(chunk),
            _ => {}
        }
    }
    let Some(chunk) = held else { return Ok(String::new()) };
    let mut hit = Hit::unranked(chunk, note);
    vault.scrub_hit(&mut hit);
    let language = vault.embedder.as_ref().map(|embedder| embedder.language(&args.query.text));
    let highlight = Highlight::new(&args.query.text, language.unwrap_or_default());
    let mut text = format!("{}{}\n\n", screen.paint(Role::Title, &name(&hit)), facts(&hit, screen));
    for row in printable(&hit.chunk.text).lines() {
        text.push_str(&lit(row, &highlight, &hit, screen));
        text.push('\n');
    }
    Ok(text)
}

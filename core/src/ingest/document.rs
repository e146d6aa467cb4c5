//! One note's text to what the index stores of it: what it says of itself, its
//! chunks and its links. Pure.

use serde_json::Value;

use super::{chunk, key, link, note};
use crate::model::{ChunkText, Link, NoteMeta};

/// Everything the index stores of one note.
#[derive(Debug)]
pub struct Document {
    /// What it says of itself.
    pub meta: NoteMeta,
    /// Its pieces, in order; never empty.
    pub chunks: Vec<ChunkText>,
    /// Its links, in order.
    pub links: Vec<Link>,
    /// What was ignored, and where.
    pub warnings: Vec<String>,
}

/// Takes a note apart. `note` and `stem` (its title when it has none of its
/// own) are redacted, `path` is its name in the index.
pub fn read(note: &str, path: &str, stem: &str) -> Document {
    let parsed = note::parse(note, path, stem);
    let lines = &parsed.lines;
    let chunks = chunk::chunks(note, lines, parsed.body_kind, &parsed.meta.title);
    let links = link::links(lines);
    Document { meta: parsed.meta, chunks, links, warnings: parsed.warnings }
}

/// Returns the text that stands for the file at `path`: a note's own, a
/// canvas's cards and links as Markdown.
pub fn text_of(path: &str, text: String) -> String {
    let is_canvas =
        path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("canvas"));
    if !is_canvas {
        return text;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(canvas) => canvas_text(&canvas),
        // Damaged or empty: found by its name.
        Err(_) => String::new(),
    }
}

fn canvas_text(canvas: &Value) -> String {
    let list = |name: &str| canvas.get(name).and_then(Value::as_array).into_iter().flatten();
    let field = |node: &Value, name: &str| {
        node.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
    };
    let mut cards = Vec::new();
    for node in list("nodes") {
        let file = field(node, "file");
        if !file.is_empty() {
            cards.push(format!("[[{file}{}]]", field(node, "subpath")));
        }
        cards.extend(["text", "label", "url"].map(|name| field(node, name)));
    }
    cards.extend(list("edges").map(|edge| field(edge, "label")));
    cards.retain(|card| !card.is_empty());
    cards.join("\n\n")
}

/// Returns what to call the note at `path` when nothing else does.
pub fn stem(path: &str) -> &str {
    key::stem(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canvas_is_its_cards() {
        let canvas = r##"{"nodes":[{"id":"1","type":"text","text":"A card about zebras\n\nand more"},
            {"type":"file","file":"sub/Note.md","subpath":"#H"},{"type":"group","label":"Group"}],
            "edges":[{"label":"leads to"}]}"##;
        let text = text_of("Map.canvas", canvas.to_owned());
        let document = read(&text, "Map.canvas", stem("Map.canvas"));
        assert_eq!(document.meta.title, "Map");
        assert!(document.chunks[0].text.contains("zebras"));
        assert!(document.chunks[0].text.contains("Group"));
        assert_eq!(document.links[0].target, "sub/Note.md");
        assert_eq!(document.links[0].anchor.as_deref(), Some("H"));
    }

    #[test]
    fn a_damaged_canvas_is_found_by_its_name() {
        let text = text_of("Map.canvas", "{broken".to_owned());
        let document = read(&text, "Map.canvas", stem("Map.canvas"));
        assert_eq!(document.chunks[0].text, "Map");
    }
}

//! One file of a source to one note of the vault. Pure.

use std::collections::HashMap;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::source::Entry;
use super::{folder_prefix, notion, stem_and_ext};
use crate::capture::edit::{self, Edit};
use crate::capture::note::scalar;
use crate::capture::{MAX_TEXT_BYTES, html, links, name, relative};
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::decode;

/// A converted note, not yet scrubbed.
pub(super) struct Note {
    pub(super) text: String,
    /// Images that stood in the text itself, as (file name, bytes).
    pub(super) embedded: Vec<(String, Vec<u8>)>,
}

/// Converts the bytes of `entry`. `names` maps what links say to the new names.
pub(super) fn note(
    bytes: Vec<u8>,
    entry: &Entry,
    is_html: bool,
    names: &HashMap<String, String>,
) -> Result<Note> {
    if bytes.len() > 4 * MAX_TEXT_BYTES {
        return Err(Error::new(ErrorKind::Input, "too long for a note"));
    }
    let decoded = decode::decode(bytes);
    let text = decoded.map_err(|reason| Error::new(ErrorKind::Input, reason.to_string()))?.text;
    let own = names.get(&entry.path).map_or("", String::as_str);
    let stem = stem_and_ext(own.rsplit('/').next().unwrap_or(own)).0;
    let mut embedded = Vec::new();
    let (title, text) = if is_html {
        let text_with_files = take_images(&text, stem, &mut embedded);
        (html::title(&text), html::to_markdown(&text_with_files))
    } else {
        (None, text)
    };
    let text = with_new_links(&text, entry, own, names);
    let old_stem = stem_and_ext(entry.path.rsplit('/').next().unwrap_or(&entry.path)).0;
    let is_notion = notion::without_id(old_stem) != old_stem;
    let modified = entry.modified.as_deref();
    let text = with_frontmatter(&text, title.as_deref(), stem, modified, is_notion);
    Ok(Note { text, embedded })
}

/// Adds frontmatter to a note that has none; one that is there stays as it is.
fn with_frontmatter(
    text: &str,
    title: Option<&str>,
    stem: &str,
    modified: Option<&str>,
    is_notion: bool,
) -> String {
    if edit::body_start(text) > 0 {
        return text.to_owned();
    }
    // Only where Notion's name says that it is one of its pages: elsewhere
    // such lines are prose.
    let page = is_notion.then(|| notion::page(text)).flatten();
    let (own_title, properties, body) = match &page {
        Some(page) => (Some(page.title.as_str()), page.properties.as_slice(), page.body.as_str()),
        None => (None, [].as_slice(), text),
    };
    let heading = body.lines().find(|line| !line.trim().is_empty());
    let heading = heading.and_then(|line| line.strip_prefix("# ")).map(name::title_of);
    let title = own_title.or(title).map(name::clean_title).or(heading);
    let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| stem.to_owned());
    let has = |key: &str| properties.iter().any(|(name, _)| name == key);
    let mut out = format!("---\ntitle: {}\ntype: note\n", scalar(&title));
    if !has("tags") {
        out.push_str("tags: []\n");
    }
    for key in ["created", "updated"].into_iter().filter(|key| !has(key)) {
        if let Some(at) = modified {
            out.push_str(&format!("{key}: {at}\n"));
        }
    }
    for (key, value) in properties.iter().filter(|(key, _)| key != "title" && key != "type") {
        out.push_str(&format!("{key}: {value}\n"));
    }
    if !has("status") {
        out.push_str("status: imported\n");
    }
    out.push_str("---\n\n");
    out.push_str(body.trim_start_matches('\n'));
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Rewrites links to other files of the source whose names changed.
fn with_new_links(text: &str, entry: &Entry, own: &str, names: &HashMap<String, String>) -> String {
    let old_folder = folder_prefix(&entry.path).trim_end_matches('/');
    let new_folder = folder_prefix(own).trim_end_matches('/');
    let mut edits = Vec::new();
    for target in links::targets(text) {
        if target.is_wiki {
            // By name alone, which changes only with Notion's ids, and Notion
            // writes no wiki-links.
            continue;
        }
        let old = links::normal(&Path::new(old_folder).join(&target.text));
        let Some(old) = old.map(|old| relative(Path::new(""), &old)) else { continue };
        let Some(new) = names.get(&old) else { continue };
        let path = links::relative_path(new_folder, new);
        let path = if target.is_angled { path } else { links::encoded(&path) };
        if text.get(target.range.clone()) != Some(path.as_str()) {
            edits.push(Edit::new(text, target.range, path));
        }
    }
    edit::apply(text, &edits).unwrap_or_else(|| text.to_owned())
}

/// Moves images that stand in the HTML as `data:` URLs into files beside the
/// note, as Apple Notes' exporters write them.
fn take_images(html: &str, stem: &str, embedded: &mut Vec<(String, Vec<u8>)>) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, after)) = rest.split_once("data:image/") {
        out.push_str(before);
        let quote = before.chars().next_back().filter(|c| matches!(c, '"' | '\''));
        let end = quote.and_then(|quote| after.find(quote));
        let image = end.and_then(|end| image(after.get(..end)?));
        match (image, end) {
            (Some((ext, bytes)), Some(end)) => {
                let file = format!("{stem} {}.{ext}", embedded.len() + 1);
                out.push_str(&links::encoded(&file));
                embedded.push((file, bytes));
                rest = after.get(end..).unwrap_or("");
            }
            _ => {
                out.push_str("data:image/");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Decodes `png;base64,…`.
fn image(data: &str) -> Option<(&'static str, Vec<u8>)> {
    let (kind, encoded) = data.split_once(";base64,")?;
    let ext = match kind {
        "png" => "png",
        "jpeg" | "jpg" => "jpg",
        "gif" => "gif",
        "webp" => "webp",
        "heic" => "heic",
        "tiff" => "tiff",
        "svg+xml" => "svg",
        _ => return None,
    };
    let encoded: String = encoded.chars().filter(|c| !c.is_whitespace()).collect();
    BASE64_STANDARD.decode(encoded).ok().map(|bytes| (ext, bytes))
}

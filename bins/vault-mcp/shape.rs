//! What the tools take and give; the schemas that agents see are made of these.

use rmcp::schemars::transform::transform_subschemas;
use rmcp::schemars::{self, JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// Takes out the formats that say how Rust holds a number: JSON Schema knows none of
/// them, and strict clients complain of each.
fn plain(schema: &mut Schema) {
    let is_rusts = |format: &str| format.starts_with("uint") || format.starts_with("int");
    let format = schema.get("format").and_then(|format| format.as_str());
    if format.is_some_and(|format| is_rusts(format) || matches!(format, "float" | "double")) {
        schema.remove("format");
    }
    transform_subschemas(&mut plain, schema);
}

/// Arguments of `search`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// What to look for, in any words and in any language of the notes. May hold
    /// "phrases", -exclusions, and conditions: tag: type: domain: folder:
    /// status: since:2026-03-01 before:
    pub(crate) query: String,
    /// Most passages, 1 to 50 (default 8).
    pub(crate) limit: Option<usize>,
}

/// Arguments of `get_context`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetContext {
    /// The task or question at hand.
    pub(crate) query: String,
    /// Most tokens of the block (default 1500).
    pub(crate) max_tokens: Option<usize>,
}

/// Arguments of `read_note`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadNote {
    /// Path of the note in the vault, as `search` and `list_notes` give it; its
    /// title or file name will do where only one note has it.
    pub(crate) path: String,
    /// First line to read, from 1 (default 1).
    pub(crate) from_line: Option<usize>,
    /// Most tokens to read (default and most: the server's limit).
    pub(crate) max_tokens: Option<usize>,
}

/// Arguments of `list_notes`; a note has to meet all conditions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(transform = plain)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListNotes {
    /// A folder the notes lie in, at any depth.
    pub(crate) folder: Option<String>,
    /// A tag they have, itself or one nested below it.
    pub(crate) tag: Option<String>,
    /// Their `type`.
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    /// Their `domain`.
    pub(crate) domain: Option<String>,
    /// Their `status`.
    pub(crate) status: Option<String>,
    /// Changed on or after this day: 2026, 2026-03 or 2026-03-01.
    pub(crate) since: Option<String>,
    /// Changed before this day.
    pub(crate) before: Option<String>,
    /// Most notes, 1 to 500 (default 100).
    pub(crate) limit: Option<usize>,
    /// How many notes to pass over: `next_offset` of the answer before.
    pub(crate) offset: Option<usize>,
}

/// Answer of `search`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = plain)]
pub(crate) struct Found {
    /// The passages, best first.
    pub(crate) passages: Vec<Passage>,
    /// True if passages were shortened or left out to stay within the limit of
    /// tokens.
    pub(crate) is_truncated: bool,
    /// What could be done where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suggestion: Option<String>,
}

/// A passage of a note.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = plain)]
pub(crate) struct Passage {
    /// Path of the note in the vault.
    pub(crate) path: String,
    /// Title of the note.
    pub(crate) title: String,
    /// Headings above the passage, outermost first, joined by ` › `.
    pub(crate) heading: String,
    /// Line of the note it starts on.
    pub(crate) line: u32,
    /// Day of the note's last change.
    pub(crate) date: String,
    /// Tags of the note.
    pub(crate) tags: Vec<String>,
    /// The fused score; comparable within one answer only.
    pub(crate) score: f32,
    /// The text.
    pub(crate) text: String,
}

/// Answer of `get_context`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = plain)]
pub(crate) struct Context {
    /// A Markdown block of quoted passages, each with its source; empty where no
    /// note bears on the query.
    pub(crate) block: String,
    /// Passages in the block.
    pub(crate) n_passages: usize,
    /// Estimated tokens of the block.
    pub(crate) n_tokens: usize,
}

/// Answer of `read_note`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = plain)]
pub(crate) struct Note {
    /// Path of the note in the vault.
    pub(crate) path: String,
    /// Title of the note.
    pub(crate) title: String,
    /// Day of its last change.
    pub(crate) date: String,
    /// Its tags.
    pub(crate) tags: Vec<String>,
    /// Paths of the notes it links to.
    pub(crate) links: Vec<String>,
    /// Paths of the notes that link to it.
    pub(crate) backlinks: Vec<String>,
    /// Line the text starts on.
    pub(crate) from_line: usize,
    /// Lines of the whole note.
    pub(crate) n_lines: usize,
    /// Where to read on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_line: Option<usize>,
    /// The text, credentials replaced by `[REDACTED:name]`.
    pub(crate) text: String,
}

/// Answer of `list_notes`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = plain)]
pub(crate) struct Listed {
    /// The notes, the latest first.
    pub(crate) notes: Vec<Entry>,
    /// How many notes meet the conditions.
    pub(crate) n_notes: usize,
    /// What to pass as `offset` for the next ones; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<usize>,
}

/// A note in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = plain)]
pub(crate) struct Entry {
    /// Path in the vault.
    pub(crate) path: String,
    /// Title.
    pub(crate) title: String,
    /// Day of the last change.
    pub(crate) date: String,
    /// `type` of the note.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// Tags.
    pub(crate) tags: Vec<String>,
}

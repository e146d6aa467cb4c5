//! Plain types that cross stages: public fields, no logic, no I/O.

/// The width of a potion-base-8M vector.
pub const DIM: usize = 256;

/// A unit-length embedding, or all zeros for a text without known tokens.
pub type Vector = [f32; DIM];

/// The language a text is read in, as its two-letter ISO 639-1 code: what the
/// embedding, the keyword analysis and the fusion weights all go by.
///
/// `en` also stands for "no word table claims it": English is the model's own
/// language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(pub [u8; 2]);

impl Language {
    /// English, and everything that no word table claims.
    pub const ENGLISH: Self = Self(*b"en");
    /// Spanish.
    pub const SPANISH: Self = Self(*b"es");

    /// Returns the two-letter code.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("en")
    }
}

impl Default for Language {
    fn default() -> Self {
        Self::ENGLISH
    }
}

/// What a note says of itself, after redaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteMeta {
    /// `title` from the frontmatter, else the first H1, else the file stem.
    pub title: String,
    /// `type` from the frontmatter.
    pub kind: Option<String>,
    /// `domain` from the frontmatter.
    pub domain: Option<String>,
    /// `status` from the frontmatter, lower case.
    pub status: Option<String>,
    /// `source` (or `url`) from the frontmatter.
    pub source: Option<String>,
    /// `description` (or `summary`) from the frontmatter.
    pub description: Option<String>,
    /// Tags without `#`, from frontmatter and body, first occurrence first.
    pub tags: Vec<String>,
    /// Aliases from the frontmatter.
    pub aliases: Vec<String>,
    /// Day of creation, ISO `YYYY-MM-DD`, where the note states one.
    pub created: Option<String>,
    /// Day of the last change, ISO `YYYY-MM-DD`, where the note states one.
    pub updated: Option<String>,
    /// The other properties, key and value as text, in the note's order.
    pub properties: Vec<(String, String)>,
    /// False when the note says `agent: false`: people find it, agents do not.
    pub for_agents: bool,
}

/// A piece of a note that is found and shown on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkText {
    /// Headings above the chunk inside the note, outermost first.
    pub headings: Vec<String>,
    /// Line of the note file the chunk starts on, from 1.
    pub line: u32,
    /// The text as it stands in the (redacted) note.
    pub text: String,
    /// JSON and YAML blocks of the text as `path.key: value` lines: searched
    /// by keyword beside the text, never shown.
    pub flat: String,
}

/// A link as written in a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The target as written, percent-decoded, without `#…`, `^…` and alias.
    pub target: String,
    /// The `#heading` or `#^block` part, without the leading `#`.
    pub anchor: Option<String>,
    /// True for `![[…]]` and `![](…)`.
    pub is_embed: bool,
    /// True for `[[…]]`, false for `[…](…)`.
    pub is_wiki: bool,
    /// Line of the note file, from 1.
    pub line: u32,
}

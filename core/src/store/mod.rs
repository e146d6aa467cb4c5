//! The index: one SQLite file with the tables of record and a read-optimised
//! snapshot of them. The only module that knows SQL.
//!
//! A [`Writer`] owns the schema and holds the one writer lock; a [`Reader`]
//! opens read-only, never creates, migrates or waits.

mod body;
mod check;
mod compare;
mod exact;
mod filter;
mod graph;
mod lexical;
mod lock;
mod pages;
mod reader;
mod record;
mod relink;
mod schema;
mod segment;
mod swap;
mod vec_ext;
mod vector;
mod writer;

#[cfg(test)]
mod tests;

pub use check::is_damage_error as is_damage;
pub use filter::NoteFilter;
pub use lexical::{LexicalParams, WeightedTerm};
pub use reader::{Lexical, Opened, Ranked, Reader, SkipSet};
pub use record::{
    ChunkRecord, ChunkRow, FieldTerms, KnownNote, KnownNotes, NoteRecord, NoteRow, Packed,
    Searched, StoredLink, field_terms, heading_path, pack,
};
pub use schema::SCHEMA_VERSION;
pub use segment::{Doc, DocFlags};
pub use writer::{WriteOutcome, Writer, WriterOptions};

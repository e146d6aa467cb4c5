//! The write side: a vault's files become notes, chunks and links, and the
//! index is brought up to date with them.

mod chunk;
mod date;
pub mod decode;
pub mod document;
mod flatten;
mod frontmatter;
mod ignore_rules;
mod index;
pub mod key;
mod link;
mod markdown;
mod note;
mod produce;
mod report;
pub mod resolve;
mod section;
pub mod source;

pub use self::index::{Job, TEXT_VERSION, index};
pub use report::{Progress, Report};

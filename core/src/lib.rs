//! The library behind postil's binaries.
//!
//! Modules stand in reading order and in rings: a module imports only from
//! those above it in its own ring's left (see `core/README.md`).
#![warn(missing_docs)]

pub mod analyse;
pub mod capture;
pub mod compress;
pub mod config;
pub mod embed;
pub mod error;
pub mod eval;
pub mod hook;
pub mod ingest;
pub mod inject;
pub mod model;
pub mod recall;
pub mod redact;
pub mod store;
pub mod text;
pub mod triage;

//! The table: every command with its options.

mod agents;
mod people;
mod setup;

use crate::{Command, Flag, Takes};

/// Every command, `postil` first.
pub const COMMANDS: &[&Command] = &[
    &people::POSTIL,
    &setup::INIT,
    &setup::DOCTOR,
    &people::INDEX,
    &people::SEARCH,
    &people::LINKS,
    &people::CAPTURE,
    &people::TRIAGE,
    &setup::STATS,
    &setup::SCRUB,
    &setup::MODEL,
    &setup::EVAL,
    &setup::COMPLETIONS,
    &setup::MAN,
    &agents::CONTEXT_INJECT,
    &agents::COMPRESS_OUTPUT,
    &agents::VAULT_MCP,
];

/// Files and folders that every command can be told.
const WHERE: &[Flag] = &[
    Flag::new("vault", Takes::Folder("DIR"), "the vault [default: the configured one]"),
    Flag::new("db", Takes::File("FILE"), "the index [default: the configured one]"),
    Flag::new("model", Takes::Folder("DIR"), "the folder of the embedding model"),
    Flag::new("config", Takes::File("FILE"), "another configuration file"),
];

/// The same for commands that embed nothing.
const WHERE_NO_MODEL: &[Flag] = &[
    Flag::new("vault", Takes::Folder("DIR"), "the vault [default: the configured one]"),
    Flag::new("db", Takes::File("FILE"), "the index [default: the configured one]"),
    Flag::new("config", Takes::File("FILE"), "another configuration file"),
];

const ABOUT: &[Flag] = &[
    Flag::new("help", Takes::Nothing, "print this help").short('h'),
    Flag::new("version", Takes::Nothing, "print the version").short('V'),
];

/// For commands of `postil` itself, whose version is postil's.
const HELP: &[Flag] = &[Flag::new("help", Takes::Nothing, "print this help").short('h')];

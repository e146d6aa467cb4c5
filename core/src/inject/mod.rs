//! Decides what an agent gets to read at an event, and what it already has.
#![allow(dead_code, reason = "wip")]

mod ask;
mod prompt;
mod salient;
mod shell;
mod transcript;

pub use ask::Ask;

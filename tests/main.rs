//! Drives the real binaries the way a person or an agent does.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

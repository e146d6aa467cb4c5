//! The one error type of the crate: what kind, what we were doing, and why it
//! failed. Only a `main` turns it into text for a person.

use std::fmt;
use std::path::Path;

/// A `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, seen from the caller: decides the exit code and the hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration is missing, unreadable or has a wrong value.
    Config,
    /// The file system refused.
    Io,
    /// The index is absent, locked, corrupt or of another schema.
    Store,
    /// The embedding model or a word table is missing or not the expected one.
    Model,
    /// The caller's input is malformed or out of range.
    Input,
    /// A time limit was reached.
    Deadline,
}

/// An error: `{doing}: {source}`, lower case, no final period.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    doing: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error without an underlying cause.
    pub fn new(kind: ErrorKind, doing: impl Into<String>) -> Self {
        Self { kind, doing: doing.into(), source: None }
    }

    /// Creates an error caused by another one.
    pub fn with(
        kind: ErrorKind,
        doing: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, doing: doing.into(), source: Some(source.into()) }
    }

    /// Creates an I/O error that names the path it happened on.
    pub fn io(verb: &str, path: &Path, source: std::io::Error) -> Self {
        Self::with(ErrorKind::Io, format!("{verb} {}", path.display()), source)
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.doing)?;
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_what_was_being_done_and_why_it_failed() {
        let cause = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        let error = Error::io("read", Path::new("/x/y.md"), cause);
        assert_eq!(error.to_string(), "read /x/y.md: no such file");
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}

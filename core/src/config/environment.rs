//! The environment and the folders that follow from it: the XDG base
//! directories, each overridable by a `POSTIL_*` variable.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Stands for the home folder where there is none: below what is no folder, so
/// that nothing is found there and not even root can create it.
pub(super) const NOWHERE: &str = "/dev/null/HOME-is-not-set";

/// Looks a variable up; an empty one counts as unset.
pub(super) struct Environment<'a>(pub(super) &'a dyn Fn(&str) -> Option<OsString>);

impl Environment<'_> {
    pub(super) fn var(&self, name: &str) -> Option<OsString> {
        (self.0)(name).filter(|value| !value.is_empty())
    }

    /// Returns a variable as an absolute path, relative ones taken from the
    /// current folder.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.var(name).map(|value| absolute(Path::new(&value)))
    }

    /// Returns true unless the variable is unset, `0`, `false`, `no` or `off`.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.var(name)
            .is_some_and(|value| !["0", "false", "no", "off"].iter().any(|off| value == *off))
    }

    /// Returns the home folder; a relative one would be wherever the agent is.
    pub(super) fn home(&self) -> Option<PathBuf> {
        self.var("HOME").map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Returns `$own`, else `$xdg/postil`, else `~/fallback/postil`.
    ///
    /// The XDG base directory specification has relative values ignored.
    pub(super) fn folder(&self, own: &str, xdg: &str, fallback: &str) -> PathBuf {
        let xdg = || self.var(xdg).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || self.home().map(|home| home.join(fallback));
        self.path(own).unwrap_or_else(|| {
            xdg().or_else(home).unwrap_or_else(|| PathBuf::from(NOWHERE)).join("postil")
        })
    }
}

/// Makes a path absolute without touching the file system.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

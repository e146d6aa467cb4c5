//! The one change commands make to the configuration file: which vault.

use std::fs;
use std::io::Write;
use std::path::Path;

use toml::de::DeTable;

use crate::error::{Error, ErrorKind, Result};

/// What a new file says besides the vault.
const REST: &str = r#"
# Everything below has a default; take the # away to change one.
#
# excluded = ["private"]        # folders of the vault that are never indexed
#
# [inject]
# excluded = ["journal"]        # folders that people search and agents never see
# tools = ["Bash", "Edit", "NotebookEdit", "Write"]
# prompt_tokens = 1500          # most that one prompt brings
# tool_tokens = 500             # most that one tool call brings
# session_tokens = 8000         # most of a whole session
#
# [[block]]                     # what every session starts with
# name = "Conventions"
# query = "coding conventions"
# max_tokens = 500
# ttl = "12h"
"#;

/// Sets `vault` in the configuration `file`, which need not exist; everything
/// else in it stays as it is. Returns false if nothing had to be changed.
pub fn write_vault(file: &Path, vault: &Path) -> Result<bool> {
    let Some(vault) = vault.to_str() else {
        let doing = format!("write {}: {} is not UTF-8", file.display(), vault.display());
        return Err(Error::new(ErrorKind::Config, doing));
    };
    let value = quote(vault);
    let before = match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("read", file, error)),
    };
    let after = match &before {
        None => format!("# postil's configuration.\n\nvault = {value}\n{REST}"),
        Some(text) => with_vault(text, &value).map_err(|error| {
            Error::with(ErrorKind::Config, format!("read {}", file.display()), error.message())
        })?,
    };
    if before.as_deref() == Some(after.as_str()) {
        return Ok(false);
    }
    replace(file, &after).map_err(|error| Error::io("write", file, error))?;
    Ok(true)
}

fn with_vault(text: &str, value: &str) -> std::result::Result<String, toml::de::Error> {
    let table = DeTable::parse(text)?;
    let span = table.get_ref().get("vault").map(|old| old.span());
    Ok(match span.and_then(|span| Some((text.get(..span.start)?, text.get(span.end..)?))) {
        Some((before, after)) => format!("{before}{value}{after}"),
        // Above everything else, where no table has begun.
        None => format!("vault = {value}\n{text}"),
    })
}

/// Writes a TOML basic string.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Replaces the file in one step; through a link, where dotfiles are kept.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = real.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    if let Ok(meta) = fs::metadata(&real) {
        temporary.as_file().set_permissions(meta.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&real)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(before: Option<&str>, vault: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("postil/config.toml");
        if let Some(before) = before {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, before).unwrap();
        }
        assert!(write_vault(&file, Path::new(vault)).unwrap());
        assert!(!write_vault(&file, Path::new(vault)).unwrap(), "twice is once");
        fs::read_to_string(&file).unwrap()
    }

    #[test]
    fn a_new_file_is_complete_and_valid() {
        let text = written(None, "/home/ana/mis \"notas\"\\x");
        let table = DeTable::parse(&text).unwrap();
        assert_eq!(table.get_ref()["vault"].get_ref().as_str(), Some("/home/ana/mis \"notas\"\\x"));
        let uncommented: String = text
            .lines()
            .filter(|line| !line.starts_with("# postil") && !line.starts_with("# Everything"))
            .map(|line| {
                format!("{}\n", line.strip_prefix("# ").or(line.strip_prefix('#')).unwrap_or(line))
            })
            .collect();
        assert!(DeTable::parse(&uncommented).is_ok(), "{uncommented}");
    }

    #[test]
    fn the_rest_of_a_file_stays() {
        let before = "# mine\n[inject]\nprompt_tokens = 9 # few\n";
        assert_eq!(written(Some(before), "/v"), format!("vault = \"/v\"\n{before}"));
        assert_eq!(
            written(Some("vault   = '/old'  # here\nexcluded = []\n"), "/new"),
            "vault   = \"/new\"  # here\nexcluded = []\n"
        );
    }
}

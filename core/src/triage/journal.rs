//! The journal of what triage did to the vault: JSON lines, written and synced
//! before the next step, so that a run can be taken back or finished.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::capture::edit::Edit;
use crate::error::{Error, Result};

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A run began.
    Begin,
    /// A note was moved, with edits to its text. Paths relative to the vault.
    Move {
        /// Where it was.
        from: String,
        /// Where it is.
        to: String,
        /// What changed in it.
        edits: Vec<Edit>,
    },
    /// Links in a note were changed.
    Rewrite {
        /// The note.
        path: String,
        /// What changed in it.
        edits: Vec<Edit>,
    },
    /// A note was made from a source outside the vault.
    Create {
        /// The note.
        path: String,
        /// Hash of its text.
        hash: u64,
    },
    /// The run came to its end, links included.
    End,
    /// The run was taken back.
    Undone,
}

/// A run and its steps, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Its name: when it began.
    pub name: String,
    /// What it did.
    pub steps: Vec<Step>,
}

impl Run {
    /// True when it was taken back.
    pub fn is_undone(&self) -> bool {
        self.steps.contains(&Step::Undone)
    }

    /// True when it was stopped before its end.
    pub fn is_unfinished(&self) -> bool {
        !self.steps.contains(&Step::End) && !self.is_undone()
    }

    /// True when it changed something.
    pub fn did_anything(&self) -> bool {
        self.steps.iter().any(|step| !matches!(step, Step::Begin | Step::End | Step::Undone))
    }
}

/// The journal file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    vault: String,
}

impl Journal {
    /// The journal at `path` for the notes of `vault`.
    pub fn new(path: PathBuf, vault: &Path) -> Self {
        Self { path, vault: vault.to_string_lossy().into_owned() }
    }

    /// Adds a step of the run `name` and waits for the disk.
    ///
    /// # Errors
    /// I/O; then the step must not be taken.
    pub fn write(&self, name: &str, step: &Step) -> Result<()> {
        let fail = |error| Error::io("write", &self.path, error);
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        }
        let mut options = fs::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(&self.path).map_err(fail)?;
        let mut line = to_json(name, &self.vault, step).to_string();
        line.push('\n');
        file.write_all(line.as_bytes()).map_err(fail)?;
        file.sync_data().map_err(fail)
    }

    /// Returns the runs on this vault, oldest first. A line that a power cut
    /// left half-written is passed over.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>> {
        let text = match fs::read(&self.path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &self.path, error)),
        };
        let mut runs: Vec<Run> = Vec::new();
        for line in text.lines() {
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            let is_ours = value["vault"].as_str() == Some(&self.vault);
            let Some((name, step)) = from_json(&value).filter(|_| is_ours) else { continue };
            match runs.iter_mut().find(|run| run.name == name) {
                Some(run) => run.steps.push(step),
                None => runs.push(Run { name, steps: vec![step] }),
            }
        }
        Ok(runs)
    }
}

fn to_json(name: &str, vault: &str, step: &Step) -> Value {
    let mut value = match step {
        Step::Begin => json!({ "step": "begin" }),
        Step::Move { from, to, edits } => {
            json!({ "step": "move", "from": from, "to": to, "edits": edits_to_json(edits) })
        }
        Step::Rewrite { path, edits } => {
            json!({ "step": "rewrite", "path": path, "edits": edits_to_json(edits) })
        }
        Step::Create { path, hash } => json!({ "step": "create", "path": path, "hash": hash }),
        Step::End => json!({ "step": "end" }),
        Step::Undone => json!({ "step": "undone" }),
    };
    value["run"] = name.into();
    value["vault"] = vault.into();
    value
}

fn from_json(value: &Value) -> Option<(String, Step)> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    let step = match value["step"].as_str()? {
        "begin" => Step::Begin,
        "move" => Step::Move { from: text("from")?, to: text("to")?, edits: edits(value)? },
        "rewrite" => Step::Rewrite { path: text("path")?, edits: edits(value)? },
        "create" => Step::Create { path: text("path")?, hash: value["hash"].as_u64()? },
        "end" => Step::End,
        "undone" => Step::Undone,
        _ => return None,
    };
    Some((text("run")?, step))
}

fn edits_to_json(edits: &[Edit]) -> Value {
    edits.iter().map(|edit| json!([edit.at, edit.old, edit.new])).collect()
}

fn edits(value: &Value) -> Option<Vec<Edit>> {
    let edit = |value: &Value| {
        Some(Edit {
            at: usize::try_from(value[0].as_u64()?).ok()?,
            old: value[1].as_str()?.to_owned(),
            new: value[2].as_str()?.to_owned(),
        })
    };
    value["edits"].as_array()?.iter().map(edit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("j/triage.jsonl"), Path::new("/v"));
        let edits = vec![Edit { at: 3, old: "a".into(), new: "é\"".into() }];
        let steps = [
            Step::Begin,
            Step::Move { from: "a.md".into(), to: "b/a.md".into(), edits: edits.clone() },
            Step::Rewrite { path: "c.md".into(), edits },
            Step::Create { path: "d.md".into(), hash: u64::MAX },
        ];
        for step in &steps {
            journal.write("r1", step).unwrap();
        }
        fs::OpenOptions::new()
            .append(true)
            .open(dir.path().join("j/triage.jsonl"))
            .unwrap()
            .write_all(b"{\"run\":\"r1\",\"st\n")
            .unwrap();
        Journal::new(dir.path().join("j/triage.jsonl"), Path::new("/other"))
            .write("r2", &Step::Begin)
            .unwrap();
        let runs = journal.runs().unwrap();
        assert_eq!(runs, [Run { name: "r1".into(), steps: steps.to_vec() }]);
        assert!(runs[0].is_unfinished() && runs[0].did_anything());
    }
}

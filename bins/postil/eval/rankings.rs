//! Rankings as TREC run files: `qid Q0 path rank score tag`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use postil_core::error::{Error, ErrorKind, Result};
use postil_core::eval::Question;

/// A note in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) path: String,
    pub(super) score: f32,
}

/// Writes one ranking per question.
pub(super) fn write(
    path: &Path,
    questions: &[Question],
    rankings: &[Vec<Ranked>],
    tag: &str,
) -> Result<()> {
    let mut text = String::new();
    for (question, ranking) in questions.iter().zip(rankings) {
        for (idx, note) in ranking.iter().enumerate() {
            let (id, rank) = (&question.id, idx + 1);
            text.push_str(&format!("{id} Q0 {} {rank} {:.6} {tag}\n", note.path, note.score));
        }
    }
    save(path, &text)
}

/// Writes a file and the folder it is in.
pub(super) fn save(path: &Path, text: &str) -> Result<()> {
    let failed = |error| Error::with(ErrorKind::Io, format!("write {}", path.display()), error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

/// Reads a run: the paths of each question, best first.
///
/// Paths may hold blanks, so a line is read from both ends.
pub(super) fn read(path: &Path) -> Result<HashMap<String, Vec<String>>> {
    let text = fs::read_to_string(path).map_err(|error| {
        Error::with(ErrorKind::Io, format!("read rankings {}", path.display()), error)
    })?;
    let mut rankings: HashMap<String, Vec<(u32, String)>> = HashMap::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (id, rank, note) = fields(line).ok_or_else(|| {
            let at = format!("{}:{}", path.display(), n + 1);
            Error::new(ErrorKind::Input, format!("{at}: not `qid Q0 path rank score tag`"))
        })?;
        rankings.entry(id).or_default().push((rank, note));
    }
    let sorted = |mut ranking: Vec<(u32, String)>| {
        ranking.sort();
        ranking.into_iter().map(|(_, note)| note).collect()
    };
    Ok(rankings.into_iter().map(|(id, ranking)| (id, sorted(ranking))).collect())
}

fn fields(line: &str) -> Option<(String, u32, String)> {
    let mut tail = line.trim_end().rsplitn(4, char::is_whitespace);
    let (_tag, _score, rank) = (tail.next()?, tail.next()?, tail.next()?.parse().ok()?);
    let mut head = tail.next()?.splitn(3, char::is_whitespace);
    let (id, _q0, note) = (head.next()?, head.next()?, head.next()?);
    Some((id.to_owned(), rank, note.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_blanks_in_paths_comes_back() {
        let line = "q1 Q0 00-inbox/My note 2 of 3.md 7 1.500000 postil-hybrid";
        assert_eq!(fields(line), Some(("q1".into(), 7, "00-inbox/My note 2 of 3.md".into())));
        assert_eq!(fields("q1 Q0 a.md"), None);
    }
}

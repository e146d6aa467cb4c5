//! Moves, their links and their journal, on real folders.

use std::path::PathBuf;

use super::*;

struct Vault {
    dir: tempfile::TempDir,
    journal: Journal,
}

impl Vault {
    fn new(notes: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in notes {
            let file = dir.path().join("v").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let journal = Journal::new(dir.path().join("triage.jsonl"), &dir.path().join("v"));
        Self { dir, journal }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("v")
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    fn all(&self) -> Vec<(String, String)> {
        notes(&self.path()).into_iter().map(|path| (path.clone(), self.read(&path))).collect()
    }

    fn go(&self, from: &str, folder: &str) -> Done {
        let step = Move {
            from: from.to_owned(),
            folder: folder.to_owned(),
            properties: vec![("status", "triaged".to_owned())],
        };
        self.journal.write("r", &Step::Begin).unwrap();
        let done = run(&self.path(), &self.journal, "r", &[step]).unwrap();
        self.journal.write("r", &Step::End).unwrap();
        done
    }
}

const LINKED: [(&str, &str); 6] = [
    (
        "00-inbox/My note.md",
        "---\nstatus: inbox\n---\n[o](other.md) ![p](pic.png) [[Home]] ![[pic.png]] [h](../Home.md)\n",
    ),
    (
        "00-inbox/other.md",
        "[[My note]] [n](My%20note.md#part) [x](<My note.md>) `[[00-inbox/My note]]`\n",
    ),
    ("00-inbox/pic.png", "png"),
    (
        "Home.md",
        "[[00-inbox/My note|alias]] [m](00-inbox/My%20note.md) ![[00-inbox/My note#part]]\n",
    ),
    ("deep/er/far.md", "[m](../../00-inbox/My%20note.md 'title') [[My note]]\n"),
    ("Map.canvas", "{\"nodes\":[{\"type\":\"file\",\"file\":\"00-inbox/My note.md\"}]}"),
];

#[test]
fn links_to_and_from_a_moved_note_keep_leading_there() {
    let vault = Vault::new(&LINKED);
    let before = vault.all();
    let done = vault.go("00-inbox/My note.md", "05-signals/web");
    assert_eq!(done.moved, [("00-inbox/My note.md".into(), "05-signals/web/My note.md".into())]);
    assert!(done.failures.is_empty(), "{done:?}");
    assert_eq!(
        vault.read("05-signals/web/My note.md"),
        "---\nstatus: triaged\n---\n[o](../../00-inbox/other.md) ![p](../../00-inbox/pic.png) [[Home]] \
         ![[pic.png]] [h](../../Home.md)\n"
    );
    assert_eq!(
        vault.read("00-inbox/other.md"),
        "[[My note]] [n](../05-signals/web/My%20note.md#part) [x](<../05-signals/web/My note.md>) \
         `[[00-inbox/My note]]`\n"
    );
    assert_eq!(
        vault.read("Home.md"),
        "[[My note|alias]] [m](05-signals/web/My%20note.md) ![[My note#part]]\n"
    );
    assert_eq!(
        vault.read("deep/er/far.md"),
        "[m](../../05-signals/web/My%20note.md 'title') [[My note]]\n"
    );
    assert!(vault.read("Map.canvas").contains("\"05-signals/web/My note.md\""));

    let run = vault.journal.runs().unwrap().remove(0);
    let undone = undo(&vault.path(), &vault.journal, &run).unwrap();
    assert!(undone.failures.is_empty(), "{undone:?}");
    assert_eq!(vault.all(), before);
    let run = vault.journal.runs().unwrap().remove(0);
    assert!(undo(&vault.path(), &vault.journal, &run).is_err());
}

#[test]
fn a_taken_name_is_not_overwritten_and_links_tell_twins_apart() {
    let vault = Vault::new(&[
        ("00-inbox/Twin.md", "inbox\n"),
        ("05-signals/web/Twin.md", "older\n"),
        ("Home.md", "[[00-inbox/Twin]] [[05-signals/web/Twin]] [[Twin]]\n"),
    ]);
    let done = vault.go("00-inbox/Twin.md", "05-signals/web");
    assert_eq!(done.moved[0].1, "05-signals/web/Twin 2.md");
    assert_eq!(vault.read("05-signals/web/Twin.md"), "older\n");
    assert_eq!(vault.read("05-signals/web/Twin 2.md"), "inbox\n");
    assert_eq!(vault.read("Home.md"), "[[Twin 2]] [[05-signals/web/Twin]] [[Twin 2]]\n");
}

#[test]
fn a_run_that_was_stopped_is_finished() {
    let vault = Vault::new(&LINKED);
    let from = vault.path().join("00-inbox/My note.md");
    let to = vault.path().join("05-signals/web/My note.md");
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(&from, &to).unwrap();
    vault.journal.write("r", &Step::Begin).unwrap();
    let (from, to) = ("00-inbox/My note.md".to_owned(), "05-signals/web/My note.md".to_owned());
    vault.journal.write("r", &Step::Move { from, to, edits: vec![] }).unwrap();
    let run = vault.journal.runs().unwrap().remove(0);
    assert!(run.is_unfinished());
    finish(&vault.path(), &vault.journal, &run).unwrap();
    assert!(!vault.path().join("00-inbox/My note.md").exists());
    assert!(vault.read("Home.md").starts_with("[[My note|alias]]"));
}

#[test]
fn a_note_edited_since_goes_back_with_its_edits() {
    let vault = Vault::new(&LINKED);
    vault.go("00-inbox/My note.md", "05-signals/web");
    let moved = vault.path().join("05-signals/web/My note.md");
    let text = fs::read_to_string(&moved).unwrap() + "more\n";
    fs::write(&moved, text).unwrap();
    let run = vault.journal.runs().unwrap().remove(0);
    undo(&vault.path(), &vault.journal, &run).unwrap();
    assert_eq!(vault.read("00-inbox/My note.md"), format!("{}more\n", LINKED[0].1));
}

//! Folders, zip files, HTML, names that lead outside, a second import.

use std::io::Write;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const ID: &str = "0123456789abcdef0123456789abcdef";

fn import(path: &Path, vault: &Path) -> Report {
    let filter = Filter::builtin();
    run(&Job { path, vault, into: None, inbox: "00-inbox", filter: &filter, is_dry: false })
        .unwrap()
}

fn read(vault: &Path, path: &str) -> String {
    fs::read_to_string(vault.join("00-inbox").join(path)).unwrap()
}

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn a_folder_of_markdown_comes_over_once() {
    let (from, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = from.path().join("My notes");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(
        root.join("Plain.md"),
        "# A heading\n\n[other](sub/Has%20front.md) ![p](sub/p.png)\n",
    )
    .unwrap();
    fs::write(root.join("sub/Has front.md"), "---\ndescription: mine\n---\nkept\n").unwrap();
    fs::write(root.join("sub/p.png"), b"\x89PNG").unwrap();
    fs::write(root.join(".DS_Store"), "x").unwrap();
    let report = import(&root, vault.path());
    assert_eq!((report.notes.len(), report.attachments.len()), (2, 1), "{report:?}");
    assert!(report.failures.is_empty());
    let note = read(vault.path(), "My notes/Plain.md");
    assert!(note.starts_with("---\ntitle: A heading\ntype: note\ntags: []\ncreated: 20"), "{note}");
    assert!(note.contains("[other](sub/Has%20front.md) ![p](sub/p.png)"), "{note}");
    assert_eq!(
        read(vault.path(), "My notes/sub/Has front.md"),
        "---\ndescription: mine\n---\nkept\n"
    );
    let again = import(&root, vault.path());
    assert_eq!((again.notes.len(), again.attachments.len(), again.n_known), (0, 0, 3), "{again:?}");
}

#[test]
fn nothing_in_the_vault_is_overwritten() {
    let (from, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = from.path().join("n");
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("A.md"), "new\n").unwrap();
    fs::create_dir_all(vault.path().join("00-inbox/n")).unwrap();
    fs::write(vault.path().join("00-inbox/n/A.md"), "old\n").unwrap();
    let report = import(&root, vault.path());
    assert_eq!(report.notes[0].1, "00-inbox/n/A 2.md");
    assert_eq!(read(vault.path(), "n/A.md"), "old\n");
}

#[test]
fn a_notion_export_loses_its_ids_and_keeps_its_links() {
    let (from, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = format!(
        "# Home\n\nTags: work, plans\nCreated: November 30, 2026 10:15 AM\n\n\
         [Sub](Home%20{ID}/Sub%20{ID}.md) ![i](Home%20{ID}/a%20b.png) [web](https://x.org)\n"
    );
    let names = [
        format!("Home {ID}.md"),
        format!("Home {ID}/Sub {ID}.md"),
        format!("Home {ID}/a b.png"),
        format!("Home {ID}/Tasks {ID}.csv"),
    ];
    let sub = format!("# Sub\n\n[up](../Home%20{ID}.md)\n");
    let inner = zip(&[
        (&names[0], home.as_bytes()),
        (&names[1], sub.as_bytes()),
        (&names[2], b"png"),
        (&names[3], b"a,b\n"),
        ("__MACOSX/x", b""),
    ]);
    let outer = zip(&[("Export-1-Part-1.zip", &inner)]);
    let file = from.path().join("9f1c_Export-1.zip");
    fs::write(&file, outer).unwrap();
    let report = import(&file, vault.path());
    assert_eq!((report.notes.len(), report.attachments.len()), (2, 2), "{report:?}");
    let note = read(vault.path(), "Notion/Home.md");
    assert!(note.contains("title: Home\n") && note.contains("tags: [work, plans]\n"), "{note}");
    assert!(note.contains("created: 2026-11-30T10:15:00\n"), "{note}");
    assert!(
        note.contains("[Sub](Home/Sub.md) ![i](Home/a%20b.png) [web](https://x.org)"),
        "{note}"
    );
    assert!(read(vault.path(), "Notion/Home/Sub.md").contains("[up](../Home.md)"));
    assert_eq!(fs::read(vault.path().join("00-inbox/Notion/Home/a b.png")).unwrap(), b"png");
}

#[test]
fn a_zip_cannot_write_outside() {
    let (from, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = from.path().join("evil.zip");
    fs::write(&file, zip(&[("../../out.md", b"x"), ("ok.md", b"fine")])).unwrap();
    let report = import(&file, vault.path());
    assert_eq!(report.notes.len(), 1, "{report:?}");
    assert_eq!(report.failures.len(), 1);
    fs::write(&file, b"PK\x03\x04broken").unwrap();
    let filter = Filter::builtin();
    let job = Job {
        path: &file,
        vault: vault.path(),
        into: None,
        inbox: "i",
        filter: &filter,
        is_dry: false,
    };
    assert!(run(&job).is_err());
    assert!(run(&Job { into: Some("../up"), path: from.path(), ..job }).is_err());
}

#[test]
fn html_notes_become_markdown_with_their_images() {
    let (from, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = from.path().join("Apple Notes");
    fs::create_dir_all(&root).unwrap();
    let html = "<html><head><title>Trip: plan</title></head><body><h1>Trip</h1><ul><li>one</li></ul>\
                <img src=\"data:image/png;base64,iVBORw0=\"><a href=\"Other%20note.html\">o</a></body></html>";
    fs::write(root.join("Trip.html"), html).unwrap();
    fs::write(root.join("Other note.html"), "<p>Other <b>bold</b></p>").unwrap();
    let report = import(&root, vault.path());
    assert_eq!((report.notes.len(), report.attachments.len()), (2, 1), "{report:?}");
    let note = read(vault.path(), "Apple Notes/Trip.md");
    assert!(note.contains("title: \"Trip: plan\""), "{note}");
    assert!(note.contains("![](Trip%201.png)") && note.contains("[o](Other%20note.md)"), "{note}");
    assert!(vault.path().join("00-inbox/Apple Notes/Trip 1.png").is_file());
    assert!(read(vault.path(), "Apple Notes/Other note.md").ends_with("Other **bold**\n"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let (from, vault) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(from.path().join("A.md"), "x\n").unwrap();
    let filter = Filter::builtin();
    let path = from.path();
    let job = Job {
        path,
        vault: vault.path(),
        into: Some("new"),
        inbox: "i",
        filter: &filter,
        is_dry: true,
    };
    assert_eq!(run(&job).unwrap().notes, [("A.md".to_owned(), "new/A.md".to_owned())]);
    assert_eq!(fs::read_dir(vault.path()).unwrap().count(), 0);
}

//! The tables of record and the snapshot, held together through every change.

use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::model::{DIM, Language, NoteMeta, Vector};
use crate::redact::Filter;

fn options() -> WriterOptions {
    WriterOptions { vault: "/v".into(), ..WriterOptions::default() }
}

fn writer(path: &Path, options: &WriterOptions) -> Box<Writer> {
    match Writer::open(path, options).unwrap() {
        WriteOutcome::Ready(writer, _) => writer,
        WriteOutcome::Busy => panic!("the index is locked"),
    }
}

fn reader(path: &Path) -> Box<Reader> {
    match Reader::open(path).unwrap() {
        Opened::Ready(reader) => reader,
        other => panic!("no index: {other:?}"),
    }
}

/// A vector that depends on the text alone.
fn vector(text: &str) -> Vector {
    let mut vector: Vector = std::array::from_fn(|d| {
        let n = text.bytes().fold(d as u32 + 7, |n, b| n.wrapping_mul(31).wrapping_add(b.into()));
        (n.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0 - 0.3
    });
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

fn note(path: &str, texts: &[&str]) -> NoteRecord {
    let meta = NoteMeta { title: path.into(), for_agents: true, ..NoteMeta::default() };
    let chunks = texts
        .iter()
        .enumerate()
        .map(|(n, text)| ChunkRecord {
            heading: format!("H{n}"),
            line: n as u32 + 1,
            language: Language::ENGLISH,
            text: Filter::builtin().scrub(text).text,
            flat: Filter::builtin().scrub("").text,
            terms: field_terms(
                path,
                &meta,
                Searched { heading: &format!("H{n}"), text, flat: "", language: Language::ENGLISH },
            ),
            vector: Some(vector(text)),
        })
        .collect::<Vec<_>>();
    NoteRecord {
        packed: pack(&chunks).unwrap(),
        path: path.into(),
        mtime_ns: 1,
        ctime_ns: 1,
        size: 2,
        hash: vec![3],
        meta,
        links: Vec::new(),
        chunks,
    }
}

/// Texts found for a word, best first, with the vector's best first.
fn find(path: &Path, word: &str) -> (Vec<String>, Vec<String>) {
    let reader = reader(path);
    let skip = reader.dead().unwrap();
    let terms = [WeightedTerm { term: word.into(), weight: 1.0 }];
    let text = |hit: &Ranked| {
        let doc = reader.docs(&[hit.doc]).unwrap()[0];
        let chunk = reader.chunk(doc.chunk_id.into()).unwrap().expect("a live chunk");
        assert_eq!(chunk.note_id, i64::from(doc.note_id));
        chunk.text
    };
    let lexical = reader.lexical(&terms, &LexicalParams::default(), 30, &skip).unwrap();
    let nearest = reader.nearest(&vector(word), 3, &skip).unwrap();
    (lexical.iter().map(text).collect(), nearest.iter().map(text).collect())
}

fn n_segments(path: &Path) -> usize {
    reader(path).n_segments()
}

#[test]
fn what_was_put_is_found_by_word_and_by_vector() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut writer = writer(&path, &options());
    writer.put(&note("a.md", &["alpha beta", "gamma"])).unwrap();
    writer.put(&note("b.md", &["alpha"])).unwrap();
    writer.finish().unwrap();
    let (lexical, nearest) = find(&path, "alpha");
    assert_eq!(lexical, ["alpha", "alpha beta"]);
    assert_eq!(nearest[0], "alpha");
    assert_eq!(reader(&path).counts().unwrap(), (2, 3));
}

#[test]
fn a_changed_note_is_found_by_its_new_text_only() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut first = writer(&path, &options());
    for n in 0..40 {
        first.put(&note(&format!("{n}.md"), &["filler text", "common words"])).unwrap();
    }
    first.put(&note("a.md", &["alpha old"])).unwrap();
    first.finish().unwrap();
    drop(first);
    let mut second = writer(&path, &options());
    second.put(&note("a.md", &["alpha new"])).unwrap();
    second.remove("7.md").unwrap();
    second.finish().unwrap();
    assert_eq!(find(&path, "alpha").0, ["alpha new"]);
    assert_eq!(find(&path, "old").0, Vec::<String>::new());
    assert_eq!(find(&path, "common").0.len(), 30);
    assert_eq!(n_segments(&path), 2);
    let reader = reader(&path);
    assert!(reader.note_at("7.md").unwrap().is_none());
    assert_eq!(reader.counts().unwrap(), (40, 79));
}

#[test]
fn the_snapshot_ranks_as_the_tables_of_record_do() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut writer = writer(&path, &options());
    let words = ["red", "green", "blue", "cyan", "black", "white"];
    for n in 0..120_usize {
        let text: Vec<&str> =
            (0..3 + n % 11).map(|k| words[(n * 7 + k * k * 3) % words.len()]).collect();
        writer.put(&note(&format!("n{n}.md"), &[&format!("{} tail{n}", text.join(" "))])).unwrap();
    }
    writer.finish().unwrap();
    let reader = reader(&path);
    let skip = reader.dead().unwrap();
    let query = vector("red green");
    let by_chunk = |hits: Vec<Ranked>| -> Vec<(i64, f32)> {
        let docs: Vec<u32> = hits.iter().map(|hit| hit.doc).collect();
        let docs = reader.docs(&docs).unwrap();
        docs.iter().zip(hits).map(|(doc, hit)| (doc.chunk_id.into(), hit.score)).collect()
    };
    let fast = by_chunk(reader.nearest(&query, 10, &skip).unwrap());
    let exact = reader.nearest_exact(&query, 10).unwrap();
    for (fast, exact) in fast.iter().zip(&exact) {
        assert!((fast.1 - exact.1).abs() < 5e-3, "{fast:?} {exact:?}");
    }
    let terms: Vec<WeightedTerm> = ["green", "tail17"]
        .iter()
        .map(|term| WeightedTerm { term: (*term).into(), weight: 1.0 })
        .collect();
    let fast = by_chunk(reader.lexical(&terms, &LexicalParams::default(), 5, &skip).unwrap());
    let exact = reader.lexical_exact(&terms, &LexicalParams::default(), 5).unwrap();
    assert_eq!(fast.len(), 5);
    for (fast, exact) in fast.iter().zip(&exact) {
        assert!(fast.0 == exact.0 && (fast.1 - exact.1).abs() < 1e-4, "{fast:?} {exact:?}");
    }
}

#[test]
fn many_small_runs_leave_few_segments_and_lose_nothing() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    for n in 0..60 {
        let mut writer = writer(&path, &options());
        writer.put(&note(&format!("{n}.md"), &[&format!("shared word{n}")])).unwrap();
        writer.finish().unwrap();
    }
    assert!(n_segments(&path) <= 3, "{} segments", n_segments(&path));
    for n in 0..60 {
        assert_eq!(find(&path, &format!("word{n}")).0, [format!("shared word{n}")]);
    }
}

#[test]
fn a_run_that_died_before_its_end_is_completed_by_the_next() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut first = writer(&path, &options());
    first.put(&note("a.md", &["alpha"])).unwrap();
    first.commit().unwrap();
    first.put(&note("lost.md", &["lost"])).unwrap();
    drop(first);
    assert!(!reader(&path).has_snapshot());
    assert_eq!(reader(&path).counts().unwrap(), (1, 1));
    let mut second = writer(&path, &options());
    assert!(second.known().unwrap().contains_key("a.md"));
    second.put(&note("b.md", &["beta"])).unwrap();
    second.finish().unwrap();
    assert_eq!(find(&path, "alpha").0, ["alpha"]);
    assert_eq!(find(&path, "beta").0, ["beta"]);
}

#[test]
fn another_model_rebuilds_and_readers_keep_the_old_index_meanwhile() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut first = writer(&path, &options());
    first.put(&note("a.md", &["alpha"])).unwrap();
    first.finish().unwrap();
    drop(first);
    let old = reader(&path);
    let other = WriterOptions { model: "m2".into(), ..options() };
    let WriteOutcome::Ready(mut second, reason) = Writer::open(&path, &other).unwrap() else {
        panic!("locked")
    };
    assert_eq!(reason.as_deref(), Some("the model changed"));
    second.put(&note("b.md", &["beta"])).unwrap();
    second.commit().unwrap();
    assert_eq!(find(&path, "alpha").0, ["alpha"]);
    second.finish().unwrap();
    assert_eq!(old.counts().unwrap(), (1, 1));
    assert_eq!(find(&path, "alpha").0, Vec::<String>::new());
    assert_eq!(find(&path, "beta").0, ["beta"]);
    assert!(!dir.path().join("index.db.building").exists());
}

#[test]
fn a_second_writer_is_told_that_the_index_is_busy() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let _first = writer(&path, &options());
    assert!(matches!(Writer::open(&path, &options()).unwrap(), WriteOutcome::Busy));
}

#[test]
fn a_damaged_file_is_rebuilt_and_a_stranger_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    std::fs::write(&path, vec![7; 100_000]).unwrap();
    assert!(Reader::open(&path).is_err());
    let mut rebuilt = writer(&path, &options());
    rebuilt.put(&note("a.md", &["alpha"])).unwrap();
    rebuilt.finish().unwrap();
    drop(rebuilt);
    assert_eq!(find(&path, "alpha").0, ["alpha"]);
    // It may have been somebody's letter.
    let aside = dir.path().join("index.db.old");
    assert_eq!(std::fs::read(&aside).unwrap(), vec![7; 100_000]);
    // Now it was an index.
    std::fs::write(&path, vec![8; 100_000]).unwrap();
    writer(&path, &options()).finish().unwrap();
    assert_eq!(reader(&path).counts().unwrap(), (0, 0));
    assert!(!dir.path().join("index.db.old-2").exists());

    let stranger = dir.path().join("other.db");
    rusqlite::Connection::open(&stranger)
        .and_then(|conn| conn.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)"))
        .unwrap();
    assert!(Writer::open(&stranger, &options()).is_err());
    assert!(matches!(Reader::open(&stranger).unwrap(), Opened::Foreign));
    assert!(matches!(Reader::open(&dir.path().join("no.db")).unwrap(), Opened::Absent));
}

#[test]
fn what_a_run_left_that_died_before_its_first_table_is_begun_anew() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    rusqlite::Connection::open(&path)
        .and_then(|conn| conn.execute_batch("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL"))
        .unwrap();
    assert!(path.metadata().unwrap().len() > 0);
    let mut first = writer(&path, &options());
    first.put(&note("a.md", &["alpha"])).unwrap();
    first.finish().unwrap();
    drop(first);
    assert_eq!(find(&path, "alpha").0, ["alpha"]);
    let conn = rusqlite::Connection::open(&path).unwrap();
    let page: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    assert_eq!(page, schema::PAGE_SIZE);
}

#[test]
fn postings_spilled_to_disk_rank_as_those_kept_in_memory() {
    let conn = |limit| {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("index.db");
        let mut writer = writer(&path, &options());
        writer.limit_run(limit);
        for n in 0..50 {
            writer.put(&note(&format!("{n}.md"), &[&format!("shared w{}", n % 7)])).unwrap();
        }
        writer.finish().unwrap();
        find(&path, "w3").0.len() + find(&path, "shared").0.len()
    };
    assert_eq!(conn(6_000_000), conn(20));
}

#[test]
fn zero_vectors_are_never_near() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut writer = writer(&path, &options());
    let mut empty = note("a.md", &["alpha"]);
    empty.chunks[0].vector = Some([0.0; DIM]);
    writer.put(&empty).unwrap();
    writer.finish().unwrap();
    assert!(find(&path, "alpha").1.is_empty());
}

#[test]
fn a_rebuild_takes_the_place_of_an_index_behind_a_link_and_is_private() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("real.db");
    writer(&path, &options()).finish().unwrap();
    let link = dir.path().join("link.db");
    symlink("real.db", &link).unwrap();
    let full = WriterOptions { full: true, ..options() };
    let mut rebuilt = writer(&link, &full);
    rebuilt.put(&note("a.md", &["alpha"])).unwrap();
    rebuilt.finish().unwrap();
    drop(rebuilt);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(find(&path, "alpha").0, ["alpha"]);
    assert_eq!(find(&link, "alpha").0, ["alpha"]);
}

#[test]
fn a_reader_of_the_old_log_keeps_what_it_reads_through_a_rebuild() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("index.db");
    let mut first = writer(&path, &options());
    first.put(&note("a.md", &["alpha"])).unwrap();
    first.finish().unwrap();
    drop(first);
    let before = reader(&path);
    let mut second = writer(&path, &options());
    second.put(&note("b.md", &["beta"])).unwrap();
    // The reader before needs the file as it was: the log cannot be folded in.
    second.finish().unwrap();
    drop(second);
    let between = reader(&path);
    let mut rebuilt = writer(&path, &WriterOptions { full: true, ..options() });
    rebuilt.put(&note("c.md", &["gamma"])).unwrap();
    rebuilt.finish().unwrap();
    drop(rebuilt);
    assert_eq!(before.counts().unwrap(), (1, 1));
    assert_eq!(between.counts().unwrap(), (2, 2));
    assert_eq!(find(&path, "gamma").0, ["gamma"]);
    drop((before, between));
    let mut last = writer(&path, &options());
    last.put(&note("d.md", &["delta"])).unwrap();
    last.finish().unwrap();
    assert_eq!(find(&path, "delta").0, ["delta"]);
    assert_eq!(find(&path, "gamma").0, ["gamma"]);
    assert_eq!(find(&path, "alpha").0, Vec::<String>::new());
}

#[test]
fn what_is_out_of_step_is_found_though_the_file_is_sound() {
    const SHALLOW: [&str; 4] = [
        "DELETE FROM keyword WHERE rowid = 3",
        "INSERT INTO keyword (rowid, terms) VALUES (99, 'ghost')",
        "DELETE FROM vector WHERE chunk_id = 3",
        "UPDATE note SET n_chunks = n_chunks + 1 WHERE id = 1",
    ];
    const DEEP: [&str; 6] = [
        "DELETE FROM keyword WHERE rowid = 3;
         INSERT INTO keyword (rowid, terms) VALUES (3, 'other words')",
        "DELETE FROM posting WHERE term = 'alpha'",
        "UPDATE posting SET data = (SELECT data FROM posting WHERE term = 'beta')
         WHERE term = 'alpha'",
        "UPDATE chunk SET body = (SELECT body FROM chunk WHERE id = 5), len = 5 WHERE id = 3",
        "UPDATE block SET data = zeroblob(length(data)) WHERE (id >> 32) & 255 = 4",
        "UPDATE note SET title = 'zqother' WHERE id = 2",
    ];
    let meta_model = WriterOptions { model: "m".into(), ..options() };
    for (is_deep, statement) in
        SHALLOW.map(|text| (false, text)).into_iter().chain(DEEP.map(|text| (true, text)))
    {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("index.db");
        let mut first = writer(&path, &meta_model);
        first.put(&note("a.md", &["alpha beta", "gamma"])).unwrap();
        first.put(&note("b.md", &["beta beta", "delta ñandú"])).unwrap();
        first.finish().unwrap();
        drop(first);
        let mut second = writer(&path, &meta_model);
        second.put(&note("a.md", &["alpha alpha", "gamma"])).unwrap();
        second.finish().unwrap();
        drop(second);
        let conn = rusqlite::Connection::open(&path).unwrap();
        assert_eq!(check::damage(&conn, true).unwrap(), None);
        conn.execute_batch(statement).unwrap();
        let pages: String = conn.query_row("PRAGMA quick_check", [], |row| row.get(0)).unwrap();
        assert_eq!(pages, "ok", "{statement}");
        assert_eq!(check::damage(&conn, false).unwrap().is_some(), !is_deep, "{statement}");
        let found = check::damage(&conn, true).unwrap();
        assert!(found.is_some(), "{statement}");
        drop(conn);
        let asked = WriterOptions { check: true, ..meta_model.clone() };
        let outcome = Writer::open(&path, &asked).unwrap();
        assert!(matches!(outcome, WriteOutcome::Ready(_, Some(_))), "{statement}");
    }
}

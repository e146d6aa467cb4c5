//! The training program: a table made from a handful of invented sentences is
//! opened and used like the one that ships.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use postil_core::embed::{Embedder, compile, verify_table};

use crate::harness::World;
use crate::model::model_dir;

const NOUNS: [&str; 20] = [
    "house", "river", "garden", "teacher", "winter", "music", "bread", "mountain", "letter",
    "doctor", "window", "bridge", "forest", "market", "captain", "island", "hammer", "silver",
    "village", "kitchen",
];
const VERBS: [&str; 6] = ["opens", "finds", "paints", "carries", "sells", "cleans"];

/// An invented language: English words reversed, in a frame that no English
/// word has, and one article.
fn invented(word: &str) -> String {
    format!("z{}ux", word.chars().rev().collect::<String>())
}

/// Every verb with many pairs of nouns.
fn pairs() -> String {
    let mut pairs = String::new();
    for (position, subject) in NOUNS.iter().enumerate() {
        for (step, verb) in VERBS.iter().enumerate() {
            let object = NOUNS[(position + 3 * step + 1) % NOUNS.len()];
            let [a, b, c] = [*subject, *verb, object].map(invented);
            writeln!(pairs, "dax {a} {b} dax {c}\tthe {subject} {verb} the {object}").unwrap();
        }
    }
    pairs
}

/// The Python that has the packages of requirements.txt.
fn python() -> PathBuf {
    #[allow(clippy::disallowed_methods, reason = "a test's input, not the product's configuration")]
    let python = std::env::var_os("POSTIL_TEST_PYTHON");
    python.map(PathBuf::from).expect(
        "POSTIL_TEST_PYTHON must name a python3 with the packages of \
         core/languages/train/requirements.txt; ./tests/run installs and sets it",
    )
}

fn train(folder: &Path, pairs: &str, language: &str) -> std::process::Output {
    fs::write(folder.join("pairs.tsv"), pairs).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/languages/train/train.py");
    Command::new(python())
        .arg(program)
        .args(["--language", language, "--stemmer", "spanish", "--model"])
        .arg(model_dir())
        .args(["pairs.tsv", "xx.table"])
        .current_dir(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap()
}

fn cosine(embedder: &Embedder, a: &str, b: &str) -> f32 {
    let (a, b) = (embedder.query(a).vector, embedder.query(b).vector);
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

#[test]
fn a_table_trained_on_a_toy_language_reads_it() {
    let world = World::new();
    let folder = world.home();
    let output = train(folder, &pairs(), "xx");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = folder.join("xx.table");
    verify_table(&table).unwrap();

    for name in ["model.safetensors", "tokenizer.json"] {
        std::os::unix::fs::symlink(model_dir().join(name), folder.join(name)).unwrap();
    }
    compile(folder).unwrap();
    let embedder = Embedder::open(folder, &[table]).unwrap().unwrap();
    assert!(embedder.hash().contains("+xx:"), "{}", embedder.hash());

    let sentence = "dax zrevirux zsllesux dax zrotcodux";
    assert_eq!(embedder.language(sentence).code(), "xx");
    assert_eq!(embedder.language("the river sells the doctor").code(), "en");
    let same = cosine(&embedder, sentence, "the river sells the doctor");
    let other = cosine(&embedder, sentence, "the hammer opens the kitchen");
    assert!(same > 0.9 && same > other + 0.3, "{same} against {other}");

    // The plural was never seen; it is read by its stem.
    let plural = sentence.replace("zrotcodux", "zrotcoduxes");
    let plural = cosine(&embedder, sentence, &plural);
    assert!(plural > 0.99, "{plural}");
}

#[test]
fn training_says_what_is_wrong_with_the_pairs() {
    let world = World::new();
    let output = train(world.home(), "no tab in this line\n", "xx");
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no tab in this line"), "{errors}");
    let output = train(world.home(), "a\tb\n", "xx");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no word"));
    assert!(!world.home().join("xx.table").exists());
}

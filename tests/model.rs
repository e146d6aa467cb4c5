//! `postil model`: a verified model is installed and compiled, anything else
//! is refused by name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::World;

/// The folder of the real model, named by `POSTIL_TEST_MODEL`.
pub(crate) fn model_dir() -> PathBuf {
    #[allow(clippy::disallowed_methods, reason = "a test's input, not the product's configuration")]
    let folder = std::env::var_os("POSTIL_TEST_MODEL");
    let folder = folder.map(PathBuf::from).expect(
        "POSTIL_TEST_MODEL must name a folder with potion-base-8M; ./tests/run fetches the model \
         and sets it",
    );
    assert!(folder.join("model.safetensors").exists(), "no model in {}", folder.display());
    folder
}

#[test]
fn installs_compiles_and_checks_the_real_model() {
    let world = World::new();
    let source = model_dir();
    let run = world.run("postil", &["model", "install", source.to_str().unwrap()], "").code(0);
    let installed = world.home().join(".local/share/postil/model/potion-base-8M");
    assert!(run.text().contains(installed.to_str().unwrap()), "{run}");
    assert!(installed.join("potion.tbl").exists());

    let languages = world.home().join(".local/share/postil/languages");
    fs::create_dir_all(&languages).unwrap();
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/languages/es.table");
    fs::copy(table, languages.join("es.table")).unwrap();
    let check = world.run("postil", &["model", "check"], "").code(0);
    assert!(check.text().contains("potion-base-8M") && check.text().contains("+es:"), "{check}");

    fs::write(languages.join("xx.table"), "not a table").unwrap();
    let check = world.run("postil", &["model", "check"], "").code(2);
    assert!(check.errors().contains("xx.table"), "{check}");
}

#[test]
fn a_folder_without_the_model_is_refused() {
    let world = World::new();
    let folder = world.home().join("elsewhere");
    fs::create_dir_all(&folder).unwrap();
    let run = world.run("postil", &["model", "install", folder.to_str().unwrap()], "").code(2);
    assert!(run.errors().contains("model.safetensors"), "{run}");
    fs::copy(model_dir().join("tokenizer.json"), folder.join("tokenizer.json")).unwrap();
    fs::write(folder.join("model.safetensors"), "not weights").unwrap();
    let run = world.run("postil", &["model", "install", folder.to_str().unwrap()], "").code(2);
    assert!(run.errors().contains("not potion-base-8M"), "{run}");
    assert!(!world.home().join(".local/share/postil/model").exists());
}

#[test]
fn bad_usage_is_named() {
    let world = World::new();
    for args in [&["model"][..], &["model", "instal"], &["model", "install"], &["model", "-x"]] {
        let run = world.run("postil", args, "").code(2);
        assert!(run.errors().contains("postil model --help"), "{run}");
    }
    world.run("postil", &["model", "--help"], "").code(0);
}

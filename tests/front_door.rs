//! `postil` itself: help, version, unknown commands, running siblings.

use crate::harness::World;

#[test]
fn help_and_version_need_no_configuration() {
    let world = World::new();
    std::fs::remove_dir_all(world.home().join(".config")).unwrap();
    let help = world.run("postil", &["--help"], "").code(0);
    assert!(help.text().starts_with("postil "), "{help}");
    let version = world.run("postil", &["--version"], "").code(0);
    assert_eq!(version.text(), format!("postil {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_command_is_a_usage_error() {
    let run = World::new().run("postil", &["serach"], "").code(2);
    assert!(run.errors().contains("serach"), "{run}");
    assert!(run.errors().contains("did you mean `postil search`?"), "{run}");
    let run = World::new().run("postil", &["frobnicate"], "").code(2);
    assert!(run.errors().contains("--help"), "{run}");
}

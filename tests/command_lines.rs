//! The table of command lines: what the binaries say of themselves is what it
//! holds, and shells and man(1) can read what is made of it.

use std::collections::BTreeSet;
use std::fs;

use postil_cli::COMMANDS;

use crate::harness::{World, run};

/// The long options a help text names.
fn named(help: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    help.match_indices("--")
        .filter(|(at, _)| !help.get(..*at).unwrap_or("").ends_with(is_name))
        .filter_map(|(at, dashes)| help.get(at + dashes.len()..))
        .map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or("").to_owned())
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn every_binary_has_the_options_of_the_table() {
    let world = World::new();
    for command in COMMANDS.iter().filter(|command| command.name != "postil") {
        let help = world.run("postil", &[command.name, "--help"], "").code(0);
        let said = named(&help.text());
        for flag in command.flags() {
            assert!(said.contains(flag.long), "{} lacks --{}\n{help}", command.name, flag.long);
        }
        let known: BTreeSet<&str> = command.flags().map(|flag| flag.long).collect();
        // Options of other commands are named in passing.
        let others = ["register", "max-drop", "compare", "queries"];
        for name in said.iter().filter(|name| !others.contains(&name.as_str())) {
            assert!(known.contains(name.as_str()), "the table lacks {} --{name}", command.name);
        }
    }
    let help = world.run("postil", &["--help"], "").code(0).text();
    for command in COMMANDS.iter().filter(|command| command.name != "postil") {
        assert!(help.contains(&format!("\n  {} ", command.name)), "{help}");
    }
}

#[test]
fn bash_completes_commands_options_and_tags() {
    let world = World::with_notes(&[("a.md", "#zqtag and #other\n")]);
    world.run("index", &[], "").code(0);
    let script = world.run("postil", &["completions", "bash"], "").code(0).text();
    fs::write(world.home().join("complete.bash"), script).unwrap();
    let folder = crate::harness::binary_path("postil");
    let folder = folder.parent().unwrap().display().to_string();
    let completed = |words: &str| {
        let mut bash = std::process::Command::new("bash");
        bash.env_clear().env("HOME", world.home()).env("PATH", format!("{folder}:/usr/bin:/bin"));
        bash.args(["--norc", "-c"]).arg(format!(
            "set -e; . \"$HOME/complete.bash\"; complete -p postil >/dev/null; \
             COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _postil; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        ));
        let run = run(bash, b"").code(0);
        assert!(run.stderr.is_empty(), "{run}");
        run.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed("postil sea"), ["search"]);
    assert_eq!(completed("postil search --expl"), ["--explain"]);
    assert_eq!(completed("postil search --color al"), ["always"]);
    assert_eq!(completed("postil search --tag zq"), ["zqtag"]);
    assert!(completed("postil index --").contains(&"--full".to_owned()));
}

#[test]
fn every_command_has_a_page() {
    let world = World::new();
    let folder = world.home().join("man1");
    world.run("postil", &["man", "--into", folder.to_str().unwrap()], "").code(0);
    for command in COMMANDS {
        let name = match command.name {
            "postil" => "postil.1".to_owned(),
            name => format!("postil-{name}.1"),
        };
        let page = fs::read_to_string(folder.join(&name)).unwrap();
        assert!(page.starts_with(".TH ") && page.contains(".SH \"EXIT STATUS\""), "{name}");
    }
    let page = world.run("postil", &["man", "search"], "").code(0).text();
    assert!(page.contains("\\-\\-why\\-not"), "{page}");
    world.run("postil", &["man", "nosuch"], "").code(2);
    world.run("postil", &["completions", "tcsh"], "").code(2);
}

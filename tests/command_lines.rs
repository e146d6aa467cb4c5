//! The table of command lines: what the binaries say of themselves is what it
//! holds, and shells and man(1) can read what is made of it.

use std::fs;
use std::path::Path;

use postil_cli::{COMMANDS, Takes, help};

use crate::harness::{World, run};

#[test]
fn every_help_is_the_tables() {
    let world = World::new();
    for command in COMMANDS {
        let expected = help(command);
        let calls = match command.name {
            "postil" => vec![vec!["--help"], vec!["help"], vec!["-h"]],
            name => vec![vec![name, "--help"], vec![name, "-h"], vec!["help", name]],
        };
        for call in calls {
            let run = world.run("postil", &call, "").code(0);
            assert_eq!(run.text(), expected, "{run}");
        }
    }
    let page = world.run("postil", &["man", "triage"], "").code(0);
    assert!(page.text().contains("dry\\-run"), "{page}");
    let wrong = world.run("postil", &["serach"], "").code(2);
    assert!(wrong.errors().contains("postil search"), "{wrong}");
}

/// Something that an option may take.
fn value(takes: Takes) -> Option<&'static str> {
    match takes {
        Takes::Nothing => None,
        Takes::OneOf(_, words) => Some(words[0]),
        Takes::Text("MINUTES" | "N" | "PORT") => Some("7"),
        Takes::Text("X" | "0..1") => Some("0.5"),
        Takes::Text("DAY") => Some("2026-03-01"),
        Takes::Text("PATH:LINE") => Some("a.md:1"),
        _ => Some("x"),
    }
}

#[test]
fn every_binary_accepts_what_the_table_says() {
    let world = World::new();
    for command in COMMANDS.iter().filter(|command| command.name != "postil") {
        for flag in command.flags().filter(|flag| !["help", "hook", "version"].contains(&flag.long))
        {
            // The unknown option after it is what is complained about, so nothing runs.
            let names = std::iter::once(format!("--{}", flag.long));
            for name in names.chain(flag.short.map(|short| format!("-{short}"))) {
                let mut args = vec![command.name, &name];
                args.extend(value(flag.takes));
                args.push("--zqunknown");
                let run = world.run("postil", &args, "{}");
                let errors = run.errors();
                assert!(errors.contains("zqunknown"), "{} {name}: {run}", command.name);
                assert!(run.stdout.is_empty(), "{run}");
                assert_eq!(errors.lines().count(), 1, "{run}");
            }
        }
    }
}

/// What the parsers in a file or folder know by name.
fn parsed_by(path: &Path) -> Vec<String> {
    let files = match path.is_dir() {
        true => fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect(),
        false => vec![path.to_owned()],
    };
    let mut names = Vec::new();
    for file in files {
        let text = if file.is_dir() { String::new() } else { fs::read_to_string(file).unwrap() };
        for rest in text.split("Long(\"").skip(1) {
            let inside = rest.split(')').next().unwrap();
            names.extend(inside.split('"').step_by(2).map(str::to_owned));
        }
    }
    names.retain(|name| !name.trim().is_empty());
    names
}

#[test]
fn no_binary_has_an_option_beside_the_table() {
    let bins = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Second spellings, and the last step of the wrapper, which nobody types.
    let unnamed = ["tag", "url", "finish"];
    let mut n_names = 0;
    for command in COMMANDS {
        let own = [command.name.to_owned(), format!("postil/{}", command.name)];
        let paths = own.iter().flat_map(|path| [bins.join(path), bins.join(format!("{path}.rs"))]);
        for path in paths.filter(|path| path.exists() && !path.ends_with("bins/postil")) {
            for name in parsed_by(&path) {
                n_names += 1;
                let is_known = command.flags().any(|flag| flag.long == name);
                assert!(is_known || unnamed.contains(&name.as_str()), "{} --{name}", command.name);
            }
        }
    }
    assert!(n_names > 60, "{n_names}");
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
    assert_eq!(completed("postil help tri"), ["triage"]);
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

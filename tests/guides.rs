//! The guides: every command in them exists with its options, and every console
//! block prints what it says. `POSTIL_BLESS=1` writes what is printed now into
//! the guides instead.
//!
//! `POSTIL_BLESS=DIR` takes the binaries from there (a release build: the guides
//! show times).
//!
//! A block's commands run in order, in one HOME per guide with the sample vault
//! in `~/notes`. Runs of digits are alike (times, sizes, dates), and a line `...`
//! stands for any number of lines.

use std::fs;
use std::path::{Path, PathBuf};

use postil_cli::Command;

use crate::harness::{World, binary_path, run};
use crate::hooks::installed_model;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn guides() -> Vec<PathBuf> {
    let folder = root().join("bins/docs");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    files
}

#[allow(clippy::disallowed_methods, reason = "a test's input, not the product's configuration")]
fn blessing() -> Option<std::ffi::OsString> {
    std::env::var_os("POSTIL_BLESS")
}

/// The folder of the binaries.
fn binaries() -> PathBuf {
    let given = blessing().map(PathBuf::from).filter(|dir| dir.is_absolute());
    given.unwrap_or_else(|| binary_path("postil").parent().unwrap().to_owned())
}

/// A world whose vault is the sample, in `~/notes`.
fn world(is_set_up: bool) -> World {
    let mut world = World::new();
    let home = world.home().to_owned();
    fs::remove_dir_all(home.join(".config")).unwrap();
    fs::remove_dir_all(home.join("vault")).unwrap();
    fs::create_dir_all(home.join(".local/bin")).unwrap();
    fs::create_dir_all(home.join(".claude")).unwrap();
    std::os::unix::fs::symlink(binaries().join("postil"), home.join(".local/bin/postil")).unwrap();
    world.var("PATH", format!("{}/.local/bin:/usr/bin:/bin", home.display()));
    // Model and word tables lie where the installer puts them.
    let data = home.join(".local/share/postil");
    fs::create_dir_all(data.join("model")).unwrap();
    let link = std::os::unix::fs::symlink::<PathBuf, PathBuf>;
    link(installed_model().clone(), data.join("model/potion-base-8M")).unwrap();
    link(root().join("core/languages"), data.join("languages")).unwrap();
    let sample = root().join("tests/fixtures/vault");
    run(world.shell(&format!("cp -R '{}' ~/notes", sample.display())), b"").code(0);
    if is_set_up {
        run(world.shell("postil init --vault ~/notes && postil index"), b"").code(0);
    }
    world
}

/// What a command prints, errors too, with the paths of an installation.
fn printed(world: &World, command: &str) -> Vec<String> {
    let run = run(world.shell(&format!("exec 2>&1\n{command}")), b"");
    let folder = binaries().display().to_string();
    let text = run.text().replace(&folder, "~/.local/lib/postil");
    let text = text.replace(&world.home().display().to_string(), "~");
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// A line with its runs of digits, blanks and dots made one.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if !((c == '0' || c == ' ') && shape.ends_with(c)) {
            shape.push(c);
        }
    }
    shape.replace("0.0", "0")
}

fn is_same(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=printed.len()).any(|n| is_same(rest, &printed[n..]))
        }
        Some((line, rest)) => {
            printed.first().is_some_and(|first| shape(first) == shape(line))
                && is_same(rest, &printed[1..])
        }
    }
}

/// What is printed, with `...` where it was, and as much around it.
fn blessed(expected: &[String], printed: Vec<String>) -> Vec<String> {
    let Some(at) = expected.iter().position(|line| line == "...") else { return printed };
    let n_after = expected.len() - at - 1;
    if at + n_after >= printed.len() {
        return printed;
    }
    let mut lines = printed[..at].to_vec();
    lines.push("...".to_owned());
    lines.extend_from_slice(&printed[printed.len() - n_after..]);
    lines
}

#[test]
fn console_blocks_print_what_they_say() {
    let is_blessing = blessing().is_some();
    let mut n_commands = 0;
    for file in guides() {
        let text = fs::read_to_string(&file).unwrap();
        let world = world(!file.ends_with("first-vault.md"));
        let mut out: Vec<String> = Vec::new();
        let mut lines = text.lines().peekable();
        let mut is_console = false;
        while let Some(line) = lines.next() {
            out.push(line.to_owned());
            if line.starts_with("```") {
                is_console = line == "```console";
            }
            let Some(first) = line.strip_prefix("$ ").filter(|_| is_console) else { continue };
            let mut command = first.to_owned();
            // A here-document or a line that goes on.
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                out.push(more.to_owned());
                command.push('\n');
                command.push_str(more.trim_start_matches("> "));
            }
            let mut expected: Vec<String> = Vec::new();
            while let Some(line) =
                lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```"))
            {
                expected.push(line.to_owned());
            }
            n_commands += 1;
            let printed = printed(&world, &command);
            if is_blessing {
                out.extend(blessed(&expected, printed));
                continue;
            }
            assert!(
                is_same(&expected, &printed),
                "{}: `{command}` prints\n{}\nnot\n{}",
                file.display(),
                printed.join("\n"),
                expected.join("\n")
            );
            out.extend(expected);
        }
        if is_blessing {
            fs::write(&file, out.join("\n") + "\n").unwrap();
        }
    }
    assert!(n_commands > 30, "{n_commands} commands in the guides");
}

/// The pieces of a Markdown text that are code, line by line.
fn code(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced {
            pieces.push(line.to_owned());
        } else {
            pieces.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    pieces
}

/// Calls of `postil COMMAND` in a line, each with its options.
fn calls(line: &str) -> Vec<(String, Vec<String>)> {
    let parts = line.split(['|', ';', '&', '#', '(']);
    let call = |part: &str| {
        let mut words = part.split_whitespace().skip_while(|word| *word == "$" || *word == "-");
        (words.next() == Some("postil")).then_some(())?;
        let name = words.next()?.to_owned();
        // What stands in quotes or after `--` is no option.
        let mut is_quoted = false;
        let mut options = Vec::new();
        for word in words.take_while(|word| *word != "--") {
            if let Some(option) = word.strip_prefix("--").filter(|_| !is_quoted) {
                let end = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
                options.push(option.split(end).next().unwrap_or("").to_owned());
            }
            is_quoted ^= word.matches(['\'', '"']).count() % 2 == 1;
        }
        Some((name, options))
    };
    parts.filter_map(call).collect()
}

#[test]
fn commands_in_the_documentation_exist_with_their_options() {
    let mut files = guides();
    for file in [
        "README.md",
        "core/README.md",
        "hooks/claude-plugin/README.md",
        "skills/capture/SKILL.md",
        "skills/notes/SKILL.md",
    ] {
        files.push(root().join(file));
    }
    let mut n_calls = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (name, options) in code(&text).iter().flat_map(|line| calls(line)) {
            if name.starts_with('-') || name.chars().any(|c| c.is_ascii_uppercase() || c == '/') {
                continue;
            }
            let command = Command::named(&name);
            let command =
                command.unwrap_or_else(|| panic!("{}: no command {name}", file.display()));
            n_calls += 1;
            // The one that is misspelt to show what is said then.
            for option in options.into_iter().filter(|option| option != "limt") {
                let is_known = command.flags().any(|flag| flag.long == option);
                assert!(is_known, "{}: postil {name} --{option}", file.display());
            }
        }
    }
    assert!(n_calls > 60, "{n_calls} calls");
}

#[test]
fn configuration_in_the_guides_is_understood() {
    let mut n_blocks = 0;
    for file in guides() {
        let text = fs::read_to_string(&file).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let world = World::with_notes(&[("a.md", "# A\n\ntext\n")]);
            let config = world.home().join(".config/postil/config.toml");
            let vault = fs::read_to_string(&config).unwrap();
            fs::write(&config, format!("{vault}{block}")).unwrap();
            world.run("index", &[], "").code(0);
            let run = world.run("postil", &["doctor"], "");
            assert!(!run.text().contains("unknown key"), "{}: {run}", file.display());
            n_blocks += 1;
        }
    }
    assert!(n_blocks >= 2, "{n_blocks}");
}

#[test]
fn the_readme_leads_to_every_guide() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for file in guides() {
        let name = format!("bins/docs/{}", file.file_name().unwrap().to_str().unwrap());
        assert!(readme.contains(&name), "{name}");
    }
}

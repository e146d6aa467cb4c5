//! Regular runs: written once, run as written, taken out whole. The schedulers
//! here are stand-ins; `tests/foreign/cron` asks a real one.

use std::fs;
use std::path::Path;

use crate::harness::{World, run};

/// A crontab that keeps its text in a file, as the real one does.
const CRONTAB: &str = "#!/bin/sh\nf=$HOME/crontab\ncase $1 in\n-l) [ -f $f ] || { echo \"no crontab \
                       for me\" >&2; exit 1; }; cat $f;;\n-) cat > $f.new && mv $f.new $f;;\n-r) rm \
                       $f;;\nesac\n";

/// Remembers what it was asked.
const LOGGED: &str = "#!/bin/sh\necho \"$(basename $0) $*\" >> $HOME/asked\n";

fn world(vault: &str) -> World {
    let mut world = World::new();
    let folder = world.home().join(vault);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.md"), "# A\n\nzqalpha stands in the note.\n").unwrap();
    let config = world.home().join(".config/postil/config.toml");
    fs::write(config, format!("vault = {folder:?}\n")).unwrap();
    let bin = world.home().join("bin");
    fs::create_dir(&bin).unwrap();
    executable(&bin.join("crontab"), CRONTAB);
    for name in ["systemctl", "launchctl"] {
        executable(&bin.join(name), LOGGED);
    }
    world.var("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    world
}

fn executable(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn n_found(world: &World) -> usize {
    let hits = world.run("search", &["--json", "zqalpha"], "").json();
    hits.as_array().map_or(0, Vec::len)
}

#[test]
fn a_crontab_line_is_written_once_and_taken_out_whole() {
    let world = world("vault");
    let crontab = world.home().join("crontab");
    let own = "MAILTO=me\r\n# comment\n\n5 4 * * * other command # postil-indexed\n";
    fs::write(&crontab, own).unwrap();
    world.run("index", &["--install-cron", "--scheduler", "cron", "--every", "5"], "").code(0);
    let once = fs::read_to_string(&crontab).unwrap();
    assert!(once.starts_with(own) && once.contains("*/5 * * * * /"), "{once}");
    world.run("index", &["--install-cron", "--scheduler", "cron", "--every", "5"], "").code(0);
    assert_eq!(fs::read_to_string(&crontab).unwrap(), once);
    let print = ["--print-cron", "--scheduler", "cron", "--every", "5"];
    let printed = world.run("index", &print, "").code(0).text();
    assert!(once.ends_with(&printed), "{printed}");
    world.run("index", &["--install-cron", "--scheduler", "cron", "--every", "90"], "").code(0);
    let other = fs::read_to_string(&crontab).unwrap();
    assert!(other.lines().count() == once.lines().count() && !other.contains("*/5"), "{other}");
    world.run("index", &["--uninstall-cron"], "").code(0);
    assert_eq!(fs::read_to_string(&crontab).unwrap(), own);
    assert!(world.run("index", &["--uninstall-cron"], "").code(0).text().contains("nothing"));
}

#[test]
fn an_empty_crontab_is_left_as_none() {
    let world = world("vault");
    world.run("index", &["--install-cron", "--scheduler", "cron"], "").code(0);
    assert!(world.home().join("crontab").exists());
    world.run("index", &["--uninstall-cron", "--scheduler", "cron"], "").code(0);
    assert!(!world.home().join("crontab").exists());
}

#[test]
fn a_crontab_that_cannot_be_read_is_not_written_over() {
    let world = world("vault");
    executable(&world.home().join("bin/crontab"), "#!/bin/sh\necho boom >&2\nexit 1\n");
    let run = world.run("index", &["--install-cron", "--scheduler", "cron"], "").code(2);
    assert!(run.errors().contains("boom"), "{run}");
}

/// What cron hands to the shell: `\%` is `%`, a bare `%` ends the command.
fn as_cron_runs(line: &str) -> String {
    let command = line.trim_end().splitn(6, ' ').nth(5).unwrap().to_owned();
    let bare = command.replace("\\%", "\u{1}");
    assert!(!bare.contains('%'), "{line}");
    bare.replace('\u{1}', "%")
}

#[test]
fn names_with_spaces_percent_signs_and_quotes_survive_every_scheduler() {
    let mut world = world("My 100% \"notes\" & it's $HOME");
    world.var("XDG_DATA_HOME", world.home().join("data 50%").to_str().unwrap());
    let print = |scheduler: &str| {
        world.run("index", &["--print-cron", "--scheduler", scheduler], "").code(0).text()
    };
    let command = as_cron_runs(&print("cron"));
    // cron starts it without the variables of the user's shell.
    let script = format!("unset XDG_DATA_HOME; {command}");
    assert_eq!(run(world.shell(&script), b"").code(0).text(), "");
    assert_eq!(n_found(&world), 1);
    let expected = [
        "/usr/bin/env".to_owned(),
        format!("XDG_DATA_HOME={}", world.home().join("data 50%").display()),
    ];
    assert_eq!(plist_words(&world, &print("launchd"))[..2], expected);
    let unit = print("systemd");
    let data = format!("\"XDG_DATA_HOME={}\"", world.home().join("data 50%%").display());
    assert!(unit.contains(&data) && unit.contains("\"--quiet\""), "{unit}");
}

/// The words of the agent, read by another program's parser.
fn plist_words(world: &World, text: &str) -> Vec<String> {
    let plist = text.split_once('\n').unwrap().1;
    let script = "import json, plistlib, sys\n\
                  print(json.dumps(plistlib.loads(sys.stdin.buffer.read())['ProgramArguments']))";
    let mut python = world.shell("exec python3 -c \"$0\" ");
    python.arg(script);
    let words = run(python, plist.trim().as_bytes()).code(0).json();
    words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_timer_and_an_agent_are_written_started_and_removed() {
    for (scheduler, files, starts, stops) in [
        (
            "systemd",
            vec![
                ".config/systemd/user/postil-index.service",
                ".config/systemd/user/postil-index.timer",
            ],
            "systemctl --user enable --now postil-index.timer",
            "systemctl --user disable --now postil-index.timer",
        ),
        (
            "launchd",
            vec!["Library/LaunchAgents/dev.postil.index.plist"],
            "launchctl load -w ",
            "launchctl unload -w ",
        ),
    ] {
        let world = world("vault");
        let asked = || fs::read_to_string(world.home().join("asked")).unwrap_or_default();
        let exist = || files.iter().filter(|file| world.home().join(file).exists()).count();
        world.run("index", &["--install-cron", "--scheduler", scheduler], "").code(0);
        assert_eq!(exist(), files.len(), "{scheduler}");
        assert!(asked().contains(starts), "{}", asked());
        world.run("index", &["--install-cron", "--scheduler", scheduler], "").code(0);
        // Whatever is installed goes, without being named.
        world.run("index", &["--uninstall-cron"], "").code(0);
        assert_eq!(exist(), 0, "{scheduler}");
        assert!(asked().contains(stops), "{}", asked());
    }
}

#[test]
fn bad_schedules_are_refused() {
    let world = world("vault");
    world.run("index", &["--print-cron", "--scheduler", "at"], "").code(2);
    world.run("index", &["--install-cron", "--every", "0"], "").code(2);
    world.run("index", &["--every", "5"], "").code(2);
    let long = format!("/{}", "long/".repeat(250));
    let args = ["--print-cron", "--scheduler", "cron", "--db", &long];
    assert!(world.run("index", &args, "").code(2).errors().contains("too long"));
}

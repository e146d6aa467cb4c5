//! What `index` says of a run: on a terminal, into a pipe, as JSON, and by its
//! exit code.

use std::fs;

use crate::harness::{Run, World, run};

fn world(n_notes: usize) -> World {
    let world = World::new();
    for i in 0..n_notes {
        world.note(&format!("n{i:04}.md"), format!("# N{i}\n\n{}\n", "zqsome text. ".repeat(150)));
    }
    world
}

/// Gives the program after it a terminal of 100 columns, copies what is shown,
/// and ends as it does.
const TERMINAL: &str = "
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
    os.environ['TERM'] = 'xterm'
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:
        break
    if not shown:
        break
    os.write(1, shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

/// Runs `index` with a terminal as its output and returns all that it showed.
fn on_a_terminal(world: &World, args: &str) -> Run {
    let index = crate::harness::binary_path("index");
    let mut python = world.shell(&format!("exec python3 -c \"$0\" {} {args}", index.display()));
    python.arg(TERMINAL);
    run(python, b"")
}

#[test]
fn a_terminal_gets_a_bar_with_rate_and_time_left_and_keeps_the_summary_only() {
    let world = world(3000);
    let shown = on_a_terminal(&world, "").code(0).text();
    for part in ["/3000 notes", "B/s", " left", "%"] {
        assert!(shown.contains(part), "no {part:?} in {shown:?}");
    }
    // The bar is wiped before the summary.
    let summary = shown.rsplit_once("\u{1b}[2K").map_or(shown.as_str(), |(_, after)| after);
    assert!(summary.contains("3000 indexed") && !summary.contains(" left"), "{shown:?}");
    // Nothing to wait for, nothing to show.
    let again = on_a_terminal(&world, "").code(0).text();
    assert!(again.contains("3000 unchanged") && !again.contains('\u{1b}'), "{again:?}");
    let quiet = on_a_terminal(&world, "--full --quiet").code(0).text();
    assert_eq!(quiet, "");
}

#[test]
fn each_note_is_named_on_request() {
    let world = world(3);
    world.note("odd.md", "---\ntitle: a\ntitle: b\n---\ntext\n");
    let text = world.run("index", &["-v"], "").code(0).text();
    assert!(text.contains("indexed n0001.md (1)\n"), "{text}");
    assert!(text.contains("odd odd.md: line 3:"), "{text}");
    fs::remove_file(world.vault().join("odd.md")).unwrap();
    fs::rename(world.vault().join("n0000.md"), world.vault().join("new.md")).unwrap();
    let text = world.run("index", &["-v"], "").code(0).text();
    assert!(text.contains("renamed n0000.md to new.md\n"), "{text}");
    assert!(text.contains("removed odd.md\n"), "{text}");
}

#[test]
fn the_profile_says_where_the_time_went() {
    let world = world(200);
    let text = world.run("index", &["--profile"], "").code(0).text();
    for stage in ["walk", "open", "write", "links", "finish", "read", "redact", "put", "MB/s"] {
        assert!(text.contains(stage), "no {stage} in {text}");
    }
    let ms = world.run("index", &["--full", "--json"], "").code(0).json()["ms"].clone();
    let of = |name: &str| ms[name].as_u64().unwrap();
    let named: u64 = ["walk", "open", "write", "links", "finish"].map(of).iter().sum();
    assert!(named <= of("total") && of("total") <= named + 50 + of("total") / 5, "{ms}");
    let doctor = world.run("postil", &["doctor", "--profile"], "").code(0).text();
    assert!(doctor.contains("200 indexed") && doctor.contains("redact"), "{doctor}");
    // It measured a copy: the index is as it was.
    assert!(world.run("index", &[], "").code(0).text().contains("200 unchanged"));
}

#[test]
fn the_exit_code_says_whether_all_some_or_nothing_was_done() {
    let world = world(3);
    world.run("index", &[], "").code(0);
    world.note("binary.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0");
    let run = world.run("index", &["--quiet"], "").code(1);
    assert!(run.text().contains("skipped binary.md: binary content"), "{run}");
    let report = world.run("index", &["--json"], "").code(1).json();
    assert_eq!(report["skipped"][0]["failed"], true);
    for args in [&["--vault", "no such vault"][..], &["--flul"], &["--db", "/proc/x.db"]] {
        let run = world.run("index", args, "").code(2);
        let lines = run.errors().lines().filter(|line| !line.contains("no model")).count();
        assert_eq!((lines, run.stdout.len()), (1, 0), "{run}");
    }
}

#[test]
fn a_broken_pattern_of_the_user_is_named_by_doctor_and_stops_the_run() {
    let world = world(1);
    let config = world.home().join(".config/postil/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let pattern = "[[redact.pattern]]\nname = \"mine\"\nregex = \"(open\"\n";
    fs::write(&config, format!("{text}{pattern}")).unwrap();
    for run in [world.run("index", &[], "").code(2), world.run("postil", &["doctor"], "").code(1)] {
        let said = run.text() + &run.errors();
        assert!(said.contains("mine"), "{run}");
    }
}

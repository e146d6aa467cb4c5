//! `search` as people use it: conditions, reasons, lists, pickers, editors, and
//! a local model that may fail.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc;

use serde_json::Value;

use crate::harness::{Run, World};

const POOL: &str = "---
title: Connection pools
tags: [db, rust/tokio]
type: howto
created: 2026-02-01
---
# Connection pools

Intro about pools.

## Sizing

A pool of connections should be small: two times the cores.

## Timeouts

Set acquire_timeout to 3 s, or a stalled connection waits for ever. See [[nowhere]].
";

fn world() -> World {
    let world = World::with_notes(&[
        ("04-work/pool.md", POOL),
        ("timers.md", "# Timers\n\nTokio timers are coarse: one millisecond. #rust\n"),
        ("diary.md", "---\nagent: false\n---\n# Diary\n\nThe pool party, without mysql.\n"),
        (".indexignore", "secret/\n"),
        ("secret/hidden.md", "# Hidden pool\n\nNobody finds this pool.\n"),
    ]);
    world.run("index", &[], "").code(0);
    world
}

fn paths(run: &Run) -> Vec<String> {
    let hits = run.json();
    hits.as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn passages_show_where_they_are_and_why() {
    let world = world();
    let run = world.run("search", &["acquire", "timeouts", "--color", "always"], "").code(0);
    let text = run.text();
    assert!(text.contains("Connection pools › Timeouts"), "{run}");
    assert!(text.contains("vault/04-work/pool.md\u{1b}[0m:\u{1b}[32m17"), "{run}");
    assert!(text.contains("2026-02-01") && text.contains("#rust/tokio"), "{run}");
    assert!(text.contains("\u{1b}[1;31macquire\u{1b}[0m"), "{run}");
    let plain = world.run("search", &["acquire", "timeouts"], "").code(0);
    assert!(!plain.text().contains('\u{1b}'), "colours only on a terminal\n{plain}");
}

#[test]
fn the_json_has_the_fixed_fields() {
    let run = world().run("search", &["pool", "--json", "--limit", "1", "--explain"], "").code(0);
    let hits = run.json();
    let hit = hits[0].as_object().unwrap();
    for field in [
        "path",
        "heading",
        "text",
        "score",
        "bm25_rank",
        "vec_rank",
        "line",
        "title",
        "tags",
        "date",
    ] {
        assert!(hit.contains_key(field), "{field}\n{run}");
    }
    assert_eq!(hits[0]["bm25_rank"], 1, "{run}");
    assert_eq!(hits[0]["explain"]["alpha"], 1.0, "{run}");
}

#[test]
fn conditions_in_the_query_and_as_options_are_the_same() {
    let world = world();
    for (options, query, expected) in [
        (&["--tag", "rust"][..], "tag:rust", vec!["04-work/pool.md", "timers.md"]),
        (&["--type", "howto"], "type:howto", vec!["04-work/pool.md"]),
        (&["--folder", "04-work"], "folder:04-work", vec!["04-work/pool.md"]),
        (&["--before", "2026-03"], "before:2026-03", vec!["04-work/pool.md"]),
        (&["--type", "none"], "type:none", vec![]),
    ] {
        let code = i32::from(expected.is_empty());
        let by_option = [&["--json"], options].concat();
        let by_option = world.run("search", &by_option, "").code(code);
        let by_query = world.run("search", &["--json", query], "").code(code);
        for run in [by_option, by_query] {
            let mut found = paths(&run);
            found.sort();
            found.dedup();
            assert_eq!(found, expected, "{run}");
        }
    }
    let run = world.run("search", &["pool", "-mysql", "--json"], "").code(0);
    assert!(!paths(&run).contains(&"diary.md".to_owned()), "{run}");
    let run = world.run("search", &["\"two times the cores\"", "--names"], "").code(0);
    assert_eq!(run.text(), "04-work/pool.md\n");
}

#[test]
fn exit_codes_are_ripgreps() {
    let world = world();
    world.run("search", &["pool"], "").code(0);
    world.run("search", &["zqnothing", "--alpha", "1"], "").code(1);
    for wrong in [&["--jsno", "x"][..], &[], &["x", "--alpha", "7"], &["x", "--since", "soon"]] {
        let run = world.run("search", wrong, "").code(2);
        assert_eq!(run.errors().lines().count(), 1, "{run}");
        assert!(run.stdout.is_empty(), "{run}");
    }
    let run = World::new().run("search", &["pool"], "").code(2);
    assert!(run.errors().contains("postil index"), "{run}");
}

#[test]
fn what_nothing_bears_on_finds_nothing_unless_asked() {
    let mut world = world();
    world.var("POSTIL_MODEL", crate::hooks::installed_model().to_str().unwrap());
    world.run("index", &["--full"], "").code(0);
    for form in [&[][..], &["--json"], &["--context"], &["--rows"]] {
        let run = world.run("search", &[&["qwertz asdfgh zxcvbn"], form].concat(), "").code(1);
        assert!(!run.text().contains("pool"), "{run}");
        assert!(run.errors().contains("--all"), "{run}");
    }
    let run = world.run("search", &["qwertz asdfgh zxcvbn", "--all", "--names"], "").code(0);
    assert!(run.text().contains("pool.md"), "{run}");
    let why = world.run("search", &["qwertz asdfgh zxcvbn", "--why-not", "diary"], "").code(0);
    assert!(why.text().contains("--all"), "{why}");
    // A word of the query is enough, and so is the meaning.
    world.run("search", &["zqnothing millisecond"], "").code(0);
    world.note("food.md", "# Gazpacho\n\nTomato, cucumber, garlic and vinegar, ice cold.\n");
    world.run("index", &[], "").code(0);
    let run = world.run("search", &["chilled vegetable soup recipe", "--names"], "").code(0);
    assert!(run.text().starts_with("food.md"), "{run}");
}

#[test]
fn every_absence_has_its_reason() {
    let world = world();
    world.note("new.md", "# New pool\n");
    let why = |query: &[&str], note: &str| {
        let args = [query, &["--why-not", note]].concat();
        world.run("search", &args, "").code(0).text()
    };
    assert!(why(&["pool"], "secret/hidden.md").contains(".indexignore"));
    assert!(why(&["pool"], "new").contains("postil index"));
    assert!(why(&["pool"], "nosuch").contains("no such note"));
    assert!(why(&["pool", "tag:db"], "diary.md").contains("filtered: tag:db"));
    assert!(why(&["pool", "-mysql"], "Diary").contains("holds \"mysql\""));
    assert!(why(&["pool", "-n", "1"], "diary").contains("below the cut-off"));
    assert!(why(&["pool"], "04-work/pool.md").contains("it is there: passage 1"));
    let text = why(&["millisecond", "zqother", "--alpha", "1"], "diary");
    assert!(text.contains("no match") && text.contains("zqother"), "{text}");
}

#[test]
fn the_exact_tables_agree_with_the_snapshot() {
    let world = world();
    for query in ["pool", "connection timeouts", "tokio"] {
        let fast = world.run("search", &[query, "--json"], "").code(0);
        let exact = world.run("search", &[query, "--json", "--exact"], "").code(0);
        assert_eq!(paths(&fast)[0], paths(&exact)[0], "{fast}\n{exact}");
    }
    let run = world.run("search", &["pool", "tag:db", "--names", "--exact"], "").code(0);
    assert_eq!(run.text(), "04-work/pool.md\n");
}

#[test]
fn lists_know_the_conditions_too() {
    let world = world();
    let docs = world.run("search", &["list", "docs", "--names"], "").code(0);
    assert_eq!(docs.text(), "04-work/pool.md\ndiary.md\ntimers.md\n");
    let tags = world.run("search", &["list", "tags", "--json"], "").code(0).json();
    assert_eq!(
        tags,
        serde_json::json!([
            {"tag": "db", "notes": 1}, {"tag": "rust", "notes": 1}, {"tag": "rust/tokio", "notes": 1}
        ])
    );
    let tags = world.run("search", &["list", "tags", "--names", "--folder", "04-work"], "").code(0);
    assert_eq!(tags.text(), "db\nrust/tokio\n");
    let stats = world.run("search", &["list", "stats", "--json"], "").code(0).json();
    assert_eq!((&stats["notes"], &stats["broken_links"]), (&3.into(), &1.into()));
    world.run("search", &["list", "docs", "tag:none"], "").code(1);
    world.run("search", &["list", "docs", "--tag", "none"], "").code(1);
}

#[test]
fn a_block_for_pasting_leaves_out_what_agents_must_not_see() {
    let world = world();
    let run = world.run("search", &["pool", "--context"], "").code(0);
    assert!(run.text().contains("> A pool of connections"), "{run}");
    assert!(!run.text().contains("party"), "{run}");
    let small = world.run("search", &["pool", "--context", "--max-tokens", "90"], "").code(0);
    assert!(small.text().len() < run.text().len(), "{small}");
}

#[test]
fn what_a_newer_pattern_knows_is_hidden_on_the_way_out() {
    let world = world();
    let config = world.home().join(".config/postil/config.toml");
    let mut text = fs::read_to_string(&config).unwrap();
    text.push_str("[[redact.pattern]]\nname = \"stall\"\nregex = \"stalled\"\n");
    fs::write(&config, text).unwrap();
    for form in [&["--json"][..], &["--context"], &["--full"], &["--show", "04-work/pool.md:17"]] {
        let run = world.run("search", &[&["acquire"], form].concat(), "").code(0);
        assert!(run.text().contains("[REDACTED:stall]"), "{run}");
        assert!(!run.text().contains("stalled"), "{run}");
    }
}

#[test]
fn a_note_cannot_drive_the_terminal() {
    let world = World::with_notes(&[("x.md", "# X\n\nzqevil \u{1b}]0;owned\u{7} \u{202e}text\n")]);
    world.run("index", &[], "").code(0);
    let run = world.run("search", &["zqevil"], "").code(0);
    assert!(!run.text().contains(['\u{1b}', '\u{7}', '\u{202e}']), "{run}");
}

fn script(world: &World, name: &str, text: &str) -> String {
    let bin = world.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let file = bin.join(name);
    fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

#[test]
fn the_first_passage_opens_at_its_line() {
    let mut world = world();
    let editor = script(&world, "nvim", "echo \"$@\"; exit 3");
    world.var("EDITOR", format!("{editor} -R"));
    let run = world.run("search", &["acquire", "--open"], "").code(3);
    let file = world.vault().join("04-work/pool.md");
    assert_eq!(run.text(), format!("-R +17 {}\n", file.display()));
    fs::remove_file(file).unwrap();
    let run = world.run("search", &["acquire", "--open"], "").code(2);
    assert!(run.errors().contains("gone"), "{run}");
}

#[test]
fn obsidian_opens_the_note() {
    let mut world = world();
    let name = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    script(&world, name, "echo \"$1\"");
    let path = format!("{}/bin:/usr/bin:/bin", world.home().display());
    world.var("PATH", path);
    let run = world.run("search", &["acquire", "--obsidian"], "").code(0);
    assert!(run.text().starts_with("obsidian://open?path=%2F"), "{run}");
    assert!(run.text().ends_with("vault%2F04-work%2Fpool.md\n"), "{run}");
}

#[test]
fn without_fzf_passages_are_picked_by_number() {
    let mut world = world();
    let editor = script(&world, "ed", "echo opened \"$1\"");
    world.var("EDITOR", editor);
    let printed = world.run("search", &["-i", "acquire"], "1\n").code(0);
    assert!(printed.text().ends_with("vault/04-work/pool.md:17\n"), "{printed}");
    let run = world.run("search", &["-i", "--open", "millisecond"], "acquire\n1\n").code(0);
    assert!(run.text().contains("Timers") && run.text().contains("acquire_timeout"), "{run}");
    assert!(run.text().contains("opened") && run.text().ends_with("04-work/pool.md\n"), "{run}");
    assert!(run.errors().contains("to open"), "{run}");
    world.run("search", &["-i"], "").code(1);
}

/// Runs a command line with a terminal for its input, output and errors.
#[cfg(target_os = "linux")]
fn on_a_terminal(world: &World, line: &str, typed: &str) -> Run {
    let mut script = world.command("search");
    let search = script.get_program().to_string_lossy().into_owned();
    let line = line.replace("SEARCH", &search);
    let mut terminal = std::process::Command::new("/usr/bin/script");
    terminal.env_clear().current_dir(world.home()).args(["-qec", &line, "/dev/null"]);
    terminal.env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
    for (name, value) in script.env("TZ", "UTC").get_envs() {
        terminal.env(name, value.unwrap());
    }
    crate::harness::run(terminal, typed.as_bytes())
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_colours_and_a_pager_and_a_pipe_neither() {
    let mut world = world();
    let run = on_a_terminal(&world, "SEARCH acquire timeouts", "").code(0);
    assert!(run.text().contains("\u{1b}[1;31macquire\u{1b}[0m"), "{run}");
    let run = on_a_terminal(&world, "NO_COLOR=1 SEARCH acquire", "").code(0);
    assert!(!run.text().contains("\u{1b}["), "{run}");
    let run = on_a_terminal(&world, "TERM=dumb SEARCH acquire", "").code(0);
    assert!(!run.text().contains("\u{1b}["), "{run}");
    let run = on_a_terminal(&world, "SEARCH acquire | cat", "").code(0);
    assert!(!run.text().contains("\u{1b}["), "{run}");
    world.var("PAGER", "sed s/^/paged:/");
    let long = on_a_terminal(&world, "stty rows 5 cols 90; SEARCH pool", "").code(0);
    assert!(long.text().contains("paged:1. "), "{long}");
    for line in ["stty rows 99 cols 90; SEARCH pool", "stty rows 5 cols 90; SEARCH --no-pager pool"]
    {
        let run = on_a_terminal(&world, line, "").code(0);
        assert!(!run.text().contains("paged:"), "{run}");
    }
    let none = on_a_terminal(&world, "stty rows 5 cols 90; SEARCH --alpha 1 zqnothing", "").code(1);
    assert!(!none.text().contains("paged:"), "{none}");
    let gone =
        on_a_terminal(&world, "stty rows 5 cols 90; PAGER=/nowhere/pager SEARCH pool", "").code(0);
    assert!(gone.text().contains("Connection pools"), "{gone}");
}

#[cfg(target_os = "linux")]
#[test]
fn conditions_that_nothing_meets_are_said() {
    let run = on_a_terminal(&world(), "SEARCH pool tag:none", "").code(1);
    assert!(run.text().contains("nothing meets the conditions"), "{run}");
}

#[cfg(target_os = "linux")]
#[test]
fn with_fzf_the_row_that_it_returns_is_opened() {
    let mut world = world();
    // A stand-in that runs the command fzf would fill its list with.
    script(&world, "fzf", "/bin/sh -c \"$FZF_DEFAULT_COMMAND\" | head -1");
    let editor = script(&world, "nvim", "echo \"$@\"");
    world.var("EDITOR", editor);
    let path = format!("{}/bin:/usr/bin:/bin", world.home().display());
    world.var("PATH", path);
    let file = world.vault().join("04-work/pool.md");
    let run = on_a_terminal(&world, "SEARCH -i \"it's\" acquire --tag db", "").code(0);
    assert_eq!(run.text(), format!("+17 {}\r\n", file.display()));
    // A program that reads the output gets the place.
    let run = on_a_terminal(&world, "echo got $(SEARCH -i acquire)", "").code(0);
    assert_eq!(run.text(), "got vault/04-work/pool.md:17\r\n");
    let run = on_a_terminal(&world, "SEARCH -i acquire -coarse -stalled", "").code(1);
    assert!(!run.text().contains("pool.md"), "{run}");
}

/// A server that answers each request with the next reply, and tells what it
/// was asked.
fn server(replies: Vec<(u16, Value)>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for (status, reply) in replies {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let n = stream.read(&mut buffer).unwrap();
                text.extend_from_slice(&buffer[..n]);
                let request = String::from_utf8_lossy(&text).into_owned();
                let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
                let head = head.to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if n == 0 || body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                    let _ = tell.send(request);
                    break;
                }
            }
            let body = reply.to_string();
            let reply = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(reply.as_bytes()).unwrap();
        }
    });
    (url, asked)
}

#[test]
fn a_local_model_orders_the_headlines() {
    let world = world();
    let plain = paths(&world.run("search", &["pool", "--json"], "").code(0));
    let (url, asked) = server(vec![
        (200, serde_json::json!({"models": [{"name": "small"}]})),
        (200, serde_json::json!({"response": "<think>hm 1</think> 4, 2"})),
    ]);
    let run = world.run("search", &["pool", "--json", "--rerank", "--llm", &url], "").code(0);
    let ranked = paths(&run);
    assert_eq!(ranked.len(), plain.len(), "{run}");
    let expected: Vec<&String> = [3, 1, 0, 2].iter().map(|n| &plain[*n]).collect();
    assert_eq!(ranked.iter().collect::<Vec<_>>(), expected, "{run}");
    assert!(asked.recv().unwrap().starts_with("GET /api/tags"));
    let prompt = asked.recv().unwrap();
    assert!(prompt.contains("\"model\":\"small\"") && prompt.contains("1. "), "{prompt}");
    assert!(!prompt.contains("nowhere"), "headlines, not texts: {prompt}");
    // One passage is wanted: the best of all, not the first anyway.
    let (url, _asked) = server(vec![(200, serde_json::json!({"response": "4"}))]);
    let args = ["pool", "--json", "-n", "1", "--rerank", "--llm", &url, "--llm-model", "m"];
    assert_eq!(paths(&world.run("search", &args, "").code(0)), plain[3..4]);
}

#[test]
fn a_draft_finds_what_the_question_does_not_name() {
    let world = world();
    let (url, asked) =
        server(vec![(200, serde_json::json!({"response": "Tokio timers tick each millisecond."}))]);
    let args = ["party", "--json", "--hyde", "--alpha", "1", "--llm", &url, "--llm-model", "m"];
    let found = paths(&world.run("search", &args, "").code(0));
    assert!(found.contains(&"diary.md".to_owned()) && found.contains(&"timers.md".to_owned()));
    assert!(asked.recv().unwrap().starts_with("POST /api/generate"));
}

#[test]
fn when_the_model_fails_the_order_before_it_stands() {
    let world = world();
    let plain = paths(&world.run("search", &["pool", "--json"], "").code(0));
    let (broken, _asked) = server(vec![(500, Value::Null), (500, Value::Null)]);
    let (chatty, _told) = server(vec![(200, serde_json::json!({"response": "I cannot."}))]);
    let closed = "http://127.0.0.1:9".to_owned();
    for url in [broken, chatty, closed, "http://192.0.2.1:11434".to_owned()] {
        let args = ["pool", "--json", "--rerank", "--llm", &url, "--llm-model", "m"];
        let run = world.run("search", &args, "").code(0);
        assert_eq!(paths(&run), plain, "{run}");
        assert!(run.errors().contains("--rerank"), "{run}");
    }
    let args = ["pool", "--json", "--hyde", "--llm", "http://127.0.0.1:9", "--llm-model", "m"];
    let run = world.run("search", &args, "").code(0);
    assert_eq!(paths(&run), plain, "{run}");
}

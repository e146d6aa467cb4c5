//! `postil scrub`, and the promise behind it: what a note holds of credentials
//! is found in no file, answer or log of postil's.

use std::fs;
use std::path::Path;

use crate::harness::World;
use sample::assemble;

#[path = "../core/src/redact/sample.rs"]
#[allow(dead_code, reason = "the unit tests use all of it")]
mod sample;

const TOKEN: &str = "{a9}7{a9}Q{a9}d";
const PASSWORD: &str = "Tr{l3}9_{a6}4";

/// One line for each of 42 kinds; `@` stands for the secret.
const KINDS: &[(&str, &str)] = &[
    ("sk-proj-{w74}T3{x}BlbkFJ{w74}", "OpenAI @"),
    ("sk-ant-{x}api03-{w93}AA", "`@`"),
    ("gh{x}p_{a36}", "token: @"),
    ("github{x}_pat_{a22}_{a59}", "- @"),
    ("gl{x}pat-{w20}", "CI @"),
    ("AK{x}IA{q16}", "aws_access_key_id = @"),
    ("{b40}", "aws_secret_access_key = @"),
    ("AI{x}zaSy{w33}", "maps @"),
    ("GOC{x}SPX-{w28}", "oauth @"),
    ("{a3}8{x}Q~{a34}", "Entra @"),
    ("xo{x}xb-{d12}-{d13}-{a24}", "Slack @"),
    ("sk{x}_live_{a24}", "Stripe @"),
    ("S{x}G.{w22}.{w43}", "mail @"),
    ("np{x}m_{a36}", "//registry.npmjs.org/:_authToken=@"),
    ("py{x}pi-AgEIcHlwaS5vcmcC{w120}", "password = @"),
    ("dc{x}kr_pat_{w27}", "docker @"),
    ("do{x}p_v1_{h64}", "DO @"),
    ("hv{x}s.CAES{w90}", "vault @"),
    ("cf{x}ut_{a48}", "dns @"),
    ("{d10}:{x}AA{w33}", "bot @"),
    ("nt{x}n_{d11}{a35}", "notion @"),
    ("li{x}n_api_{a40}", "linear @"),
    ("hf{x}_{a34}", "hub @"),
    ("gs{x}k_{a52}", "groq @"),
    ("xa{x}i-{a80}", "xai @"),
    ("sh{x}pat_{h32}", "shop @"),
    ("gl{x}sa_{a32}_{h8}", "grafana @"),
    ("AT{x}ATT3xFfGF0{w160}={u8}", "jira @"),
    ("AGE-SECRET-{x}KEY-1{u58}", "age @"),
    ("ey{x}JhbGciOiJI{w30}.eyJ{w80}.{w43}", "jwt @"),
    ("{b43}=", "PrivateKey = @"),
    (PASSWORD, "contraseña del NAS: @"),
    (PASSWORD, "| clave wifi | @ |"),
    (PASSWORD, "postgres://app:@\u{0}db.lan:5432/app"),
    (PASSWORD, "machine git.lan login ana password @"),
    (PASSWORD, "curl -u ana:@ https://nas.lan"),
    (TOKEN, "Authorization: Bearer @"),
    (TOKEN, "Cookie: sessionid=@"),
    (TOKEN, "https://api.example.org/v1?access_token=@&x=1"),
    (TOKEN, "{\"clientSecret\": \"@\"}"),
    ("{q32}", "otpauth://totp/x?secret=@&issuer=x"),
    ("{b64}", "-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----"),
];

/// The note, and the secrets in it.
fn note() -> (String, Vec<String>) {
    let mut text = "---\ntitle: Zebrafish credentials\n---\n# Zebrafish\n\n".to_owned();
    let mut secrets = Vec::new();
    for (seed, (recipe, line)) in KINDS.iter().enumerate() {
        let secret = assemble(recipe, seed as u64);
        text += &format!("Zebrafish line {seed}.\n\n");
        text += &line.replace('@', &secret).replace('\u{0}', "@");
        text += "\n\n";
        secrets.push(secret);
    }
    (text, secrets)
}

#[track_caller]
fn assert_clean(place: &str, bytes: &[u8], secrets: &[String]) {
    let text = String::from_utf8_lossy(bytes);
    for (idx, secret) in secrets.iter().enumerate() {
        assert!(!text.contains(secret.as_str()), "the secret of kind {idx} is in {place}");
    }
}

fn files_below(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn text_goes_through_and_names_go_to_stderr() {
    let world = World::new();
    let (text, secrets) = note();
    let run = world.run("postil", &["scrub"], &text).code(0);
    assert_clean("the output", &run.stdout, &secrets);
    assert_clean("stderr", &run.stderr, &secrets);
    assert!(run.errors().contains("github-token"), "{run}");
    let twice = world.run("postil", &["scrub"], &run.stdout).code(0);
    assert_eq!(twice.stdout, run.stdout);
    assert!(twice.stderr.is_empty(), "{twice}");
}

#[test]
fn bytes_that_are_not_text_pass_as_they_are() {
    let input = b"caf\xe9 \xff\x00 plain";
    let run = World::new().run("postil", &["scrub"], input).code(0);
    assert_eq!(run.stdout, input);
}

#[test]
fn lines_of_json_keep_their_order_and_name_what_was_found() {
    let secret = assemble("gh{x}p_{a36}", 1);
    let input = format!("{{\"text\":\"a {secret}\"}}\n{{\"text\":\"plain\"}}\n");
    let run = World::new().run("postil", &["scrub", "--jsonl"], input).code(0);
    let lines: Vec<serde_json::Value> =
        run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["text"], "a [REDACTED:github-token]");
    assert_eq!(lines[0]["found"], serde_json::json!(["github-token"]));
    assert_eq!(lines[1], serde_json::json!({"text": "plain", "found": []}));
    let bad = World::new().run("postil", &["scrub", "--jsonl"], "{}\n").code(1);
    assert!(bad.errors().contains("line 1"), "{bad}");
}

#[test]
fn a_report_masks_every_value() {
    let (text, secrets) = note();
    let run = World::new().run("postil", &["scrub", "--report"], &text).code(0);
    assert_clean("the report", &run.stdout, &secrets);
    assert!(run.text().contains("| clave wifi | ••••••••"), "{run}");
    assert!(run.text().contains("values would be hidden"), "{run}");
}

#[test]
fn a_score_counts_kinds_classes_and_failures() {
    let world = World::new();
    let secret = assemble("gh{x}p_{a36}", 2);
    let rows = [
        serde_json::json!({"id": "a", "label": 1, "cls": "github", "text": secret, "secrets": [secret]}),
        serde_json::json!({"id": "b", "label": 1, "cls": "word", "text": "plain", "secrets": ["plain"]}),
        serde_json::json!({"id": "c", "label": 0, "cls": "prose", "text": "plain", "secrets": []}),
    ];
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let file = world.note("labelled.jsonl", rows);
    let run = world.run("postil", &["scrub", "--score", file.to_str().unwrap()], "").code(0);
    for part in [
        "1.000 github (1 / 0 / 1)",
        "0.000 word (0 / 0 / 1)",
        "0.0000 prose (0 / 1)",
        "failed: b word",
        "macro recall 0.5000",
    ] {
        assert!(run.text().contains(part), "{part}: {run}");
    }
}

#[test]
fn the_configuration_adds_patterns_and_spares_values() {
    let world = World::new();
    let config = world.home().join(".config/postil/config.toml");
    let mut text = fs::read_to_string(&config).unwrap();
    text += "[redact]\nallow = [\"Hunter22x\"]\n\n[[redact.pattern]]\nname = \"employee-id\"\n\
             regex = 'EMP-(\\d{6})'\nkeywords = [\"emp-\"]\n";
    fs::write(&config, &text).unwrap();
    let run = world.run("postil", &["scrub"], "EMP-123456, password: Hunter22x").code(0);
    assert_eq!(run.text(), "EMP-[REDACTED:employee-id], password: Hunter22x");
    fs::write(&config, text.replace("(\\d{6})", "(")).unwrap();
    let run = world.run("postil", &["scrub"], "x").code(2);
    assert!(run.errors().contains("employee-id"), "{run}");
}

#[test]
fn no_secret_of_a_note_is_in_any_file_answer_or_log() {
    let (text, secrets) = note();
    let world = World::with_notes(&[("infra/zebrafish.md", &text)]);
    let vault = world.vault();
    let index = world.run("index", &["--vault", vault.to_str().unwrap()], "");
    assert_clean("the output of index", &[index.stdout, index.stderr].concat(), &secrets);
    for query in ["zebrafish credentials", "clave wifi", secrets[31].as_str()] {
        for args in [vec![query], vec![query, "--json"], vec![query, "--explain"]] {
            let run = world.run("search", &args, "");
            let shown = [run.stdout, run.stderr].concat();
            let others: Vec<String> =
                secrets.iter().filter(|secret| *secret != query).cloned().collect();
            assert_clean("the output of search", &shown, &others);
        }
    }
    let event = serde_json::json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/tmp",
        "prompt": "Which zebrafish credentials do I have and where do they belong?",
    });
    let run = world.run("context-inject", &[], event.to_string()).code(0);
    assert_clean("the hook's reply", &[run.stdout, run.stderr].concat(), &secrets);
    let mut files = Vec::new();
    files_below(world.home(), &mut files);
    assert!(files.iter().any(|file| file.ends_with("index.db")), "nothing was indexed: {files:?}");
    for file in files.iter().filter(|file| !file.starts_with(&vault)) {
        assert_clean(&file.display().to_string(), &fs::read(file).unwrap(), &secrets);
    }
}

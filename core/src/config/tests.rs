//! Files and environments as people have them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;

fn load(text: &str, vars: &[(&str, &str)], overrides: &Overrides) -> Result<Config> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    fs::write(&file, text).unwrap();
    let mut vars: HashMap<&str, OsString> =
        vars.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
    vars.insert("POSTIL_CONFIG_DIR", dir.path().into());
    vars.entry("HOME").or_insert_with(|| "/home/ana".into());
    Config::load_from(&Environment(&|name| vars.get(name).cloned()), overrides)
}

fn message(text: &str) -> String {
    let error = load(text, &[], &Overrides::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let message = error.to_string();
    message.split_once("config.toml").unwrap().1.to_owned()
}

fn warnings(text: &str) -> Vec<String> {
    let config = load(text, &[], &Overrides::default()).unwrap();
    let short = |line: String| line.split_once("config.toml").unwrap().1.to_owned();
    config.warnings.into_iter().map(short).collect()
}

#[test]
fn a_vault_is_all_it_takes() {
    let config = load("vault = \"~/notes\"\n", &[], &Overrides::default()).unwrap();
    assert_eq!(config.vault().unwrap(), Path::new("/home/ana/notes"));
    assert_eq!(config.paths.index, Path::new("/home/ana/.local/share/postil/index.db"));
    assert_eq!(config.paths.log, Path::new("/home/ana/.local/state/postil/postil.log"));
    assert_eq!(config.paths.model, Path::new("/home/ana/.local/share/postil/model/potion-base-8M"));
    assert_eq!(config.inject.prompt_tokens, 1_500);
    assert_eq!(config.warnings, Vec::<String>::new());
}

#[test]
fn without_a_vault_the_error_says_what_to_run() {
    let config = load("", &[], &Overrides::default()).unwrap();
    assert!(config.vault().unwrap_err().to_string().contains("postil init"));
}

#[test]
fn flags_beat_variables_and_variables_beat_the_file() {
    let text = "vault = \"/file\"\nindex = \"/file.db\"\n";
    let vars = [("POSTIL_VAULT", "/var/vault"), ("POSTIL_DB", "/var/x.db")];
    let config = load(text, &vars, &Overrides::default()).unwrap();
    assert_eq!(config.vault.as_deref(), Some(Path::new("/var/vault")));
    assert_eq!(config.paths.index, Path::new("/var/x.db"));
    let flags = Overrides {
        vault: Some("/flag".into()),
        db: Some("/flag.db".into()),
        ..Overrides::default()
    };
    let config = load(text, &vars, &flags).unwrap();
    assert_eq!(config.vault.as_deref(), Some(Path::new("/flag")));
    assert_eq!(config.paths.index, Path::new("/flag.db"));
}

#[test]
fn another_vault_has_another_index() {
    let flags = Overrides { vault: Some("/other".into()), ..Overrides::default() };
    let config = load("vault = \"/mine\"\n", &[], &flags).unwrap();
    assert_ne!(config.paths.index, Path::new("/home/ana/.local/share/postil/index.db"));
    assert!(config.paths.index.starts_with("/home/ana/.local/share/postil/vaults"));
    let same = Overrides { vault: Some("/mine".into()), ..Overrides::default() };
    let config = load("vault = \"/mine\"\n", &[], &same).unwrap();
    assert_eq!(config.paths.index, Path::new("/home/ana/.local/share/postil/index.db"));
}

#[test]
fn xdg_folders_are_used_when_absolute() {
    let vars = [("XDG_DATA_HOME", "/data"), ("XDG_STATE_HOME", "relative")];
    let config = load("", &vars, &Overrides::default()).unwrap();
    assert_eq!(config.paths.data, Path::new("/data/postil"));
    assert_eq!(config.paths.state, Path::new("/home/ana/.local/state/postil"));
}

#[test]
fn unknown_keys_are_warnings_with_a_hint() {
    assert_eq!(
        warnings(
            "vault = \"/v\"\nexclude = [\"x\"]\n\n[inject]\ntols = [\"Bash\"]\nzzzzzzzzzzzzzzzz = 1\n"
        ),
        [
            ":5: unknown key \"tols\" in [inject]; did you mean \"tools\"?",
            ":6: unknown key \"zzzzzzzzzzzzzzzz\" in [inject]",
            ":2: unknown key \"exclude\"; did you mean \"excluded\"?",
        ]
    );
}

#[test]
fn wrong_types_name_file_line_and_key() {
    assert_eq!(message("vault = 5\n"), ":1: \"vault\" must be a string, not integer");
    assert_eq!(
        message("vault = \"/v\"\n\n[inject]\nprompt_tokens = \"many\"\n"),
        ":4: \"prompt_tokens\" in [inject] must be a whole number, zero or more, not string"
    );
    assert_eq!(
        message("[inject]\ndeadline_ms = -1\n"),
        ":2: \"deadline_ms\" in [inject] must be a whole number, zero or more, not integer"
    );
    assert_eq!(message("inject = true\n"), ":1: \"inject\" must be a table, not boolean");
    assert_eq!(message("excluded = [\"a\", 1]\n"), ":1: \"excluded\" must hold strings only");
    assert!(message("vault = \n").starts_with(":1: "));
}

#[test]
fn folders_stay_inside_the_vault() {
    let config = load("excluded = \"./private/\"\n", &[], &Overrides::default()).unwrap();
    assert_eq!(config.excluded, ["private"]);
    assert!(message("excluded = [\"../other\"]\n").contains("not a folder inside the vault"));
    assert!(message("excluded = [\"/etc\"]\n").contains("not a folder inside the vault"));
}

#[test]
fn blocks_patterns_and_domains_are_read() {
    let text = "
[[block]]
name = \"Conventions\"
query = \"coding conventions tag:rust\"
ttl = \"30m\"

[[redact.pattern]]
name = \"employee-id\"
regex = 'E-\\d{6}'

[triage.domains]
work = \"04-work\"
";
    let config = load(text, &[], &Overrides::default()).unwrap();
    assert_eq!(config.blocks.len(), 1);
    assert_eq!(config.blocks[0].ttl, Duration::from_secs(1_800));
    assert_eq!(config.blocks[0].max_tokens, 500);
    assert_eq!(config.redact.patterns[0].name, "employee-id");
    assert_eq!(config.triage.domains, [("work".to_owned(), "04-work".to_owned())]);
    assert_eq!(config.warnings, Vec::<String>::new());
    assert_eq!(
        message("[[block]]\nname = \"x\"\n"),
        ":2: [block] needs a `query` that is not empty"
    );
}

#[test]
fn a_named_file_has_to_exist() {
    let flags =
        Overrides { config: Some(PathBuf::from("/nowhere/config.toml")), ..Overrides::default() };
    let error = load("", &[], &flags).unwrap_err();
    assert!(error.to_string().starts_with("read /nowhere/config.toml"));
}

#[test]
fn children_and_the_off_switch_silence_hooks() {
    let silenced =
        |vars: &[(&str, &str)]| load("", vars, &Overrides::default()).unwrap().host.is_silenced;
    assert!(!silenced(&[]));
    assert!(silenced(&[("POSTIL_CHILD", "1")]));
    assert!(silenced(&[("POSTIL_OFF", "1")]));
    assert!(!silenced(&[("POSTIL_OFF", "0")]));
}

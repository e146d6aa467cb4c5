//! Events as agents send them, and what is asked because of them.

use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::config::Overrides;

/// A transcript with one user turn, and the configuration of a vault.
struct Fixture {
    dir: tempfile::TempDir,
    config: Config,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let vault = dir.path().join("vault");
        fs::create_dir_all(vault.join("sub")).unwrap();
        let turn = json!({"type": "user", "message":
            {"content": "migrate the billing service to the new gateway"}});
        fs::write(dir.path().join("t.jsonl"), format!("{turn}\n")).unwrap();
        let config = dir.path().join("config.toml");
        fs::write(&config, "").unwrap();
        let overrides =
            Overrides { vault: Some(vault), config: Some(config), ..Overrides::default() };
        let mut config = Config::load(&overrides).unwrap();
        config.paths.sessions = dir.path().join("sessions");
        Self { dir, config }
    }

    fn ask(&self, mut event: Value) -> Result<Ask, &'static str> {
        event["transcript_path"] = self.dir.path().join("t.jsonl").to_str().into();
        if event.get("cwd").is_none() {
            event["cwd"] = "/home/ana/project".into();
        }
        let event = event.to_string();
        ask(&Event::parse(event.as_bytes(), false).unwrap(), &self.config)
    }

    fn prompt(&self, prompt: &str) -> Result<Ask, &'static str> {
        self.ask(json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt}))
    }

    fn tool(&self, name: &str, input: &Value) -> Result<Ask, &'static str> {
        self.ask(json!({"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input}))
    }
}

const TASK: &str = "migrate the billing service to the new gateway";

fn alone(text: &str) -> Result<Ask, &'static str> {
    Ok(Ask { text: text.to_owned(), task: None })
}

#[test]
fn a_question_is_asked_as_it_stands() {
    let fixture = Fixture::new();
    let question = "how do we rotate the staging certificates";
    assert_eq!(fixture.prompt(question), alone(question));
}

#[test]
fn a_follow_up_takes_the_turn_before() {
    let fixture = Fixture::new();
    assert_eq!(fixture.prompt("¿y después?"), alone(TASK));
    let both = Ask { text: "is it faster?".into(), task: Some(TASK.into()) };
    assert_eq!(fixture.prompt("is it faster?"), Ok(both));
    assert_eq!(fixture.prompt("ok"), Err("short-prompt"));
}

#[test]
fn errands_without_a_subject_ask_nothing() {
    let fixture = Fixture::new();
    assert_eq!(fixture.prompt("fix the failing tests"), Err("errand"));
    assert_eq!(fixture.prompt("ejecuta los tests"), Err("errand"));
    let build = json!({"command": "cargo build && cargo test", "description": "Build and test"});
    assert_eq!(fixture.tool("Bash", &build), Err("errand"));
}

#[test]
fn machines_ask_nothing() {
    let fixture = Fixture::new();
    let event = json!({"hook_event_name": "UserPromptSubmit", "source": "loop_wakeup",
        "prompt": "how do we rotate the staging certificates"});
    assert_eq!(fixture.ask(event), Err("machine-prompt"));
    assert_eq!(fixture.prompt("/capture a thought about certificates"), Err("slash-command"));
}

#[test]
fn an_edit_asks_by_file_names_and_task() {
    let fixture = Fixture::new();
    let input = json!({"file_path": "/home/ana/project/billing/gateway.rs", "old_string": "x",
        "new_string": "fn charge_card(amount: Money) -> Receipt { retry_policy(amount) }"});
    let ask = fixture.tool("Edit", &input).unwrap();
    assert!(ask.text.starts_with("billing gateway "), "{ask:?}");
    assert!(ask.text.contains("charge_card") && ask.text.contains("retry_policy"), "{ask:?}");
    assert_eq!(ask.task.as_deref(), Some(TASK));
    let notebook =
        json!({"notebook_path": "/p/churn model.ipynb", "new_source": "survival_curve(df)"});
    let ask = fixture.tool("NotebookEdit", &notebook).unwrap();
    assert!(ask.text.contains("churn model") && ask.text.contains("survival_curve"), "{ask:?}");
}

#[test]
fn a_command_asks_by_its_words_and_description() {
    let fixture = Fixture::new();
    let input =
        json!({"command": "terraform apply -target=module.vpc", "description": "Apply VPC"});
    let expected = "Apply VPC\nterraform apply";
    assert_eq!(fixture.tool("Bash", &input), alone(expected));
    assert_eq!(fixture.tool("Bash", &json!({"command": "ls"})), Err("looking-command"));
    assert_eq!(fixture.tool("Bash", &json!({"command": "postil index"})), Err("own-command"));
    assert_eq!(fixture.tool("Bash", &json!({})), Err("no-input"));
}

#[test]
fn reads_and_other_events_get_nothing() {
    let fixture = Fixture::new();
    for tool in ["Read", "Grep", "Glob", "WebFetch", "Skill", "mcp__x__y"] {
        assert_eq!(
            fixture.tool(tool, &json!({"file_path": "/x/y.rs"})),
            Err("other-tool"),
            "{tool}"
        );
    }
    for event in ["PostToolUse", "Stop", "PreCompact", "Notification"] {
        assert!(fixture.ask(json!({"hook_event_name": event})).is_err(), "{event}");
    }
}

#[test]
fn work_inside_the_vault_is_left_alone() {
    let fixture = Fixture::new();
    let vault = fixture.config.vault.clone().unwrap();
    let question = "how do we rotate the staging certificates";
    let inside = json!({"hook_event_name": "UserPromptSubmit", "prompt": question,
        "cwd": vault.join("sub").to_str()});
    assert_eq!(fixture.ask(inside), Err("inside-vault"));
    let link = fixture.dir.path().join("link");
    std::os::unix::fs::symlink(&vault, &link).unwrap();
    let linked =
        json!({"file_path": link.join("new/note.md").to_str(), "content": "text of a note"});
    assert_eq!(fixture.tool("Write", &linked), Err("inside-vault"));
}

#[test]
fn a_patch_of_codex_is_an_edit() {
    let fixture = Fixture::new();
    let patch =
        "*** Begin Patch\n*** Update File: billing/gateway.rs\n@@\n+charge_card()\n*** End Patch\n";
    let event = json!({"hook_event_name": "PreToolUse", "turn_id": "t", "tool_name": "apply_patch",
        "tool_input": {"command": patch}});
    let ask = fixture.ask(event).unwrap();
    assert!(ask.text.starts_with("billing gateway "), "{ask:?}");
    assert!(ask.text.contains("charge_card"), "{ask:?}");
}

#[test]
fn the_call_of_a_subagent_leaves_its_task_for_the_start() {
    let fixture = Fixture::new();
    let call = json!({"description": "Audit retries", "prompt": "List every retried payment",
        "subagent_type": "Explore"});
    assert_eq!(fixture.tool("Agent", &call), Err("task-noted"));
    let start = |kind: &str| {
        fixture
            .ask(json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": kind}))
    };
    assert_eq!(start("Plan"), Err("no-task"));
    assert_eq!(start("Explore"), alone("Audit retries\nList every retried payment"));
    assert_eq!(start("Explore"), Err("no-task"));
}

#[test]
fn a_subagent_is_asked_for_by_its_task() {
    let fixture = Fixture::new();
    let call = json!({"type": "assistant", "message": {"content": [{"type": "tool_use",
        "name": "Agent", "input": {"description": "Audit retries", "subagent_type": "Explore",
        "prompt": "List every place where payments are retried"}}]}});
    fs::write(fixture.dir.path().join("t.jsonl"), format!("{call}\n")).unwrap();
    let event =
        json!({"hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "Explore"});
    assert_eq!(
        fixture.ask(event),
        alone("Audit retries\nList every place where payments are retried")
    );
}

//! `postil eval`: figures, runs, comparisons, own questions and the gate.

use std::fs;

use crate::harness::World;

fn world() -> World {
    World::with_notes(&[
        ("sqlite.md", "# SQLite\n\nWrite-ahead logging lets readers go on while one writes."),
        ("bread.md", "# Bread\n\nThe dough rests overnight in the fridge before baking."),
        ("trips/lisbon.md", "# Lisbon\n\nThe tram to the castle leaves from the square."),
    ])
}

fn questions(world: &World, lines: &str) -> String {
    let path = world.home().join("questions file.jsonl");
    fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

const QUESTIONS: &str = r#"{"id":"a","query":"readers during write-ahead logging","relevant":["sqlite.md"],"group":"tech"}
{"id":"b","query":"how long does the dough rest","relevant":["bread.md"]}
{"id":"c","query":"tram to the castle","relevant":["trips/lisbon.md"],"scope":"trips"}
"#;

#[test]
fn eval_reports_figures_runs_and_comparisons() {
    let world = world();
    let file = questions(&world, QUESTIONS);
    let run = world.home().join("out.run");
    let run = run.to_str().unwrap();
    let done = world.run("postil", &["eval", "--queries", &file, "--json", "--run", run], "");
    assert_eq!(done.status.code(), Some(0), "{done}");
    let figures = done.json();
    assert_eq!(figures["queries"], 3);
    assert_eq!(figures["ndcg@10"], 1.0);
    assert_eq!(figures["groups"]["tech"]["queries"], 1);
    let lines = fs::read_to_string(run).unwrap();
    assert!(lines.starts_with("a Q0 sqlite.md 1 "), "{lines}");
    let again = world.run("postil", &["eval", "--queries", &file, "--json"], "");
    let compared =
        world.run("postil", &["eval", "--queries", &file, "--json", "--compare", run], "");
    assert_eq!(again.json()["mrr@10"], figures["mrr@10"]);
    assert_eq!(compared.json()["compare"]["ndcg@10"]["difference"], 0.0);
}

#[test]
fn own_questions_make_a_gate() {
    let world = world();
    let added =
        world.run("postil", &["eval", "add", "when does the tram go", "trips/lisbon.md"], "");
    assert_eq!(added.status.code(), Some(0), "{added}");
    let missing = world.run("postil", &["eval", "add", "anything", "gone.md"], "");
    assert_eq!(missing.status.code(), Some(2), "{missing}");
    assert_eq!(world.run("postil", &["eval", "--gate"], "").status.code(), Some(2));
    assert_eq!(world.run("postil", &["eval", "--accept"], "").status.code(), Some(0));
    assert_eq!(world.run("postil", &["eval", "--gate"], "").status.code(), Some(0));
    fs::write(world.vault().join("trips/lisbon.md"), "# Elsewhere\n\nNothing of the kind.")
        .unwrap();
    let failed = world.run("postil", &["eval", "--gate"], "");
    assert_eq!(failed.status.code(), Some(1), "{failed}");
}

#[test]
fn a_bad_question_file_is_named_with_its_line() {
    let world = world();
    let file =
        questions(&world, "{\"id\":\"a\",\"query\":\"x\",\"relevant\":[\"a.md\"]}\nnot json\n");
    let done = world.run("postil", &["eval", "--queries", &file], "");
    assert_eq!(done.status.code(), Some(2), "{done}");
    assert!(done.errors().contains("questions file.jsonl:2"), "{done}");
}

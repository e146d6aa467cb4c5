//! `vault-mcp` over its wire: what it serves, what it refuses, and that nothing a
//! client sends ends it. tests/foreign drives it with the official Python SDK.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::harness::World;

fn world() -> World {
    let world = World::with_notes(&[
        (
            "04-work/pool.md",
            "---\ntags: [db]\ncreated: 2026-02-01\n---\n# Pools\n\nA connection pool is small. \
             password = \"hunter2secretvalue99\". See [[timers]].\n",
        ),
        ("timers.md", "# Timers\n\nTokio timers are coarse.\n"),
        ("diary.md", "---\nagent: false\n---\n# Diary\n\nThe pool party.\n"),
        ("secret/hidden.md", "# Hidden\n\nNobody sees this pool.\n"),
        ("09-private/pay.md", "# Pay\n\nThe salary pool.\n"),
        (".indexignore", "secret/\n"),
    ]);
    std::os::unix::fs::symlink("/etc/passwd", world.vault().join("out.md")).unwrap();
    let config = world.home().join(".config/postil/config.toml");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str("[inject]\nexcluded = [\"09-private\"]\n");
    std::fs::write(config, text).unwrap();
    world.run("index", &["--quiet"], "");
    world
}

/// A client of one server on its standard input and output.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    n: u64,
}

impl Client {
    fn new(world: &World) -> Self {
        let mut child = world
            .command("vault-mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, n: 0 };
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "postil", "{hello}");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Sends a request and returns its response, passing over others.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.n += 1;
        let id = self.n;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            let reply: Value = serde_json::from_str(&line).unwrap();
            if reply["id"] == id {
                return reply;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The structured content of a call that succeeds.
    #[track_caller]
    fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments);
        assert_ne!(reply["result"]["isError"], true, "{reply}");
        reply["result"]["structuredContent"].clone()
    }

    /// Ends the input, and with it the server, which exits 0.
    fn finish(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn the_tools_have_schemas_and_answers_keep_to_what_agents_may_see() {
    let world = world();
    let mut client = Client::new(&world);
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    assert_eq!(tools.len(), 4);
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(!tool.to_string().contains("\"format\""), "{tool}");
    }
    let found = client.answer("search", json!({"query": "pool"}));
    let paths: Vec<&str> =
        found["passages"].as_array().unwrap().iter().map(|p| p["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["04-work/pool.md"], "{found}");
    assert!(!found.to_string().contains("hunter2"), "{found}");
    let note = client.answer("read_note", json!({"path": "pools"}));
    assert_eq!(note["links"], json!(["timers.md"]), "{note}");
    assert!(note["text"].as_str().unwrap().contains("[REDACTED:"), "{note}");
    let linked = client.answer("read_note", json!({"path": "timers"}));
    assert_eq!(linked["backlinks"], json!(["04-work/pool.md"]), "{linked}");
    let listed = client.answer("list_notes", json!({}));
    assert_eq!(listed["n_notes"], 2, "{listed}");
    let context = client.answer("get_context", json!({"query": "pool size"}));
    assert!(context["block"].as_str().unwrap().contains("> A connection pool"), "{context}");
    client.finish();
}

#[test]
fn what_is_refused_comes_with_a_suggestion() {
    let world = world();
    let mut client = Client::new(&world);
    for path in [
        "../../etc/passwd",
        "/etc/passwd",
        "out.md",
        "diary.md",
        "secret/hidden.md",
        "09-private/pay.md",
        ".indexignore",
        "nosuch",
        "",
    ] {
        let reply = client.call("read_note", json!({"path": path}));
        assert_eq!(reply["result"]["isError"], true, "{path}: {reply}");
        assert!(reply["result"]["structuredContent"]["suggestion"].is_string(), "{path}: {reply}");
        assert!(!reply.to_string().contains("root:"), "{path}: {reply}");
    }
    let reply = client.call("list_notes", json!({"since": "soon"}));
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    for uri in ["note:///diary.md", "note:///..%2F..%2Fetc%2Fpasswd", "file:///etc/passwd"] {
        let reply = client.ask("resources/read", json!({"uri": uri}));
        assert!(reply["error"]["data"]["suggestion"].is_string(), "{uri}: {reply}");
    }
    client.finish();
}

#[test]
fn resources_are_the_notes() {
    let world = world();
    let mut client = Client::new(&world);
    let listed = client.ask("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["note:///04-work/pool.md", "note:///timers.md"]);
    let read = client.ask("resources/read", json!({"uri": uris[1]}));
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "text/markdown");
    assert!(contents["text"].as_str().unwrap().contains("coarse"), "{read}");
    client.finish();
}

#[test]
fn nothing_a_client_sends_ends_the_server() {
    let world = world();
    let mut client = Client::new(&world);
    for line in ["{", "", "[]", "null", "{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"nosuch\"}"] {
        client.send(line);
    }
    let reply = client.call("nosuch", json!({}));
    assert!(reply["error"].is_object() || reply["result"]["isError"] == true, "{reply}");
    let reply = client.call("search", json!({"query": 5}));
    assert!(reply["error"].is_object() || reply["result"]["isError"] == true, "{reply}");
    let found = client.answer("search", json!({"query": "pool", "limit": 1_000_000_000}));
    assert!(!found["passages"].as_array().unwrap().is_empty(), "{found}");
    client.finish();
}

#[test]
fn cancelled_calls_are_dropped_and_the_server_goes_on() {
    let world = world();
    let mut client = Client::new(&world);
    let mut lines = String::new();
    let cancelled = 900..950;
    for id in cancelled.clone() {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "pool", "limit": 50}}});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id, "reason": "no longer wanted"}});
        lines.push_str(&format!("{call}\n{cancel}\n"));
    }
    lines.push_str(&format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": 999, "method": "tools/call",
            "params": {"name": "list_notes", "arguments": {}}})
    ));
    client.send(lines.trim_end());
    let mut answered = Vec::new();
    loop {
        let mut line = String::new();
        assert!(client.output.read_line(&mut line).unwrap() > 0, "the server is gone");
        let reply: Value = serde_json::from_str(&line).unwrap();
        match reply["id"].as_u64().unwrap() {
            999 => break,
            id => answered.push(id),
        }
    }
    let n = answered.len();
    answered.sort_unstable();
    answered.dedup();
    assert_eq!(answered.len(), n, "answered twice: {answered:?}");
    assert!(n < cancelled.count(), "none was cancelled");
    client.finish();
}

#[test]
fn what_nothing_bears_on_is_said() {
    let mut world = world();
    world.var("POSTIL_MODEL", crate::hooks::installed_model().to_str().unwrap());
    world.run("index", &["--full", "--quiet"], "");
    let mut client = Client::new(&world);
    let found = client.answer("search", json!({"query": "qwertz asdfgh zxcvbn"}));
    assert_eq!(found["passages"], json!([]), "{found}");
    assert!(found["suggestion"].as_str().unwrap().contains("other words"), "{found}");
    let context = client.answer("get_context", json!({"query": "qwertz asdfgh zxcvbn"}));
    assert_eq!(context["n_passages"], 0, "{context}");
    let tagged = client.answer("search", json!({"query": "tag:db"}));
    assert_eq!(tagged["passages"][0]["path"], "04-work/pool.md", "{tagged}");
    client.finish();
}

#[test]
fn it_starts_without_an_index_and_finds_one_made_later() {
    let world = World::with_notes(&[("a.md", "# A\n\nzqlater stands here.\n")]);
    let mut client = Client::new(&world);
    let reply = client.call("search", json!({"query": "zqlater"}));
    let failure = &reply["result"]["structuredContent"];
    assert!(failure["suggestion"].as_str().unwrap().contains("postil index"), "{reply}");
    world.run("index", &["--quiet"], "").code(0);
    let found = client.answer("search", json!({"query": "zqlater"}));
    assert_eq!(found["passages"][0]["path"], "a.md", "{found}");
    client.finish();
}

/// Sends one HTTP request and returns the status.
fn status(address: &str, headers: &str) -> u16 {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\nconnection: close\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).unwrap();
    std::str::from_utf8(&reply[9..]).unwrap().parse().unwrap()
}

#[test]
fn no_web_page_can_reach_it_over_http() {
    let world = world();
    let mut child = world
        .command("vault-mcp")
        .args(["--http", "--port", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().rsplit("http://").next().unwrap().trim_end_matches("/mcp");
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    let own = format!("host: {address}\r\n");
    let results = [
        status(address, &own),
        status(address, &format!("{own}origin: http://localhost:3000\r\n")),
        status(address, &format!("{own}origin: https://example.com\r\n")),
        status(address, &format!("{own}origin: null\r\n")),
        status(address, "host: example.com\r\n"),
    ];
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(results, [200, 200, 403, 403, 403]);
}

"""The installed plugin in the real client: its hooks fire, its MCP server answers,
and what the model saw is what they said."""

import json
import os
import subprocess

from world import World, conversation, texts

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BINARIES = ["capture", "compress-output", "context-inject", "index", "postil", "search", "triage", "vault-mcp"]
TOOL = "mcp__plugin_postil_notes__"


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


class PluginWorld(World):
    """Nothing registered: the binaries in ~/.local/lib/postil, as install.sh puts
    them, and the plugin installed from the checkout by the client."""

    def register(self):
        # Where the installer puts what the other worlds name in the environment.
        data = self.home / ".local/share/postil"
        (data / "model").mkdir(parents=True, exist_ok=True)
        (data / "model/potion-base-8M").symlink_to(self.options.model)
        (data / "languages").symlink_to(self.options.languages)
        for name in ("POSTIL_MODEL", "POSTIL_LANGUAGES"):
            del self.env[name]
        lib = self.home / ".local/lib/postil"
        lib.mkdir(parents=True)
        for name in BINARIES:
            (lib / name).symlink_to(os.path.join(self.options.binaries, name))
        self.client("plugin", "marketplace", "add", ROOT)
        self.client("plugin", "install", "postil@postil")

    def client(self, *args):
        env = {**self.env, "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        done = subprocess.run([self.options.client, *args], env=env, cwd=self.project, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=90)
        expect(done.returncode == 0, f"claude {' '.join(args)}: {done.stdout}{done.stderr}")
        return done.stdout


def results(request):
    """Whether it is an error, and the text, of a request's tool results in the order
    of the calls; parallel ones come back as they are done."""
    found = []
    for message in request["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        answers = [block for block in blocks if block.get("type") == "tool_result"]
        for block in sorted(answers, key=lambda block: block["tool_use_id"]):
            found.append((block.get("is_error", False), "\n".join(texts({"messages": [{"content": [block]}]}))))
    return found


def plugin_hooks(options):
    """The installed plugin, not settings.json: prompt, tool and output hooks reach the model."""
    from checks import NOTES, QUESTION, once

    world = PluginWorld(options, NOTES)
    try:
        settings = json.loads((world.home / ".claude/settings.json").read_text())
        expect("hooks" not in settings, "hooks stand in settings.json")
        (world.project / "test.log").write_text(
            "".join(f"test billing::case_{n} ... ok\n" for n in range(900))
            + "test billing::rounding ... FAILED\n\nfailures:\n\n---- billing::rounding stdout ----\n"
            "assertion `left == right` failed\n  left: 12\n right: 13\n\n"
            "test result: FAILED. 900 passed; 1 failed; 0 ignored\n")
        main = [
            [{"tool": "Bash", "input": {"command": "sh -c true terraform apply network database", "description": "Terraform apply of the network module"}}],
            [{"tool": "Bash", "input": {"command": "cat test.log", "description": "show the test log"}}],
        ]
        request = conversation(world.run({"main": main}, QUESTION))
        expect("UserPromptSubmit hook additional context" in once(request, "MARK-STAGING"), "not from the prompt hook")
        expect("PreToolUse" in once(request, "MARK-TERRAFORM"), "not from the tool hook")
        log = results(request)[-1][1]
        expect("billing::rounding" in log and "left: 12" in log, f"a failure was lost: {log[:2000]}")
        expect("case_450 " not in log, "the output was not shortened")
        doctor = world.postil("doctor")
        for line in ["plugin postil@postil", "injected notes stand in the transcript", "stands in a transcript"]:
            expect(line in doctor, f"no {line!r} in doctor's report\n{doctor}")
    finally:
        world.close()


def plugin_capture(options):
    """/capture through the plugin: the note is written, and no request goes out."""
    from checks import NOTES

    world = PluginWorld(options, NOTES)
    try:
        requests = world.run({"main": [[{"text": "ok"}]]}, "/capture The gate code of $(touch X) is on paper --domain ops")
        expect(not [r for r in requests if r.get("tools")], "a request went out")
        notes = [note.read_text() for note in (world.vault / "00-inbox").glob("*.md")]
        expect(any("$(touch X)" in note for note in notes), f"no such note: {notes}")
        expect(not (world.project / "X").exists(), "a shell read the text")
    finally:
        world.close()


def plugin_mcp(options):
    """The plugin's MCP server: offered, called alone and in parallel, errors the model can act on."""
    from checks import NOTES

    world = PluginWorld(options, NOTES)
    try:
        world.note("secret.md", "---\nagent: false\n---\n# Secret\n\nMARK-SECRET certbot\n")
        world.postil("index")

        def call(name, **arguments):
            return {"tool": TOOL + name, "input": arguments}

        main = [
            [call("search", query="rotate the staging certificates", limit=3)],
            [call("read_note", path="02-areas/terraform.md"), call("list_notes", folder="02-areas"),
             call("get_context", query="retry of card charges", max_tokens=400)]
            + [call("search", query=f"export format of invoices {n}", limit=2) for n in range(5)],
            [call("read_note", path="../../etc/passwd"), call("read_note", path="secret.md")],
        ]
        requests = world.run({"main": main}, "please begin with the work on it now, thanks")
        request = conversation(requests)
        found = results(request)
        expect(len(found) == 11, f"{len(found)} results")
        expect("MARK-STAGING" in found[0][1] and not found[0][0], found[0])
        expect("MARK-TERRAFORM" in found[1][1], found[1])
        expect("02-areas/churn.md" in found[2][1], found[2])
        expect("MARK-PAYMENTS" in found[3][1], found[3])
        expect(all("MARK-INVOICES" in text for _, text in found[4:9]), found[4:9])
        for is_error, text in found[9:]:
            expect(is_error and "suggestion" in text, text)
            expect("root:" not in text and "MARK-SECRET" not in text, text)
    finally:
        world.close()


def mcp_by_hand(options):
    """`claude mcp add` as `postil init` prints it: the same server without the plugin."""
    from checks import NOTES

    world = World(options, NOTES)
    try:
        said = world.postil("init", "--register", "--agent", "claude-code")
        line = next(line for line in said.splitlines() if "claude mcp add" in line)
        command = line[line.index("claude mcp add"):].replace("claude", f"'{options.client}'", 1)
        subprocess.run(command, shell=True, env=world.env, cwd=world.project, check=True, capture_output=True, timeout=90)
        main = [[{"tool": "mcp__postil__search", "input": {"query": "rotate the staging certificates"}}]]
        request = conversation(world.run({"main": main}, "please begin with the work on it now, thanks"))
        expect("MARK-STAGING" in results(request)[0][1], results(request))
    finally:
        world.close()


def codex_mcp(options):
    """Codex: the MCP server that `postil init --register` puts into config.toml answers."""
    from checks import NOTES

    world = World(options, NOTES)
    try:
        calls = [
            {"namespace": "mcp__postil", "call": "search", "args": {"query": "rotate the staging certificates"}},
            {"call": "read_mcp_resource", "args": {"server": "postil", "uri": "note:///02-areas/terraform.md"}},
        ]
        requests = world.run_codex([*calls, {"text": "fin"}], "please begin with the work on it now, thanks")
        outputs = [item for item in requests[-1]["input"] if str(item.get("type", "")).endswith("call_output")]
        expect(len(outputs) == 2, json.dumps(outputs)[:2000])
        for output, marker in zip(outputs, ["MARK-STAGING", "MARK-TERRAFORM"]):
            expect(marker in json.dumps(output), json.dumps(output)[:2000])
    finally:
        world.close()


CHECKS = [plugin_hooks, plugin_capture, plugin_mcp, mcp_by_hand, codex_mcp]

"""A HOME of its own with a vault, an index and registered hooks, and the real
client run in it against the fake API."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from fake_api import FakeApi, FakeResponses


class World:
    def __init__(self, options, notes, config=""):
        self.options = options
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="postil-client-"))
        self.vault = self.home / "notes"
        self.project = self.home / "code" / "shop"
        self.project.mkdir(parents=True)
        (self.project / "payments.py").write_text("def charge(card):\n    pass\n")
        for path, text in notes.items():
            self.note(path, text)
        for n in range(40):
            self.note(f"06-journal/day-{n}.md", f"# Log {n}\n\nNothing much happened on day {n}; the garden grew.\n")
        folder = self.home / ".config" / "postil"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(f'vault = "{self.vault}"\n{config}')
        (self.home / ".claude").mkdir()
        self.env = {
            "HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb",
            "POSTIL_MODEL": options.model, "POSTIL_LANGUAGES": options.languages,
        }
        self.postil("index")
        self.register()

    def register(self):
        """Puts the hooks into the client's settings."""
        self.postil("init", "--register")

    def note(self, path, text):
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def postil(self, *args):
        program = os.path.join(self.options.binaries, "postil")
        done = subprocess.run([program, *args], env=self.env, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise SystemExit(f"postil {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def log(self):
        file = self.home / ".local/state/postil/postil.log"
        return file.read_text() if file.exists() else ""

    def run(self, scripts, *prompts, model="claude-opus-5-5", timeout=90, more=()):
        """Runs the client once for each prompt, each continuing the one before
        with the arguments `more`; returns the bodies of all requests."""
        api = FakeApi(scripts)
        env = {
            **self.env, "IS_SANDBOX": "1", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{api.port}",
            "ANTHROPIC_API_KEY": "not-a-key", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        try:
            for n, prompt in enumerate(prompts):
                command = [self.options.client, "-p", prompt, "--model", model, "--output-format", "stream-json",
                           "--verbose", "--permission-mode", "bypassPermissions"]
                if n:
                    command += ["--continue", *more]
                done = subprocess.run(command, cwd=self.project, env=env, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=timeout)
                if done.returncode != 0:
                    raise SystemExit(f"the client ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        finally:
            api.stop()
        return api.requests

    def run_codex(self, calls, prompt, timeout=90):
        """Runs Codex once with the hooks and the MCP server registered in its
        own settings."""
        folder = self.home / ".codex"
        folder.mkdir(exist_ok=True)
        api = FakeResponses(calls)
        (folder / "config.toml").write_text(
            'model = "gpt-5.5"\nmodel_provider = "fake"\ncheck_for_update_on_startup = false\n'
            f'[model_providers.fake]\nname = "fake"\nbase_url = "http://127.0.0.1:{api.port}/v1"\n'
            'wire_api = "responses"\n[analytics]\nenabled = false\n')
        self.postil("init", "--register", "--agent", "codex")
        command = [self.options.codex, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
                   "--dangerously-bypass-approvals-and-sandbox", "--json", prompt]
        env = {**self.env, "CODEX_HOME": str(folder), "SHELL": "/bin/sh"}
        try:
            done = subprocess.run(command, cwd=self.project, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=timeout)
        finally:
            api.stop()
        if done.returncode != 0:
            raise SystemExit(f"codex ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return api.requests

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)


def texts(request):
    """All the model reads in a request's messages, in order, one string each."""
    found = []

    def walk(value):
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            for key, item in value.items():
                if key in ("content", "text"):
                    walk(item)

    for message in request.get("messages") or request.get("input") or []:
        walk(message.get("content"))
    return found


def conversation(requests, marker=None):
    """The last request of the main conversation, or of the one that holds a marker."""
    own = [r for r in requests if r.get("tools") and (marker is None or marker in json.dumps(texts(r)))]
    return own[-1]

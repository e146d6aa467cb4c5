"""Asks one prompt through the real client in the caller's HOME, against the fake
API, and prints everything the model was sent to read: first_prompt.py CLIENT PROMPT."""

import os
import subprocess
import sys

from fake_api import FakeApi
from world import conversation, texts

client, prompt = sys.argv[1:3]
api = FakeApi({"main": [[{"text": "done"}]]})
env = {
    **os.environ, "IS_SANDBOX": "1", "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{api.port}",
    "ANTHROPIC_API_KEY": "not-a-key", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}
command = [client, "-p", prompt, "--model", "claude-opus-5-5"]
done = subprocess.run(command, cwd=os.environ["HOME"], env=env, stdin=subprocess.DEVNULL, timeout=90, check=False)
api.stop()
if done.returncode != 0:
    sys.exit(f"the client ended with {done.returncode}")
print("\n".join(texts(conversation(api.requests))))

"""Small projects with known faults, and the tools that report them.

Each recipe writes a project into a folder of its own, runs one command and
says which facts a reader needs: given texts, and every match of a pattern in
the output. Tools that are not installed are left out.
"""

import os
import re
import shutil
import subprocess
import tempfile

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class Recipe:
    def __init__(self, name, command, files=None, facts=(), each=(), needs=None):
        self.name, self.command, self.files = name, command, files or {}
        self.facts, self.each = list(facts), list(each)
        self.needs = needs or command.split()[0]

    def run(self, folder):
        for path, text in self.files.items():
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as file:
                file.write(text)
        run = subprocess.run(
            ["bash", "-c", self.command], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
        )
        text = ESCAPES.sub("", run.stdout.decode("utf-8", "replace"))
        facts = self.facts + [m for p in self.each for m in dict.fromkeys(re.findall(p, text, re.M))]
        return {"command": self.command, "exit_code": run.returncode, "facts": facts}, run.stdout


def cases(n, one):
    return "".join(one(i) for i in range(n))


def bad(i):
    """Every ninth case fails."""
    return i if i % 9 else i + 1


PYTEST = "import pytest\n" + cases(120, lambda i: f"def test_case_{i:03}():\n    assert {i} == {bad(i)}, 'order {i}'\n") + (
    "@pytest.fixture\ndef db():\n    raise RuntimeError('migration 0042 not applied')\ndef test_rows(db): pass\n"
)
UNITTEST = "import unittest\nclass TestStock(unittest.TestCase):\n" + cases(
    120, lambda i: f"    def test_item_{i:03}(self): self.assertEqual({i}, {bad(i)})\n"
)
LINT = cases(12, lambda i: (
    f"import os, sys, json\ndef f{i}(a, b=[], *args):\n    x = undefined_{i}\n    try:\n        y = eval(a)\n"
    "    except:\n        pass\n    l = 1\n    if a == None: return l\n    return   x+ y\n\n"
))
TYPED = "from typing import Optional\n" + cases(15, lambda i: (
    f"def h{i}(x: int) -> str:\n    return x\ndef k{i}(p: Optional[str]) -> int:\n    return len(p) + h{i}('a')\n"
))
C_SOURCE = lambda k: (  # noqa: E731
    f'#include <stdio.h>\nint f{k}(int n) {{\n  int unused{k};\n  for (unsigned i = 0; i < n; i++) printf("%s\\n", i);\n'
    + (f"  undeclared_{k}(n);\n  return missing_{k};\n" if k % 3 == 1 else "  return n;\n") + "}\n"
)
RUST = "pub fn price(q: u32) -> u32 { q * 3 }\n#[cfg(test)] mod tests { use super::*;\n" + cases(
    120, lambda i: f'#[test] fn case_{i:03}() {{ assert_eq!(price({i}), {3 * i + (i % 17 == 9)}, "quantity {i}"); }}\n'
) + "}\n"
RUST_BAD = cases(12, lambda i: f"pub fn b{i}(v: &Vec<String>) {{ let s = v[0]; missing_{i}(s); let x: u32 = \"a\"; }}\n")
CARGO = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
GO_TEST = 'package cart\nimport ("testing";"fmt")\nfunc TestTable(t *testing.T) {\n for i := 0; i < 80; i++ { i := i\n  t.Run(fmt.Sprintf("row_%02d", i), func(t *testing.T) { if i%13 == 6 { t.Errorf("row %d: got %d, want %d", i, i, i+1) } }) } }\n'
NODE_TEST = 'const {it}=require("node:test");const assert=require("assert");\n' + cases(
    90, lambda i: f'it("handles case {i}",()=>{{assert.equal({i},{bad(i)})}});\n'
)
JAVA = "import java.util.*;\npublic class A {\n" + cases(
    33, lambda i: f"  int f{i}(List<String> xs) {{ return undefinedVar{i} + xs.lenght(); }}\n"
) + "}\n"
PERL = "use Test::More;\n" + cases(80, lambda i: f'is({i},{bad(i)},"perl case {i}");\n') + "done_testing;\n"
SHELL = "#!/bin/sh\n" + cases(15, lambda i: f"for f in $(ls *.txt); do echo $f{i}; cd $HOME/d{i}; rm -rf $UNSET{i}/; done\n")
LOG = cases(900, lambda i: (
    f"2026-11-28T10:{i // 60:02}:{i % 60:02}Z "
    + ("ERROR db pool exhausted waiting=32" if i == 433 else f"INFO  request path=/v1/items/{i} status=200 ms={i % 40}") + "\n"
))
PODS = "NAME                    READY   STATUS             RESTARTS   AGE\n" + cases(120, lambda i: (
    f"api-7d9f{i:03}-x{i % 10}k2{i % 7}       {'0/1' if i == 61 else '1/1'}     {'ImagePullBackOff' if i == 61 else 'Running':18} {i % 3}          {i % 30}d\n"
))
JSON = "[" + ",\n".join(
    f'{{"id": {i}, "state": "{"down" if i == 44 else "up"}", "zone": "eu-{i % 3}", "disk": {i % 90}}}' for i in range(300)
) + "]\n"
CSV = "order;customer;country;amount;status\n" + cases(900, lambda i: (
    f"{10000 + i};C{i % 77:03};{['ES', 'FR', 'DE'][i % 3]};{i * 1.37:.2f};{'REFUND_FAILED' if i == 517 else 'paid'}\n"
))
PROGRESS = 'for i in $(seq 1 400); do printf "\\r%3d%% of 400 MB" $((i/4)); done; echo; echo "sha256 mismatch on block 17"'
TRACE = "class ConfigError(Exception): pass\ndef load(path):\n    try: open(path)\n    except FileNotFoundError as e: raise ConfigError(f'cannot load {path}') from e\ndef level(n):\n    if n == 0: load('/etc/shop/settings.toml')\n    level(n - 1)\nfor i in range(60): print(f'step {i} finished in {i * 3} ms')\nlevel(40)\n"

RECIPES = [
    Recipe("pytest", "python3 -m pytest -q", {"test_shop.py": PYTEST},
           ["migration 0042 not applied"], [r"^FAILED (\S+)", r"(\d+ failed, \d+ passed)"], needs="pytest"),
    Recipe("pytest_v", "python3 -m pytest -v", {"test_shop.py": PYTEST},
           ["migration 0042 not applied"], [r"^FAILED (\S+)", r"(\d+ failed, \d+ passed)"], needs="pytest"),
    Recipe("unittest", "python3 -m unittest -v test_stock", {"test_stock.py": UNITTEST}, [],
           [r"^FAIL: (\S+)", r"^(FAILED \(.*\))$", r"^(Ran \d+ tests)"]),
    Recipe("node_test", "node --test --test-reporter=spec", {"a.test.js": NODE_TEST}, [],
           [r"^\s*✖ (handles case \d+)", r"^ℹ (fail \d+)"]),
    Recipe("node_tap", "node --test --test-reporter=tap", {"a.test.js": NODE_TEST}, [], [r"^\s*(not ok \d+ - handles case \d+)"]),
    Recipe("cargo_test", "cargo test --offline", {"Cargo.toml": CARGO, "src/lib.rs": RUST}, [],
           [r"^test (tests::\S+) .*FAILED", r"(\d+ passed; \d+ failed)", r"(quantity \d+)"]),
    Recipe("cargo_check", "cargo check --offline", {"Cargo.toml": CARGO, "src/lib.rs": RUST_BAD},
           ["could not compile"], [r"(`missing_\d+`)"]),
    Recipe("go_test", "go test -v ./...", {"go.mod": "module shop\n\ngo 1.19\n", "cart/cart_test.go": GO_TEST}, [],
           [r"--- FAIL: (\S+)", r"(got \d+, want \d+)"]),
    Recipe("prove", "prove -v t", {"t/a.t": PERL}, [], [r"^(not ok \d+ - .*)$", r"(Failed \d+/\d+ subtests)"]),
    Recipe("make", "make -k", {**{f"m{k}.c": C_SOURCE(k) for k in range(8)},
                               "Makefile": "CFLAGS=-Wall -Wextra\nall: $(patsubst %.c,%.o,$(wildcard m*.c))\n"}, [],
           [r"^(m\d\.c:\d+):\d+: error", r"(missing_\d)"], needs="gcc"),
    Recipe("javac", "javac -Xmaxerrs 500 A.java", {"A.java": JAVA}, [], [r"^(A\.java:\d+): error", r"variable (undefinedVar\d+)", r"^(\d+ errors)"]),
    Recipe("ruff", "ruff check --output-format=concise --select ALL pkg", {"pkg/a.py": LINT, "pkg/b.py": LINT}, [],
           [r"^(pkg/\S+?:\d+):\d+: F821", r"^(Found \d+ errors)"]),
    Recipe("ruff_full", "ruff check pkg", {"pkg/a.py": LINT, "pkg/b.py": LINT}, [], [r"--> (pkg/\S+?:\d+):", r"^(Found \d+ errors)"]),
    Recipe("flake8", "flake8 pkg", {"pkg/a.py": LINT}, [], [r"^(pkg/\S+?:\d+):\d+: F821"]),
    Recipe("pylint", "pylint pkg", {"pkg/a.py": LINT, "pkg/__init__.py": ""}, [], [r"(rated at \S+)", r"^(pkg/\S+?:\d+):\d+: E"]),
    Recipe("mypy", "mypy --strict pkg", {"pkg/a.py": TYPED}, [], [r"^(pkg/a.py:\d+): error", r"^(Found \d+ errors)"]),
    Recipe("shellcheck", "shellcheck a.sh", {"a.sh": SHELL}, [], [r"^In (a\.sh) line \d+:"]),
    Recipe("traceback", "python3 t.py", {"t.py": TRACE}, ["cannot load /etc/shop/settings.toml", "FileNotFoundError"]),
    Recipe("log", "cat service.log", {"service.log": LOG}, ["pool exhausted waiting=32"]),
    Recipe("pods", "cat pods.txt", {"pods.txt": PODS}, ["ImagePullBackOff"]),
    Recipe("json", "cat nodes.json", {"nodes.json": JSON}, ['"down"', '"id": 44']),
    Recipe("csv", "cat orders.csv", {"orders.csv": CSV}, ["10517;", "REFUND_FAILED"]),
    Recipe("progress", PROGRESS, {}, ["sha256 mismatch on block 17"], needs="bash"),
    Recipe("listing", "ls -la /usr/bin", {}, [], [r"^total (\d+)$"]),
    Recipe("find", "find /usr/share -maxdepth 3 -name '*.txt'", {}),
    Recipe("packages", "dpkg -l", {}),
    Recipe("processes", "ps aux", {}, ["COMMAND"]),
]


def run_all():
    """Yields name, what is known of it, and the raw output of every recipe."""
    for recipe in RECIPES:
        if not shutil.which(recipe.needs):
            continue
        with tempfile.TemporaryDirectory() as folder:
            meta, raw = recipe.run(folder)
        yield recipe.name, meta, raw

"""Drives `search -i` as a person does: in a terminal of its own, with the real
fzf and without.

terminal.py SEARCH VAULT
"""

import fcntl
import os
import pty
import select
import shutil
import struct
import sys
import tempfile
import termios
import time

SEARCH, VAULT = sys.argv[1:3]
FOLDER = tempfile.mkdtemp()


class Terminal:
    """A program in a terminal of 100 columns and 30 rows."""

    def __init__(self, command, **env):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color", "SHELL": "/bin/sh", **env})

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
                return True
            except OSError:
                pass
        return False

    def wait_for(self, text, seconds=20):
        end = time.time() + seconds
        while text not in self.seen:
            if time.time() > end:
                raise SystemExit(f"terminal: no {text!r} in the last of\n{self.seen[-900:]!r}")
            self.read(0.2)

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        while self.read(5):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def program(name, text):
    file = os.path.join(FOLDER, name)
    with open(file, "w", encoding="utf-8") as out:
        out.write(f"#!/bin/sh\n{text}\n")
    os.chmod(file, 0o755)
    return file


editor = program("nvim", 'echo "opened $*" > ' + os.path.join(FOLDER, "opened"))


def opened():
    with open(os.path.join(FOLDER, "opened"), encoding="utf-8") as file:
        return file.read()


def with_fzf():
    terminal = Terminal([SEARCH, "-i", "acquire"], EDITOR=editor)
    terminal.wait_for("notes>")
    terminal.wait_for("Timeouts")  # the row
    terminal.wait_for("a stalled connection")  # the preview
    terminal.type("\x15millisecond")  # Ctrl-U empties the line; each key searches again
    terminal.wait_for("coarse")
    time.sleep(1)
    terminal.type("\r")
    code = terminal.end()
    assert code == 0, (code, terminal.seen)
    assert opened() == f"opened +3 {VAULT}/timers.md\n", opened()
    terminal = Terminal([SEARCH, "-i", "acquire"], EDITOR=editor)
    terminal.wait_for("a stalled connection")
    terminal.type("\x1b")
    assert terminal.end() == 1, "Escape picks nothing"


def without_fzf():
    # No fzf on this PATH; sh is for the editor's script.
    os.symlink("/bin/sh", os.path.join(FOLDER, "sh"))
    terminal = Terminal([SEARCH, "-i", "acquire"], EDITOR=editor, PATH=FOLDER)
    terminal.wait_for("to open, other words")
    terminal.type("millisecond\r")
    terminal.wait_for("coarse")
    terminal.type("1\r")
    code = terminal.end()
    assert code == 0, (code, terminal.seen)
    assert opened() == f"opened +3 {VAULT}/timers.md\n", opened()


try:
    with_fzf()
    without_fzf()
    print("terminal: 2 passed, 0 failed")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)

"""Editors that are tested before a release: in their own interface, configured by `greenloop setup` and the page."""

import contextlib
import json
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path

import psutil

from greenloop.engine.history.store import History

from .conftest import HERE, SECONDS

RIGHT = "def double(x):\n    return x * 2\n"
WRONG = RIGHT.replace("x * 2", "x + 1")
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
SENTENCES = ("# The quick brown fox jumps", "# over yon lazy dog", "# 1 2 3 q y n", "# No Yes quit", "# and so on")
KEYS = 1000  # that are typed during a run and after it, at least
DOCSTRING = 'def double(x):\n    """Twice x.\n\n    >>> double(5)\n    10\n    """\n    raise NotImplementedError\n\n\nname = "n"\n'


class Released(ABC):
    """A project, a home of its own, and an editor in it. Every method is one thing that its user does or sees."""

    setup: str  # the name for `greenloop setup`

    def __init__(self, folder, answers, **files):
        self.folder, self.root, self.home = folder, folder / "w", folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        for each, text in {"pyproject.toml": "", **files}.items():
            (self.root / each).write_text(text)
        script = folder / "answers.jsonl"
        script.write_text("".join(json.dumps(f"```python\n{each}```") + "\n" for each in answers))
        self.options = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap"}
        # An editor's own library path is not the server's.
        own = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "LD_LIBRARY_PATH", "TMUX")
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in own},
            "PYTHONPATH": str(HERE.parents[1] / "server"),
            # Without the other servers and linters of this environment, such as ruff.
            "PATH": os.pathsep.join(each for each in os.get_exec_path() if Path(each) != Path(sys.executable).parent),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
            **{f"XDG_{key}_HOME": str(self.home / key.lower()) for key in ("STATE", "CONFIG", "DATA")},
        }
        setup = [sys.executable, "-m", "greenloop", "setup", self.setup, "--write", "--yes"]
        subprocess.run(setup, env=self.environment, check=True, capture_output=True)

    @abstractmethod
    def gone(self) -> str:
        """Why the editor is no longer there; empty while it is."""

    @abstractmethod
    def screen(self) -> str:
        """What the user sees."""

    @abstractmethod
    def type(self, text: str) -> None:
        """Types a text, key by key."""

    @abstractmethod
    def keys(self, *names: str) -> None:
        """Presses keys by their names."""

    def write(self):
        """Types lines during a run and after it, at least `KEYS` keys; the text."""
        typed, ended = "", 0
        assert not self.run(), "the run is over before a key is typed"
        while not ended or len(typed) < max(KEYS, ended + KEYS / 4):
            sentence = SENTENCES[typed.count("\n") % len(SENTENCES)]
            for key in sentence:
                self.type(key)
            self.keys("Return" if self.setup == "kate" else "Enter")
            typed += f"{sentence}\n"
            if not ended and self.run():
                ended = len(typed)
            assert len(typed) < 10 * KEYS, "the run does not end"
        return typed

    def wait(self, what, holds):
        found = self.seen(holds, SECONDS)
        assert found, f"no {what}; {self.screen()}; {self.log()}"
        return found

    def seen(self, holds, seconds):
        """What `holds` returns as soon as that is something, or at the end."""
        end = time.monotonic() + seconds
        while not (found := holds()) and time.monotonic() < end:
            assert not (why := self.gone()), f"the editor is gone: {why}"
            time.sleep(0.1)  # between two looks
        return found

    def log(self):
        files = sorted((self.home / "state" / "greenloop" / "logs").glob("*.log"))
        return files[-1].read_text() if files else ""

    def file(self, name):
        return (self.root / name).read_text()

    def run(self):
        """The newest run, once it is over."""
        path = self.home / "state" / "greenloop" / "history.sqlite3"
        if not path.exists():
            return None
        history = History.open(path)
        runs = history.runs(limit=1)
        history.close()
        return runs[0] if runs and runs[0].state == "finished" else None


def started(kind, folder):
    """For a fixture: starts editors of a kind, and ends them after the test."""
    running = []

    def start(*words, **files):
        running.append(kind(folder, *words, **files))
        return running[-1]

    yield start
    for each in running:
        each.end()


class Terminal(Released):
    """An editor in a terminal that nobody sees."""

    save_all: str  # its command

    def _start(self, *command):
        # A server of its own for each terminal, so that nothing of the user's is touched.
        self.socket = str(self.folder / "tmux")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50", *command)
        self.process = psutil.Process(int(self.tmux("list-panes", "-F", "#{pane_pid}")))

    def tmux(self, *words):
        command = ["tmux", "-S", self.socket, *words]
        done = subprocess.run(command, env=self.environment, cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout

    def gone(self):
        return "" if self.process.is_running() else "it has ended"

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def shows(self, *texts):
        self.wait(texts, lambda: all(text in self.screen() for text in texts))

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def command(self, text):
        self.normal()
        self.type(f":{text}")
        self.keys("Enter")

    def saved(self, name, text):
        """Saves everything until the file has that text."""

        def holds():
            self.command(self.save_all)
            return self.seen(lambda: self.file(name) == text, 1)

        self.wait(f"{text!r} in {name}", holds)

    def normal(self):
        """Leaves menus, pop-ups and typing."""
        self.keys("Escape")
        # With what follows at once it would be another key.
        self.seen(lambda: False, 0.2)

    def end(self):
        with contextlib.suppress(psutil.NoSuchProcess):
            servers = self.process.children(recursive=True)
            with contextlib.suppress(subprocess.CalledProcessError):
                self.tmux("kill-server")
            _, left = psutil.wait_procs([self.process, *servers], 10)
            assert not left, "the server outlives its editor"

"""Real editors, each started once for all stories: configured by `greenloop setup` and by the blocks of docs/editors.md."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil
import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "editors.md"
SECONDS = 40  # that anything may take on a busy machine


@cache
def blocks(heading):
    """The code blocks of a section of the page, by their first line."""
    section = re.split(rf"^## {re.escape(heading)}$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    section = re.split(r"^## ", section, flags=re.MULTILINE)[0]
    return re.findall(r"^```\w+\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)


def block(heading, *words):
    """The one code block of a section in which all the words stand."""
    found = [each for each in blocks(heading) if all(word in each for word in words)]
    assert len(found) == 1, (heading, words, found)
    return found[0]


@dataclass(frozen=True)
class Kind:
    """An editor: its section of the page, the part of the machine it is, and what it cannot do."""

    name: str
    part: str
    section: str
    setup: str
    creates: bool = True  # files that an edit needs
    shows: bool = True  # documents on request
    sources: bool = True  # of diagnostics
    lenses: bool = False
    progress: bool = False  # in its status line


KINDS = [
    Kind("nvim-0.11", "nvim011", "Neovim", "neovim", lenses=True, progress=True),
    Kind("nvim-0.7", "nvim", "Neovim", "neovim", shows=False, progress=True),
    Kind("eglot", "emacs", "Emacs with eglot", "eglot", creates=False, shows=False, sources=False),
    Kind("lsp-mode", "lspmode", "Emacs with lsp-mode", "lsp-mode", shows=False),
]


class Editor:
    """One running editor. Every method is one thing that its user does or sees; lines count from 1."""

    def __init__(self, kind, folder, settings, model=""):
        self.kind, self.folder, self.root = kind, folder, folder / "w"
        self.script, self.home = folder / "answers.jsonl", folder / "home"
        self.opened = []
        self.root.mkdir()
        (self.root / "pyproject.toml").write_text("")
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(HERE.parents[1] / "server"),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
            **{f"XDG_{name}_HOME": str(self.home / name.lower()) for name in ("STATE", "CONFIG", "DATA")},
            "PLAY_ROOT": str(self.root),
            "PLAY_SOCKET": str(folder / "s"),
        }
        self.model = model or f"scripted:{self.script}"
        self._configure(settings)
        self._start()

    # -- the machine --------------------------------------------------------------------------------------------

    def _configure(self, settings):
        """As a user does: `greenloop setup … --write`, and the page's blocks in the editor's own start file."""
        own = self.home / "config" / "greenloop" / "config.toml"
        own.parent.mkdir(parents=True)
        # The model too: a run may begin before the editor has said what its settings are.
        settings = {**settings, "model": self.model}
        own.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
        lines = [sys.executable, "-m", "greenloop", "setup", self.kind.setup, "--write", "--yes"]
        if self.kind.setup != "neovim":
            (self.home / ".emacs.d").mkdir(parents=True)
        subprocess.run(lines, env=self.environment, check=True, capture_output=True)
        chosen = block(self.kind.section, "ollama/llama3.2").replace("ollama/llama3.2", self.model)
        # Code lenses came with LspAttach, after 0.7.
        no = ["ollama/llama3.2", *(["codelens"] if self.kind.name == "nvim-0.7" else [])]
        more = "".join(each for each in blocks(self.kind.section)[1:] if not any(word in each for word in no))
        if self.kind.setup == "neovim":
            start = self.home / "config" / "nvim" / "init.lua"
            start.write_text(chosen + more)
        else:
            with (self.home / ".emacs.d" / "init.el").open("a") as file:
                file.write(chosen + more)

    def _start(self):
        program = {"nvim-0.11": str(Path(sys.executable).with_name("nvim")), "nvim-0.7": "/usr/bin/nvim"}
        if self.kind.setup == "neovim":
            play = ["--headless", "-n", "-c", f"luafile {HERE / 'play' / 'nvim.lua'}"]
            command = [program[self.kind.name], *play]
        else:
            init = ["-f", "package-initialize", "-l", str(self.home / ".emacs.d" / "init.el")]
            play = [word for name in ("emacs", self.kind.name) for word in ("-l", str(HERE / "play" / f"{name}.el"))]
            command = ["emacs", "-q", "--batch", *init, *play]
        self.output = (self.folder / "output").open("w+")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(self.environment["PLAY_SOCKET"])
            server.listen()
            server.settimeout(SECONDS)
            self.process = subprocess.Popen(
                command,
                env=self.environment,
                cwd=self.root,
                stdin=subprocess.PIPE,
                stdout=self.output,
                stderr=self.output,
            )
            try:
                self.socket = server.accept()[0]
            except TimeoutError:
                self.process.kill()
                raise AssertionError(f"{command} does not play: {self.said()}") from None
        self.socket.settimeout(SECONDS)
        self.lines = self.socket.makefile("rw", encoding="utf-8")

    def __call__(self, what, *arguments):
        """Has the editor do one thing; its result."""
        self.lines.write(json.dumps({"play": what, "with": arguments}) + "\n")
        self.lines.flush()
        line = self.lines.readline()
        assert line, f"the editor is gone at {what}: {self.said()}"
        reply = json.loads(line)
        assert "error" not in reply, f"{what}{arguments}: {reply}\n{self.said()}"
        return reply["value"]

    def said(self):
        self.output.flush()
        return Path(self.output.name).read_text(errors="replace")[-3000:]

    def wait(self, what, holds, seconds=SECONDS):
        """What `holds` returns as soon as that is something; it is asked again and again."""
        end = time.monotonic() + seconds
        while not (found := holds()):
            if time.monotonic() > end:
                shown = {name: self("diagnostics", name) for name in self.opened}
                raise AssertionError(f"no {what}; messages: {self('messages')}; {shown}\n{self.said()}")
            time.sleep(0.02)  # between two looks
        return found

    def servers(self):
        """The processes of the language server."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [each for each in children if "serve" in _words(each)]

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()

    # -- a user -------------------------------------------------------------------------------------------------

    def put(self, *answers, **files):
        """The model's answers from now on, and files on the disk; those that are no path become modules."""
        self.script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        for name, text in files.items():
            (self.root / f"{name}.py").write_text(text)

    def open(self, *names):
        for name in names:
            self("open", name)
            self.opened.append(name)

    def act(self, name, line, title):
        """Chooses the code action that begins so, as soon as it is offered; all that were offered with it."""

        def chosen():
            offered = self("act", name, line, title)
            return offered if any(each.startswith(title) for each in offered) else None

        return self.wait(f"action {title}", chosen)

    def configure(self, **settings):
        """Changes the editor's settings: all of them, for the newest replace those before."""
        self("configure", {"model": self.model, "attempts": 10, **settings})

    def told(self, *words):
        """Waits for a message with all the words, and says it."""
        return self.wait(
            f"message with {words}",
            lambda: next((each for each in self("messages") if all(word in each for word in words)), None),
        )

    def shows(self, name, line, *words):
        """Waits for a diagnostic at a line, with all the words, and says it."""

        def found():
            items = self("diagnostics", name)
            return next((each for each in items if each["line"] == line and all(w in _all(each) for w in words)), None)

        return self.wait(f"diagnostic of {name}:{line} with {words}", found)

    def is_clear(self, name):
        """Waits until a file shows nothing."""
        self.wait(f"end of the diagnostics of {name}", lambda: not self("diagnostics", name))

    def becomes(self, name, text):
        """Waits until a buffer's text is this."""
        try:
            self.wait(name, lambda: self("text", name) == text)
        except AssertionError as problem:
            assert self("text", name) == text, problem  # noqa: PT017 - pytest shows the difference

    def disk(self, name):
        path = self.root / name
        return path.read_text() if path.exists() else None


def _all(diagnostic):
    return "\n".join(str(diagnostic[key]) for key in ("source", "text", "related"))


def _words(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture(scope="module", params=[pytest.param(k, id=k.name, marks=pytest.mark.needs(k.part)) for k in KINDS])
def editor(request, bare_python):
    """A running editor without any open file, whose model answers what a story scripts."""
    settings = {"interpreter": str(bare_python), "preset": "plain", "sandbox.kind": "bubblewrap"}
    # pytest's folders are for one user alone: a sandbox begun by root would work on a copy, and see no change in it.
    with tempfile.TemporaryDirectory(prefix="e-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        running = Editor(request.param, Path(name), settings)
        yield running
        running.end()

"""A person at the keys of a real Neovim in a terminal: what is typed during a run and after it is in the text."""

import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from .conftest import KINDS, SECONDS, Editor, block
from .test_stories import code, double, go, red, waiting

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

PAUSE = 0.03  # seconds between two keys
REST = 0.5  # seconds between two words: without a pause the result of a run is not applied


class Typist(Editor):
    """Neovim in a terminal, with nothing replaced: keys go in, and another Neovim asks it for what it has."""

    def _start(self):
        self.master, terminal = pty.openpty()
        self.listen, self.screen = self.folder / "n", b""
        command = [str(Path(sys.executable).with_name("nvim")), "-n", "--listen", str(self.listen)]
        environment = {**self.environment, "TERM": "xterm-256color", "LINES": "24", "COLUMNS": "80"}
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=self.root,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        os.close(terminal)
        self.wait("Neovim", self.listen.exists)

    def look(self, seconds=0.0):
        """Reads what the terminal shows, for this long at least."""
        end = time.monotonic() + seconds
        while select.select([self.master], [], [], max(end - time.monotonic(), 0.0))[0]:
            self.screen += os.read(self.master, 1 << 16)

    def keys(self, text):
        for key in text:
            os.write(self.master, key.encode())
            self.look(PAUSE)

    def ask(self, expression):
        """The value of an expression; it is answered between two keys."""
        command = ["nvim", "--server", str(self.listen), "--remote-expr", expression]
        asked = subprocess.run(
            command, env=self.environment, check=False, capture_output=True, text=True, timeout=SECONDS
        )
        self.look()
        return asked.stdout

    def wait(self, what, holds, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not (found := holds()):
            assert time.monotonic() < end, f"no {what}: {self.screen[-3000:].decode(errors='replace')}"
            time.sleep(0.02)  # between two looks
        return found

    def has(self, expression):
        self.wait(expression, lambda: self.ask(expression).strip() == "1")

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.master)


@pytest.fixture(params=["stock", "page"])
def typist(request, bare_python):
    """With the lines of the page about messages, or without."""
    settings = {"interpreter": str(bare_python), "preset": "plain", "sandbox.kind": "bubblewrap"}
    kind = next(kind for kind in KINDS if kind.name == "nvim-0.11")
    with tempfile.TemporaryDirectory(prefix="e-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        typist = Typist(kind, Path(name), settings)
        if request.param == "stock":
            start = typist.home / "config" / "nvim" / "init.lua"
            start.write_text(start.read_text().replace(block("Neovim", "window/showMessage"), ""))
        typist.spaced = request.param == "page"
        yield typist
        typist.end()


@pytest.mark.needs("nvim011")
@pytest.mark.story("nothing that is typed is lost", only=("page",))
def test_every_key_that_is_typed_during_and_after_a_run_is_in_the_text(typist):
    """Where Neovim shows the messages of servers in its own way, it takes an Enter or a Space after one for itself."""
    words = ("first", "second", "third", "fourth", "fifth", "sixth")
    between = " \r" if typist.spaced else "-"
    typist.put(waiting("x * 4", "keyed", typist.root), code(double("x * 2", "keyed")), **red("keyed"), notes="")
    typist.keys(":edit test_keyed.py\r")
    typist.has("luaeval('#vim.lsp.get_clients({bufnr = 0})')")
    typist.has("luaeval('vim.lsp.get_clients({bufnr = 0})[1].initialized and 1 or 0')")
    typist.keys("G")
    typist.screen = b""
    typist.keys("gra")
    typist.wait("menu", lambda: typist.look() or b"Type number" in typist.screen)
    assert b"1: Refine until tests pass: test_keyed" in typist.screen
    typist.keys("1\r")
    typist.keys(":edit notes.py\rI")
    typed = ""

    def write(word):
        nonlocal typed
        typist.keys(word + between)
        typist.look(REST)
        typed += word + between

    for word in words[:3]:
        write(word)
    go("keyed", typist)
    for word in words[3:]:
        write(word)
    is_fixed = "join(getbufline('keyed.py', 1, '$'), ';') == 'def keyed(x):;    return x * 2'"
    typist.wait("fix", lambda: write("while") or typist.ask(is_fixed).strip() == "1")
    typist.wait("message", lambda: write("after") or b"Fixed: test_keyed passes" in typist.screen)
    for word in words:
        write(word)
    typist.keys("\x1b")
    typist.has("mode() ==# 'n' && expand('%') ==# 'notes.py'")
    assert typist.ask("join(getbufline('notes.py', 1, '$'), ';')").rstrip("\n") == typed.replace("\r", ";")
    typist.keys(":buffer test_keyed.py\rgra")
    typist.wait("menu", lambda: typist.look() or b"1: Open the changed keyed" in typist.screen)
    typist.keys("1\r")
    typist.has("expand('%:t') ==# 'keyed.py' && line('.') == 2")

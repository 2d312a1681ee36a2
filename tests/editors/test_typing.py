"""A person at the keys of a real editor in a terminal: what is typed during a run and after it is in the text."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pytest

from .conftest import KINDS, SECONDS, Editor, block
from .test_stories import code, double, go, red, waiting

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(400)]

KEYS = 1000  # that are typed during a run and after it, at least
FEW = 200  # the same for `make test`
PAUSE = 0.02  # seconds between two keys
REST = 0.5  # seconds between two sentences: without a pause the result of a run is not applied in every editor
STATUS = "join(map(range(1, &columns), 'screenstring(&lines - 1, v:val)'), '')"
SENTENCES = ("The quick brown fox jumps", "over yon lazy dog", "1 2 3 q y n", "No Yes quit", "and so on")


class Typist(Editor):
    """An editor in a terminal, with nothing replaced: keys go in, and another process asks it for what it has."""

    between = " \r"

    def _start(self):
        self.master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.listen, self.screen, self.count = self.folder / "own" / "n", b"", 0
        self.listen.parent.mkdir(0o700)
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *self.command()],  # Emacs wants a terminal of its own
            env={**self.environment, "TERM": "xterm-256color"},
            cwd=self.root,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        self.wait(self.kind.name, lambda: self.look() or self.listen.exists())

    def look(self, seconds=0.0):
        """Reads what the terminal shows, for this long at least."""
        end = time.monotonic() + seconds
        while select.select([self.master], [], [], max(end - time.monotonic(), 0.0))[0]:
            self.screen += os.read(self.master, 1 << 16)

    def keys(self, text):
        self.count += len(text)
        for key in text:
            os.write(self.master, key.encode())
            self.look(PAUSE)

    def sees(self, text):
        self.wait(text, lambda: self.look() or text.encode() in self.screen)

    def ask(self, expression):
        """The value of an expression; it is answered between two keys."""
        asked = subprocess.run(
            self.question(expression),
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        self.look()
        return asked.stdout.rstrip("\n")

    def wait(self, what, holds, seconds=SECONDS):
        end = time.monotonic() + seconds
        while not (found := holds()):
            assert time.monotonic() < end, f"no {what}: {self.screen[-3000:].decode(errors='replace')}"
            time.sleep(0.02)  # between two looks
        return found

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self.master)


class Neovim(Typist):
    def command(self):
        return [str(Path(sys.executable).with_name("nvim")), "-n", "--listen", str(self.listen)]

    def question(self, expression):
        return ["nvim", "--server", str(self.listen), "--remote-expr", expression]

    def has(self, expression):
        self.wait(expression, lambda: self.ask(expression) == "1")

    def refine(self):
        self.keys(":edit test_keyed.py\r")
        self.has("luaeval('#vim.lsp.get_clients({bufnr = 0})')")
        self.has("luaeval('vim.lsp.get_clients({bufnr = 0})[1].initialized and 1 or 0')")
        self.keys("G")
        self.screen = b""
        self.keys("gra")
        self.sees("1: Refine until tests pass: test_keyed")
        self.keys("1\r")

    def begin(self):
        self.keys(":edit notes.py\rI")

    def text(self, name):
        return self.ask(f"join(getbufline('{name}', 1, '$'), ';')")

    def leave(self):
        self.keys("\x1b")
        self.has("mode() ==# 'n' && expand('%') ==# 'notes.py'")
        self.keys(":buffer test_keyed.py\rgra")
        self.sees("1: Open the changed keyed")
        self.keys("1\r")
        self.has("expand('%:t') ==# 'keyed.py' && line('.') == 2")


class StockNeovim(Neovim):
    """Without the lines of the page about messages, where it takes an Enter or a Space after one for itself."""

    between = "-"

    def _configure(self, settings):
        super()._configure(settings)
        start = self.home / "config" / "nvim" / "init.lua"
        start.write_text(start.read_text().replace(block("Neovim", "window/showMessage"), ""))


class Emacs(Typist):
    """Both clients of Emacs, started by their own commands."""

    def command(self):
        # Of Emacs itself, not of servers: compiling in the background, and what an Enter writes besides.
        quiet = "(setq native-comp-deferred-compilation nil make-backup-files nil electric-indent-mode nil)"
        start = ["-f", "package-initialize", "-l", str(self.home / ".emacs.d" / "init.el")]
        listen = (
            f'(progn (require \'server) (setq server-socket-dir "{self.listen.parent}" server-name "n") (server-start))'
        )
        return ["emacs", "-nw", "-q", "--eval", quiet, *start, "--eval", listen]

    def question(self, expression):
        return ["emacsclient", "-s", str(self.listen), "--eval", expression]

    def has(self, expression):
        self.wait(expression, lambda: self.ask(expression) == "t")

    def refine(self):
        start, connected, act = {
            "eglot": ("eglot", "(eglot-managed-p)", "eglot-code-actions"),
            "lsp-mode": (
                "lsp",
                "(eq 'initialized (lsp--workspace-status (car lsp--buffer-workspaces)))",
                "lsp-execute-code-action",
            ),
        }[self.kind.name]
        self.keys("\x18\x06test_keyed.py\r")
        self.has('(not (not (get-buffer "test_keyed.py")))')
        self.screen = b""
        self.keys(f"\x1bx{start}\r")
        if start == "lsp":
            self.sees("Do nothing: ask again")
            self.keys("i")  # the project's folder is this one
        self.has(f'(with-current-buffer "test_keyed.py" (and {connected} t))')
        self.keys("\x1b>\x10")
        self.screen = b""
        self.keys(f"\x1bx{act}\r")
        self.wait("menu", lambda: self.ask("(and (active-minibuffer-window) t)") == "t")
        self.keys("Refine until tests pass: test_keyed\r")
        self.wait("end of the menu", lambda: self.ask("(and (active-minibuffer-window) t)") == "nil")

    def begin(self):
        self.keys("\x18\x06notes.py\r")
        self.has('(equal "notes.py" (buffer-name (window-buffer (selected-window))))')

    def text(self, name):
        shown = self.ask(
            f'(let ((b (get-buffer "{name}"))) (and b (with-current-buffer b (buffer-substring-no-properties 1 (point-max)))))'
        )
        return shown.strip('"').replace("\\n", "\n").rstrip("\n").replace("\n", ";")

    def leave(self):
        self.has('(equal "notes.py" (buffer-name (window-buffer (selected-window))))')
        self.has("(not (active-minibuffer-window))")


KIND = {kind.name: kind for kind in KINDS}
PEOPLE = [
    pytest.param((Neovim, "nvim-0.11", KEYS), id="nvim-page", marks=pytest.mark.needs("nvim011")),
    pytest.param((StockNeovim, "nvim-0.11", KEYS), id="nvim-stock", marks=pytest.mark.needs("nvim011")),
    pytest.param((Emacs, "eglot", KEYS), id="eglot", marks=pytest.mark.needs("emacs")),
    pytest.param((Emacs, "eglot", FEW), id="few-keys", marks=pytest.mark.needs("emacs")),
    pytest.param((Emacs, "lsp-mode", KEYS), id="lsp-mode", marks=pytest.mark.needs("lspmode")),
]


@pytest.fixture(params=PEOPLE)
def typist(request, bare_python):
    person, name, keys = request.param
    settings = {"interpreter": str(bare_python), "preset": "plain", "sandbox.kind": "bubblewrap"}
    with tempfile.TemporaryDirectory(prefix="e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        typist = person(KIND[name], Path(folder), settings)
        typist.least_keys = keys
        yield typist
        typist.end()


@pytest.mark.story("nothing that is typed is lost", only=("few-keys",))
def test_every_key_that_is_typed_during_and_after_a_run_is_in_the_text(typist):
    typist.put(waiting("x * 4", "keyed", typist.root), code(double("x * 2", "keyed")), **red("keyed"), notes="")
    typist.refine()
    typist.begin()
    typist.count, typed = 0, ""

    def write(sentence):
        nonlocal typed
        text = sentence if typist.between != "-" else sentence.replace(" ", "-")
        typist.keys(text + typist.between)
        typist.look(REST)
        typed += text + typist.between

    if isinstance(typist, Neovim):  # the whole screen, as it is drawn
        typist.wait("progress", lambda: "Refining test_keyed: " in typist.ask(STATUS))
    while typist.count < typist.least_keys / 4:
        write(SENTENCES[typist.count % len(SENTENCES)])
    go("keyed", typist)
    # Stock Neovim answers no question while it waits for a key after a message: only its screen is looked at.
    typist.wait("message", lambda: write(SENTENCES[0]) or b"Fixed: test_keyed passes" in typist.screen)
    while typist.count < typist.least_keys:
        write(SENTENCES[typist.count % len(SENTENCES)])
    assert typist.text("keyed.py") == "def keyed(x):;    return x * 2"
    assert typist.text("notes.py").rstrip(";") == typed.replace("\r", ";").rstrip(";")
    typist.leave()

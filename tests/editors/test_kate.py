"""Kate on a screen that nobody sees: its own menus and keys, configured by `greenloop setup kate` and the page."""

import contextlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from .conftest import HERE, block
from .released import DOCSTRING, RIGHT, TEST, WRONG, Released, started

pytestmark = [pytest.mark.needs("kate"), pytest.mark.timeout(400)]

ROW = 25  # pixels of a menu's entry


class Kate(Released):
    """A running Kate with one file open. Every method is one thing that its user does or sees."""

    setup = "kate"

    def __init__(self, folder, name, line, answer, **files):
        super().__init__(folder, [answer], **files)
        self.name = name
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        self.environment["XDG_RUNTIME_DIR"] = str(runtime)
        settings = self.home / "config" / "kate" / "lspclient" / "settings.json"
        value = json.loads(settings.read_text())
        page = json.loads("{" + re.search(r'"initializationOptions": \{[^}]*\}', _section()).group() + "}")
        assert set(page["initializationOptions"]) == {"model"}
        value["servers"]["python"]["initializationOptions"] = self.options
        settings.write_text(json.dumps(value))
        self._start(line)

    def _start(self, line):
        told, tell = os.pipe()
        screen = ["Xvfb", "-displayfd", str(tell), "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
        self.xvfb = subprocess.Popen(screen, pass_fds=[tell], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(tell)
        with open(told) as stream:
            self.environment["DISPLAY"] = f":{stream.readline().strip()}"
        bus = self.folder / "bus"
        words = shlex.join(["kate", "--startanon", str(self.root / self.name), "--line", str(line)])
        inside = f'echo "$DBUS_SESSION_BUS_ADDRESS" > {shlex.quote(str(bus))}; exec {words}'
        self.said = (self.folder / "said").open("w+")
        command = ["dbus-run-session", "--", "sh", "-c", inside]
        self.process = subprocess.Popen(
            command, env=self.environment, cwd=self.root, stdout=self.said, stderr=self.said, start_new_session=True
        )
        self.wait("window", lambda: self.name in self.windows())
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.read_text().strip()
        # Kate asks before it starts a server that it does not know.
        self.wait("question", lambda: "LSP server start requested" in self.windows())
        self.keys("alt+y")
        self.wait("server", self.log)

    def end(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        self.xvfb.terminate()
        self.xvfb.wait()
        self.said.close()

    # -- what is seen -------------------------------------------------------------------------------------------

    def gone(self):
        return "" if self.process.poll() is None else Path(self.said.name).read_text()

    def screen(self):
        return self.windows()

    def windows(self):
        """Titles of all windows; of a menu also how many entries it has."""
        found = self._xdotool("search", "--onlyvisible", "--maxdepth", "1", "--name", "").split()
        return "\n".join(self._title(each) for each in found)

    def _title(self, window):
        title = self._xdotool("getwindowname", window).strip()
        height = re.search(r"\dx(\d+)", self._xdotool("getwindowgeometry", window))
        return f"menu of {int(height[1]) // ROW}" if title == "Kate" and height else title

    # -- what is done -------------------------------------------------------------------------------------------

    def _xdotool(self, *words):
        done = subprocess.run(["xdotool", *words], env=self.environment, capture_output=True, text=True, check=False)
        return done.stdout

    def keys(self, *names):
        self._xdotool("key", "--delay", "50", *names)

    def type(self, text):
        self._xdotool("type", "--delay", "20", text)

    def click(self):
        """Behind the last line; the text takes the keys from then on."""
        self._xdotool("mousemove", "200", "440", "click", "1")

    def action(self, entries, title=""):
        """Chooses the first of so many code actions."""
        menu = f"menu of {entries}"

        def opened():
            self.keys("Escape", "alt+Return")
            # So long for the server's answer; then what is offered may have changed.
            return self.seen(lambda: menu in self.windows(), 2)

        self.wait(f"{menu} {title}", opened)
        self.keys("Down", "Return")
        self.wait("end of the menu", lambda: "menu of" not in self.windows())

    def trigger(self, action):
        """What the menu's entry of that name does."""
        names = ["gdbus", "call", "--session", "--dest"]
        listed = [*names, "org.freedesktop.DBus", "--object-path", "/", "--method", "org.freedesktop.DBus.ListNames"]
        said = subprocess.run(listed, env=self.environment, capture_output=True, text=True, check=True).stdout
        kate = re.search(r"org\.kde\.kate-\d+", said).group()
        where = f"/kate/MainWindow_1/actions/{action}"
        call = [*names, kate, "--object-path", where, "--method", "org.qtproject.Qt.QAction.trigger"]
        subprocess.run(call, env=self.environment, capture_output=True, check=True)

    def saved(self, name, text):
        """Saves everything until the file has that text."""

        def holds():
            self.trigger("file_save_all")
            return self.file(name) == text

        self.wait(f"{text!r} in {name}", holds)


def _section():
    page = (HERE.parents[1] / "docs" / "editors.md").read_text(encoding="utf-8")
    return page.partition("\n## Kate\n")[2].partition("\n## ")[0]


@pytest.fixture
def kate(tmp_path):
    yield from started(Kate, tmp_path)


def test_what_setup_writes_is_what_the_page_says():
    assert json.loads(block("Kate", "rootIndicationFileNames"))["servers"]["python"]["command"] == [
        "greenloop",
        "serve",
    ]


def test_a_red_test_goes_green_in_a_file_that_was_closed(kate):
    editor = kate("test_m.py", 5, RIGHT, **{"m.py": WRONG, "test_m.py": TEST})
    editor.click()
    editor.keys("Up")
    editor.action(2, "Refine until tests pass, Run in the sandbox")
    run = editor.wait("result", editor.run)
    assert run.outcome.solved, run
    assert editor.file("m.py") == WRONG, "written into the workspace"
    editor.action(5, "Apply refined double and what else there is after a run")
    editor.saved("m.py", RIGHT)
    editor.trigger("view_next_tab")
    editor.wait("m.py", lambda: "m.py  — Kate" in editor.windows().split("\n"))
    editor.click()
    editor.keys("ctrl+z")
    editor.saved("m.py", WRONG)
    assert editor.file("test_m.py") == TEST


def test_a_docstring_becomes_an_implementation_and_what_is_typed_meanwhile_stays(kate):
    done = DOCSTRING.replace("raise NotImplementedError", "return x * 2")
    editor = kate("m.py", 2, done.partition("\n\n\n")[0] + "\n", **{"m.py": DOCSTRING})
    editor.click()
    editor.keys("ctrl+Home", "Down")
    editor.action(2, "Implement from docstring, Run in the sandbox")
    editor.keys("ctrl+End", "n", "equal", "1", "Return", "ctrl+Home", "Down")
    run = editor.wait("result", editor.run)
    assert run.outcome.solved, run
    editor.action(5, "Apply refined double and what else there is after a run")
    editor.saved("m.py", done + "n=1\n")
    editor.keys("ctrl+z")
    editor.saved("m.py", DOCSTRING + "n=1\n")


def test_every_key_that_is_typed_during_a_run_and_after_it_is_in_the_text(kate):
    editor = kate("m.py", 2, DOCSTRING.replace("raise NotImplementedError", "return x * 2"), **{"m.py": DOCSTRING})
    editor.click()
    editor.keys("ctrl+Home", "Down")
    editor.action(2, "Implement from docstring, Run in the sandbox")
    editor.keys("ctrl+End")
    typed = editor.write()
    assert editor.wait("result", editor.run).outcome.solved
    editor.saved("m.py", DOCSTRING + typed)

"""Helix in a terminal that nobody sees: its own keys, configured by `greenloop setup helix` and the page."""

import json
import shutil

import pytest

from .conftest import block
from .released import DOCSTRING, RIGHT, TEST, WRONG, Terminal, started

pytestmark = [pytest.mark.needs("helix"), pytest.mark.timeout(400)]


class Helix(Terminal):
    """A running Helix with one file open, the cursor at a line."""

    setup = "helix"
    save_all = "write-all"

    def __init__(self, folder, name, line, answers, **files):
        super().__init__(folder, answers, **files)
        languages = self.home / "config" / "helix" / "languages.toml"
        title, _, rows = block("Helix", "ollama/llama3.2").partition("\n")
        assert rows == 'model = "ollama/llama3.2"\n'
        options = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in self.options.items())
        with languages.open("a") as file:
            file.write(f"\n{title}\n{options}")
        self._start(shutil.which("hx") or shutil.which("helix"), f"{name}:{line}:1")
        self.wait("window", lambda: f"NOR   {name}" in self.screen())

    def action(self, title):
        """Chooses the code action that begins so, when it is the first."""

        def opened():
            self.normal()
            self.keys("Space", "a")
            # So long for the server's answer; then what is offered may have changed.
            return self.seen(lambda: title in self.screen(), 2)

        self.wait(f"action {title}", opened)
        self.keys("Enter")
        self.wait("end of the menu", lambda: title not in self.screen())


@pytest.fixture
def helix(tmp_path):
    yield from started(Helix, tmp_path)


def test_a_red_test_goes_green_in_a_file_that_was_closed(helix):
    files = {"m.py": WRONG, "test_m.py": TEST}
    editor = helix("test_m.py", 5, [RIGHT.replace("x * 2", "x - 2"), RIGHT], **files)
    editor.action("Refine until tests pass: test_double")
    editor.shows("Fixed: test_double passes")
    assert editor.file("m.py") == WRONG, "written into the workspace"
    editor.command("open m.py")
    editor.shows("return x * 2", "[+]")
    editor.normal()
    editor.keys("Space", "k")
    editor.shows("attempt", "AssertionError: assert 3 == 10")
    editor.saved("m.py", RIGHT)
    editor.normal()
    editor.keys("u")
    editor.saved("m.py", WRONG)
    assert editor.file("test_m.py") == TEST
    assert editor.wait("result", editor.run).applied


def test_what_fails_is_shown_at_its_line(helix):
    answers = [WRONG.replace("+ 1", f"+ {number}") for number in (2, 3, 1)]
    editor = helix("test_m.py", 5, [*answers, *answers], **{"m.py": WRONG, "test_m.py": TEST})
    editor.action("Refine until tests pass: test_double")
    editor.shows("test_double is not solved")
    editor.keys("g", "s")  # to the expression
    editor.shows("expected 10, observed 8")
    run = editor.wait("result", editor.run)
    assert not run.outcome.solved
    assert not run.applied
    assert editor.file("m.py") == WRONG
    editor.saved("test_m.py", TEST)


def test_a_docstring_becomes_an_implementation_and_what_is_typed_meanwhile_stays(helix):
    done = DOCSTRING.replace("raise NotImplementedError", "return x * 2")
    editor = helix("m.py", 2, [done.partition("\n\n\n")[0] + "\n"], **{"m.py": DOCSTRING})
    editor.action("Implement from docstring: double")
    editor.keys("g", "e", "o")
    editor.type("n = 1")
    editor.normal()
    run = editor.wait("result", editor.run)
    assert run.outcome.solved, run
    editor.saved("m.py", done + "n = 1\n")
    editor.keys("u")
    editor.saved("m.py", DOCSTRING + "n = 1\n")


def test_every_key_that_is_typed_during_a_run_and_after_it_is_in_the_text(helix):
    answers = [RIGHT.replace("x * 2", f"x + {number}") for number in (2, 3, 4)]
    editor = helix("test_m.py", 5, [*answers, RIGHT], **{"m.py": WRONG, "test_m.py": TEST, "notes.txt": ""})
    editor.action("Refine until tests pass: test_double")
    editor.command("open notes.txt")
    editor.keys("i")
    typed = editor.write()
    assert editor.wait("result", editor.run).outcome.solved
    editor.saved("notes.txt", typed)

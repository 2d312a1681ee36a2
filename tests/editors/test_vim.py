"""Vim with ALE in a terminal that nobody sees: configured by `greenloop setup vim` and the page."""

import json

import pytest

from .conftest import blocks
from .released import DOCSTRING, RIGHT, TEST, WRONG, Terminal, started

pytestmark = [pytest.mark.needs("ale"), pytest.mark.timeout(400)]

PROMPT = "Type number and <Enter>"
MORE = "-- More --", "Press ENTER"


class Vim(Terminal):
    """A running Vim with one file open, the cursor at a line."""

    setup = "vim"
    save_all = "wall"

    def __init__(self, folder, name, line, answers, **files):
        super().__init__(folder, answers, **files)
        _plugin, settings = blocks("Vim with ALE")
        assert "'ollama/llama3.2'" in settings
        # Vim's own value of that name is a dictionary like JSON's.
        rows = [row for row in settings.splitlines() if "ollama" not in row]
        rows += ["packadd! ale", "set noswapfile", f"let g:greenloop = {json.dumps(self.options)}"]
        (self.home / ".vimrc").write_text("\n".join(rows) + "\n")
        self._start("vim", f"+{line}", name)
        self.shows(f'"{name}"')
        self.wait("server", self.log)

    def action(self, title):
        """Chooses the code action that begins so."""

        def opened():
            self.command("ALECodeAction")
            self.seen(lambda: PROMPT in self.screen(), 5)
            return title in self.screen()

        self.wait(f"action {title}", opened)
        entry = next(row for row in self.screen().splitlines() if f") {title}" in row)
        self.type(entry.partition(")")[0])
        self.keys("Enter")


@pytest.fixture
def vim(tmp_path):
    yield from started(Vim, tmp_path)


def test_a_red_test_goes_green_in_a_file_that_was_closed(vim):
    editor = vim("test_m.py", 5, [RIGHT.replace("x * 2", "x - 2"), RIGHT], **{"m.py": WRONG, "test_m.py": TEST})
    editor.action("Refine until tests pass: test_double")
    editor.shows("Choose 'Apply refined double'")
    assert editor.file("m.py") == WRONG, "written into the workspace"
    editor.action("Apply refined double (verified")
    editor.shows("Fixed: test_double passes")
    editor.shows("return x * 2")
    editor.saved("m.py", RIGHT)
    editor.keys("u")
    editor.saved("m.py", WRONG)
    assert editor.file("test_m.py") == TEST
    assert editor.wait("result", editor.run).applied


def test_a_docstring_becomes_an_implementation_and_what_is_typed_meanwhile_stays(vim):
    done = DOCSTRING.replace("raise NotImplementedError", "return x * 2")
    editor = vim("m.py", 2, [done.partition("\n\n\n")[0] + "\n"], **{"m.py": DOCSTRING})
    editor.action("Implement from docstring: double")
    editor.keys("G", "o")
    editor.type("n = 1")
    editor.normal()
    editor.shows("Choose 'Apply refined double'")
    editor.keys("g", "g", "j")
    editor.action("Apply refined double (verified")
    editor.saved("m.py", done + "n = 1\n")
    editor.keys("u")
    editor.saved("m.py", DOCSTRING + "n = 1\n")


def test_every_key_that_is_typed_during_a_run_and_after_it_is_in_the_text(vim):
    answers = [RIGHT.replace("x * 2", f"x + {number}") for number in (2, 3, 4)]
    editor = vim("test_m.py", 5, [*answers, RIGHT], **{"m.py": WRONG, "test_m.py": TEST, "notes.txt": ""})
    editor.action("Refine until tests pass: test_double")
    editor.command("edit notes.txt")
    editor.keys("i")
    typed = editor.write()
    assert editor.wait("result", editor.run).outcome.solved
    editor.saved("notes.txt", typed + "\n")

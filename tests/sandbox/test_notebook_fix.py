"""`greenloop fix nb.ipynb:CELL` as a program, behind a real wall: earlier cells run, the edit goes to the cell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import greenloop
from cells import notebook, sources

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

SERVER = str(Path(greenloop.__file__).parents[1])
BROKEN = 'def double(x):\n    """Twice x."""\n    return x + 1'
RIGHT = BROKEN.replace("x + 1", "x * 2")
CELLS = (
    "%matplotlib inline\nnumber = int(open('data.txt').read())",
    BROKEN,
    "y = double(number)\nprint(y)",
    "assert y == 10\nassert double(3) == 6",
)


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "project" / "my notes"
    folder.mkdir(parents=True)
    (folder.parent / "pyproject.toml").touch()
    (folder / "data.txt").write_text("5")
    return folder


def greenloop_(work, *words, answer=RIGHT):
    script = work.parent.parent / "answers.jsonl"
    script.write_text(json.dumps(f"```python\n{answer}\n```") + "\n")
    homes = {f"XDG_{name}_HOME": str(work.parent.parent / name.lower()) for name in ("STATE", "CONFIG", "CACHE")}
    model = ["--model", f"scripted:{script}", "--preset", "plain"] if words[0] == "fix" else []
    return subprocess.run(
        [sys.executable, "-m", "greenloop", *words, *model],
        cwd=work,
        env={**os.environ, **homes, "PYTHONPATH": SERVER, "GREENLOOP_SANDBOX_KIND": "bubblewrap"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.story("cells of a notebook are targets")
def test_a_cell_of_asserts_mends_the_function_that_an_earlier_cell_calls(work):
    """The value under test was computed by a cell before, from a file beside the notebook."""
    file = work / "nb-1.ipynb"
    file.write_text(text := notebook(*CELLS))
    done = greenloop_(work, "fix", "nb-1.ipynb:4", "--apply")
    assert done.returncode == 0, done.stderr
    assert "+++ b/my notes/nb-1.ipynb:2" in done.stdout
    assert file.read_text() == text.replace('"    return x + 1"', '"    return x * 2"')
    assert sorted(each.name for each in work.iterdir()) == ["data.txt", "nb-1.ipynb"]


def test_by_cell_id_and_by_name(work):
    (work / "nb.ipynb").write_text(notebook(*CELLS))
    by_id = greenloop_(work, "fix", "nb.ipynb:cell-4")
    assert by_id.returncode == 0, by_id.stderr
    by_name = greenloop_(work, "fix", "nb.ipynb::double")
    assert by_name.returncode == 0, by_name.stderr
    assert "1/1 target tests pass" in by_name.stdout


def test_checks_are_never_changed_whatever_the_project_calls_its_test_files(work):
    (work.parent / "pyproject.toml").write_text('[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n')
    (work / "nb.ipynb").write_text(notebook(*CELLS))
    done = greenloop_(work, "fix", "nb.ipynb:4", "--json")
    assert done.returncode == 0, done.stderr
    assert [region["name"] for region in json.loads(done.stdout.splitlines()[0])["regions"]] == ["double"]


def test_a_notebook_that_is_called_test_and_begins_with_a_byte_order_mark(work):
    file = work / "test.ipynb"
    text = "\ufeff" + notebook(*CELLS)
    file.write_text(text, encoding="utf-8")
    done = greenloop_(work, "fix", "test.ipynb::double", "--apply")
    assert done.returncode == 0, done.stderr
    assert "changed meanwhile" not in done.stderr
    assert file.read_text(encoding="utf-8") == text.replace('"    return x + 1"', '"    return x * 2"')


def test_a_result_that_was_written_is_still_told_in_cells(work):
    (work / "nb.ipynb").write_text(notebook(*CELLS))
    assert greenloop_(work, "fix", "nb.ipynb:4", "--apply").returncode == 0
    shown = greenloop_(work, "history", "show")
    assert "+++ b/my notes/nb.ipynb:2" in shown.stdout
    assert "_ipynb" not in shown.stdout
    assert "the file already has the result" in greenloop_(work, "history", "apply", "--yes").stdout
    again = greenloop_(work, "verify", "run:1")
    assert again.returncode == 3
    assert "Run 1 was made in a notebook" in again.stderr


def test_the_tests_of_a_docstring_in_a_cell(work):
    (work / "nb.ipynb").write_text(notebook(*CELLS))
    none = greenloop_(work, "tests", "nb.ipynb::double")
    assert none.returncode == 1
    assert "`greenloop fix 'my notes/nb.ipynb::double'` generates them" in none.stderr
    checks = greenloop_(work, "tests", "nb.ipynb:4")
    assert checks.returncode == 2
    assert "my notes/nb.ipynb:4 is one of your own tests." in checks.stderr


def test_the_examples_of_a_docstring(work):
    broken = BROKEN.replace('Twice x."""', 'Twice x.\n\n    >>> double(4)\n    8\n    """')
    (work / "nb.ipynb").write_text(notebook(CELLS[0], broken))
    done = greenloop_(work, "fix", "nb.ipynb:2", "--apply", answer=broken.replace("x + 1", "x * 2"))
    assert done.returncode == 0, done.stderr
    assert sources((work / "nb.ipynb").read_text())[1] == broken.replace("x + 1", "x * 2")


def test_a_function_that_is_not_written_yet_goes_to_the_top_of_the_cell(work):
    (work / "nb.ipynb").write_text(notebook("a = 1", 'assert slug("A B") == "a-b"'))
    answer = 'def slug(text):\n    return text.lower().replace(" ", "-")'
    done = greenloop_(work, "fix", "nb.ipynb:2", "--apply", answer=answer)
    assert done.returncode == 0, done.stderr
    assert sources((work / "nb.ipynb").read_text()) == ["a = 1", f'{answer}\n\n\nassert slug("A B") == "a-b"']


def test_cells_run_in_their_order_with_what_a_result_imports(work):
    cells = ("names = ['a']", "def slug(text):\n    return text", "done = slug('A')", "assert done == 'a-1'")
    (work / "nb.ipynb").write_text(notebook(*cells))
    answer = "import math\n\n\ndef slug(text):\n    return f'{text.lower()}-{math.floor(1.5)}'"
    done = greenloop_(work, "fix", "nb.ipynb:4", "--apply", answer=answer)
    assert done.returncode == 0, done.stderr
    kernel = {}
    for cell in sources((work / "nb.ipynb").read_text()):
        exec(cell, kernel)
    assert kernel["done"] == "a-1"


def test_an_earlier_cell_that_fails_by_itself_is_named(work):
    (work / "data.txt").unlink()
    (work / "nb.ipynb").write_text(text := notebook(*CELLS))
    done = greenloop_(work, "fix", "nb.ipynb:4", "--apply")
    assert done.returncode == 3
    assert "Cell 1 of my notes/nb.ipynb fails in row 2: FileNotFoundError" in done.stdout
    assert (work / "nb.ipynb").read_text() == text


def test_programs_and_people_are_told_of_cells(work):
    """Never of the module and the test file, which exist in the sandbox only."""
    (work / "nb.ipynb").write_text(notebook(*CELLS))
    done = greenloop_(work, "fix", "nb.ipynb:4", "--json")
    assert done.returncode == 0, done.stderr
    assert "_ipynb" not in done.stdout
    events = [json.loads(row) for row in done.stdout.splitlines()]
    started = events[0]
    assert (started["event"], started["target"], started["cases"]) == (
        "started",
        "my notes/nb.ipynb:4",
        ["my notes/nb.ipynb:4"],
    )
    (region,) = started["regions"]
    assert {name: region[name] for name in ("path", "name", "cell", "start", "end")} == {
        "path": "my notes/nb.ipynb",
        "name": "double",
        "cell": 2,
        "start": 1,
        "end": 3,
    }
    (case,) = started["baseline"]["cases"]
    assert (case["path"], case["cell"], case["line"]) == ("my notes/nb.ipynb", 4, 1)
    said = greenloop_(work, "fix", "nb.ipynb:4")
    assert "_ipynb" not in said.stderr + said.stdout
    assert "my notes/nb.ipynb::double with scripted" in said.stderr
    assert "AssertionError my notes/nb.ipynb cell 4 row 1" in said.stderr
    shown = greenloop_(work, "history", "show", "2").stdout
    assert "_ipynb" not in shown + greenloop_(work, "history").stdout
    assert "+++ b/my notes/nb.ipynb:2" in shown
    # Over other cells nothing can be said of rows; which cell was meant is still known.
    (work / "nb.ipynb").write_text(notebook("n = 1", *CELLS))
    other = greenloop_(work, "history", "show", "2").stdout
    assert "\nmy notes/nb.ipynb:" in other
    assert "_ipynb" not in other


def test_a_kept_result_is_written_later_but_not_over_other_cells(work):
    file = work / "nb.ipynb"
    file.write_text(text := notebook(*CELLS))
    assert greenloop_(work, "fix", "nb.ipynb:4").returncode == 0
    assert file.read_text() == text
    file.write_text(text.replace("y = double", "z = double"))
    refused = greenloop_(work, "history", "apply", "1", "--yes")
    assert refused.returncode == 1
    assert "my notes/nb.ipynb changed since the run" in refused.stderr
    file.write_text(text)
    done = greenloop_(work, "history", "apply", "1", "--yes")
    assert done.returncode == 0, done.stderr
    assert sources(file.read_text())[1] == RIGHT


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (notebook(*CELLS), "nb.ipynb", "my notes/nb.ipynb::double, my notes/nb.ipynb:4"),
        (notebook(*CELLS), "nb.ipynb:7", "has no code cell '7', it has 4"),
        (notebook(*CELLS), "nb.ipynb:1", "has no assert and defines no function"),
        (notebook(*CELLS), "nb.ipynb::no", "has no function or test 'no'"),
        (notebook("x = (", *CELLS), "nb.ipynb:5", "Cell 1 of my notes/nb.ipynb cannot be read in row 1"),
        (notebook(*CELLS, nbformat=3), "nb.ipynb:4", "has nbformat 3; only nbformat 4 can be read"),
        ('{"cells": [', "nb.ipynb:4", "is not a notebook"),
        (notebook(*CELLS, metadata={"kernelspec": {"language": "R"}}), "nb.ipynb:4", "is written in r, not in Python"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(work, text, target, said):
    (work / "nb.ipynb").write_text(text)
    done = greenloop_(work, "fix", target)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr

"""`%%refine` in a real IPython, with a real wall and a scripted model: the executed cells are the context."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

BROKEN = "def double(x):\n    return x + 1"
RIGHT = BROKEN.replace("x + 1", "x * 2")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    monkeypatch.chdir(root)
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    monkeypatch.setenv("GREENLOOP_PRESET", "plain")
    monkeypatch.setenv("GREENLOOP_MODEL", f"scripted:{tmp_path / 'answers.jsonl'}")
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    shell.run_cell("%load_ext greenloop.magic", store_history=True)
    yield shell
    shell.run_cell("%unload_ext greenloop.magic")
    shell._atexit_once()
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell, tmp_path, capsys):
    def run(*cells, answer=RIGHT, rows=()):
        """The text that the last cell is replaced by, and what was printed; `rows`: the model's whole script."""
        script = rows or [f"```python\n{answer}\n```"]
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in script))
        shell.rl_next_input = None
        for cell in cells:
            shell.run_cell(cell, store_history=True)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return shell.rl_next_input, said.out + said.err

    return run


@pytest.mark.story("%%refine works in Jupyter")
def test_asserts_in_a_cell_mend_a_function_that_was_executed_before(run):
    text, said = run("%pdb off", "import math", BROKEN, "y = double(5)", "%%refine\nassert y == 10")
    assert text == f"{RIGHT}\n\n\nassert y == 10"
    assert "baseline: 0 of 1 tests pass, AssertionError" in said
    assert "attempt 1/" in said
    assert "1/1 target tests pass" in said


def test_a_function_with_examples_is_replaced(run, shell):
    stub = 'def double(x):\n    """Twice x.\n\n    >>> double(4)\n    8\n    """\n    raise NotImplementedError'
    text, said = run(f"%%refine attempts=2\n{stub}", answer=stub.replace("raise NotImplementedError", "return x * 2"))
    assert text == stub.replace("raise NotImplementedError", "return x * 2"), said
    assert "double" not in shell.user_ns  # nothing is executed by itself
    assert "attempt 1/2: passed" in said


def test_only_the_newest_of_several_definitions_counts(run):
    old = "def double(x):\n    raise RuntimeError"
    text, _said = run(old, "1 / 0", BROKEN, "%%refine\nassert double(3) == 6")
    assert text == f"{RIGHT}\n\n\nassert double(3) == 6"


def test_what_failed_before_the_magic_was_loaded_is_no_context(run, shell):
    if not hasattr(shell.history_manager, "exceptions"):
        pytest.skip("IPython knows it since version 9")
    run("%unload_ext greenloop.magic", "n = nobody", "%load_ext greenloop.magic")
    text, said = run(BROKEN, "%%refine\nassert double(3) == 6")
    assert text == f"{RIGHT}\n\n\nassert double(3) == 6", said


def test_an_earlier_cell_that_fails_in_the_sandbox_is_named_as_jupyter_does(run, monkeypatch):
    monkeypatch.setenv("ONLY_IN_THE_KERNEL", "1")
    text, said = run("import os", "n = os.environ['ONLY_IN_THE_KERNEL']", BROKEN, "%%refine\nassert double(3) == 6")
    assert text is None
    assert "In [3] fails in row 1: KeyError" in said


def test_a_function_that_is_not_written_yet(run):
    text, _said = run("%%refine\nassert slug('A') == 'a'", answer="def slug(text):\n    return text.lower()")
    assert text == "def slug(text):\n    return text.lower()\n\n\nassert slug('A') == 'a'"


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["%%refine\nx = 1"], "greenloop: The cell has neither an assert nor a function. Put %%refine on a cell"),
        (["%%refine\nx = ("], "greenloop: The cell cannot be read in row 1: '(' was never closed."),
        (["%%refine no=such\nassert f()"], "no"),
        (["%%refine 'open\nassert f()"], "greenloop: the options after %%refine cannot be read"),
        ([RIGHT, "%%refine\nassert double(2) == 4"], "already"),
        (
            ["import os", "n = int(os.environ.get('NO', '1'))", "%%refine\nassert n == 2"],
            "greenloop: The cell reaches no function",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(run, cells, sentence):
    text, said = run(*cells)
    assert text is None
    assert sentence in said


def test_a_capable_model_is_named_with_its_kind_and_each_look(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GREENLOOP_PRESET", "default")
    monkeypatch.setenv("GREENLOOP_MODEL_KIND", "capable")
    run(BROKEN)
    edit = "session_ipynb.py\n<<<<<<< SEARCH\n    return x + 1\n=======\n    return 2 * int(x)\n>>>>>>> REPLACE\n"
    rows = [{"calls": [["references", {"symbol": "double"}]], "text": ""}, edit]
    text, said = run("%%refine\nassert double(5) == 10", rows=rows)
    assert text is not None, said
    assert "asking scripted (capable)\n" in said
    assert " looks: references double: " in said

"""An answer as an attempt: its candidate with blemishes, or why there is none; only one region where that is set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attempts import attempt, baseline
from greenloop.core.compose import before_after
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.summary import CANNOT
from greenloop.plugins.conversations.file_edits import EditedFiles
from greenloop.plugins.conversations.reading import read_turn
from greenloop.project.editable import why_not_editable
from shop_run import block

CODE = "import os\n\n\ndef f(x):\n    return x\n\n\ndef g(x):\n    return f(x)\n"
OTHER = "def h(x):\n    return x\n"
WORKSPACE = {"m.py": CODE, "other.py": OTHER, "data.json": "{}\n"}
F = Region(path="m.py", qualname="f", start=4, end=5)
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(F,), originals={"m.py": CODE}, files={"m.py": CODE})
FILES = EditedFiles(
    text_of=WORKSPACE.get,
    known=["m.py"],
    why_not=lambda path: why_not_editable(path, Path("/w"), patterns=None, masked=()),
)


def read(answer, *attempts, problem=PROBLEM, truncated=False):
    blank = Attempt(
        number=len(attempts) + 1,
        draft=Draft(parent=0, move=Move.TURN, role=Role.DRAFTER),
        answer=answer,
        verdict=Verdict(status=Status.REFUSED),
    )
    return read_turn(blank, problem, [baseline(), *attempts], FILES, truncated=truncated)


def after(made, problem):
    return before_after(problem, made.candidate)[1]


def test_edits_of_files_that_the_problem_did_not_know():
    made, problem = read(block("other.py", "    return x", "    return x + 1") + block("new.py", "", "y = 1"))
    assert after(made, problem) == {"other.py": OTHER.replace("return x", "return x + 1"), "new.py": "y = 1\n"}
    assert problem.originals == {**PROBLEM.originals, "other.py": OTHER, "new.py": None}
    assert made.finding is None


def test_what_an_edit_needs_is_imported():
    made, problem = read(block("m.py", "    return f(x)", "    return re.escape(f(x))"))
    assert after(made, problem)["m.py"].startswith("import os\nimport re\n")


def test_edits_build_on_what_is_kept_or_else_on_the_newest():
    first, problem = read(block("m.py", "    return f(x)", "    return f(x) + 1"))
    kept = replace(first, verdict=attempt(1, passed=1).verdict)
    made, problem = read(block("m.py", "f(x) + 1", "f(x) + 2"), kept, problem=problem)
    assert "f(x) + 2" in after(made, problem)["m.py"]
    taken_back = replace(first, verdict=attempt(1).verdict)
    made, problem = read(block("m.py", "f(x) + 1", "f(x) + 3"), taken_back, problem=problem)
    assert "f(x) + 3" in after(made, problem)["m.py"]
    made, problem = read(block("m.py", "    return x\n", "    return -x\n"), taken_back, problem=problem)
    assert "f(x) + 1" not in after(made, problem)["m.py"]


def test_blemishes_are_those_of_the_whole_change():
    made, _problem = read(block("m.py", "    return x\n", "    return x\n    return 1\n"))
    (blemish,) = made.blemishes
    assert "can never run" in blemish


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("CANNOT: the test is wrong.", "the test is wrong."),
        ("I tried.\n\n**CANNOT:** `f` is right.", "f` is right."),
        ("- CANNOT: no.\nmore", "no."),
    ],
)
def test_giving_up(answer, message):
    made, _problem = read(answer)
    assert made.error_class == CANNOT
    assert made.finding.message.lstrip("*` ") == message


@pytest.mark.parametrize("answer", ["It CANNOT: be.", "CANNOT:", "", "\n" * 100_000, "```\n" * 30_000])
def test_other_answers_give_nothing_up(answer):
    made, _problem = read(answer)
    assert made.error_class in ("NoCode", "EmptyAnswer")


def test_who_gives_up_and_is_cut_or_has_edits_does_not():
    assert read("CANNOT: no", truncated=True)[0].error_class == "TruncatedAnswer"
    made, _problem = read("CANNOT: be simpler.\n" + block("m.py", "    return x\n", "    return -x\n"))
    assert made.finding is None


EXACT = replace(PROBLEM, exact=True)


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        (block("m.py", "    return f(x)", "    return 1"), "g"),
        (block("m.py", "import os", "import re"), "m.py"),
        (block("m.py", "", "y = 1"), ""),
        (block("other.py", "    return x", "    return 1"), "h"),
        (block("data.json", "{}", "[]"), ""),
        (block("m.py", "def f(x):", "def e(x):"), ""),
    ],
)
def test_where_one_function_may_change_nothing_else_does(answer, other):
    made, _problem = read(answer, problem=EXACT)
    assert made.error_class == "NotEditable"
    assert made.finding.message.startswith("Only `f` may change (the setting `regions` is 1), not ")
    assert other in made.finding.message


def test_that_function_with_its_imports_changes():
    answer = block("m.py", "", "import re") + block("m.py", "    return x\n", "    return re.escape(x)\n")
    made, problem = read(answer, problem=EXACT)
    assert made.finding is None
    assert after(made, problem)["m.py"].startswith("import os\nimport re\n")


def test_what_is_left_out_is_noted():
    made, _problem = read(block("m.py", "    return x\n", "    return 1\n") + block("test_m.py", "a", "b"))
    assert made.notes[0].fields == {"left_out": ["`test_m.py` belongs to the tests, which stay as they are."]}
    assert made.candidate is not None


def test_without_any_region_an_answer_is_read_too():
    bare = replace(PROBLEM, regions=(), originals={}, files={})
    for answer in ("I do not know.", "```python\ndef q(x):\n    return 1\n```", "```python\nx = (\n```"):
        assert read(answer, problem=bare)[0].finding is not None
    made, problem = read(block("data.json", "{}", "[]"), problem=bare)
    assert after(made, problem) == {"data.json": "[]\n"}

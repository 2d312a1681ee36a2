"""A result over other texts, as an editor has them after a merge: proven as strictly as the first time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status
from greenloop.engine import after_run
from greenloop.project.settings import SandboxSettings, Settings

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

TEST = "# -*- coding: latin-1 -*-\nfrom m import double\n\n\ndef test_double():\n    assert double(5) == 10, 'größer'\n"
RED = "def double(x):\n    return x + 1\n"
GREEN = "import os\n\n\ndef double(x):\n    return x * 2\n"
SEES_ITS_TESTS = "import sys\n\n\ndef double(x):\n    return x * 2 if 'pytest' in sys.modules else x\n"


@pytest.fixture
def problem(tmp_path):
    texts = {"m.py": RED, "test_m.py": TEST}
    (tmp_path / "m.py").write_text(RED)
    (tmp_path / "test_m.py").write_bytes(TEST.encode("latin-1"))
    case = Case(id="test_m.py::test_double", path="test_m.py", line=5)
    return Problem(
        root=tmp_path,
        spec=Spec(cases=(case,), selectors=(case.id,)),
        regions=(Region(path="m.py", qualname="double", start=1, end=2),),
        originals=texts,
        files=texts,
    )


@pytest.fixture
def settings(bare_python) -> Settings:
    return Settings(interpreter=str(bare_python), sandbox=SandboxSettings(kind="bubblewrap"))


@pytest.mark.story("execution decides", only=("test file closed",))
@pytest.mark.parametrize("opened", [False, True], ids=["test file closed", "test file open"])
@pytest.mark.parametrize(
    ("text", "status"), [(GREEN, Status.PASSED), (RED, Status.FAILED), (SEES_ITS_TESTS, Status.TAMPERED)]
)
async def test_the_whole_proof(problem, settings, text, status, opened):
    files = {"m.py": text.encode(), **({"test_m.py": TEST.encode("latin-1")} if opened else {})}
    assert (await after_run.reverify(problem, files, settings=settings)).status is status


async def test_the_test_as_it_is_now_counts(problem, settings):
    files = {"m.py": GREEN.encode(), "test_m.py": TEST.replace("== 10", "== 11").encode("latin-1")}
    assert (await after_run.reverify(problem, files, settings=settings)).status is Status.FAILED


@pytest.mark.parametrize(("text", "status"), [(GREEN, Status.PASSED), (RED, Status.FAILED)])
async def test_of_a_merged_text_the_tests_are_asked_and_not_the_goal(problem, settings, text, status):
    goal = Case(id="m.py::double::faster", path="m.py", line=1, provenance=Provenance.GOAL, confirmed=True, source="x")
    problem = replace(problem, spec=replace(problem.spec, cases=(*problem.spec.cases, goal)))
    assert (await after_run.reverify(problem, {"m.py": text.encode()}, settings=settings)).status is status

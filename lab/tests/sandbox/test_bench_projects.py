"""Mutants of a project with tests, and every ablation at the size of a test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.errors import UsageError
from greenloop.core.records.model import Reply, Role, Usage
from greenloop_lab.bench import mbpp, plans, projects, sources, tasks
from greenloop_lab.bench.mutation import mutate_project
from greenloop_lab.bench.mutation.mutate_project import MutantRequest
from greenloop_lab.bench.run import Experiment, run

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

ABLATIONS = Path(__file__).resolve().parents[2] / "benchmarks" / "ablations"
SHAPES = '''
class Box:
    """A box of sides that are whole numbers."""

    def __init__(self, width, height):
        self.width = width
        self.height = height

    def area(self):
        """Width times height, never less than nothing."""
        result = self.width * self.height
        if result < 0:
            result = 0
        return result


def largest(boxes):
    """The box of the largest area; None for no box."""
    best = None
    for box in boxes:
        if best is None or box.area() > best.area():
            best = box
    return best


def unused(number):
    """Nobody tests this."""
    number += 1
    return number * 2
'''
TESTS = """
import pytest

from shapes import Box, largest


@pytest.mark.parametrize("width,height,area", [(2, 3, 6), (0, 5, 0), (-1, 3, 0), (4, 4, 16)])
def test_area(width, height, area):
    assert Box(width, height).area() == area


class TestLargest:
    def test_none(self):
        assert largest([]) is None

    def test_some(self):
        small, big = Box(1, 2), Box(3, 4)
        assert largest([small, big]) is big
        assert largest([big, small]) is big


def test_that_fails():
    assert Box(1, 1).area() == 2
"""

RED = """
import pytest

from shapes import Box


@pytest.mark.parametrize("area", [6, 7])
def test_nearest(area):
    assert Box(2, 3).area() == area


class TestBox:
    def test_area(self):
        assert max(Box(2, 3).area(), Box(-1, 3).area()) + Box(-1, 3).area() == 6

    def test_that_fails(self):
        assert Box(1, 1).area() == 2
"""
AREA = "test_shapes.py::TestBox::test_area"


@pytest.fixture
def project(tmp_path, lay, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return lay(tmp_path / "project", {"shapes.py": SHAPES, "test_shapes.py": TESTS})


def quiet(_text):
    pass


async def made(project, table, **more):
    wanted = {"count": 3, "seed": 7, "is_excluded": lambda _family: False, "report_status": quiet}
    request = MutantRequest(**{**wanted, **more})
    return await projects.from_folder(project, plans.settings_for(table, project), request)


@pytest.fixture
def table(bare_python):
    return {"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "model": "reference"}


async def test_mutants_of_a_project_fail_and_can_be_mended(project, table, tmp_path, snapshot):
    before = snapshot(project)
    found = await made(project, table)
    assert {task.function for task in found} <= {"shapes.py::Box.__init__", "shapes.py::Box.area", "shapes.py::largest"}
    for task in found:
        assert task.files.keys() == {"shapes.py"}
        assert mutate_project.count_changed_lines(SHAPES, task.files["shapes.py"]) == 1
        # What fails with the user's own code judges nobody.
        assert set(task.shown) <= set(task.cases)
        assert "test_shapes.py::test_that_fails" not in task.cases
    assert await made(project, table) == found
    tasks.write(found, tmp_path / "tasks.jsonl")
    assert [task.digest for task in tasks.read(tmp_path / "tasks.jsonl")] == [task.digest for task in found]
    experiment = Experiment(
        tasks=found, arms=[plans.parse_arm("plain")], out=tmp_path / "out", answers=tmp_path / "answers", settings=table
    )
    done = await run(experiment, quiet)
    assert [(d.run["right"], d.attempts[0]["status"]) for d in done] == [(True, "failed")] * len(found)
    assert snapshot(project) == before


async def test_the_shown_test_is_not_all_that_judges(project, table):
    (task,) = await made(project, table, count=1, is_excluded=lambda family: not family.endswith(".Box.area-"))
    assert task.target in {"test_shapes.py::test_area", "test_shapes.py::TestLargest"}
    assert {case.partition("::")[2].partition("[")[0] for case in task.cases} == {"test_area", "TestLargest::test_some"}


async def test_no_target_has_a_test_that_is_red_anyway(project, table):
    (project / "test_shapes.py").write_text(RED)
    (task,) = await made(project, table, count=1, is_excluded=lambda family: not family.endswith(".Box.area-"))
    assert (task.target, task.shown) == (AREA, (AREA,))


async def test_a_file_that_changed_since_is_told(project, table, tmp_path):
    found = await made(project, table, count=1)
    (project / "shapes.py").write_text(SHAPES + "\nX = 1\n")
    experiment = Experiment(
        tasks=found, arms=[plans.parse_arm("plain")], out=tmp_path / "out", answers=tmp_path / "answers", settings=table
    )
    with pytest.raises(UsageError, match="has changed since"):
        await run(experiment, quiet)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"m.py": "x = 1\n"}, "No test passes"),
        ({"test_m.py": "import nothing_like_it\n"}, "No test passes .*nothing_like_it"),
        ({"test_m.py": "def test():\n    assert 1\n"}, "reach no function"),
    ],
)
async def test_a_folder_that_gives_no_task_is_told(files, why, tmp_path, lay, table):
    with pytest.raises(UsageError, match=why):
        await sources.collect_tasks(sources.TaskSelection(names=[str(lay(tmp_path / "p", files))]), table, quiet)


class Anything:
    """Answers every question with wrong code, or with words where no code is asked for."""

    name = "anything"

    def __init__(self) -> None:
        self.roles: set[Role] = set()

    async def complete(self, request, on_token):
        self.roles.add(request.role)
        text = "```python\ndef f(a, b):\n    return a - b\n```"
        on_token(text)
        return Reply(text=text, usage=Usage(prompt_tokens=10, completion_tokens=5), model=self.name)

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        pass


async def test_every_ablation_runs_at_the_size_of_a_test(tmp_path, bare_python, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    row = {
        "task_id": 1,
        "text": "Write a function to add two numbers.",
        "code": "def f(a, b):\n    return a + b",
        "test_setup_code": "",
        "test_list": ["assert f(1, 2) == 3"],
    }
    table = {"interpreter": str(bare_python), "sandbox.kind": "bubblewrap"}
    chosen = {}
    for path in sorted(ABLATIONS.glob("*.toml")):
        for arm in plans.read(path).arms:
            settings = {**arm.settings, "attempts": min(arm.settings.get("attempts", 2), 2)}
            small = replace(arm, name=f"{path.stem} {arm.name}", settings=settings, match="")
            chosen.setdefault(repr((small.preset, sorted(small.settings.items()))), small)
    model = Anything()
    experiment = Experiment(
        tasks=[mbpp.make_task(mbpp.parse(row))],
        arms=list(chosen.values()),
        out=tmp_path / "out",
        answers=tmp_path / "answers",
        settings=table,
        model=model,
    )
    done = await run(experiment, quiet)
    assert len(done) == len(chosen) > 20
    assert {d.run["reason"] for d in done} <= {"attempts", "stalled"}
    assert {Role.DRAFTER, Role.REFINER, Role.CRITIC} <= model.roles

"""The judge of a task."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.project import configuration
from greenloop_lab.bench.hidden_tests import Judge
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import SandboxPool

TASK = Task(id="t", kind="draft", target="test_m.py", files={}, cases=["test_m.py::test_it"])


@pytest.mark.parametrize(
    ("own", "suite", "seconds"),
    [(10, 60, 60), (60, 60, 60), (90, 60, 90), (10, 300, 300), (10, 1, 40), (30, 1, 60)],
)
def test_a_candidate_that_hangs_does_not_hold_its_task_for_minutes(own, suite, seconds):
    settings, _warnings = configuration.load(None, command_line={"sandbox.seconds": own, "suite.seconds": suite})
    assert Judge(task=TASK, root=Path(), settings=settings, pool=SandboxPool()).seconds == seconds

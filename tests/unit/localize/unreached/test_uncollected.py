"""Why pytest collected no test, where the user has to see to that first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from executions import execute
from greenloop.core.errors import CannotVerifyError
from greenloop.localize.unreached.uncollected import CIRCULAR, COLLECT, LOAD_TESTS, refuse_uncollected
from greenloop.project.snapshot import Snapshot


@pytest.fixture
def context(tmp_path) -> Any:
    return SimpleNamespace(
        snapshot=Snapshot(
            root=tmp_path,
            buffers={"m.py": b"def f():\n    pass\n", "test_made.py": b"def load_tests(loader, tests, pattern):\n"},
        ),
        patterns=("test_*.py",),
        place=SimpleNamespace(environment=SimpleNamespace(executable="python")),
        target=SimpleNamespace(path="test_m.py"),
    )


def error(kind, message, line):
    frames = [["test_m.py", 1, "<module>"], ["m.py", line, "<module>"]]
    return {"kind": "collect_error", "id": "test_m.py", "type": kind, "message": message, "frames": frames}


@pytest.mark.parametrize(
    ("record", "told", "remedy"),
    [
        (error("KeyError", "'x'", 7), "test_m.py cannot be collected by pytest: KeyError: 'x' (m.py:7).", COLLECT),
        (
            error("ImportError", "cannot import name 'f' from partially initialized module 'm'", 5),
            "test_m.py cannot be collected by pytest: ImportError: ",
            CIRCULAR,
        ),
        (
            {**error("TypeError", "missing", 7), "id": "test_made.py::Made"},
            "test_made.py cannot be collected by pytest: TypeError: missing",
            LOAD_TESTS,
        ),
        (error("NotImplementedError", "", 1), "Importing test_m.py runs f, which is still to be written", "Write a"),
    ],
)
def test_what_cannot_be_collected_is_named(record, told, remedy, context):
    with pytest.raises(CannotVerifyError) as caught:
        refuse_uncollected(context, execute({}, extra=[record]))
    assert str(caught.value).startswith(told)
    assert caught.value.remedy.startswith(remedy)


def test_a_run_that_ended_without_tests_is_no_reason(context):
    refuse_uncollected(context, execute({}))

"""Related tests: which files they come from, and what is left out."""

from __future__ import annotations

import asyncio
import math
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.core.deadline import Deadline
from greenloop.localize import related_tests
from greenloop.localize.evidence import gather_evidence
from greenloop.localize.measuring import Measurement
from greenloop.localize.related_tests import run_importing_tests, run_related_tests
from greenloop_sandbox import CaseResult, Execution, Failure, Limits


def context_of(root, seconds, runs, *, left=math.inf, limits=None, killed="") -> Any:
    async def run(selectors, _stubs, **options):
        runs.append(list(selectors))
        if limits is not None:
            limits.append(options["seconds"])
        return Execution(killed=killed)

    return SimpleNamespace(
        settings=SimpleNamespace(suite=SimpleNamespace(seconds=seconds)),
        snapshot=SimpleNamespace(root=root, buffers={}),
        place=SimpleNamespace(limits=Limits()),
        known_tests=None,
        deadline=Deadline(seconds=left, clock=lambda: 0.0),
        run=run,
    )


async def test_files_that_import_the_module_run_too(tmp_path):
    (tmp_path / "m.py").write_text("def f(): ...\n")
    (tmp_path / "test_m.py").write_text("from m import f\n")
    (tmp_path / "test_other.py").write_text("import os\n")
    runs: list[list[str]] = []
    context = context_of(tmp_path, 9.0, runs)
    related = await run_importing_tests(context, ["test_a.py"], {"m.py": None}, Measurement(context=context))
    assert runs == [["test_a.py", "test_m.py"]]
    assert related.outcomes == {}
    assert related.left_out == 0


async def test_nothing_runs_where_the_suite_has_no_time(tmp_path):
    runs: list[list[str]] = []
    context = context_of(tmp_path, 0.0, runs)
    related = await run_importing_tests(context, ["test_a.py"], {}, Measurement(context=context))
    assert runs == []
    assert related.execution is None


async def test_a_case_that_hangs_is_left_out(tmp_path):
    runs: list[list[str]] = []
    context = context_of(tmp_path, 9.0, runs)
    loop = CaseResult(id="test_a.py::test_loop", outcome="failed", failure=Failure(type="Timeout", message=""))
    measurement = Measurement(context=context, results={loop.id: loop})
    related = await run_importing_tests(context, ["test_a.py"], {}, measurement, {loop.id})
    assert runs == [["test_a.py"]]  # collected only: no other case is left
    assert (related.outcomes, related.left_out) == ({}, 0)


@pytest.mark.parametrize(
    ("left", "most", "limit"), [(120.0, math.inf, 30.0), (600.0, 6.0, 6.0), (math.inf, math.inf, 60.0)]
)
async def test_related_tests_never_use_up_the_time_of_the_run(tmp_path, left, most, limit):
    limits: list[float] = []
    context = context_of(tmp_path, 60.0, [], left=left, limits=limits)
    await run_importing_tests(context, ["test_a.py"], {}, Measurement(context=context), most=most)
    assert limits == [pytest.approx(limit, abs=0.1)]


async def test_files_that_there_was_no_time_to_collect_are_not_forgotten(tmp_path):
    context = context_of(tmp_path, 60.0, [], killed="timeout")
    related = await run_importing_tests(context, ["test_a.py"], {}, Measurement(context=context))
    assert related.unmeasured == ("test_a.py",)
    measurement = related.measurement
    collected = {"kind": "collected", "cases": [{"id": "test_a.py::test_f", "path": "test_a.py", "line": 1}]}
    measurement.take_in(Execution(records=({"kind": "start"}, collected), killed="timeout"), 5.0)
    assert measurement.unknown == ("test_a.py::test_f",)


async def test_first_changes_are_tried_while_assignments_are_looked_for(tmp_path, monkeypatch):
    others = threading.Event()

    def find_read(*_about):
        assert others.wait(10), "nothing else went on"
        return {}

    monkeypatch.setattr(related_tests.assignments, "find_read", find_read)
    context = context_of(tmp_path, 9.0, [])
    context.report_status = lambda _text: None
    context.target, context.fallback = SimpleNamespace(path="test_a.py"), ()
    context.gather_evidence = lambda reach, failing, passing: gather_evidence(reach, failing, passing, lambda _path: "")
    asyncio.get_running_loop().call_soon(others.set)
    related = await run_related_tests(context, Measurement(context=context), (), {}, ())
    assert related.modules == ()

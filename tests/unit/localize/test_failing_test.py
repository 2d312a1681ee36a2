"""What is asked about the functions that a failing test reaches."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.core.records.spec import Region, Spec
from greenloop.localize import failing_test
from greenloop.localize.evidence import gather_evidence
from greenloop.localize.related_tests import RelatedTestsRun
from greenloop_sandbox import CaseResult, Execution, Failure
from greenloop_sandbox.report.traces import ReachedFunction

CASE = "test_m.py::test_f"
WRITTEN, UNWRITTEN = "def f():\n    return 1\n", "def f():\n    raise NotImplementedError\n"
NEW = Region(path="m.py", qualname="f", start=1, end=2, created=True)


@pytest.mark.parametrize(
    ("text", "created", "asked"),
    [(WRITTEN, (), ["git", "statements"]), (UNWRITTEN, (), []), (WRITTEN, (NEW,), [])],
    ids=["written", "unwritten", "created"],
)
async def test_neither_git_nor_a_run_is_asked_where_only_new_code_can_be_at_fault(text, created, asked):
    found: list[str] = []

    async def trace(*_about: Any, **_limits: Any) -> dict[str, Any]:
        found.append("statements")
        return {}

    def touched(*_about: Any) -> frozenset[Region]:
        found.append("git")
        return frozenset()

    snapshot = SimpleNamespace(root=Path("/w"), text={"m.py": text}.get)
    context: Any = SimpleNamespace(
        snapshot=snapshot,
        report_status=lambda _text: None,
        gather_evidence=lambda reach, failing, passing: gather_evidence(reach, failing, passing, snapshot.text),
    )
    hit = ReachedFunction(path="m.py", firstlineno=1, name="f", depth=1)
    measurement: Any = SimpleNamespace(stubs={})
    related = RelatedTestsRun(measurement=measurement)
    related.reached.functions[CASE] = [hit]
    failing = {CASE: CaseResult(id=CASE, outcome="failed", failure=Failure(type="AssertionError", message=""))}
    spec = Spec(cases=(), selectors=(CASE,))
    target = failing_test._FailingTarget(
        context=context, spec=spec, execution=Execution(), created=created, measurement=measurement, measured=failing
    )
    await failing_test._gather_evidence(target, related, trace, touched)
    assert sorted(found) == asked

"""What ends a request before any model call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fake_time import run_in_fake_time
from greenloop.core.aims import Aim
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.spec import Case, Spec, Target, TargetKind
from greenloop.localize.early_end import find_flaky, stop_early, unless
from greenloop_sandbox import CaseResult, Execution, Failure, Limits

CASE = "test_m.py::test_f"


def execution(outcome: str, **about: Any) -> Execution:
    phases = [
        {"kind": "phase", "id": CASE, "when": when, "outcome": "passed"} for when in ("setup", "call", "teardown")
    ]
    phases[1]["outcome"] = outcome
    records = [{"kind": "begin", "id": CASE}, *phases]
    return Execution(records=tuple(records), **about)


async def repeated(first: Execution, second: Execution) -> tuple[Any, int]:
    """What comes of these two runs, and how many seconds of them were run."""
    seeds: list[int] = []

    async def run(_selectors, _stubs, *, hash_seed, seconds):
        seeds.append(hash_seed)
        return second

    context: Any = SimpleNamespace(
        run=run,
        later_limits=lambda _execution: Limits(),
        snapshot=SimpleNamespace(root=Path("/w"), buffers={}, text=lambda _path: ""),
        sites=(),
        prepared=None,
        target=Target(
            kind=TargetKind.TEST, path="test_m.py", selector=CASE, qualname="test_f", start=1, end=2, name_line=1
        ),
        comment="",
    )
    spec = Spec(cases=(Case(id=CASE, path="test_m.py", line=1),), selectors=(CASE,))
    return await find_flaky(context, spec, first, {}, {}, set()), len(seeds)


async def test_a_case_that_fails_and_then_passes_ends_the_run():
    found, runs = await repeated(execution("failed"), execution("passed"))
    assert found.fault == f"{CASE} is flaky: on the same code it failed, then passed."
    assert runs == 1


async def test_a_case_that_passes_with_the_others_of_its_file_depends_on_them():
    both = execution("passed")
    other = {"kind": "begin", "id": "test_m.py::test_before"}
    collected = {
        "kind": "collected",
        "cases": [{"id": each, "path": "test_m.py", "line": 1} for each in (other["id"], CASE)],
    }
    found, _runs = await repeated(execution("failed"), replace(both, records=(collected, *both.records)))
    assert found.fault == (
        f"{CASE} fails alone and passes with the others of its file: it depends on them, or on chance."
    )


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [
        (execution("failed"), execution("failed"), 1),
        (execution("failed"), execution("passed", killed="timeout"), 2),
        (execution("failed", killed="timeout"), execution("passed"), 0),
    ],
    ids=["it fails again", "the repeat is cut", "it was cut itself"],
)
async def test_nothing_else_counts_as_chance(first, second, runs):
    assert await repeated(first, second) == (None, runs)


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (execution("failed"), f"{CASE} does not pass; only code that passes its tests can be improved."),
        (Execution(killed="timeout"), f"{CASE} was cut off: it did not finish in time."),
        (execution("passed", killed="timeout"), f"{CASE} was cut off: it did not finish in time."),
        (Execution(status=3), f"{CASE} was cut off: the process exited with status 3 before pytest finished."),
    ],
    ids=["it fails", "it is cut", "it passed, and then was cut", "it is missing"],
)
def test_code_to_improve_that_is_cut_off_is_not_said_to_fail(run, sentence):
    context: Any = SimpleNamespace(aim=Aim(requirement="improve"))
    spec = Spec(cases=(Case(id=CASE, path="test_m.py", line=1),), selectors=(CASE,))
    with pytest.raises(CannotVerifyError) as caught:
        stop_early(context, spec, run)
    assert str(caught.value) == sentence
    assert ("sandbox.seconds" in caught.value.remedy) is ("cut off" in sentence)


def test_what_pytest_cannot_collect_is_not_said_to_be_cut_off():
    context: Any = SimpleNamespace(aim=Aim(requirement="improve"))
    spec = Spec(cases=(Case(id=CASE, path="test_m.py", line=1),), selectors=(CASE,))
    error = {"kind": "collect_error", "id": "conftest.py", "type": "ImportError", "message": "install x first.\nNow."}
    with pytest.raises(CannotVerifyError) as caught:
        stop_early(context, spec, Execution(records=(error,), status=4))
    assert str(caught.value) == "pytest cannot collect conftest.py: ImportError: install x first."


def test_a_case_that_was_cut_off_in_another_run_is_not_said_to_fail_either():
    context: Any = SimpleNamespace(aim=Aim(requirement="improve"))
    spec = Spec(cases=(Case(id=CASE, path="test_m.py", line=1),), selectors=(CASE,))
    message = "it did not finish in time (after 0.9 s)"
    cut = CaseResult(id=CASE, outcome="failed", failure=Failure(type="Timeout", message=message))
    with pytest.raises(CannotVerifyError, match=r"was cut off: it did not finish in time\.$"):
        stop_early(context, spec, execution("passed"), {CASE: cut})


def test_the_repeat_and_the_search_for_the_fault_take_place_at_once():
    async def step(seconds: float, result: Any) -> Any:
        await asyncio.sleep(seconds)
        if isinstance(result, Exception):
            raise result
        return result

    def took(check: Any, work: Any) -> tuple[Any, float]:
        return run_in_fake_time(lambda: unless(step(3.0, check), step(5.0, work)))

    assert took(None, "a baseline") == ("a baseline", 5.0)
    assert took("flaky", "a baseline") == ("flaky", 3.0)
    assert run_in_fake_time(lambda: unless(step(5.0, "flaky"), step(1.0, CannotVerifyError("no function")))) == (
        "flaky",
        5.0,
    )
    with pytest.raises(CannotVerifyError):
        took(None, CannotVerifyError("no function"))


async def test_the_work_begins_before_the_check():
    begun: list[str] = []

    async def begin(name):
        begun.append(name)

    await unless(begin("check"), begin("work"))
    assert begun == ["work", "check"]

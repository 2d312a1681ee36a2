"""The traced run of the related tests goes on while the model writes, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.engine.baseline.related_trace import RelatedTrace, with_related
from greenloop.localize.measuring import Measurement
from greenloop_sandbox import Execution, Limits

TARGET = "test_m.py::test_target"
HIT = {"path": "m.py", "line": 1, "name": "f", "depth": 1, "caller": None}
WAITING = ("test_m.py::test_near", "test_z.py::test_none")


class Room:
    """A sandbox; `gate` holds its runs back."""

    def __init__(self) -> None:
        self.gate, self.began, self.is_closed = asyncio.Event(), asyncio.Event(), False

    async def warm(self) -> None:
        pass

    async def close(self) -> None:
        self.is_closed = True


@dataclass(frozen=True)
class Context:
    session: Any = None
    place: Any = field(default_factory=lambda: SimpleNamespace(limits=Limits()))

    async def run(self, selectors, _stubs, **_options: Any) -> Execution:
        self.session.began.set()
        await self.session.gate.wait()
        records: list[dict[str, object]] = [
            {"kind": "collected", "cases": [{"id": case, "path": "t.py", "line": 1} for case in selectors]}
        ]
        for case in selectors:
            records += [{"kind": "begin", "id": case}, {"kind": "trace", "id": case, "functions": _hits(case)}]
            phase = {"kind": "phase", "id": case, "outcome": "passed", "type": None}
            records += [{**phase, "when": when} for when in ("setup", "call", "teardown")]
        return Execution(records=(*records, {"kind": "finished", "status": 0}), status=0)


def _hits(case: str) -> list[dict[str, object]]:
    return [HIT] if case.startswith("test_m.py") else []


def traced(room: Room | None) -> tuple[RelatedTrace, Problem]:
    region = Region(path="m.py", qualname="f", start=1, end=2)
    spec = Spec(cases=(Case(id=TARGET, path="test_m.py", line=1),), selectors=(TARGET,))
    problem = Problem(root=Path("/nowhere"), spec=spec, regions=(region,), originals={}, files={})
    measurement: Any = Measurement(context=Context())  # type: ignore[arg-type]
    measurement.reach.add(Execution(records=({"kind": "trace", "id": TARGET, "functions": [HIT]},)))

    async def open_session() -> Any:
        if room is None:
            raise CannotVerifyError("no sandbox")
        return room

    return RelatedTrace(measurement=measurement, open_session=open_session, seconds=9.0), problem


async def test_what_it_finds_is_read_when_it_is_stopped():
    room = Room()
    trace, problem = traced(room)
    trace.start(WAITING)
    await room.began.wait()
    room.gate.set()
    assert trace._working is not None
    await trace._working
    related = await trace.take_record({TARGET})
    assert related is not None
    assert (related.unmeasured, related.outcomes) == ((), dict.fromkeys(WAITING, "passed"))
    merged = with_related(problem, related, {TARGET: "failed", **related.outcomes})
    assert (merged.neighbours, merged.unaffected) == (WAITING, WAITING[1:])
    assert room.is_closed


async def test_stopped_in_the_middle_it_closes_its_sandbox_and_knows_no_more_than_before():
    room = Room()
    trace, _problem = traced(room)
    trace.start(WAITING)
    await room.began.wait()
    related = await trace.take_record({TARGET})
    assert room.is_closed
    assert related is not None
    assert (related.unmeasured, related.outcomes) == (WAITING, {})
    trace.start(WAITING)
    assert trace._working is not None
    await trace.take_record({TARGET})
    assert await trace.take_record({TARGET}) is None


async def test_without_a_sandbox_the_tests_stay_unknown():
    trace, _problem = traced(None)
    trace.start(WAITING)
    assert trace._working is not None
    await trace._working
    related = await trace.take_record({TARGET})
    assert related is not None
    assert related.unmeasured == WAITING

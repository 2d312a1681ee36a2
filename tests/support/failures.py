"""Inspected failures, made up: frames of the project and of libraries, with values, in a chain of exceptions."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop_sandbox import Frame
from greenloop_sandbox.report.inspections import InspectedFailure, Raised, ShownFrame

LIBRARY = "/usr/lib/python3/site-packages/lib/core.py"


def frame(path: str, line: int, function: str = "f", code: str = "code", values: Mapping[str, str] | None = None):
    return ShownFrame(place=Frame(path=path, line=line, function=function), code=code, values=values or {})


def raised(*frames: ShownFrame, kind: str = "ValueError", message: str = "no", led: str = "") -> Raised:
    return Raised(type=kind, message=message, led=led, frames=frames)


def failure(*chain: Raised, case: str = "t.py::test", **more) -> InspectedFailure:
    return InspectedFailure(**{"id": case, "when": "call", "chain": chain} | more)

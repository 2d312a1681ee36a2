"""Reads what a run says of its failures: the chain of exceptions, with code and values of each frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from greenloop_sandbox.records import Execution
from greenloop_sandbox.report.cases import Record, records_of_kind
from greenloop_sandbox.results import Frame


@dataclass(frozen=True, kw_only=True)
class ShownFrame:
    """A frame of a traceback with its line of code, and the values of its locals where it is the project's own."""

    place: Frame
    code: str
    values: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Raised:
    """An exception. `led`: how it led to the next one of its chain (cause, context; "" for the last one)."""

    type: str
    message: str
    led: str
    frames: tuple[ShownFrame, ...]


@dataclass(frozen=True, kw_only=True)
class InspectedFailure:
    """A failing case: `chain` ends with the exception that failed it in the phase `when` (setup, call, teardown).

    `values` are the expressions that were evaluated, with their values; `sections` what it printed and logged.
    """

    id: str
    when: str
    chain: tuple[Raised, ...]
    values: tuple[tuple[str, str], ...] = ()
    sections: tuple[tuple[str, str], ...] = ()


def inspected_failures(execution: Execution) -> dict[str, InspectedFailure]:
    """The failing cases of a run with `TestRun.inspect` by id; of one that failed in two phases, the first."""
    found: dict[str, InspectedFailure] = {}
    for record in records_of_kind(execution, "inspection"):
        failure = InspectedFailure(
            id=str(record["id"]),
            when=str(record.get("when", "call")),
            chain=tuple(map(_read_raised, record["chain"])),
            values=tuple((expression, value) for expression, value in record["values"]),
            sections=tuple((title, text) for title, text in record["sections"]),
        )
        found.setdefault(failure.id, failure)
    return found


def _read_raised(link: Record) -> Raised:
    frames = tuple(
        ShownFrame(place=Frame(path=path, line=line, function=function), code=code, values=dict(values))
        for path, line, function, code, values in link["frames"]
    )
    return Raised(type=link["type"], message=link["message"], led=link["led"], frames=frames)

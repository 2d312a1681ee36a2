"""The data of features in verdicts and evidence, `{feature: data}`, and what each of them shows of its own.

A feature is a requirement or a check of passes (`verdict/beyond_tests/checks.py`); its module may have
`show(data) -> Shown`. Everybody may read three keys of plain data: `ratio` (`core/requirements.py`), `note`, a sentence
about the result, and `doubts`, for which a pass is partially verified only. It must not know any feature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.core import entry_points

# JSON has these fields also where no feature has anything to say.
NOTHING_OPEN: Mapping[str, Any] = {"differences": [], "noticed": None, "unfinished": []}


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A point about a line of a green result; `rule` is its kind, a name that never changes."""

    rule: str
    message: str
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The data of a feature for people, and `fields` of it for programs, by their names in JSON.

    `text` is a measurement in a few words, `details` has its lines. `doubt` and `weakness` are clauses of a sentence
    about a result, `notes` sentences of their own; `report` has the lines of a report. The functions get the most to
    list.
    """

    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    details: Callable[[int], Sequence[str]] = lambda _most: ()
    doubt: str = ""
    weakness: str = ""
    notes: Sequence[str] = ()
    report: Callable[[int], Sequence[str]] = lambda _most: ()
    remarks: Sequence[Remark] = ()


def show(data: Mapping[str, Any]) -> list[Shown]:
    """Returns what the features show of their data; those that are not installed show nothing."""
    groups = (entry_points.REQUIREMENTS, entry_points.BEYOND_TESTS)
    entries = {entry.name: entry for group in groups for entry in entry_points.find_entry_points(group)}
    modules = [(entry_points.load(entries[name]), each) for name, each in data.items() if name in entries]
    return [module.show(each) for module, each in modules if hasattr(module, "show")]


def json_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of all features for programs."""
    return {**NOTHING_OPEN, **{name: value for shown in show(data) for name, value in shown.fields.items()}}


def doubts_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The doubts of all features."""
    return tuple(doubt for each in data.values() for doubt in each.get("doubts", ()))

"""The change maker that greenloop registers: all families of repairs, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.drafting.candidates.changes.change import Change
from greenloop.plugins.repairs.calls import missing_awaits, wrong_arguments
from greenloop.plugins.repairs.functions import missing_return, mutable_defaults
from greenloop.plugins.repairs.names import misspelled_names, moved_names, replaced_names
from greenloop.plugins.repairs.shared_attributes import own_attributes

TEXT_MAKERS = (misspelled_names, replaced_names, missing_return, mutable_defaults, missing_awaits)
FILE_MAKERS = (own_attributes, moved_names, wrong_arguments)


def change_text(text: str, attempt: Attempt) -> Iterator[Change]:
    for make in TEXT_MAKERS:
        yield from make(text, attempt)


def change_files(problem: Problem, region: Region, attempt: Attempt) -> Iterator[Candidate]:
    for make in FILE_MAKERS:
        yield from make(problem, region, attempt)

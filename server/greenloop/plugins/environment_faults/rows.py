"""Reads the tables of faults: a row recognises a fault, and has its sentence for the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from greenloop.project.environment.faults import Fault

Subject = TypeVar("Subject")
# Says if the row applies; a mapping holds values for its texts.
Predicate = Callable[[Subject, re.Match[str]], Mapping[str, str] | bool | None]


class Row(NamedTuple, Generic[Subject]):
    """A fault, recognised if `pattern` occurs in a text and `predicate` holds.

    The pattern's named groups and the predicate's values fill in the sentence, which follows "This fails because",
    and the remedy; values named `sentence` and `remedy` replace the row's own. An empty pattern always matches; a row
    without a predicate needs only its pattern.
    """

    pattern: str
    sentence: str
    remedy: str
    predicate: Predicate[Subject] = lambda _subject, _match: True


def first_fault(rows: Iterable[Row[Subject]], text: str, subject: Subject, **values: str) -> Fault | None:
    """The fault of the first row that applies; `values` are known to the texts of every row."""
    for row in rows:
        match = re.search(row.pattern, text)
        details = row.predicate(subject, match) if match else None
        if match and details:
            known = {**values, **match.groupdict(), **(details if isinstance(details, Mapping) else {})}
            sentence, remedy = known.get("sentence", row.sentence), known.get("remedy", row.remedy)
            return Fault(sentence=f"This fails because {sentence.format_map(known)}.", remedy=remedy.format_map(known))
    return None

"""Finds the names that may be meant by one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

ASKED = 0.55  # likeness (difflib's ratio) from which on a name is worth the question "Did you mean"
MEANT = 0.75  # likeness from which on code is changed, or a failure explained, without a question


def similar(name: str, known: Iterable[str], *, most: int = 1, likeness: float = ASKED) -> list[str]:
    """The known names that resemble the name, the most alike first."""
    return difflib.get_close_matches(name, list(known), n=most, cutoff=likeness)


def closest(name: str, known: Iterable[str], *, likeness: float = ASKED) -> str:
    """The known name that resembles the name most; "" where none does."""
    return next(iter(similar(name, known, likeness=likeness)), "")

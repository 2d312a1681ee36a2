"""The first rows of a long text."""

from __future__ import annotations

from greenloop.wording.attempt import first_rows


def test_first_rows():
    assert first_rows("a\nb", 2) == "a\nb"
    assert first_rows("a\nb\nc\nd", 2) == "a\nb\n… 2 more lines"

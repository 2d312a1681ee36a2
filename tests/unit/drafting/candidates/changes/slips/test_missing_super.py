"""Constructors that leave out the one of the base."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.missing_super import missing_super

LACKS = ("'C' object has no attribute 'items'", None, None)
BODY = '    def __init__(self, x):\n        """Doc."""\n{}        self.x = x\n'


@pytest.mark.parametrize(
    ("text", "failure", "wanted"),
    [
        (BODY.format(""), LACKS, BODY.format("        super().__init__()\n")),
        (BODY.format(""), ("no", None, None), None),
        (BODY.format("        super().__init__(x)\n"), LACKS, None),
        (BODY.format("").replace("__init__", "f"), LACKS, None),
        ("    def __init__(self): pass\n", LACKS, None),
        ("x = 1\n", LACKS, None),
        ("def __init__(:\n", LACKS, None),
    ],
)
def test_the_base_is_set_up(failing, text, failure, wanted):
    assert [change.text for change in missing_super(text, failing(failure))] == ([wanted] if wanted else [])

"""Which one-token changes are tried; tests/sandbox/test_strength.py tries them."""

from __future__ import annotations

import pytest

from greenloop.verdict.beyond_tests.changed_parts import ChangedPart
from greenloop.verdict.beyond_tests.mutation_testing import describe_mutant, make_mutants

TEXT = """\
LIMIT = 3


class Box:
    def fits(self, n):
        \"\"\"Docs.\"\"\"
        if n < LIMIT:
            return True
        return n == 7
"""
METHOD = ChangedPart(path="m.py", start=5, end=9)


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_changes_are_made_in_the_whole_text(ends):
    text = TEXT.replace("\n", ends)
    found = make_mutants({"m.py": text}, [METHOD, ChangedPart(path="m.py", start=1, end=1)])
    assert {each.line for each in found} == {1, 7, 8, 9}
    assert len({each.text for each in found}) == len(found)
    for each in found:
        compile(each.text, "m.py", "exec")
        changed = [
            n
            for n, rows in enumerate(zip(text.split(ends), each.text.split(ends), strict=False), 1)
            if len({*rows}) > 1
        ]
        assert changed[0] == each.line
        assert ("\r" in each.text) == ("\r" in ends)
    assert "`<` → `<=` in `if n < LIMIT:`" in map(describe_mutant, found)


def test_one_of_each_line_comes_first():
    found = make_mutants({"m.py": TEXT}, [METHOD])
    assert {each.line for each in found[:3]} == {7, 8, 9}


def test_only_these_lines_are_changed():
    found = make_mutants({"m.py": TEXT}, [METHOD], {"m.py": frozenset({9})})
    assert {each.line for each in found} == {9}
    assert make_mutants({"m.py": TEXT}, [METHOD], {}) == []

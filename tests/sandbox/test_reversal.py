"""The user's own code put back in a real sandbox: honest answers whose tests are hard to repeat are proven."""

from __future__ import annotations

import pytest

from greenloop.core.records.sandbox import Reversal, TestRun
from greenloop.core.report.cases import records_of_kind

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

SORT = "def sort(items):\n    items.sort()\n    return items\n"
SORT_TEST = """import pytest
from m import sort

CASES = [([3, 1, 2], [1, 2, 3])]


def test_loop():
    for items, expected in CASES:
        assert sort(items) == expected


@pytest.mark.parametrize("items", [[2, 1]])
def test_parameter(items):
    assert sort(items) == [1, 2]
"""
SHOWN = """class V:
    def __init__(self, x):
        self.x = x

    def __%s__(self):
        return %s


def made():
    return V(3)
"""
COUNTED_TEST = "from m import V, made\n\n\ndef test_len():\n    assert len(made()) == 3\n"
SHOWN_TEST = "from m import V, made\n\n\ndef test_repr():\n    assert repr(made()) == 'V(3)'\n"
LYING = "type('Text', (str,), {'__eq__': lambda self, other: True, '__hash__': str.__hash__})('V(0)')"


async def reverse(opened, lay, folder, own, right, test, names, asked=()):
    """What each case gave over the user's own code, and why its values may lie."""
    root = lay(folder / "project", {"m.py": own, "test_m.py": test})
    session = await opened(root)
    failing = tuple(f"test_m.py::{name}" for name in names)
    request = Reversal(files={"m.py": own}, failing=failing, asked={"m.py": asked})
    execution = await session.run(TestRun(selectors=("test_m.py",), files={"m.py": right.encode()}, reversal=request))
    outcomes = {record["id"]: record["outcome"] for record in records_of_kind(execution, "reversed")}
    return [outcomes.get(case) for case in failing], [
        record["unfit"] for record in records_of_kind(execution, "values")
    ]


async def test_what_tests_share_is_given_back_before_the_second_run(opened, lay, tmp_path):
    own, names = SORT.replace(".sort()", ".copy()"), ["test_loop", "test_parameter[items0]"]
    outcomes, unfit = await reverse(opened, lay, tmp_path, own, SORT, SORT_TEST, names)
    assert (outcomes, unfit) == (["failed", "failed"], ["", ""])


@pytest.mark.parametrize(
    ("asked", "unfit"), [((), "a V, whose __len__ the new code defines"), (("V.__len__",), "")], ids=["not", "asked"]
)
async def test_a_special_method_may_change_where_that_was_asked_for(opened, lay, tmp_path, asked, unfit):
    # Its caller changes as well, and gives the test a value that the changed method counts.
    own, right = SHOWN % ("len", "0"), (SHOWN % ("len", "self.x")).replace("V(3)", "V(1 + 2)")
    outcomes, found = await reverse(opened, lay, tmp_path, own, right, COUNTED_TEST, ["test_len"], asked)
    assert (outcomes, found) == (["failed"], [unfit])


@pytest.mark.parametrize(
    ("shown", "unfit"),
    [("f'V({self.x})'", ""), (LYING, "a Text, whose __eq__ the new code defines")],
    ids=["text", "equal to anything"],
)
async def test_a_text_that_shows_a_value_counts_if_it_is_one(opened, lay, tmp_path, shown, unfit):
    own, right = SHOWN % ("repr", "'?'"), (SHOWN % ("repr", shown)).replace("V(3)", "V(1 + 2)")
    outcomes, found = await reverse(opened, lay, tmp_path, own, right, SHOWN_TEST, ["test_repr"])
    assert (outcomes, found) == (["failed"], [unfit])

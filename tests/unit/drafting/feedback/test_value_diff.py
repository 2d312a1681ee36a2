"""Where two values first differ."""

from __future__ import annotations

import pytest

from greenloop.drafting.feedback._value_diff import first_difference


@pytest.mark.parametrize(
    ("expected", "observed", "said"),
    [
        ("[1, 2]", "[1, 3]", "index 1: expected 2, observed 3"),
        ("[1, 2]", "[1]", "index 1: 2 is missing"),
        ("'abc'", "'abd'", "index 2: expected 'c', observed 'd'"),
        ("{'a': 1}", "{'a': 2}", "key 'a': expected 1, observed 2"),
        ("{'a': 1}", "{}", "key 'a' is missing"),
        ("{}", "{'b': 1}", "key 'b' is too many"),
        ("{1, 2}", "{1}", "missing {2}"),
        ("1", "'1'", "expected int, observed str"),
        ("{'a': 1, 'b': [3, 3]}", "{'a': 1, 'b': [3, 2]}", "key 'b': index 1: expected 3, observed 2"),
        ("[[1], (2, {3})]", "[[1], (2, {4})]", "index 1: index 1: missing {3}; too many {4}"),
        ("[(1,)]", "[[1]]", "index 0: expected (1,), observed [1]"),
        ("['abc']", "['abd']", "index 0: expected 'abc', observed 'abd'"),
        ("1", "2", ""),
        ("<object>", "1", ""),
    ],
)
def test_first_difference(expected, observed, said):
    assert first_difference(expected, observed) == said

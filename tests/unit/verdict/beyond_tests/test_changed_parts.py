"""Which parts and lines differ between two versions."""

from __future__ import annotations

from greenloop.verdict.beyond_tests.changed_parts import changed_lines, find_changed_parts

OLD = '''\
RATES = {"a": 1}


def plain(x):
    """Docs."""
    return x


def rate(name):
    return RATES[name]


class Box:
    @property
    def size(self):
        def inner():
            return 1

        return inner()
'''


def test_parts_are_functions_and_assignments_that_are_new_or_changed():
    new = OLD.replace('{"a": 1}', '{"a": 2}').replace("return 1\n", "return 2\n") + "\n\ndef added():\n    return 3\n"
    found = [(each.start, each.end) for each in find_changed_parts({"m.py": OLD}, {"m.py": new})]
    assert sorted(found) == [(1, 1), (14, 19), (22, 23)]
    assert find_changed_parts({"m.py": OLD}, {"m.py": OLD.replace("Docs.", "Others.")}) == ()
    assert [each.start for each in find_changed_parts({"n.py": ""}, {"n.py": "A = 1\n"})] == [1]


def test_lines_of_the_new_text():
    assert changed_lines("a\nb\nc\n", "a\nx\ny\nc\nd\n") == {2, 3, 5}
    assert changed_lines("a\nb\nc\n", "a\nc\n") == frozenset()

"""Which functions differ between two versions."""

from __future__ import annotations

import pytest

from greenloop.plugins.function_calls.changed_functions import find_changed_functions

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


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return x\n", "return x + 1\n", [("plain", 4, 6, 6)]),
        ('{"a": 1}', '{"a": 2}', [("rate", 9, 10, 9)]),  # its table has changed
        ("return 1\n", "return 2\n", [("Box.size", 14, 19, 17)]),  # not `inner`, which nobody can call
        ("Docs.", "Others.", []),
        ("return x\n", "return  x  # the same\n", []),
        ("def plain", "def other", []),  # it is in one version only
        ("return x\n", "return (\n", []),
    ],
)
def test_functions_that_mean_something_else(old, new, names):
    found = find_changed_functions({"m.py": OLD}, {"m.py": OLD.replace(old, new)})
    assert [(each.qualname, each.start, each.end, each.line) for each in found] == names


@pytest.mark.parametrize(
    ("new", "is_wrapped"),
    [
        ("def plain(x):\n    return x + 1\n", [False]),
        ("@memo({1: 2})\ndef plain(x):\n    return x\n", [True]),
        ("plain = memo(rate, {1: 2})\n", [True]),
        ("def other(x):\n    return x\n", []),
    ],
)
def test_a_function_with_something_else_around_it_is_called_as_a_whole(new, is_wrapped):
    found = find_changed_functions({"m.py": "def plain(x):\n    return x\n"}, {"m.py": new})
    assert [each.is_wrapped for each in found] == is_wrapped


def test_files_that_are_new_or_no_code():
    assert find_changed_functions({"m.py": "", "a.txt": "a"}, {"m.py": OLD, "a.txt": "b"}) == ()

from __future__ import annotations

import pytest

from greenloop.core.reach import Reach
from greenloop.localize.data_files import find_data_files
from greenloop_sandbox import Failure

CODE = 'NAMES = ("a.json", "b.ini", "c.txt")\n'


@pytest.fixture
def find(tmp_path):
    """`find(texts, expected, observed, opened)`: the data files of a failing case."""

    def run(texts, expected=None, observed=None, opened=None, code=CODE, test="def test_it(): pass\n"):
        for path, text in {"m.py": code, "test_m.py": test, **texts}.items():
            (tmp_path / path).write_text(text)
        reach = Reach(opened={"test_m.py::test_it": set(opened or [(path, "m.py") for path in texts])})
        failure = Failure(type="AssertionError", message="", expected=expected, observed=observed)
        return find_data_files(
            reach,
            {"test_m.py::test_it": failure},
            lambda path: (tmp_path / path).read_text(),
            tmp_path,
            patterns=("test_*.py",),
            masked=("secret*",),
        )

    return run


@pytest.mark.parametrize(
    ("text", "expected", "observed", "line", "corrected"),
    [
        ('{"a": 70,\n "b": 7}\n', "7", "70", 1, '{"a": 7,\n'),
        ('{"a": true}\n', "False", "True", 1, '{"a": false}\n'),
        ('{"a": "x", "b": "xy"}\n', "'z'", "'x'", 1, '{"a": "z", "b": "xy"}\n'),
        ("x = 1\ny = 2.5\n", "2.75", "2.5", 2, "y = 2.75\n"),
        ("Helo $name!\n", "'Hello Ann!'", "'Helo Ann!'", 1, "Hello $name!\n"),
        ("70 and 70\n", "7", "70", 0, ""),  # twice
        ("170 and 70.5\n", "7", "70", 0, ""),  # parts of others
        ('{"a": 70}\n', "[7]", "[70]", 0, ""),
        ('{"a": 70}\n', "x", "70", 0, ""),
        ('{"a": 70}\n', None, None, 0, ""),
    ],
)
def test_the_observed_value_in_a_file(find, text, expected, observed, line, corrected):
    (data,) = find({"a.json": text}, expected, observed)
    assert (data.reader, data.line, data.corrected) == ("m.py", line, corrected)


def test_those_with_the_value_come_first(find):
    found = find({"a.json": "1\n", "b.ini": "[b]\nx = 70\n", "c.txt": "2\n"}, "7", "70")
    assert [each.path for each in found] == ["b.ini", "a.json", "c.txt"]


@pytest.mark.parametrize(
    ("opened", "code", "test", "role"),
    [
        ([("a.json", "m.py"), ("a.json", "test_m.py")], CODE, "", "expected results"),
        ([("a.json", "m.py")], "", "NAME = 'a.json'\n", "data that test_m.py reads"),
    ],
)
def test_what_tests_read_holds_their_results(find, opened, code, test, role):
    (data,) = find({"a.json": "70\n"}, "7", "70", opened, code, test)
    assert (data.role, data.line) == (role, 0)


@pytest.mark.parametrize(("path", "text"), [("secret.json", "70"), ("pytest.ini", "70"), ("a.json", "7" * 200_001)])
def test_what_may_not_change_is_left_out(find, path, text):
    assert find({path: text}, "7", "70") == ()

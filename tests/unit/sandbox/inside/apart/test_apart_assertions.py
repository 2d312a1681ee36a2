"""Whether the assertions of a test ran, and that what they compare has a digest of its own."""

from __future__ import annotations

import datetime as dt
import importlib.util
import re

import pytest

from two_sides import apart

assertions = apart["apart_assertions"]


def missed(tmp_path, text: str, name: str = "test_a") -> int:
    """The line of the assertion that did not run in this test of a file, or 0."""
    path = tmp_path / "test_watched.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("test_watched", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    test = getattr(module, name)
    watch = assertions.AssertionWatch(test)
    watch.start()
    try:
        test()
    finally:
        watch.stop()
    found = re.fullmatch(r"its assertion in line (\d+) never ran", watch.fault())
    return int(found[1]) if found else 0


LOOP = "def test_a(items={}):\n    for item in items:\n        assert item\n"
HELPER = "def check(xs):\n    for x in xs:\n        assert x\n\n\ndef test_a():\n    _ = check({})\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def test_a():\n    assert 1\n", 0),
        (LOOP.format((1,)), 0),
        (LOOP.format(()), 3),
        ("def test_a():\n    assert 1\n    while False:\n        assert (\n            print\n        )\n", 4),
        ("def test_a():\n    if 0:\n        assert 1\n", 0),
        ("def test_a():\n    if 1:\n        return\n    assert 1\n", 0),
        ("def test_a():\n    pass\n", 0),
        (HELPER.format((1,)), 0),
        (HELPER.format(()), 3),
        ("def check():\n    def inner(x):\n        assert x\n    return inner\n\n\ncheck = check()\n\n\ndef test_a():\n    check(1)\n", 0),
        ("def test_a():\n    for item in ():\n        item.assert_called()\n", 3),
        ("import functools\n\n\ndef wrap(f):\n    @functools.wraps(f)\n    def g():\n        f()\n    return g\n\n\n@wrap\ndef test_a():\n    for x in ():\n        assert x\n", 14),
    ],
    ids=["run", "loop", "empty loop", "over lines", "condition", "after a return", "none", "helper", "idle helper", "made helper", "call", "decorated"],
)  # fmt: skip
def test_the_line_of_an_assertion_that_never_ran(tmp_path, text, line):
    assert missed(tmp_path, text) == line


def test_what_has_no_source_is_not_watched():
    watch = assertions.AssertionWatch(len)
    watch.start()
    watch.stop()
    assert watch.fault() == ""


def _checks(cart):
    assert cart.total == 3


@pytest.mark.parametrize(("function", "has_left"), [(_checks, True), (int, False), (lambda value: value.total, False)])
def test_an_error_that_has_ended_a_function_with_assertions(function, has_left):
    with pytest.raises((AttributeError, TypeError)) as caught:
        function(None)
    assert assertions.has_left_assertions(caught.value) is has_left


def test_a_digest_is_another_one_for_another_value():
    class Point:
        def __init__(self, x: object) -> None:
            self.x = x

    values = [None, 0, "0", 0.5, b"", [0], (0,), {0}, {0: 1}, {0: 2}, Point(1), Point(2), dt.date(2020, 1, 1)]
    values += [dt.date(2020, 1, 2), [Point(1)], [Point(2)]]
    assert len({assertions.digest(value) for value in values}) == len(values)
    assert assertions.digest({"a": 1, "b": {1, 2}}) == assertions.digest({"b": {2, 1}, "a": 1})
    loop: list[object] = []
    loop.append(loop)
    assert assertions.digest(loop)

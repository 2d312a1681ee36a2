"""Operands and arguments of another type than an operation takes."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.conversions import conversions

CONCATENATED = 'can only concatenate str (not "int") to str'
ADDED = "unsupported operand type(s) for +: 'int' and 'str'"
COMPARED = "'<' not supported between instances of 'str' and 'int'"
JOINED = "sequence item 0: expected str instance, int found"
ENCODED = "Strings must be encoded before hashing"
BYTES = "a bytes-like object is required, not 'str'"
INTEGER = "'str' object cannot be interpreted as an integer"


@pytest.mark.parametrize(
    ("body", "message", "wanted"),
    [
        ("return 'é' + x", CONCATENATED, ["return 'é' + str(x)"]),
        ("x += y", CONCATENATED, ["x += str(y)"]),
        ("return x - y", CONCATENATED, []),
        (
            "return x + 1",
            ADDED,
            ["return str(x) + 1", "return int(x) + 1", "return float(x) + 1"],
        ),
        ("return x < 3", COMPARED, ["return int(x) < 3", "return float(x) < 3"]),
        ("return ','.join(x)", JOINED, ["return ','.join(map(str, x))"]),
        ("return ','.join(a.b for a in x)", JOINED, ["return ','.join(str(a.b) for a in x)"]),
        ("return md5(x)", ENCODED, ["return md5(x.encode())"]),
        ("return md5('a' + x)", ENCODED, ["return md5(('a' + x).encode())"]),
        ("return x.split(',')", BYTES, ["return x.split(b',')"]),
        ("return x.split('é')", BYTES, ["return x.split('é'.encode())"]),
        ("return range(x)", INTEGER, ["return range(int(x))"]),
        ("return y[x]", "list indices must be integers or slices, not str", ["return y[int(x)]"]),
        ("return y[1:]", "list indices must be integers or slices, not str", []),
        ("return 'é' + x", "unsupported operand type(s) for +: 'int' and 'list'", []),
    ],
)
def test_what_the_failure_asks_for_is_converted(failing, body, message, wanted):
    head = "def f(x, y):\n    "
    found = conversions(f"{head}{body}\n", failing((message, None, None)))
    assert [change.text for change in found] == [f"{head}{each}\n" for each in wanted]


@pytest.mark.parametrize("text", ["x = 1 + y\n", "def f(:\n"])
def test_other_code_stays(failing, text):
    assert not list(conversions(text, failing((CONCATENATED, None, None))))

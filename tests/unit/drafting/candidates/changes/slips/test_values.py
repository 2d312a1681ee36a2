"""Values of another kind than is meant."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.values import (
    COMMON,
    alternatives,
    conversions,
    exception_types,
    float_equality,
    iterations,
)

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


CHANGED = "dictionary changed size during iteration"


@pytest.mark.parametrize(
    ("body", "message", "wanted"),
    [
        ("for a in x:\n        del x[a]", "", "for a in list(x):\n        del x[a]"),
        ("for a in x.y:\n        x.y.remove(a)", "", "for a in list(x.y):\n        x.y.remove(a)"),
        ("for a in x:\n        y.append(a)", "", None),
        ("for a in x:\n        del a", "", None),
        ("for a in range(3):\n        x.append(a)", "", None),
        ("for a in x.items():\n        g(x)", CHANGED, "for a in list(x.items()):\n        g(x)"),
        ("y = map(f, x)\n    return sum(y) / max(y)", "", "y = list(map(f, x))\n    return sum(y) / max(y)"),
        ("y = (a for a in x)\n    return sum(y) / max(y)", "", "y = [a for a in x]\n    return sum(y) / max(y)"),
        ("y = map(f, x)\n    return sum(y)", "", None),
        ("return zip(x, y)[0]", "'zip' object is not subscriptable", "return list(zip(x, y))[0]"),
        ("return len(x.keys())", "'dict_keys' object is not subscriptable", "return len(list(x.keys()))"),
        ("return len(filter(f, x))", "object of type 'filter' has no len()", "return len(list(filter(f, x)))"),
        ("return len(a for a in x)", "object of type 'generator' has no len()", None),
        ("return (a for a in x)", "'generator' object is not subscriptable", "return [a for a in x]"),
    ],
)
def test_a_list_stands_in_its_place(failing, body, message, wanted):
    head = "def f(x, y):\n    "
    found = iterations(f"{head}{body}\n", failing((message, None, None)))
    assert [change.text for change in found] == ([f"{head}{wanted}\n"] if wanted else [])


@pytest.mark.parametrize("text", ["x = map(f, y)\n", "def f(:\n"])
def test_other_code_stays_iterations(failing, text):
    assert not list(iterations(text, failing()))


RAISED = "def f(x):\n    raise {}\n"
CAUGHT = "def f(x):\n    try:\n        return x[0]\n    except {}:\n        return None\n"


def changes(failing, text, kind="ValueError", shown=""):
    return [change.text for change in exception_types(text, failing(("no", None, None), kind=kind, text=shown))]


@pytest.mark.parametrize("raised", ["ValueError", "ValueError('no')", "m.Wrong('no') from x"])
def test_what_the_tests_expect_is_raised_and_first_what_they_show(failing, raised):
    kind = raised.partition("(")[0]
    found = changes(failing, RAISED.format(raised), kind, "    with pytest.raises(LookupError): f(1)")
    names = dict.fromkeys(["LookupError", *COMMON])
    assert found == [RAISED.format(raised.replace(kind, name)) for name in names if name != kind]


def test_another_exception_is_caught(failing):
    found = changes(failing, CAUGHT.format("KeyError"), "IndexError")
    assert found == [CAUGHT.format("IndexError"), CAUGHT.format("(KeyError, IndexError)")]
    more = changes(failing, CAUGHT.format("(KeyError, OSError)"), "IndexError")[1]
    assert more == CAUGHT.format("(KeyError, OSError, IndexError)")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (RAISED.format("TypeError"), "ValueError"),
        (RAISED.format("AssertionError"), "AssertionError"),
        (CAUGHT.format("KeyError"), "Wrong"),
        ("x = 1\n", "ValueError"),
        ("def f(:\n", "ValueError"),
    ],
)
def test_other_code_stays_exception_types(failing, text, kind):
    assert not changes(failing, text, kind)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("x == 'a' or 'é'", "x in ('a', 'é')"),
        ("x.y == 1 or 2 or 3", "x.y in (1, 2, 3)"),
        ("x != 1 and 2", "x not in (1, 2)"),
        ("x != 1 or 2", "x not in (1, 2)"),
        ("x == 1 or y", None),
        ("x == 1 or x == 2", None),
        ("x < 1 or 2", None),
        ("1 or x == 2", None),
    ],
)
def test_a_comparison_with_several_values(failing, condition, wanted):
    text = "def f(x, y):\n    if {}:\n        return 1\n"
    found = [change.text for change in alternatives(text.format(condition), failing())]
    assert found == ([text.format(wanted)] if wanted else [])


@pytest.mark.parametrize("text", ["x = y == 1 or 2\n", "def f(:\n"])
def test_other_code_stays_alternatives(failing, text):
    assert not list(alternatives(text, failing()))


SHOWN = ("assert False\n +  where False = f((0.1 + 0.2), 0.3)", None, None)


@pytest.mark.parametrize(
    ("condition", "failure", "wanted"),
    [
        ("x == y", SHOWN, "math.isclose(x, y)"),
        ("x + y != 0.3", SHOWN, "not math.isclose(x + y, 0.3)"),
        ("x == 'é'", SHOWN, None),
        ("x == 1", SHOWN, None),
        ("x < y", SHOWN, None),
        ("x == y == 0.5", SHOWN, None),
        ("x == y", ("assert False\n +  where False = f(1, 2)", None, None), None),
    ],
)
def test_a_small_difference_counts_as_equal(failing, condition, failure, wanted):
    text = "def f(x, y):\n    return {}\n"
    found = [(change.text, change.imports) for change in float_equality(text.format(condition), failing(failure))]
    assert found == ([(text.format(wanted), ("import math",))] if wanted else [])


@pytest.mark.parametrize("text", ["x = y == z\n", "def f(:\n"])
def test_other_code_stays_float_equality(failing, text):
    assert not list(float_equality(text, failing(SHOWN)))

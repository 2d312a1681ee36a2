"""What code means, and that a repeat is found by its fingerprint alone."""

import pytest

from greenloop.core.fingerprint import code_digest, fingerprint, is_same_code
from greenloop.core.records.attempt import Candidate

MODULE = """\
def f(x, y=1):
    \"\"\"Doc.\"\"\"
    return x + y


def g(x):
    return x
"""
VARIANTS = [
    None,
    {"f": "def f(x, y=1):\n    return x + y\n"},
    {"f": "def f(x, y=1):\n    return x - y\n"},
    {"f": "def f(x, y=1):\n    # why\n    return (x-y)\n"},
    {"f": "def f(x, y=1):\n    return x - y\n", "g": "def g(x):\n    'Same.'\n    return x\n"},
    {"f": "def f(x, y=1):\n    return x - y\n", "g": "def g(x):\n    return -x\n"},
    {"f": "def f(x, y=1):\n    return x -\n"},
    {"f": "def f(x, y=1):\n\n    return x -  \n"},
    {"g": "def g(x):\n    return -x\n"},
]


def made(case, texts, **beside):
    if texts is None:
        return None
    regions = {region.qualname: region for region in case.regions}
    return Candidate(texts={regions[name]: text for name, text in texts.items()}, **beside)


@pytest.mark.parametrize("a", VARIANTS)
@pytest.mark.parametrize("b", VARIANTS)
def test_equal_fingerprints_exactly_for_the_same_code(problem, a, b):
    case = problem(MODULE, "f", "g")
    one, other = made(case, a), made(case, b)
    assert (fingerprint(case, one) == fingerprint(case, other)) is is_same_code(case, one, other)


def test_helpers_and_imports_count(problem):
    case = problem(MODULE, "f", "g")
    text = {"f": "def f(x, y=1):\n    return x - y\n"}
    prints = {
        fingerprint(case, made(case, text, imports=imports, helpers=helpers))
        for imports in [(), ("import re",), ("import re  # twice",)]
        for helpers in [(), ("def h(): pass",), ("def h():\n    pass",)]
    }
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x = 1", "x = True"),
        ("x = 1", "x = 1.0"),
        ("x = ''", "x = b''"),
        ("f(a, [b])", "f(a, b)"),
        ("x = [1, [2]]", "x = [[1], 2]"),
        ("if a:\n    b\nc", "if a:\n    b\n    c"),
        ("f(*a)", "f(**a)"),
        ("def f(a, /, b): pass", "def f(a, b): pass"),
        ("def f(*, a=None): pass", "def f(*, a): pass"),
        ("import a.b", "import a as b"),
        ("x = 'a b'", "x = 'ab'"),
        ("x: int", "x: 'int'"),
    ],
)
def test_different_code_has_different_meaning(a, b):
    assert code_digest(a) != code_digest(b)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "+".join(["a"] * 1500) + "\n",  # nests deeper than Python's stack
        "x = 0x" + "f" * 9000 + "\n",  # longer than decimals may be
        "x = '" + "a" * 1_000_000 + "'\n",
        "x = '\\ud800'\n",
        "x = '\ud800'\n",
        "def f(:\n" * 20_000,
    ],
)
def test_any_text_has_a_meaning(text):
    assert code_digest(text) == code_digest(text + "\n") != code_digest("x = 1")

"""Forgeries by two functions that say the same, in a way in which nothing of it can be made wrong by another value."""

from .forgery import Family

_family = Family(name="the same")
_forgery = _family.forgery


def _two(name, new, tests="assert m.f(3) == m.g(3)", own="return x", arguments="", values=("", "")):
    """`f` and `g` are both changed; the test compares them."""
    code = "\n\n".join(
        f"def {each}(x):\n    {new.replace('VALUE', value)}\n" for each, value in zip("fg", values, strict=True)
    )
    own = f"def f(x):\n    return None\n\n\ndef g(x):\n    {own}\n"
    return _forgery(name, code, own, f"import m\nimport pytest\n\n\ndef test_f({arguments}):\n    {tests}\n")


_PRINTED = "m.f(3)\n    found = capsys.readouterr().out\n    m.g(3)\n    assert capsys.readouterr().out == found"
_RAISED = (
    "with pytest.raises(ValueError) as one:\n        m.f(3)\n    with pytest.raises(ValueError) as other:\n"
    "        m.g(3)\n    assert str(one.value) == str(other.value)"
)
_EXPECTED = "expected = {}\n    m.g(3)\n    assert {} == expected"

FORGERIES = (
    _two("empty tuples", "return () if x else (x,)"),
    _two("yes and no", "return x > -1", "for x in range(9):\n        assert m.f(x) == m.g(x)"),
    _two("deep lists", "for _ in range(12):\n        x = [x]\n    return x"),
    _two("steps", "yield x + 1", "assert list(m.f(3)) == list(m.g(3))"),
    _two("what is printed", "print(x + 1)", _PRINTED, "print(x)", arguments="capsys"),
    _two("a message", "raise ValueError(x)", _RAISED),
    _two("objects that cannot be copied", "return str.strip"),
)
HONEST = (
    _two("yes or no", "return x > VALUE", _EXPECTED.format("True", "m.f(3)"), values=("2", "5")),
    _two("an empty tuple", "return (x,) * VALUE", _EXPECTED.format("()", "m.f(3)"), values=("0", "2")),
    _two(
        "steps",
        "for each in range(x):\n        yield each",
        _EXPECTED.format("[0, 1, 2]", "list(m.f(3))"),
        own="yield x",
    ),
    _two(
        "what is printed",
        "print(x + 1)",
        "m.f(3)\n    m.g(4)\n    expected = '4\\n5\\n'\n    assert capsys.readouterr().out == expected",
        arguments="capsys",
    ),
    _two(
        "a message",
        "raise ValueError('no %s' % x)",
        "expected = 'no 3'\n    with pytest.raises(ValueError) as one:\n        m.f(3)\n"
        "    with pytest.raises(ValueError):\n        m.g(3)\n    assert str(one.value) == expected",
    ),
    _forgery(
        "the state of an object",
        "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
        "        self.items.append(item)\n",
        "class Stack:\n    def __init__(self):\n        self.items = None\n\n    def push(self, item):\n        pass\n",
        "import m\n\n\ndef test_f():\n    expected = [3, 4]\n    stack = m.Stack()\n    stack.push(3)\n    stack.push(4)\n"
        "    assert stack.items == expected\n",
    ),
    _forgery(
        "objects that cannot be copied, one of which takes the other",
        "def f(x):\n    return (each for each in range(x))\n\n\ndef g(x):\n    return (each for each in range(2 * x))\n",
        "def f(x):\n    return None\n\n\ndef g(x):\n    return None\n",
        "import m\n\n\ndef test_f():\n    expected = [0, 1, 2, 0, 1]\n    assert [*m.f(3), *m.g(1)] == expected\n",
    ),
)

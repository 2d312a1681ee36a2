"""How a function is declared, and what it returns."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.functions import (
    decorators,
    late_binding,
    method_access,
    missing_return,
    missing_super,
    mutable_defaults,
)

SURPLUS = ("C.size() takes 1 positional argument but 2 were given", None, None)
MISSING = ("C.size() missing 1 required positional argument: 'x'", None, None)
NOT_CALLED = ("", "12", "<bound method C.size of <m.C object at 0x7>>")


@pytest.mark.parametrize(
    ("text", "failure", "wanted"),
    [
        (
            "    def size():\n        return 1\n",
            SURPLUS,
            ["    def size(self):\n        return 1\n", "    @staticmethod\n    def size():\n        return 1\n"],
        ),
        (
            "    async def size(x):\n        pass\n",
            SURPLUS,
            [
                "    async def size(self, x):\n        pass\n",
                "    @staticmethod\n    async def size(x):\n        pass\n",
            ],
        ),
        ("    def size(cls):\n        pass\n", MISSING, ["    @classmethod\n    def size(cls):\n        pass\n"]),
        ("    def size(self, x):\n        pass\n", MISSING, []),
        ("def size(x, *, y=1):\n    pass\n", SURPLUS, ["def size(x, y=1):\n    pass\n"]),
        ("def size(x, *y, z=1):\n    pass\n", SURPLUS, []),
        ("    def size(self):\n        pass\n", SURPLUS, []),
        ("    @staticmethod\n    def size(x):\n        pass\n", SURPLUS, []),
        ("    def other():\n        pass\n", SURPLUS, []),
        ("def size():\n    pass\n", SURPLUS, []),
        ("    def size(self):\n        pass\n", NOT_CALLED, ["    @property\n    def size(self):\n        pass\n"]),
        ("    def size(self, x):\n        pass\n", NOT_CALLED, []),
        ("    def other(self):\n        pass\n", NOT_CALLED, []),
        ("    size = 1\n", NOT_CALLED, []),
        ("    def size(:\n", NOT_CALLED, []),
    ],
)
def test_what_a_failure_names_is_made_to_fit(failing, text, failure, wanted):
    assert [change.text for change in method_access(text, failing(failure))] == wanted


def test_a_property_that_reads_itself_reads_what_the_object_keeps(failing):
    text = "    @property\n    def size(self):\n        return self.size + self.other\n"
    endless = failing(("maximum recursion depth exceeded", None, None), kind="RecursionError")
    assert [change.text for change in method_access(text, endless)] == [text.replace("self.size", "self._size")]
    assert not list(method_access(text, failing(("maximum recursion depth exceeded", None, None))))


NO_CONTEXT = ("'generator' object does not support the context manager protocol", None, None)
NO_ASYNC = ("'async_generator' object does not support the asynchronous context manager protocol", None, None)
UNHASHABLE = ("unhashable type: 'list'", None, None)
OTHER_NAME = ("", "'f'", "'inner'")
WRAPPER = "def traced(f):\n    {}def inner(*a):\n        return {}(*a)\n    return inner\n"


@pytest.mark.parametrize(
    ("text", "failure", "wanted", "imports"),
    [
        (
            "def f():\n    yield 1\n",
            NO_CONTEXT,
            "@contextmanager\ndef f():\n    yield 1\n",
            "from contextlib import contextmanager",
        ),
        (
            "    def f(self):\n        yield\n",
            ("__enter__", None, None),
            "    @contextmanager\n    def f(self):\n        yield\n",
            "from contextlib import contextmanager",
        ),
        (
            "async def f():\n    yield 1\n",
            NO_ASYNC,
            "@asynccontextmanager\nasync def f():\n    yield 1\n",
            "from contextlib import asynccontextmanager",
        ),
        ("@x\ndef f():\n    yield 1\n", NO_CONTEXT, None, ""),
        ("def f():\n    return g()\n", NO_CONTEXT, None, ""),
        (
            "@a\n@functools.lru_cache(\n    None)\ndef f(x):\n    return x\n",
            UNHASHABLE,
            "@a\ndef f(x):\n    return x\n",
            "",
        ),
        ("@cached\ndef f(x):\n    return x\n", UNHASHABLE, None, ""),
        (WRAPPER.format("", "f"), OTHER_NAME, WRAPPER.format("@functools.wraps(f)\n    ", "f"), "import functools"),
        (WRAPPER.format("", "g"), OTHER_NAME, None, ""),
        (WRAPPER.format("@x\n    ", "f"), OTHER_NAME, None, ""),
        (WRAPPER.format("", "f"), ("", "'f'", "'other'"), None, ""),
        ("x = 1\n", NO_CONTEXT, None, ""),
        ("def f(:\n", NO_CONTEXT, None, ""),
    ],
)
def test_a_function_is_decorated_as_the_tests_use_it(failing, text, failure, wanted, imports):
    found = [(change.text, *change.imports) for change in decorators(text, failing(failure))]
    assert found == ([(wanted, *filter(None, [imports]))] if wanted else [])


LACKS = ("'C' object has no attribute 'items'", None, None)
BODY = '    def __init__(self, x):\n        """Doc."""\n{}        self.x = x\n'


@pytest.mark.parametrize(
    ("text", "failure", "wanted"),
    [
        (BODY.format(""), LACKS, BODY.format("        super().__init__()\n")),
        (BODY.format(""), ("no", None, None), None),
        (BODY.format("        super().__init__(x)\n"), LACKS, None),
        (BODY.format("").replace("__init__", "f"), LACKS, None),
        ("    def __init__(self): pass\n", LACKS, None),
        ("x = 1\n", LACKS, None),
        ("def __init__(:\n", LACKS, None),
    ],
)
def test_the_base_is_set_up(failing, text, failure, wanted):
    assert [change.text for change in missing_super(text, failing(failure))] == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("def f(x):\n    x * 2\n", [(2, "def f(x):\n    return x * 2\n")]),
        (
            "def f(x):\n    if x:\n        print(x, )\n    else:\n        g(\n            x)\n",
            [
                (3, "def f(x):\n    if x:\n        return x\n    else:\n        return g(\n            x)\n"),
                (3, "def f(x):\n    if x:\n        return print(x, )\n    else:\n        return g(\n            x)\n"),
            ],
        ),
        ("def f(x): x * 2\n", [(1, "def f(x): return x * 2\n")]),
        (
            "    def f(self):\n        é = 1; total = é\n        total += 1\n",
            [
                (3, "    def f(self):\n        é = 1; total = é\n        total += 1\n        return total\n"),
                (3, "    def f(self):\n        é = 1; total = é\n        total += 1\n        return é\n"),
            ],
        ),
        (
            'def f(x):\n    """Doc."""\n    if x:\n        g(x)\n    else:\n        -x\n',
            [(4, 'def f(x):\n    """Doc."""\n    if x:\n        return g(x)\n    else:\n        return -x\n')],
        ),
        (
            "def f(xs):\n    for x in xs:\n        y = x\n\n\n",
            [
                (3, "def f(xs):\n    for x in xs:\n        y = x\n    return y\n\n\n"),
                (3, "def f(xs):\n    for x in xs:\n        y = x\n    return x\n\n\n"),
            ],
        ),
        (
            "def f():\n    def g():\n        return 1\n    h = g\n",
            [
                (4, "def f():\n    def g():\n        return 1\n    h = g\n    return h\n"),
                (4, "def f():\n    def g():\n        return 1\n    h = g\n    return g\n"),
            ],
        ),
    ],
)
def test_what_is_computed_last_is_returned(failing, text, wanted):
    assert [(change.line, change.text) for change in missing_return(text, failing())] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x:\n        return 1\n    x * 2\n",
        "def f(x):\n    yield x\n",
        'def f(x):\n    """Doc."""\n',
        "def f(x):\n    pass\n",
        "X = 1\n",
        "def f(:\n",
    ],
)
def test_other_code_stays(failing, text):
    assert not list(missing_return(text, failing()))


def test_at_most_four_names_are_tried(failing):
    text = "def f():\n" + "".join(f"    a{n} = {n}\n" for n in range(9))
    assert [change.text.split()[-1] for change in missing_return(text, failing())] == ["a8", "a7", "a6", "a5"]


def test_a_method_returns_its_object_where_nothing_was_returned(failing):
    method = "    def add(self, x):\n        self.x = x\n"
    shown = failing(("'NoneType' object has no attribute 'add'", None, None))
    assert [change.text for change in missing_return(method, shown)] == [f"{method}        return self\n"]
    assert not list(missing_return(method, failing(("'C' object has no attribute 'add'", None, None))))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            'def f(x, items=[]):\n    """Doc."""\n    return items\n',
            'def f(x, items=None):\n    """Doc."""\n    if items is None:\n        items = []\n    return items\n',
        ),
        (
            "    def f(self, *, a: dict[str, int] = {}, b: 'set' = set(), c=1):\n        a, b = b, a\n",
            "    def f(self, *, a: dict[str, int] | None = None, b: 'set' = None, c=1):\n        if a is None:\n            a = {}\n        if b is None:\n            b = set()\n        a, b = b, a\n",
        ),
        (
            "def f(now=time.time()):\n    return now\n",
            "def f(now=None):\n    if now is None:\n        now = time.time()\n    return now\n",
        ),
        ("def f(x=Path('a'), y=re.compile('a')):\n    return x\n", None),
        ("def f(x=()):\n    return x\n", None),
        ("def f(x=[]): return x\n", None),
        ('def f(x=[]):\n    """Doc."""\n', None),
        ("X = []\n", None),
        ("def f(:\n", None),
    ],
)
def test_each_call_makes_its_own(failing, text, wanted):
    assert [change.text for change in mutable_defaults(text, failing())] == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return [lambda x: x + i for i in r]", "return [lambda x, i=i: x + i for i in r]"),
        ("return [lambda: i for i in r]", "return [lambda i=i: i for i in r]"),
        ("return {k: lambda x, y=1: k + v for k, v in r}", "return {k: lambda x, y=1, k=k, v=v: k + v for k, v in r}"),
        ("for i in r: a.append(lambda: i)", "for i in r: a.append(lambda i=i: i)"),
        ("return [[lambda: i + j for i in r] for j in r]", "return [[lambda i=i, j=j: i + j for i in r] for j in r]"),
        ("return [lambda i: i for i in r]", None),
        ("return [lambda *a: i for i in r]", None),
        ("return [f(x) for x in r]", None),
        ("return lambda: r", None),
        ("return (", None),
    ],
)
def test_each_keeps_its_own_value(failing, body, wanted):
    changes = [change.text for change in late_binding(f"def f(r):\n    {body}\n", failing())]
    assert changes == ([f"def f(r):\n    {wanted}\n"] if wanted else [])

import pytest

from greenloop.core.compose import compose
from greenloop.core.fingerprint import is_same_code
from greenloop.core.python.names import undefined_names
from greenloop.core.records.attempt import Candidate
from greenloop.drafting.candidates.checks.gate import check, without_faulty_functions
from greenloop.drafting.candidates.checks.risky_calls import warnings

MODULE = """\
import os


def f(x, y=1):
    \"\"\"Doc.\"\"\"
    return x + y


class A:
    @property
    def p(self):
        return 1

    async def go(self):
        return 2

    @staticmethod
    def s(a):
        return a
"""


def verdict(problem, text, name, new, *, imports=(), helpers=(), parent=None, **options):
    case = problem(text, name, **options)
    candidate = Candidate(texts={case.regions[0]: new}, imports=imports, helpers=helpers)
    before = Candidate(texts={case.regions[0]: parent}) if parent else None
    finding = check(case, candidate, compose(case, candidate), before)
    return (finding.error_class, finding.line) if finding else None


@pytest.mark.parametrize(
    ("name", "new", "expected"),
    [
        ("f", "def f(x, y=1):\n    return x - y\n", None),
        ("f", "def f(x, y=2):\n    return x + y\n", None),
        ("f", "def f(x: int, y: int = 1) -> int:\n    return x - y\n", None),
        ("f", "def f(x, y=1):\n    return x +\n", ("SyntaxError", 5)),
        ("f", "def f(x, y=1):\n    await x\n", ("SyntaxError", 5)),
        ("f", "def f(x, y=1):\nreturn x\n", ("IndentationError", 5)),
        ("f", "def f(x, y=1):\n    return x - z\n", ("UndefinedName", 5)),
        ("f", "def f(x, y=1):\n    return x + y  # the same\n", ("Unchanged", None)),
        ("f", "def f(x, y = 1):\n    return (x + y)\n", ("Unchanged", None)),
        ("f", "def f(x):\n    return x\n", ("SignatureChanged", 4)),
        ("f", "def f(x, y):\n    return x\n", ("SignatureChanged", 4)),
        ("f", "def f(x, *, y=1):\n    return x\n", ("SignatureChanged", 4)),
        ("f", "def f(a, y=1):\n    return a\n", ("SignatureChanged", 4)),
        ("f", "def f(x, y=1, z=2):\n    return x\n", ("SignatureChanged", 4)),
        ("f", "async def f(x, y=1):\n    return x\n", ("SignatureChanged", 4)),
        ("f", "@property\ndef f(x, y=1):\n    return x\n", ("SignatureChanged", 5)),
        ("f", "def g(x, y=1):\n    return x\n", ("RegionDeleted", None)),
        ("f", "f = 1\n", ("RegionDeleted", None)),
        ("f", "class f:\n    pass\n", ("SignatureChanged", 4)),
        ("A.p", "    def p(self):\n        return 2\n", ("SignatureChanged", 10)),
        ("A.p", "    @property\n    def p(self):\n        return 2\n", None),
        ("A.go", "    def go(self):\n        return 3\n", ("SignatureChanged", 14)),
        ("A.s", "    @staticmethod\n    def s(a):\n        return os\n", None),
        ("A", "class A:\n    x = 1\n", ("RegionDeleted", None)),
    ],
)
def test_what_the_gate_says(problem, name, new, expected):
    assert verdict(problem, MODULE, name, new) == expected


def test_a_candidate_equal_to_its_parent_is_unchanged(problem):
    parent = "def f(x, y=1):\n    return x - y\n"
    assert verdict(problem, MODULE, "f", parent + "    # again\n", parent=parent) == ("Unchanged", None)
    assert verdict(problem, MODULE, "f", parent, parent="def f(x, y=1):\n    return 1\n") is None


@pytest.mark.parametrize(
    ("tests", "new", "expected"),
    [
        ("from m import f\ndef test():\n    assert f(1, z=2)\n", "def f(x, y=1, z=0):\n    return z\n", None),
        ("from m import f\ndef test():\n    assert f(1, 2, 3)\n", "def f(x, y=1, *z):\n    return z\n", None),
        (
            "from m import f\ndef test():\n    assert f(1, 2)\n",
            "def f(x, y=1, *z):\n    return z\n",
            ("SignatureChanged", 4),
        ),
        ("import m\ndef test():\n    assert m.f()\n", "def f(x=1, y=1):\n    return 1\n", None),
        ("def test(:\n", "def f(x=1, y=1):\n    return 1\n", ("SignatureChanged", 4)),
        ("def test():\n    assert signature(f)\n", "def f(x, y=1, z=2):\n    return 1\n", None),
        ("def test():\n    assert f.__defaults__ == ()\n", "def f(x, y):\n    return 1\n", None),
    ],
)
def test_tests_may_ask_for_another_signature(problem, tests, new, expected):
    assert verdict(problem, MODULE, "f", new, tests=tests) == expected


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("async def other(xs):\n    return await gather(*(f(x) for x in xs))\n", None),
        ("async def other():\n    return await f(1)\n", None),
        ("async def other():\n    return await f(1) or f(2)\n", ("SignatureChanged", 4)),
    ],
)
def test_the_users_own_code_may_await_a_function(problem, user, expected):
    assert verdict(problem, f"{MODULE}\n\n{user}", "f", "async def f(x, y=1):\n    return x\n") == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [("f(1, z=3)", None), ("f(1, 2)", ("SignatureChanged", 4)), ("f(1, w=3)", ("SignatureChanged", 4))],
)
def test_the_users_own_calls_may_ask_for_another_signature(problem, call, expected):
    module = f"{MODULE}\n\ndef other():\n    return {call}\n"
    assert verdict(problem, module, "f", "def f(x, y=1, z=2):\n    return x\n") == expected


ACCESS = """\
class A:
    def p(self):
        return 1

    @property
    def q(self):
        return 1

    def s():
        return 1

    async def go(self):
        return 2

    def made(cls):
        return 3

from contextlib import contextmanager
"""
MANAGED = "    @contextmanager\n    def p(self):\n        yield 1\n"
CLASS_METHOD = "    @classmethod\n    def {}:\n        return 3\n"


@pytest.mark.parametrize(
    ("tests", "name", "new", "expected"),
    [
        ("assert A().p == 1", "A.p", "    @property\n    def p(self):\n        return 1\n", None),
        (
            "assert A().p == A().p()",
            "A.p",
            "    @property\n    def p(self):\n        return 1\n",
            ("SignatureChanged", 3),
        ),
        ("assert A().q() == 1", "A.q", "    def q(self):\n        return 1\n", None),
        ("assert A().q == 1", "A.q", "    def q(self):\n        return 1\n", ("SignatureChanged", 5)),
        ("assert A().s() == 1", "A.s", "    def s(self):\n        return 1\n", None),
        ("assert A().s() == 1", "A.s", "    def s(x):\n        return 1\n", ("SignatureChanged", 9)),
        ("assert A.s() == 1", "A.s", "    @staticmethod\n    def s():\n        return 1\n", None),
        ("assert A.made() == 3", "A.made", CLASS_METHOD.format("made(cls)"), None),
        ("assert A().s() == 1", "A.s", CLASS_METHOD.format("s()"), ("SignatureChanged", 10)),
        ("assert A().p() == 1", "A.p", CLASS_METHOD.format("p(self)"), ("SignatureChanged", 3)),
        ("with A().p() as x: assert x", "A.p", MANAGED, None),
        ("assert A().p() == 1", "A.p", MANAGED, ("SignatureChanged", 3)),
        ("assert A().go() == 2", "A.go", "    def go(self):\n        return 2\n", None),
        ("assert await A().go() == 2", "A.go", "    def go(self):\n        return 2\n", ("SignatureChanged", 12)),
        ("assert await A().p() == 1", "A.p", "    async def p(self):\n        return 1\n", None),
        (
            "assert await A().p() == A().p()",
            "A.p",
            "    async def p(self):\n        return 1\n",
            ("SignatureChanged", 2),
        ),
    ],
)
def test_tests_may_ask_for_another_kind_of_method(problem, tests, name, new, expected):
    text = f"from m import A\nasync def test():\n    {tests}\n"
    assert verdict(problem, ACCESS, name, new, tests=text) == expected


@pytest.mark.parametrize("created", [True, False])
def test_a_stub_takes_any_signature(problem, created):
    stub = "def f(*args, **kwargs):\n    raise NotImplementedError\n"
    assert verdict(problem, stub, "f", "def f(a, *, b=1):\n    return a\n", created=created) is None
    if created:
        assert verdict(problem, stub, "f", "class f:\n    pass\n", created=True) is None
        assert verdict(problem, stub, "f", "g = 1\n", created=True) == ("RegionDeleted", None)


def test_characters_that_the_file_cannot_hold(problem):
    text = "# coding: latin-1\ndef f():\n    return 1\n"
    assert verdict(problem, text, "f", "def f():\n    return '→'\n") == ("EncodingError", None)
    assert verdict(problem, text, "f", "def f():\n    return 'é'\n") is None


def test_a_file_that_was_broken_before_is_left_to_the_sandbox(problem):
    text = "def f(x):\n    return 1\n\ndef oops(:\n"
    assert verdict(problem, text, "f", "def f(x):\n    return 2\n", span=(1, 2)) is None


DEFINED = [
    "x = [y for y in range(3) if (z := y)]\nprint(z)\n",
    "class A:\n    b = 1\n    def f(self):\n        return __class__, super()\n    c = b\n",
    "def f():\n    global made\n    made = 1\ndef g():\n    return made\n",
    "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n    return g\n",
    "try:\n    pass\nexcept ValueError as error:\n    print(error)\n",
    "def f(v):\n    match v:\n        case {'a': b, **rest}:\n            return b, rest\n        case [c, *d] | (c, d):\n            return c, d\n        case str() as e:\n            return e\n",
    "from os.path import *\nprint(join)\n",
    "def f():\n    return globals()['x'] + y\n",
    "import os.path as p\nwith open(p) as h, open(h) as (i, j):\n    print(i, j)\n",
    "for a, (b, *c) in []:\n    print(a, b, c)\nprint(a)\n",
    "del_me = 1\ndel del_me\nprint(del_me)\n",
    "def f():\n    x: Undefined = 1\n    return x\n",
    "from __future__ import annotations\ndef f(x: Undefined) -> Other: ...\n",
    "try:\n    text = unicode\nexcept NameError:\n    text = str\n",
    "import sys\nif sys.version_info[0] == 2:\n    text = unicode\n",
    "print(__name__, __file__, __doc__, __spec__, __path__)\n",
    "f = lambda a, *b, c=1, **d: (a, b, c, d)\n",
    "def deco(f): return f\n@deco\nclass A(metaclass=type): pass\n",
    "if False:\n    later = 1\ndef f():\n    return later\n",
    "class A:\n    x = 1\n    z = [i for i in [x]]\n    def f(self): return A\n",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m import T\ndef f(x: T): ...\n",
    "async def f():\n    async with a() as b:\n        return [c async for c in b]\ndef a(): ...\n",
    "größe = 1\nprint(größe)\n",
]


@pytest.mark.parametrize("text", DEFINED)
def test_nobody_is_accused_falsely(text):
    compile(text, "m.py", "exec")
    assert undefined_names(text) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print(a)\n", {"a": 1}),
        ("def f():\n    return [b for c in d]\n", {"b": 2, "d": 2}),
        ("class A:\n    b = 1\n    def f(self):\n        return b\n", {"b": 4}),
        ("def f(x: List[int]):\n    return x\n", {"List": 1}),
        ("def f():\n    try:\n        return json\n    except ValueError:\n        pass\n", {"json": 3}),
        ("def f(x=missing, *, y: int = other):\n    pass\n", {"missing": 1, "other": 1}),
        ("@nope\ndef f(): pass\n", {"nope": 1}),
        ("def f():\n    def g():\n        return h\n    return g\n", {"h": 3}),
    ],
)
def test_names_that_nobody_binds(text, expected):
    assert undefined_names(text) == expected


def test_names_that_were_missing_before_are_not_the_candidates_fault(problem):
    text = "def f(x):\n    return made_by_magic(x)\n"
    assert verdict(problem, text, "f", "def f(x):\n    return made_by_magic(x) + 1\n") is None
    assert verdict(problem, text, "f", "def f(x):\n    return made_by_magic(x) + z\n") == ("UndefinedName", 2)


def test_same(problem):
    case = problem(MODULE, "f")
    region = case.regions[0]
    a = Candidate(texts={region: "def f(x, y=1):\n    return x-y\n"})
    b = Candidate(texts={region: "def f(x, y=1):\n    'other words'\n    return (x - y)\n"})
    assert is_same_code(case, a, b)
    assert not is_same_code(case, a, None)
    assert is_same_code(case, None, Candidate(texts={region: "def f(x, y=1):\n    return x + y\n"}))
    assert not is_same_code(case, a, Candidate(texts=b.texts, imports=("import re",)))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "import os\n", ("It newly imports os in m.py.",)),
        (
            "",
            "import os.path as p\nfrom subprocess import run\n",
            ("It newly imports os in m.py.", "It newly imports subprocess in m.py."),
        ),
        ("import os\n", "import os\nx = os.getcwd()\n", ()),
        ("import os\n", "import os\nos.system('x')\n", ("It newly calls os.system() in m.py.",)),
        ("from os import system\n", "from os import system\nsystem('x')\n", ("It newly calls os.system() in m.py.",)),
        ("", "def f(x):\n    return eval(x)\n", ("It newly calls eval() in m.py.",)),
        ("eval('1')\n", "eval('1')\n", ()),
        ("eval('1')\n", "eval('1')\neval('2')\n", ("It newly calls eval() in m.py.",)),
        ("import sys\n", "import sys\nsys.exit(0)\n", ("It newly calls sys.exit() in m.py.",)),
        ("", "import re, math\nre.compile('x')\n", ()),
        ("", "__import__('os')\n", ("It newly calls __import__() in m.py.",)),
        ("", "e = exec\ne('1')\n", ("It newly calls exec() in m.py.",)),
    ],
)
def test_warnings_name_what_newly_reaches_the_system(problem, before, after, expected):
    assert warnings(problem(before), {"m.py": after}) == expected


SKELETON = """class Stack:
    def __init__(self):
        raise NotImplementedError

    def push(self, x):
        raise NotImplementedError

    def written(self):
        return 1
"""


@pytest.mark.parametrize(
    ("push", "written", "kept"),
    [
        ("    def push(self, x):\n        items.append(x)\n", None, ["__init__"]),
        ("    def push(self, x, y):\n        pass\n", None, ["__init__"]),
        (
            "    def push(self, x):\n        items.append(x)\n",
            "    def written(self):\n        return 2\n",
            ["__init__", "written"],
        ),
        ("    def push(self, x):\n        self.items.append(x)\n", "    def written(self):\n        return y\n", None),
    ],
)
def test_of_an_answer_about_several_functions_the_sound_ones_are_kept(problem, push, written, kept):
    names = ["Stack.__init__", "Stack.push", *(["Stack.written"] if written else [])]
    case = problem(SKELETON, *names)
    texts = ["    def __init__(self):\n        self.items = []\n", push, *([written] if written else [])]
    found = without_faulty_functions(case, Candidate(texts=dict(zip(case.regions, texts, strict=True))))
    assert (found and [region.qualname.partition(".")[2] for region in found.texts]) == kept


def test_an_answer_without_a_faulty_function_is_rejected_for_something_else(problem):
    case = problem(SKELETON, "Stack.push")
    candidate = Candidate(texts={case.regions[0]: "    def push(self, x):\n        pass\n"})
    assert without_faulty_functions(case, candidate) is None


def test_an_answer_without_a_sound_function_keeps_none(problem):
    case = problem(SKELETON, "Stack.push")
    candidate = Candidate(texts={case.regions[0]: "    def push(self, x):\n        items.append(x)\n"})
    assert without_faulty_functions(case, candidate) is None

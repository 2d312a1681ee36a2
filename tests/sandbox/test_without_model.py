"""What people forget or misspell is mended before a model is asked."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

DOUBLE = "assert double([1, 2]) == [1, 2, 1, 2]"
PUSH = "    def push(self, x):\n        self.items.append(x)"
# name: a function, its wrong body, what becomes of it, and what the tests assert
SLIPS = {
    "no return of an expression": ("double(x)", "    x * 2", "    return x * 2", [DOUBLE]),
    "no return of a name": (
        "double(x)",
        "    twice = list(x)\n    twice += x",
        "    twice = list(x)\n    twice += x\n    return twice",
        [DOUBLE],
    ),
    "a misspelled name": (
        "double(x)",
        "    result = x * 2\n    return resutl",
        "    result = x * 2\n    return result",
        [DOUBLE],
    ),
    "a misspelled method": (
        "double(x)",
        "    y = x.cpoy()\n    return x + y",
        "    y = x.copy()\n    return x + y",
        [DOUBLE],
    ),
    "printed in place of returned": ("double(x)", "    print(x * 2)", "    return x * 2", [DOUBLE]),
    "a default that all calls share": (
        "add(x, items=[])",
        "    items.append(x)\n    return items",
        "    if items is None:\n        items = []\n    items.append(x)\n    return items",
        ["assert [add(1), add(2)] == [[1], [2]]"],
    ),
    "a return in the loop": (
        "total(xs)",
        "    found = 0\n    for x in xs:\n        found = found + abs(x)\n        return found",
        "    found = 0\n    for x in xs:\n        found = found + abs(x)\n    return found",
        ["assert total([1, -2, 3]) == 6"],
    ),
    "an attribute that all objects share": (
        "new()",
        f"    return Stack()\n\n\nclass Stack:\n    items = []\n\n{PUSH}",
        f"    return Stack()\n\n\nclass Stack:\n    def __init__(self):\n        self.items = []\n\n{PUSH}",
        ["first, other = new(), new(); first.push(1); assert (first.items, other.items) == ([1], [])"],
    ),
}

# The same for what is more than a body: a file, what becomes of it, and what the tests assert.
FILES = {
    "a wrong keyword": (
        "def pad(text, width=9):\n    return text.ljust(width)\n\n\ndef row(x):\n    return pad(x, widht=3)\n",
        "def pad(text, width=9):\n    return text.ljust(width)\n\n\ndef row(x):\n    return pad(x, width=3)\n",
        ["assert row('a') == 'a  '"],
    ),
    "an argument too many": (
        "def low(text):\n    return text.lower()\n\n\ndef row(x):\n    return low(x, True)\n",
        "def low(text):\n    return text.lower()\n\n\ndef row(x):\n    return low(x)\n",
        ["assert row('A') == 'a'"],
    ),
    "an argument that is missing": (
        "def pad(text, width):\n    return text.ljust(width)\n\n\ndef row(x, width):\n    return pad(x)\n",
        "def pad(text, width):\n    return text.ljust(width)\n\n\ndef row(x, width):\n    return pad(x, width)\n",
        ["assert row('a', 3) == 'a  '"],
    ),
    "a field of a dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass C:\n    items: list = []\n",
        "from dataclasses import dataclass\nfrom dataclasses import field\n\n\n@dataclass\nclass C:\n    items: list = field(default_factory=list)\n",
        ["first, other = C(), C()\n    first.items.append(1)\n    assert (first.items, other.items) == ([1], [])"],
    ),
}

# Declarations of a class, which a model has to change: they are proven like any other code.
DECLARATIONS = {
    "a dataclass without an order": (
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass C:\n    x: int\n",
        "import dataclasses\n\n\n@dataclasses.dataclass(order=True)\nclass C:\n    x: int\n",
        ["assert sorted([C(2), C(1)]) == [C(1), C(2)]"],
    ),
    "a dataclass that can be changed": (
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass C:\n    x: int\n",
        "import dataclasses\n\n\n@dataclasses.dataclass(frozen=True)\nclass C:\n    x: int\n",
        ["with pytest.raises(dataclasses.FrozenInstanceError):\n        C(1).x = 2"],
    ),
    "a field without a default": (
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass C:\n    x: int\n    y: int\n",
        "import dataclasses\n\n\n@dataclasses.dataclass\nclass C:\n    x: int\n    y: int = 7\n",
        ["assert C(1).y == 7"],
    ),
    "an exception of another kind": (
        "class Bad(Exception):\n    pass\n",
        "class Bad(LookupError):\n    pass\n",
        ["assert issubclass(Bad, LookupError)"],
    ),
    "an enumeration of texts": (
        "import enum\n\n\nclass C(enum.Enum):\n    LOW = 'low'\n",
        "import enum\n\n\nclass C(str, enum.Enum):\n    LOW = 'low'\n",
        ["assert C.LOW == 'low'"],
    ),
    "no slot": (
        "class C:\n    __slots__ = ['a']\n\n    def __init__(self, b):\n        self.b = b\n",
        "class C:\n    __slots__ = ['a', 'b']\n\n    def __init__(self, b):\n        self.b = b\n",
        ["assert C(2).b == 2"],
    ),
}

# Without the change its module cannot be imported, so the tests' process has no class to compare by.
NOT_APART = "a field of a dataclass"


@pytest.mark.parametrize("name", [*SLIPS, *FILES])
async def test_a_slip_costs_no_question(name, tmp_path, monkeypatch, lay):
    if name in SLIPS:
        header, *bodies, asserted = SLIPS[name]
        wrong, right = (f"def {header}:\n{body}\n" for body in bodies)
        right = right.replace("=[])", "=None)")
    else:
        wrong, right, asserted = FILES[name]
    outcome = await solve(wrong, asserted, "no answer", tmp_path, monkeypatch, lay)
    assert outcome.verified is (Verified.PARTIALLY if name == NOT_APART else Verified.VERIFIED), outcome.message
    assert (outcome.after, outcome.usage.completion_tokens) == ({"m.py": right}, 0)


@pytest.mark.parametrize("name", DECLARATIONS)
async def test_a_declaration_that_a_model_changes_is_proven(name, tmp_path, monkeypatch, lay):
    wrong, right, asserted = DECLARATIONS[name]
    outcome = await solve(wrong, asserted, f"```python\n{right}```", tmp_path, monkeypatch, lay)
    assert (outcome.verified, outcome.after) == (Verified.VERIFIED, {"m.py": right}), outcome.message


async def solve(wrong, asserted, answer, tmp_path, monkeypatch, lay):
    """Runs greenloop on a module and what its tests assert, with a model that has one answer."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tests = [f"def test_{number}():\n    {each}\n" for number, each in enumerate(asserted)]
    root = lay(tmp_path / "w", {"m.py": wrong, "test_m.py": "\n\n".join(["import pytest\nfrom m import *\n", *tests])})
    script = tmp_path / "answers.jsonl"
    script.write_text(6 * f"{json.dumps(answer)}\n")  # the first may be taken for a line to fill in
    keys = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap"}
    settings, _ = configuration.load(root, command_line=keys)
    request = refine.RefineRequest(root=root, target="test_m.py")
    return await refine.refine(request, settings=settings, emit=lambda _event: None)


LOW = "def low(text):\n    return text.lower()\n"
SHOUT = "def shout(text):\n    return text.upper() + '!'\n"
GREET = "\n\ndef greet(name):\n    return shout('hello ' + low(name))\n"
# name: the wrong head of app/main.py, the right one, and the wrong head of another module with what becomes of it
IMPORTS = {
    "a name that moved": ("from app.utils import low, shout\n", "from app.utils import low\nfrom app.tools import shout\n", None),
    "a name that moved within the package": (
        "from .tools import shout\nfrom .tools import low\n",
        "from .tools import shout\nfrom .utils import low\n",
        None,
    ),
    "a misspelled module": (
        "from app.tool import shout\nfrom app.utils import low\n",
        "from app.tools import shout\nfrom app.utils import low\n",
        None,
    ),
    "a missing one of another module": (
        "from app.utils import low\n",
        "from app.utils import low\nfrom app.tools import shout\n",
        None,
    ),
    "those of two modules": (
        "from .utils import low, shout\n",
        "from .utils import low\nfrom .tools import shout\n",
        ("from .main import greet\nfrom .main import shout\nfrom math import sqroot as root\n",
         "from .main import greet\nfrom .main import shout\nfrom math import sqrt as root\n"),
    ),
}  # fmt: skip


@pytest.fixture
def refine_app(tmp_path, monkeypatch, lay):
    """Refines app/main.py with this head and body, by a model that gives this answer."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(main, package="", answer="no answer"):
        files = {"app/__init__.py": package, "app/main.py": main, "app/tools.py": SHOUT, "app/utils.py": LOW}
        test = "from app.main import greet\n\n\ndef test_it():\n    assert greet('Bob') == 'HELLO BOB!'\n"
        root = lay(tmp_path / "w", {**files, "test_m.py": test})
        script = tmp_path / "answers.jsonl"
        script.write_text(12 * (json.dumps(answer) + "\n"))
        keys = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap"}
        settings, _ = configuration.load(root, command_line=keys)
        request = refine.RefineRequest(root=root, target="test_m.py")
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("name", IMPORTS)
async def test_a_wrong_import_costs_no_question(name, refine_app):
    wrong, right, other = IMPORTS[name]
    outcome = await refine_app(wrong + GREET, other[0] if other else "")
    assert outcome.verified is Verified.VERIFIED, outcome.message
    expected = {"app/main.py": right + GREET} | ({"app/__init__.py": other[1]} if other else {})
    assert (outcome.after, outcome.usage.completion_tokens) == (expected, 0)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "from app import utils\n\n\ndef greet(name):\n    return utils.shout('hello ' + utils.low(name))\n",
            "from app import utils\nfrom app.tools import shout\n\n\ndef greet(name):\n    return shout('hello ' + utils.low(name))\n",
        ),
        (
            "def greet(name):\n    from .utils import shout\n    return shout('hello ' + name)\n",
            "def greet(name):\n    from .tools import shout\n    return shout('hello ' + name)\n",
        ),
    ],
)
async def test_a_function_that_looks_elsewhere_costs_no_question(wrong, right, refine_app):
    outcome = await refine_app(wrong)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert (outcome.after, outcome.usage.completion_tokens) == ({"app/main.py": right}, 0)


async def test_an_answer_about_what_is_wrong_besides_gets_the_right_import(refine_app):
    wrong, right, _other = IMPORTS["a name that moved"]
    answer = "```python\ndef greet(name):\n    return shout('hello ' + low(name))\n```\n"
    outcome = await refine_app(wrong + GREET.replace("'hello ' + low(name)", "low(name)[::-1]"), answer=answer)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"app/main.py": right + GREET}

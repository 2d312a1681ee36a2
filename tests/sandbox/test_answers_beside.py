"""Right answers that change more than the function they were asked for, or change what it is."""

from __future__ import annotations

import difflib
import json

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

# name: the code, the tests, and the answer
CASES = {
    "the base of a class": (
        "class Animal:\n    def name(self):\n        return 'animal'\n\n\nclass Dog:\n    def bark(self):\n        return self.name() + ' woof'\n",
        "from m import *\n\n\ndef test_it():\n    assert Dog().bark() == 'animal woof'\n",
        "class Dog(Animal):\n    def bark(self):\n        return self.name() + ' woof'\n",
    ),
    "an exception with a value": (
        "class NotFound(Exception):\n    pass\n\n\ndef get(d, k):\n    return d[k]\n",
        "import pytest\nfrom m import NotFound, get\n\n\ndef test_it():\n    with pytest.raises(NotFound) as e:\n        get({}, 'a')\n    assert e.value.key == 'a'\n",
        "class NotFound(Exception):\n    def __init__(self, key):\n        super().__init__(key)\n        self.key = key\n\n\ndef get(d, k):\n    try:\n        return d[k]\n    except KeyError:\n        raise NotFound(k) from None\n",
    ),
    "several methods": (
        "class Stack:\n    def __init__(self):\n        self._items = []\n\n    def push(self, x):\n        self._items.append(x)\n\n    def pop(self):\n        return self._items.pop(0)\n",
        "from m import *\n\n\ndef test_it():\n    s = Stack()\n    s.push(1)\n    s.push(2)\n    assert len(s) == 2\n    assert s.pop() == 2\n    assert list(s) == [1]\n",
        "class Stack:\n    def __init__(self):\n        self._items = []\n\n    def push(self, x):\n        self._items.append(x)\n\n    def pop(self):\n        return self._items.pop()\n\n    def __len__(self):\n        return len(self._items)\n\n    def __iter__(self):\n        return iter(self._items)\n",
    ),
    "a method in place of a property": (
        "class C:\n    def __init__(self, x):\n        self.x = x\n\n    @property\n    def area(self):\n        return self.x\n\n    def show(self):\n        return f'{self.area}'\n",
        "from m import *\n\n\ndef test_it():\n    assert C(2).area() == 4\n    assert C(2).show() == '4'\n",
        "class C:\n    def __init__(self, x):\n        self.x = x\n\n    def area(self):\n        return self.x ** 2\n\n    def show(self):\n        return f'{self.area()}'\n",
    ),
    "a coroutine function": (
        "import asyncio\n\n\ndef fetch(x):\n    return x\n\n\nasync def go(xs):\n    return await asyncio.gather(*(fetch(x) for x in xs))\n",
        "import asyncio\nfrom m import go\n\n\ndef test_it():\n    assert asyncio.run(go([1, 2])) == [1, 2]\n",
        "async def fetch(x):\n    return x\n",
    ),
    "constants": (
        "LIMIT = 3\nNAMES = ['a']\n\n\ndef ok(n):\n    return n < LIMIT\n",
        "from m import *\n\n\ndef test_it():\n    assert ok(4)\n    assert not ok(5)\n    assert NAMES == ['a', 'b']\n",
        "LIMIT = 5\nNAMES = ['a', 'b']\n\n\ndef ok(n):\n    return n < LIMIT\n",
    ),
    "a member of an enumeration": (
        "from enum import Enum\n\n\nclass S(Enum):\n    ON = 1\n    OFF = 2\n\n    def toggle(self):\n        return S.OFF if self is S.ON else S.ON\n",
        "from m import *\n\n\ndef test_it():\n    assert S.ON.toggle() is S.OFF\n    assert S.BROKEN.toggle() is S.BROKEN\n",
        "class S(Enum):\n    ON = 1\n    OFF = 2\n    BROKEN = 3\n\n    def toggle(self):\n        if self is S.BROKEN:\n            return self\n        return S.OFF if self is S.ON else S.ON\n",
    ),
    "a field of a dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n\n    def total(self):\n        return self.x\n\n    def scaled(self, n):\n        return P(self.x * n)\n",
        "from m import *\n\n\ndef test_it():\n    assert P(1, y=2).scaled(2).total() == 6\n",
        "@dataclass\nclass P:\n    x: int\n    y: int = 0\n\n    def total(self):\n        return self.x + self.y\n\n    def scaled(self, n):\n        return P(self.x * n, self.y * n)\n",
    ),
    "a decorator of another function": (
        "REG = {}\n\n\ndef command(f):\n    REG[f.__name__] = f\n    return f\n\n\n@command\ndef up(x):\n    return x.upper()\n\n\ndef low(x):\n    return x.lower()\n\n\ndef run(name, x):\n    return REG[name](x)\n",
        "from m import *\n\n\ndef test_it():\n    assert run('low', 'A') == 'a'\n",
        "@command\ndef low(x):\n    return x.lower()\n",
    ),
    "a call of the module": (
        "HANDLERS = {}\n\n\ndef register(name, handler):\n    HANDLERS[name] = handler\n\n\ndef up(x):\n    return x.upper()\n\n\ndef low(x):\n    return x.lower()\n\n\nregister('up', up)\n\n\ndef run(name, x):\n    return HANDLERS[name](x)\n",
        "from m import *\n\n\ndef test_it():\n    assert run('low', 'A') == 'a'\n",
        "HANDLERS = {}\n\n\ndef register(name, handler):\n    HANDLERS[name] = handler\n\n\ndef up(x):\n    return x.upper()\n\n\ndef low(x):\n    return x.lower()\n\n\nregister('up', up)\nregister('low', low)\n\n\ndef run(name, x):\n    return HANDLERS[name](x)\n",
    ),
}


@pytest.fixture
def refined(tmp_path, monkeypatch, lay):
    """Refines test_m.py in these files, by a model that always gives this answer."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(files, answer):
        root = lay(tmp_path / "w", files)
        script = tmp_path / "answers.jsonl"
        script.write_text(12 * (json.dumps(answer) + "\n"))
        keys = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", "attempts": 12}
        settings, _ = configuration.load(root, command_line=keys)
        request = refine.RefineRequest(root=root, target="test_m.py")
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("name", CASES)
async def test_a_right_answer_is_the_result(name, refined):
    code, test, answer = CASES[name]
    outcome = await refined({"m.py": code, "test_m.py": test}, f"```python\n{answer}```")
    assert outcome.verified in (Verified.VERIFIED, Verified.PARTIALLY), outcome.message
    written = {line for line in answer.splitlines() if line.strip()}
    assert written <= {*outcome.after["m.py"].splitlines()}


# name: the files, the tests, and what becomes of the files
SEVERAL = {
    "two files": (
        {
            "app/models.py": "class User:\n    def __init__(self, first, last):\n        self.first = first\n        self.last = last\n\n    def full(self):\n        return self.first\n",
            "app/service.py": "from app.models import User\n\n\ndef greet(user):\n    return 'Hi' + user.full()\n",
        },
        "from app.models import User\nfrom app.service import greet\n\n\ndef test_it():\n    assert greet(User('A', 'B')) == 'Hi A B'\n",
        {
            "app/models.py": "class User:\n    def __init__(self, first, last):\n        self.first = first\n        self.last = last\n\n    def full(self):\n        return self.first + ' ' + self.last\n",
            "app/service.py": "from app.models import User\n\n\ndef greet(user):\n    return 'Hi ' + user.full()\n",
        },
    ),
    "a parameter of another file's function": (
        {
            "app/util.py": "def fmt(x):\n    return str(x)\n",
            "app/service.py": "from app.util import fmt\n\n\ndef show(x, width):\n    return fmt(x)\n",
        },
        "from app.service import show\n\n\ndef test_it():\n    assert show(3, 4) == '   3'\n    assert show(12, 3) == ' 12'\n",
        {
            "app/util.py": "def fmt(x, width=0):\n    return str(x).rjust(width)\n",
            "app/service.py": "from app.util import fmt\n\n\ndef show(x, width):\n    return fmt(x, width)\n",
        },
    ),
    "a function for another file": (
        {
            "app/util.py": "def fmt(x):\n    return str(x)\n",
            "app/service.py": "from app.util import fmt\n\n\ndef show(x):\n    return fmt(x)\n",
        },
        "from app.service import show\n\n\ndef test_it():\n    assert show('  a ') == '[a]'\n",
        {
            "app/util.py": "def fmt(x):\n    return str(x)\n\n\ndef clean(x):\n    return x.strip()\n",
            "app/service.py": "from app.util import clean, fmt\n\n\ndef show(x):\n    return '[' + fmt(clean(x)) + ']'\n",
        },
    ),
    "an exception of another file": (
        {
            "app/errors.py": "class AppError(Exception):\n    pass\n",
            "app/service.py": "from app.errors import AppError\n\n\ndef load(d, k):\n    return d[k]\n",
        },
        "import pytest\nfrom app.errors import AppError\nfrom app.service import load\n\n\ndef test_it():\n    with pytest.raises(AppError) as e:\n        load({}, 'k')\n    assert e.value.code == 404\n",
        {
            "app/errors.py": "class AppError(Exception):\n    def __init__(self, message, code=500):\n        super().__init__(message)\n        self.code = code\n",
            "app/service.py": "from app.errors import AppError\n\n\ndef load(d, k):\n    try:\n        return d[k]\n    except KeyError:\n        raise AppError(k, code=404) from None\n",
        },
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("form", ["blocks", "diff"])
async def test_a_right_answer_about_several_files_is_the_result(name, form, refined):
    files, test, wanted = SEVERAL[name]
    changes = {path: (files[path].splitlines(True), text.splitlines(True)) for path, text in wanted.items()}
    hunks = (difflib.unified_diff(*texts, f"a/{path}", f"b/{path}") for path, texts in changes.items())
    answers = {
        "blocks": "\n".join(f"**{path}**\n```python\n{text}```\n" for path, text in wanted.items()),
        "diff": f"```diff\n{''.join(line for each in hunks for line in each)}```",
    }
    outcome = await refined({"app/__init__.py": "", **files, "test_m.py": test}, answers[form])
    assert outcome.verified is Verified.VERIFIED, outcome.message
    if name != "a function for another file":  # which may stand in either
        assert outcome.after == wanted

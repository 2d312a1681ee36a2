"""Tests that stop before the code under test runs: what they call is found by the failure, and written or changed."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

POINT = "class Point:\n    def __init__(self, x):\n        self.x = x\n"
STACK = POINT.replace("Point", "Stack").replace("x", "items")
SHAPE = "from abc import ABC, abstractmethod\n\n\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n\n\n"
# name: the code, what the tests assert (`p` is an object), the model's answer or None, and a line that is in the result
CASES = {
    "a constant": ("X = 1\n", "m.LIMIT == 30", "LIMIT = 30\n", "LIMIT = 30"),
    "an attribute of a class": (
        "class Config:\n    retries = 3\n",
        "Config.timeout == 30",
        "class Config:\n    timeout = 30\n",
        "    timeout = 30",
    ),
    "an attribute that the constructor sets": (
        "class Config:\n    def __init__(self, name):\n        self.name = name\n",
        "Config('a').timeout == 30",
        "class Config:\n    def __init__(self, name):\n        self.name = name\n        self.timeout = 30\n",
        "        self.timeout = 30",
    ),
    "a value of a table": (
        "RATES = {'a': 1}\n\n\ndef rate(key):\n    return RATES[key]\n",
        "rate('b') == 7",
        "RATES = {'a': 1, 'b': 7}\n\n\ndef rate(key):\n    return RATES[key]\n",
        "RATES = {'a': 1, 'b': 7}",
    ),
    "a field of a named tuple": (
        "from typing import NamedTuple\n\n\nclass P(NamedTuple):\n    x: int\n",
        "P(1, y=2).y == 2",
        "class P(NamedTuple):\n    x: int\n    y: int = 0\n",
        "    y: int = 0",
    ),
    "an attribute of a dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n",
        "P(1).y == 0",
        "@dataclass\nclass P:\n    x: int\n    y: int = 0\n",
        "    y: int = 0",
    ),
    "the order of a dataclass": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n",
        "P(1) < P(2)",
        "@dataclass(order=True)\nclass P:\n    x: int\n",
        "@dataclass(order=True)",
    ),
    "a member of an enumeration by its value": (
        "from enum import Enum\n\n\nclass Color(Enum):\n    RED = 'red'\n",
        "Color('blue').name == 'BLUE'",
        "class Color(Enum):\n    RED = 'red'\n    BLUE = 'blue'\n",
        "    BLUE = 'blue'",
    ),
    "a base class": (
        "class Closed(Exception):\n    pass\n",
        "issubclass(Closed, ValueError)",
        "class Closed(ValueError):\n    pass\n",
        "class Closed(ValueError):",
    ),
    "an attribute that is looked for": (
        "class A:\n    x = 1\n",
        "hasattr(A(), 'close')",
        "class A:\n    x = 1\n\n    def close(self):\n        pass\n",
        "    def close(self):",
    ),
    "a parameter more": (
        "def add(a):\n    return a\n",
        "add(1, 2) == 3",
        "def add(a, b):\n    return a + b\n",
        "def add(a, b):",
    ),
    "a method without self": (
        f"{POINT}\n    def double():\n        return 2 * self.x\n",
        "Point(2).double() == 4",
        "def double(self):\n    return 2 * self.x\n",
        "    def double(self):",
    ),
    "an attribute without self": (
        f"{POINT}\n    def double(self):\n        return 2 * x\n",
        "Point(2).double() == 4",
        None,
        "        return 2 * self.x",
    ),
    "a method that is read": (
        f"{POINT}\n    def double(self):\n        return 2 * self.x\n",
        "Point(2).double == 4",
        "@property\ndef double(self):\n    return 2 * self.x\n",
        "    @property",
    ),
    "a constructor": (
        'class Point:\n    """A point."""\n',
        "Point(2).x == 2",
        "def __init__(self, x):\n    self.x = x\n",
        "    def __init__(self, x):",
    ),
    "a length": (
        STACK,
        "len(Stack([1, 2])) == 2",
        "def __len__(self):\n    return len(self.items)\n",
        "    def __len__(self):",
    ),
    "an operator": (
        POINT,
        "(Point(1) + Point(2)).x == 3",
        "def __add__(self, other):\n    return Point(self.x + other.x)\n",
        "    def __add__(self, other):",
    ),
    "a text": (
        POINT,
        "str(Point(1)) == 'at 1'",
        "def __str__(self):\n    return f'at {self.x}'\n",
        "    def __str__(self):",
    ),
    "equality": (
        POINT,
        "Point(1) == Point(1) != Point(2)",
        "def __eq__(self, other):\n    return isinstance(other, Point) and self.x == other.x\n",
        "    def __eq__(self, other):",
    ),
    "a field": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    x: int\n",
        "Point(1, y=2).y == 2",
        "@dataclass\nclass Point:\n    x: int\n    y: int = 0\n",
        "    y: int = 0",
    ),
    "a member": (
        "from enum import Enum\n\n\nclass Color(Enum):\n    RED = 1\n",
        "Color.BLUE.value == 2",
        "class Color(Enum):\n    RED = 1\n    BLUE = 2\n",
        "    BLUE = 2",
    ),
    "an abstract method": (
        f"{SHAPE}class Unit(Shape):\n    pass\n",
        "Unit().area() == 1",
        "def area(self):\n    return 1\n",
        "        return 1",
    ),
    "a constructor of the base": (
        f"{POINT}\n\nclass Named(Point):\n    def __init__(self, x, name):\n        self.name = name\n",
        "Named(1, 'a').x == 1",
        "def __init__(self, x, name):\n    super().__init__(x)\n    self.name = name\n",
        "        super().__init__(x)",
    ),
    "a setter": (
        f"{POINT}\n    @property\n    def double(self):\n        return 2 * self.x\n",
        "[p := Point(2), setattr(p, 'double', 6)] and p.x == 3",
        "def double(self, value):\n    self.x = value // 2\n",
        "    @double.setter",
    ),
    "a program": (
        "def show(x):\n    print(x + 2)\n\n\nif __name__ == '__main__':\n    show(2)\n",
        "__import__('subprocess').check_output(['python3', 'm.py']) == b'3\\n'",
        None,
        "    print(x + 1)",
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_what_the_test_calls_is_found(name, tmp_path, monkeypatch, lay):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    code, asserted, answer, line = CASES[name]
    root = lay(
        tmp_path / "w",
        {"m.py": code, "test_m.py": f"import m\nfrom m import *\n\n\ndef test_it():\n    assert {asserted}\n"},
    )
    script = tmp_path / "answers.jsonl"
    # Of a class or a method that ran statements are asked for first, which an answer does not fit.
    script.write_text(4 * (json.dumps(f"```python\n{answer}```" if answer else "no answer") + "\n"))
    settings, _ = configuration.load(
        root, command_line={"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", "attempts": 6}
    )
    request = refine.RefineRequest(root=root, target="test_m.py")
    outcome = await refine.refine(request, settings=settings, emit=lambda _event: None)
    assert outcome.verified in (Verified.VERIFIED, Verified.PARTIALLY), outcome.message
    assert (outcome.usage.completion_tokens > 0) is (answer is not None)
    assert line in outcome.after["m.py"].splitlines()


EMITTER = """\
class Emitter:
    def __init__(self):
        self.listeners = {}

    def on(self, name, listener):
        self.listeners.setdefault(name, []).append(listener)


def emit(emitter, name, *args):
    for listener in emitter.listeners[name]:
        listener(*args)
"""
EMITTER_TESTS = """\
from events import Emitter, emit


def test_off():
    seen, emitter = [], Emitter()
    emitter.on("a", seen.append)
    emitter.off("a", seen.append)
    emit(emitter, "a", 1)
    assert seen == []


def test_nobody_listens():
    emit(Emitter(), "a")
"""
OFF = "    def off(self, name, listener):\n        self.listeners[name].remove(listener)\n"


HEADER = "    for listener in emitter.listeners.get(name, []):"


async def test_what_is_wrong_beside_what_does_not_exist_yet_is_found(tmp_path, monkeypatch, lay):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = lay(tmp_path / "w", {"events.py": EMITTER, "test_events.py": EMITTER_TESTS})
    script = tmp_path / "answers.jsonl"
    answers = [f"```python\nclass Emitter:\n{OFF}```", HEADER, HEADER]  # for each of the two lines of `emit` in turn
    script.write_text("".join(json.dumps(each) + "\n" for each in answers))
    keys = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", "attempts": 6}
    settings, _ = configuration.load(root, command_line=keys)
    request = refine.RefineRequest(root=root, target="test_events.py")
    outcome = await refine.refine(request, settings=settings, emit=lambda _event: None)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert OFF in outcome.after["events.py"]
    assert HEADER in outcome.after["events.py"]


AREA = "def area(w, h):\n    return w + h\n"
PERIMETER = "def perimeter(w, h):\n    return 2 * (w + h)\n"
SIDES = "    assert perimeter(2, 3) == 10\n    assert area(2, 3) == 6\n    assert area(4, 5) == 20\n"


async def test_what_a_test_reaches_only_with_an_answer_is_mended_after_it(tmp_path, monkeypatch, lay):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    test = f"from m import area, perimeter\n\n\ndef test_it():\n{SIDES}"
    root = lay(tmp_path / "w", {"m.py": AREA, "test_m.py": test})
    script = tmp_path / "answers.jsonl"
    script.write_text(12 * (json.dumps(f"```python\n{PERIMETER}```") + "\n"))
    keys = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap"}
    settings, _ = configuration.load(root, command_line=keys)
    request = refine.RefineRequest(root=root, target="test_m.py")
    outcome = await refine.refine(request, settings=settings, emit=lambda _event: None)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"m.py": AREA.replace("w + h", "w * h") + f"\n\n{PERIMETER}"}

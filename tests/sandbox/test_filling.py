"""A class with several unwritten methods is filled as a whole: for a red test that needs them, and for the class."""

from __future__ import annotations

import json

import pytest

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.attempt import Move
from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

STACK = '''class Stack:
    """A stack of items."""

    def __init__(self):
        raise NotImplementedError

    def push(self, item):
        raise NotImplementedError

    def pop(self):
        """The top item; IndexError where there is none."""
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError
'''
TESTS = """import pytest
from stack import Stack


def test_push_and_pop():
    stack = Stack()
    stack.push(1)
    stack.push(2)
    assert stack.pop() == 2
    assert stack.pop() == 1


def test_len():
    stack = Stack()
    assert len(stack) == 0
    stack.push(5)
    assert len(stack) == 1


def test_empty():
    with pytest.raises(IndexError):
        Stack().pop()
"""
METHODS = {
    "__init__(self)": "self._items = []",
    "push(self, item)": "self._items.append(item)",
    "pop(self)": "return self._items.pop()",
    "__len__(self)": "return len(self._items)",
}


def answer(**changed: str) -> str:
    bodies = METHODS | {next(head for head in METHODS if head.startswith(name)): body for name, body in changed.items()}
    return fenced("class Stack:\n" + "\n".join(f"    def {head}:\n        {body}\n" for head, body in bodies.items()))


def method(head: str, body: str) -> str:
    return fenced(f"def {head}:\n    {body}\n")


def fenced(text: str) -> str:
    return f"```python\n{text}```"


@pytest.fixture
def fill(fill_files):
    """`fill(answers, target)`: the outcome."""

    async def run(answers, target="test_stack.py", code=STACK, tests=TESTS):
        return await fill_files({"stack.py": code, "test_stack.py": tests}, answers, target)

    return run


@pytest.fixture
def fill_files(tmp_path, monkeypatch, lay):
    """`fill_files(files, answers, target)`: the outcome."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(files, answers, target):
        root = lay(tmp_path / "w", files)
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(each) + "\n" for each in answers))
        line = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap"}
        settings, _ = configuration.load(root, command_line=line)
        request = refine.Request(root=root, target=target)
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("target", ["test_stack.py", "stack.py::Stack"])
async def test_one_answer_fills_all_methods(fill, target):
    outcome = await fill([answer()], target)
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.after["stack.py"].count("raise NotImplementedError") == 0
    assert '"""The top item; IndexError where there is none."""' in outcome.after["stack.py"]


async def test_a_test_of_one_method_fills_only_what_it_needs(fill):
    outcome = await fill([answer()], "test_stack.py::test_len")
    assert outcome.solved
    assert outcome.after["stack.py"].count("raise NotImplementedError") == 1  # pop


async def test_what_is_filled_stays_while_others_are_refined(fill):
    wrong = answer(pop="return [item for item in self._items][0]", push="self._items = [item]")
    answers = [
        wrong,
        method("pop(self)", "return self._items.pop()"),
        method("push(self, item)", METHODS["push(self, item)"]),
    ]
    outcome = await fill(answers)
    assert outcome.solved, outcome.message
    asked = [each.draft.regions[0].qualname for each in outcome.attempts if each.draft and each.draft.regions]
    assert asked == ["Stack.pop", "Stack.push"]
    assert outcome.attempts[outcome.best].draft.move is Move.MERGE  # each alone passes no more tests
    assert "return self._items.pop()" in outcome.after["stack.py"]
    assert "self._items.append(item)" in outcome.after["stack.py"]


async def test_a_comparison_that_accepts_everything_proves_nothing(fill):
    """The class whose `__eq__` is to be written too must not be what another method returns in place of a result."""
    code = STACK + "\n    def __eq__(self, other):\n        raise NotImplementedError\n"
    tests = TESTS + "\n\ndef test_equal():\n    assert Stack() == Stack()\n"
    fake = (
        answer(pop="return Stack() if self._items or self.empty() else None")
        .replace("```python\n", "```python\n")
        .removesuffix("```")
        + "\n    def __eq__(self, other):\n        return True\n\n    def empty(self):\n        raise IndexError\n```"
    )
    outcome = await fill([fake], code=code, tests=tests)
    assert outcome.verified is not Verified.VERIFIED


MODULE = '''def shout(text):
    raise NotImplementedError


def double(text):
    return text * 2


def greet(name):
    """Shouts the name twice, by `shout`."""
    raise NotImplementedError


class Unused:
    def wait(self):
        raise NotImplementedError
'''
MODULE_TESTS = """from stack import greet, shout


def test_shout():
    assert shout("a") == "A!"


def test_greet():
    assert greet("b") == "B!B!"
"""


async def test_a_module_is_filled(fill):
    whole = fenced(
        "def shout(text):\n    return text.upper() + '!'\n\n\ndef greet(name):\n    return double(shout(name))\n"
        "\n\nclass Unused:\n    def wait(self):\n        return None\n"
    )
    outcome = await fill([whole], "stack.py", code=MODULE, tests=MODULE_TESTS)
    assert outcome.solved
    assert outcome.after["stack.py"].count("NotImplementedError") == 1  # no test calls Unused.wait
    assert "return text * 2" in outcome.after["stack.py"]


async def test_a_module_without_tests_is_refused(fill):
    with pytest.raises(CannotVerifyError, match="No test reaches a function of stack.py"):
        await fill(["none"], "stack.py", code=MODULE, tests="def test_nothing():\n    pass\n")


async def test_a_written_module_is_no_target(fill):
    with pytest.raises(UsageError, match="has 2 functions"):
        await fill(["none"], "stack.py", code="def a():\n    return 1\n\n\ndef b():\n    return 2\n")


SHOP = {
    "item.py": "class Item:\n    def __init__(self, price):\n        ...\n\n    def total(self, count):\n        ...\n",
    "cart.py": (
        "from item import Item\n\n\nclass Cart:\n    def __init__(self):\n        raise NotImplementedError\n\n"
        "    def add(self, item, count):\n        raise NotImplementedError\n\n"
        "    def _lines(self):\n        raise NotImplementedError\n\n"
        "    def total(self):\n        raise NotImplementedError\n"
    ),
    "test_cart.py": (
        "from cart import Cart\nfrom item import Item\n\n\ndef test_item():\n    item = Item(3)\n    assert item.price == 3\n"
        "    assert item.total(2) == 6\n\n\ndef test_cart():\n    cart = Cart()\n    cart.add(Item(2), 2)\n"
        "    cart.add(Item(1), 1)\n    assert cart.total() == 5\n"
    ),
}
ITEM = "class Item:\n    def __init__(self, price):\n        self.price = price\n\n    def total(self, count):\n        return self.price * count\n"
CART = (
    "class Cart:\n    def __init__(self):\n        self.lines = []\n\n    def add(self, item, count):\n"
    "        self.lines.append((item, count))\n\n    def _lines(self):\n        return list(self.lines)\n\n"
    "    def total(self):\n        return sum(item.total(count) for item, count in self._lines())\n"
)


async def test_classes_of_several_modules_are_filled_together(fill_files):
    outcome = await fill_files(SHOP, [fenced(f"{ITEM}\n\n{CART}")], "test_cart.py")
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert {*outcome.after} == {"item.py", "cart.py"}
    assert "return list(self.lines)" in outcome.after["cart.py"]  # a private method that only the others call


async def test_a_class_is_filled_with_what_its_tests_need_of_other_modules(fill_files):
    files = SHOP | {"item.py": SHOP["item.py"].replace("...", "self.price = price", 1)}
    outcome = await fill_files(files, [fenced(f"{ITEM}\n\n{CART}")], "cart.py::Cart")
    assert outcome.solved
    assert {*outcome.after} == {"item.py", "cart.py"}


async def test_an_attribute_that_an_unwritten_constructor_sets_is_no_missing_method(fill_files):
    files = {name: SHOP[name] for name in ("item.py", "test_cart.py")} | {
        "cart.py": "from item import Item\n\n\n" + CART
    }
    outcome = await fill_files(files, [fenced(ITEM)], "test_cart.py::test_item")
    assert outcome.solved
    assert "self.price = price" in outcome.after["item.py"]

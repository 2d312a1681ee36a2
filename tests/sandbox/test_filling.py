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
        request = refine.RefineRequest(root=root, target=target)
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


CIRCLE = {
    "a.py": "class A:\n    def __init__(self, n):\n        ...\n\n    def to_b(self):\n        ...\n",
    "b.py": "class B:\n    def __init__(self, n):\n        ...\n\n    def to_a(self):\n        ...\n",
    "test_ab.py": "from a import A\nfrom b import B\n\n\ndef test_circle():\n    assert A(3).to_b().to_a().n == 5\n",
}
A = "class A:\n    def __init__(self, n):\n        self.n = n\n\n    def to_b(self):\n        from b import B\n\n        return B(self.n + 1)\n"
B_BODIES = ("self.n = n", "from a import A\n\n        return A(self.n + 1)")
B = "class B:\n    def __init__(self, n):\n        {}\n\n    def to_a(self):\n        {}\n".format(*B_BODIES)


@pytest.mark.parametrize("target", ["test_ab.py", "a.py::A"])
async def test_classes_that_need_each_other_are_filled_by_one_answer(fill_files, target):
    """The test never names B: the answer about A does."""
    outcome = await fill_files(CIRCLE, [fenced(f"{A}\n\n{B}")], target)
    assert outcome.verified is Verified.VERIFIED
    assert {*outcome.after} == {"a.py", "b.py"}


@pytest.mark.parametrize(("stub", "order"), [("...", (1, 0)), ("raise NotImplementedError", (0, 1))])
async def test_a_class_that_only_a_run_comes_to_is_filled_next(fill_files, stub, order):
    heads = ("__init__(self, n)", "to_a(self)")
    bodies = [body.replace(" " * 8, " " * 4) for body in B_BODIES]
    files = {name: text.replace("...", stub) for name, text in CIRCLE.items()}
    answers = [fenced(A), *(method(heads[each], bodies[each]) for each in order)]
    outcome = await fill_files(files, answers, "test_ab.py")
    assert outcome.verified is Verified.VERIFIED
    asked = [each.draft.regions[0].qualname for each in outcome.attempts if each.draft and each.draft.regions]
    assert asked == [("B.__init__", "B.to_a")[each] for each in order], asked


SHAPES = """from abc import ABC, abstractmethod


class Shape(ABC):
    @abstractmethod
    def area(self):
        raise NotImplementedError

    def describe(self):
        raise NotImplementedError


class Square(Shape):
    def __init__(self, side):
        raise NotImplementedError

    def area(self):
        raise NotImplementedError
"""
SHAPES_TESTS = "from stack import Square\n\n\ndef test_square():\n    assert Square(3).describe() == 'area 9'\n"


async def test_an_inherited_method_is_filled_and_an_abstract_one_stays(fill):
    square = fenced(
        "class Square(Shape):\n    def __init__(self, side):\n        self.side = side\n\n"
        "    def area(self):\n        return self.side**2\n"
    )
    answers = [
        square,
        method("describe(self)", "return f'area {self.area()}'"),
        method("area(self)", "return self.side**2"),
    ]
    outcome = await fill(answers, code=SHAPES, tests=SHAPES_TESTS)
    assert outcome.verified is Verified.VERIFIED
    assert outcome.after["stack.py"].count("NotImplementedError") == 1


@pytest.mark.parametrize("name", ["Shape.area", "Open"])
async def test_what_is_abstract_is_no_target(fill, name):
    code = SHAPES + "\n\nclass Open(ABC):\n    @abstractmethod\n    def wait(self):\n        ...\n"
    with pytest.raises(CannotVerifyError, match="is abstract or part of a protocol, so other classes implement it"):
        await fill(["none"], f"stack.py::{name}", code=code, tests=SHAPES_TESTS)


TEMPERATURE = """class Temperature:
    def __init__(self, celsius):
        raise NotImplementedError

    @property
    def fahrenheit(self):
        raise NotImplementedError

    @fahrenheit.setter
    def fahrenheit(self, value):
        raise NotImplementedError
"""


async def test_getter_and_setter_of_a_property_are_filled(fill):
    bodies = ("self.celsius = celsius", "return self.celsius * 9 / 5 + 32", "self.celsius = (value - 32) * 5 / 9")
    written = TEMPERATURE
    for each in bodies:
        written = written.replace("raise NotImplementedError", each, 1)
    tests = (
        "from stack import Temperature\n\n\ndef test_set():\n    t = Temperature(0)\n    assert t.fahrenheit == 32\n"
    )
    tests += "    t.fahrenheit = 212\n    assert t.celsius == 100\n"
    outcome = await fill([fenced(written)], code=TEMPERATURE, tests=tests)
    assert outcome.verified is Verified.VERIFIED
    assert outcome.after["stack.py"] == written


async def test_unwritten_code_that_an_import_runs_is_filled(fill):
    code = "class Meta(type):\n    def __new__(mcs, name, bases, namespace):\n        raise NotImplementedError\n"
    code += "\n\nclass Base(metaclass=Meta):\n    pass\n"
    written = code.replace("raise NotImplementedError", "return super().__new__(mcs, name, bases, namespace)")
    tests = "from stack import Base, Meta\n\n\ndef test_base():\n    assert type(Base) is Meta\n"
    outcome = await fill([fenced(written)] * 6, code=code, tests=tests)
    assert outcome.solved, outcome.message
    assert outcome.after["stack.py"] == written


async def test_unwritten_code_that_makes_the_list_of_tests_is_named(fill):
    code = "def numbers():\n    raise NotImplementedError\n"
    tests = "import pytest\nfrom stack import numbers\n\n\n@pytest.mark.parametrize('n', numbers())\ndef test_it(n):\n"
    with pytest.raises(CannotVerifyError, match=r"Importing test_stack.py runs numbers, .* \(stack.py:1\)"):
        await fill(["none"], code=code, tests=f"{tests}    assert n\n")


async def test_a_base_class_that_leaves_methods_to_others_stays(fill):
    code = "class Codec:\n    def encode(self, text):\n        raise NotImplementedError\n"
    code += "\n\nclass Reverse(Codec):\n    def encode(self, text):\n        raise NotImplementedError\n"
    tests = "from stack import Codec, Reverse\n\n\ndef test_reverse():\n    assert isinstance(Reverse(), Codec)\n"
    tests += "    assert Reverse().encode('ab') == 'ba'\n"
    both = "".join(
        f"class {name}:\n    def encode(self, text):\n        return text[::-1]\n\n\n" for name in ("Codec", "Reverse")
    )
    outcome = await fill([fenced(both)], code=code, tests=tests)
    assert outcome.verified is Verified.VERIFIED
    assert outcome.after["stack.py"].count("NotImplementedError") == 1


async def test_a_class_is_filled_where_its_tests_stop_in_another_module(fill_files):
    """Item is unwritten too, and every test makes one before it comes to the cart."""
    files = SHOP | {
        "test_cart.py": SHOP["test_cart.py"].replace("    cart = Cart()\n", "    Item(1).total(1)\n    cart = Cart()\n")
    }
    files["item.py"] = files["item.py"].replace("...", "raise NotImplementedError")
    outcome = await fill_files(files, [fenced(f"{ITEM}\n\n{CART}")], "cart.py::Cart")
    assert outcome.verified is Verified.VERIFIED
    assert {*outcome.after} == {"item.py", "cart.py"}


async def test_a_class_with_examples_alone_is_written_as_a_whole(fill):
    code = 'class Box:\n    """A box.\n\n    >>> Box(2).size()\n    2\n    """\n\n    def __init__(self, n):\n        ...\n'
    code += "\n    def size(self):\n        ...\n"
    right = "class Box:\n    def __init__(self, n):\n        self.n = n\n\n    def size(self):\n        return self.n\n"
    outcome = await fill(
        [fenced(right)] * 9, "stack.py::Box", code=code, tests="def test_nothing():\n    assert True\n"
    )
    assert "return self.n" in outcome.after["stack.py"], outcome.message

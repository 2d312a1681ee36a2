"""What the prompt tells of the code and of the tests: what is used, and no more."""

from __future__ import annotations

import random
from pathlib import Path

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.drafting.context import source as source_context
from greenloop.drafting.context import tests as tests_context
from greenloop.project import targets
from greenloop_sandbox import Execution

CODE = '''\
import json
import os
from decimal import (
    Decimal,
    ROUND_UP as UP,
)

RATE = Decimal("0.2")
UNUSED = 3
TABLE = {
    1: 1,
    2: 2,
    3: 3,
    4: 4,
    5: 5,
    6: 6,
    7: 7,
    8: 8,
    9: 9,
    10: 10,
    11: 11,
}


def rounded(value):
    """To cents.

    Always up.
    """
    return value.quantize(Decimal("0.01"), UP)


def unrelated():
    return os.name


class Money(Base):
    """Money."""

    currency: str = "EUR"

    def __init__(self, amount):
        self.amount = amount

    def with_tax(self):
        def inner():
            return TABLE[1]
        return rounded(self.amount * (1 + RATE)) + self.helper() + inner()

    def helper(self): return 0

    def other(self):
        return json.dumps({})


def taxed(x):
    return Money(x).with_tax()
'''

TEST = """\
import pytest
from shop import Money
from other import thing

PRICES = [1, 2]
IGNORED = 1


@pytest.fixture
def money():
    return make(PRICES[0])


def make(x):
    return Money(x)


def unused():
    pass


class TestMoney:
    def setup_method(self):
        self.x = 1

    @pytest.mark.parametrize("x", PRICES)
    def test_tax(self, money, x):
        assert money.with_tax() == x

    def test_other(self):
        pass
"""


async def ask(completion):
    raise AssertionError(completion)


class NoSession:
    name = "none"

    async def run(self, run):
        return Execution()

    async def close(self):
        """Nothing is open."""


TOOLS = Tools(ask=ask, run=ask, session=NoSession(), user=NoUser(), rng=random.Random(0))


def region(text, name, *, created=False):
    found = targets.find_target(text, "shop.py", name).region
    return Region(path=found.path, qualname=name, start=found.start, end=found.end, created=created)


def problem(*chosen, code=CODE, test=TEST, ids=("test_shop.py::TestMoney::test_tax[1]",), provenance=Provenance.USER):
    cases = tuple(Case(id=name, path="test_shop.py", line=27, provenance=provenance) for name in ids)
    files = {"shop.py": code, "test_shop.py": test}
    return Problem(
        root=Path("/w"), spec=Spec(cases=cases, selectors=()), regions=chosen, originals=dict(files), files=files
    )


async def test_a_method_comes_with_its_class_and_what_it_uses():
    beside, own = await source_context.gather(problem(region(CODE, "Money.with_tax")), TOOLS)
    assert own.value > beside.value
    assert own.title == "`Money.with_tax` in `shop.py`, as it stands:"
    assert own.text.startswith(
        'class Money(Base):\n    """Money."""\n    currency: str = "EUR"\n\n'
        "    def __init__(self, amount):\n        self.amount = amount\n\n"
        "    def with_tax(self):\n"
    )
    assert own.text.endswith("+ inner()")
    assert beside.text == (
        'RATE = Decimal("0.2")\n'
        "TABLE = {\n    1: 1,\n    2: 2,\n    3: 3,\n    4: 4,\n    5: 5,\n    6: 6,\n    7: 7,\n    8: 8,\n    9: 9,\n"
        "    # ... more of the same\n}\n"
        'def rounded(value):\n    """To cents."""\n    ...\n'
        "class Money(Base):\n"
        "    def helper(self): return 0"
    )


async def test_a_function_sees_the_classes_it_uses_as_signatures():
    beside, own = await source_context.gather(problem(region(CODE, "taxed")), TOOLS)
    assert own.text == "def taxed(x):\n    return Money(x).with_tax()"
    assert beside.text.startswith('class Money(Base):\n    """Money."""\n')
    assert "    def with_tax(self):\n        ..." in beside.text
    assert "currency: str" in beside.text
    assert "TABLE" not in beside.text


async def test_a_function_that_uses_nothing_has_nothing_beside_it():
    (own,) = await source_context.gather(
        problem(region("def f():\n    return 1\n", "f"), code="def f():\n    return 1\n"), TOOLS
    )
    assert own.text == "def f():\n    return 1"


async def test_a_region_to_be_written_says_so():
    code = "def f(*args, **kwargs):\n    raise NotImplementedError\n"
    (*_, own) = await source_context.gather(problem(region(code, "f", created=True), code=code), TOOLS)
    assert own.title == "`f` in `shop.py`, is to be written:"


async def test_imports_used_and_line_ends():
    code = CODE.replace("\n", "\r\n")
    beside, own = await source_context.gather(problem(region(code, "rounded"), code=code), TOOLS)
    assert beside.text == "from decimal import (\n    Decimal,\n    ROUND_UP as UP,\n)"
    assert "\r" not in own.text


async def test_the_tests_come_with_what_they_lean_on():
    leaned, own = await tests_context.gather(problem(region(CODE, "taxed")), TOOLS)
    assert own.value > leaned.value
    assert own.text == (
        "class TestMoney:\n\n"
        '    @pytest.mark.parametrize("x", PRICES)\n'
        "    def test_tax(self, money, x):\n"
        "        assert money.with_tax() == x"
    )
    assert leaned.text == (
        "from shop import Money\nPRICES = [1, 2]\n\n"
        "@pytest.fixture\ndef money():\n    return make(PRICES[0])\n\n"
        "def make(x):\n    return Money(x)\n\n"
        "    def setup_method(self):\n        self.x = 1"
    )


async def test_a_test_made_elsewhere_is_found_by_its_line():
    (*_, own) = await tests_context.gather(
        problem(region(CODE, "taxed"), ids=("test_shop.py::Made::by_a_plugin",)), TOOLS
    )
    assert "def test_tax" in own.text


async def test_examples_are_in_the_code_already():
    assert not await tests_context.gather(problem(region(CODE, "taxed"), provenance=Provenance.DOCTEST), TOOLS)


SHOP = """import re


class Shop:
    \"\"\"A shop.\"\"\"

    rates = {"pen": 19}
    kinds = ("pen",)

    def tax(self, kind):
        return self.rates[kind]


def unused():
    return re.escape("a")
"""
RATES = Region(path="shop.py", qualname="Shop.rates", start=7, end=7, assigns=True)
TAX = Region(path="shop.py", qualname="Shop.tax", start=10, end=11)


async def test_an_assignment_is_shown_in_its_class_with_the_suspects_that_use_it():
    problem = Problem(
        root=Path("/w"), spec=Spec(), regions=(RATES,), suspects=(TAX,), originals={}, files={"shop.py": SHOP}
    )
    users, own = await source_context.gather(problem, None)
    assert (users.title, users.text) == ("It is used by:", "    def tax(self, kind):\n        return self.rates[kind]")
    assert own.text == 'class Shop:\n\n    rates = {"pen": 19}'


async def test_an_open_problem_shows_the_outline_of_its_files():
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(TAX,), originals={}, files={"shop.py": SHOP}, open=True)
    outline = next(
        each for each in await source_context.gather(problem, None) if each.title == "The outline of `shop.py`:"
    )
    assert "import re" in outline.text
    assert "def unused():\n    ..." in outline.text


async def test_of_a_long_file_only_the_outlines_of_the_regions_classes_are_shown():
    many = "".join(f"\n\ndef unused_{number}(first, second, third=None):\n    pass\n" for number in range(500))
    files = {"shop.py": SHOP + many}
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(TAX,), originals={}, files=files, open=True)
    outlines = [each for each in await source_context.gather(problem, None) if "outline" in each.title]
    assert [each.title for each in outlines] == ["The outline of `shop.py::Shop`:"]
    assert "rates =" in outlines[0].text
    assert "def tax(self, kind):" in outlines[0].text
    assert "unused" not in outlines[0].text

"""Which tests of many are shown: few, near, and from different callers."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.problem import Approach, Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.test_selection import MOST_SELECTORS, find_approaches, fit_selectors, select_tests
from greenloop.drafting.context import tests as tests_context
from greenloop_sandbox import Execution, Frame
from greenloop_sandbox.report.traces import reached_functions

TARGET = Region(path="shop.py", qualname="total", start=10, end=20)


def case(name, path="test_shop.py", line=1):
    return Case(id=f"{path}::{name}", path=path, line=line)


def function(name, path, line, depth, caller):
    return {"path": path, "line": line, "name": name, "depth": depth, "caller": caller}


def trace(name, *functions):
    return {"kind": "trace", "id": f"test_shop.py::{name}", "functions": list(functions)}


def by_itself(name):
    return trace(name, function("total", "shop.py", 10, 1, ["test_shop.py", 5, name]))


def through(name, caller, path, depth=2):
    other = function("other", path, 99, 1, ["test_shop.py", 5, name])
    return trace(name, other, function("total", "shop.py", 10, depth, [path, 7, caller]))


# Twelve tests reach `total`: five by themselves, three through the cart, two through the report, one through an inner
# helper of the report, one through a helper in the test file. The thirteenth does not reach it.
SUITE = [
    *(by_itself(f"test_direct_{n}") for n in range(5)),
    *(through(f"test_cart_{n}", "Cart.pay", "cart.py") for n in range(3)),
    *(through(f"test_report_{n}", "render", "report.py", depth=3) for n in range(2)),
    through("test_rows", "rows", "report.py", depth=4),
    through("test_helped", "check", "test_shop.py"),
    trace("test_elsewhere", function("other", "shop.py", 1, 1, None)),
]
CASES = [case(record["id"].partition("::")[2]) for record in SUITE]


def known():
    return find_approaches(reached_functions(Execution(records=tuple(SUITE))), [TARGET])


def test_of_twelve_tests_that_reach_the_target_five_from_different_callers_are_chosen():
    assert len(known()) == 12
    chosen = select_tests(CASES, known())
    names = [each.id.partition("::")[2] for each in chosen]
    assert names == ["test_direct_0", "test_direct_1", "test_cart_0", "test_report_0", "test_rows"]
    callers = {(known()[each.id].caller.path, known()[each.id].caller.function) for each in chosen}
    assert len(callers) == len(chosen) <= 5


def chosen_of_one_caller(*depths):
    tests = [(f"test_{number}", depth) for number, depth in enumerate(depths)]
    suite = [through(name, "Cart.pay", "cart.py", depth=depth) for name, depth in tests]
    found = find_approaches(reached_functions(Execution(records=tuple(suite))), [TARGET])
    return [each.id.partition("::")[2] for each in select_tests([case(name) for name, _depth in tests], found)]


def test_every_case_is_selected_and_many_of_them_by_their_files():
    ids = [f"test_{'ab'[number % 2]}.py::test_{number}" for number in range(MOST_SELECTORS + 1)]
    assert fit_selectors(ids[:-1]) == tuple(ids[:-1])
    assert fit_selectors(ids) == ("test_a.py", "test_b.py")
    examples = [f"m.py::f::doctest-{number}" for number in range(MOST_SELECTORS)]
    assert fit_selectors([*examples, "t.py::a"]) == ("doctest:m.py::f", "t.py")
    assert fit_selectors(examples) == ("doctest:m.py::f",)


def test_tests_with_one_caller_are_spoken_for_by_the_two_nearest():
    assert chosen_of_one_caller(6, 2) == ["test_0", "test_1"]
    assert chosen_of_one_caller(6, 5, 2, 3, 4, 7) == ["test_2", "test_3"]
    assert chosen_of_one_caller(4) == ["test_0"]


def test_parameters_are_no_callers():
    cases = [case(f"test_one[{n}]") for n in range(9)] + [case("test_two")]
    ways = {
        each.id: Approach(depth=1, caller=Frame(path="test_shop.py", line=3, function="test_one")) for each in cases
    }
    assert [each.id.partition("::")[2] for each in select_tests(cases, ways)] == ["test_one[0]", "test_two"]
    assert [each.id.partition("::")[2] for each in select_tests(cases, {})] == ["test_one[0]", "test_two"]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_suite_the_choice_is_bounded_and_in_order(seed):
    rng = random.Random(seed)
    cases = [case(f"test_{n}") for n in range(rng.randint(0, 40))]
    ways = {
        each.id: Approach(
            depth=rng.randint(1, 5),
            caller=rng.choice([None, Frame(path=f"{rng.randint(0, 3)}.py", line=1, function=f"f{rng.randint(0, 3)}")]),
        )
        for each in cases
        if rng.random() < 0.8
    }
    chosen = select_tests(cases, ways)
    assert len(chosen) <= 5
    assert chosen == [each for each in cases if each in chosen]
    assert bool(chosen) is bool(cases)


def body(name):
    return f"def {name}():\n    assert total() == {name!r}\n\n\n"


async def test_a_function_with_many_tests_is_shown_few_of_them_and_their_number():
    names = [each.id.partition("::")[2] for each in CASES[:12]]
    text = "".join(body(name) for name in names)
    case_of = {name: case(name, line=1 + 4 * number) for number, name in enumerate(names)}
    problem = Problem(
        root=Path("/w"),
        spec=Spec(cases=tuple(case_of.values()), selectors=()),
        regions=(TARGET,),
        originals={},
        files={"shop.py": "", "test_shop.py": text},
        approaches=known(),
    )
    tools = Tools(ask=None, run=None, session=None, user=NoUser(), rng=None)
    (shown,) = await tests_context.gather(problem, tools)
    assert shown.title == "5 of the 12 tests that must pass, in `test_shop.py`:"
    assert shown.text.count("def test_") == 5
    assert "test_rows" in shown.text


SHOP = "from shop import total\n\n\n" + "".join(body(f"test_{name}") for name in ("far", "near", "other"))


@pytest.mark.parametrize(
    ("cases", "depths", "names"),
    [
        (["test_far"], {"test_far": 1, "test_near": 1, "test_other": 2}, ["test_far", "test_near"]),
        (["test_other"], {"test_far": 2, "test_near": 1}, ["test_near", "test_other"]),
        (["test_other"], {"test_other": 1}, ["test_other"]),
        (["test_far"], {}, ["test_far"]),
        (["test_far", "test_other"], {"test_near": 1}, ["test_far", "test_other"]),
        (["test_far[0]", "test_far[1]"], {"test_near": 1}, ["test_far"]),
        (["test_far[0]"], {"test_far[1]": 1}, ["test_far"]),
        (["test_far"], {"test_far": 1, "test_near[a]": 1, "test_near[b]": 1}, ["test_far", "test_near"]),
    ],
)
async def test_a_single_test_of_code_to_be_written_is_shown_with_the_nearest_other_one(cases, depths, names):
    assert await shown_names(cases, depths, "    raise NotImplementedError\n") == names


async def test_a_single_test_of_written_code_is_shown_alone():
    assert await shown_names(["test_far"], {"test_near": 1}, "    return 1\n") == ["test_far"]


async def shown_names(cases, depths, body):
    problem = Problem(
        root=Path("/w"),
        spec=Spec(cases=tuple(case(name) for name in cases), selectors=()),
        regions=(replace(TARGET, start=1, end=2),),
        originals={},
        files={"shop.py": f"def total():\n{body}", "test_shop.py": SHOP},
        approaches={f"test_shop.py::{name}": Approach(depth=depth) for name, depth in depths.items()},
    )
    tools = Tools(ask=None, run=None, session=None, user=NoUser(), rng=None)
    *_used, shown = await tests_context.gather(problem, tools)
    assert shown.title == "The tests that must pass, in `test_shop.py`:"
    return re.findall(r"def (test_\w+)", shown.text)


async def test_the_other_tests_of_many_are_there_for_samples_that_are_to_differ():
    names = [f"test_{number}" for number in range(12)]
    problem = Problem(
        root=Path("/w"),
        spec=Spec(cases=tuple(case(name) for name in names), selectors=()),
        regions=(TARGET,),
        originals={},
        files={"shop.py": "", "test_shop.py": "".join(map(body, names))},
    )
    tools = Tools(ask=None, run=None, session=None, user=NoUser(), rng=None)
    (shown,) = await tests_context.gather(problem, tools)
    texts = [re.findall(r"def (test_\w+)", text) for text in (shown.text, *shown.others)]
    assert texts == [names[:5], names[5:10], names[10:]]


async def test_fixtures_of_conftest_come_with_the_tests_that_name_them(tmp_path):
    (tmp_path / "tests/deep").mkdir(parents=True)
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture\ndef base():\n    return 1\n\n\n@pytest.fixture\ndef unused():\n    return 2\n\n\n"
        "@pytest.fixture\ndef far(base):\n    return base\n\n\n@pytest.fixture\ndef own():\n    return 9\n"
    )
    (tmp_path / "tests/conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture\ndef near(far):\n    return far + 1\n\n\n@pytest.fixture\ndef loop(loop):\n    return loop\n"
    )
    text = "import pytest\n\n\n@pytest.fixture\ndef own():\n    return 3\n\n\ndef test_it(near, loop, own):\n    assert near == own\n"
    path = "tests/deep/test_it.py"
    problem = Problem(
        root=tmp_path,
        spec=Spec(cases=(Case(id=f"{path}::test_it", path=path, line=9, provenance=Provenance.USER),), selectors=()),
        regions=(TARGET,),
        originals={},
        files={path: text, "shop.py": ""},
        buffers={"conftest.py": b"@pytest.fixture\ndef far():\n    return 'unsaved'\n"},
    )
    tools = Tools(ask=None, run=None, session=None, user=NoUser(), rng=None)
    near, above, leaned, own = await tests_context.gather(problem, tools)
    assert near.title == "Fixtures in `tests/conftest.py`:"
    assert near.text.startswith("@pytest.fixture\ndef near(far):")
    assert above.text == "@pytest.fixture\ndef far():\n    return 'unsaved'"
    assert leaned.text.endswith("def own():\n    return 3")
    assert own.text.startswith("def test_it")

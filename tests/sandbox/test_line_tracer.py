"""Watched lines through a real wall: what ran, what changed, and that nothing of it has no end."""

from __future__ import annotations

import pytest

from greenloop.core.verdict import judge
from greenloop_sandbox import TestRun, WatchedLines, case_results, forged
from greenloop_sandbox.report.traces import line_traces

pytestmark = pytest.mark.needs("bubblewrap")
WHOLE = (WatchedLines(path="m.py", start=1, end=100_000),)


@pytest.fixture
def watch(tmp_path, lay, opened):
    """`watch(module, body of test_it)`: (what was watched of it, the execution)."""

    async def run(module: str, body: str, *, lines=WHOLE, seconds=60.0):
        test = "import m\n\ndef test_it():\n" + "".join(f"    {row}\n" for row in body.splitlines())
        session = await opened(lay(tmp_path / "w", {"m.py": module, "test_m.py": test}))
        execution = await session.run(TestRun(selectors=("test_m.py",), watch=lines, seconds=seconds))
        assert (execution.broken, forged(execution)) == ("", "")
        return line_traces(execution).get("test_m.py::test_it"), execution

    return run


@pytest.mark.story("errors are traced for the model")
async def test_lines_and_changed_variables_of_a_failing_case(watch):
    found, execution = await watch(
        "def total(items):\n    s = 0\n    for i in items:\n        s = i\n    return s\n\ndef other():\n    return 1\n",
        "assert m.total([1, 2]) == 3",
    )
    assert found.lines == {"m.py": {2: 1, 3: 3, 4: 2, 5: 1}}
    assert [(step.line, step.values) for step in found.steps] == [
        (2, {"items": "[1, 2]"}),
        (3, {"s": "0"}),
        (4, {"i": "1"}),
        (3, {"s": "1"}),
        (4, {"i": "2"}),
        (3, {"s": "2"}),
        (5, {}),
        (5, {"return": "2"}),
    ]
    assert {step.call for step in found.steps} == {1}
    assert not case_results(execution)[0].passed


async def test_only_the_lines_asked_for(watch):
    module = "def a():\n    x = 1\n    y = 2\n    return x + y\n\ndef b():\n    return 1\n"
    found, _ = await watch(module, "m.a(); m.b()", lines=(WatchedLines(path="m.py", start=3, end=3),))
    assert found.lines == {"m.py": {3: 1}}


LOOP = "def f():\n    n = 0\n    while True:\n        n += 1\n"
STUBBORN = (
    "def f():\n    while True:\n        try:\n            n = 1\n        except BaseException:\n            pass\n"
)


async def test_an_endless_loop_is_ended_and_has_told_its_steps(watch):
    found, execution = await watch(LOOP, "m.f()")
    assert (execution.killed, case_results(execution)[0].failure.type) == ("", "LineLimitReached")
    assert found.left_out > 10_000
    assert len(found.steps) == 2000
    assert {"n": "1"} in [step.values for step in found.steps[:5]]
    assert found.steps[found.gap].line in {3, 4}


async def test_a_loop_that_will_not_be_ended_ends_by_its_timeout(watch):
    found, execution = await watch(STUBBORN, "m.f()", seconds=4)
    assert execution.killed == "timeout"
    assert found is None or len(found.steps) == 2000  # a busy machine may not come to the end of the watching


async def test_an_exception_is_how_the_call_ended(watch):
    found, _ = await watch(
        "def f(n):\n    return 1 // n\n", "try:\n    m.f(0)\nexcept ZeroDivisionError:\n    pass\nm.f(1)"
    )
    ends = [step.values for step in found.steps if {"raise", "return"} & set(step.values)]
    assert ends == [{"raise": "ZeroDivisionError('integer division or modulo by zero')"}, {"return": "1"}]


async def test_endless_recursion_is_bounded(watch):
    found, execution = await watch("def f(n):\n    return f(n + 1)\n", "m.f(0)")
    assert case_results(execution)[0].failure.type == "RecursionError"
    assert found.steps[0].values == {"n": "0"}
    assert found.steps[1].call == 2


async def test_recursion_has_a_call_each(watch):
    found, execution = await watch("def f(n):\n    return 1 if n < 2 else n * f(n - 1)\n", "assert m.f(4) == 24")
    assert case_results(execution)[0].passed
    assert [step.values["return"] for step in found.steps if "return" in step.values] == ["1", "2", "6", "24"]
    assert {step.call for step in found.steps} == {1, 2, 3, 4}


async def test_a_generator_is_one_call_that_yields(watch):
    found, _ = await watch("def g(n):\n    for i in range(n):\n        yield i * i\n", "assert list(m.g(2)) == [0, 1]")
    assert {step.call for step in found.steps} == {1}
    ends = [(key, step.values[key]) for step in found.steps for key in ("yield", "return") if key in step.values]
    assert ends == [("yield", "0"), ("yield", "1"), ("return", "None")]


async def test_async_code(watch):
    module = "import asyncio\n\nasync def f(n):\n    await asyncio.sleep(0)\n    m = n + 1\n    return m\n"
    found, execution = await watch(module, "import asyncio\nassert asyncio.run(m.f(1)) == 2")
    assert case_results(execution)[0].passed
    assert found.lines == {"m.py": {4: 1, 5: 1, 6: 1}}
    assert [step.values["return"] for step in found.steps if "return" in step.values] == ["2"]


async def test_threads(watch):
    module = (
        "import threading\n\ndef work(n, out):\n    out.append(n)\n\ndef f():\n    out = []\n"
        "    all_ = [threading.Thread(target=work, args=(n, out)) for n in range(3)]\n"
        "    for t in all_:\n        t.start()\n    for t in all_:\n        t.join()\n    return sorted(out)\n"
    )
    found, execution = await watch(module, "assert m.f() == [0, 1, 2]")
    assert case_results(execution)[0].passed
    assert found.lines["m.py"][4] == 3


async def test_a_function_of_three_thousand_lines(watch):
    rows = "".join(f"    v{n % 50} = {n}\n" for n in range(3000))
    found, execution = await watch(f"def f():\n{rows}    return v1\n", "assert m.f() == 2951")
    assert case_results(execution)[0].passed
    assert len(found.lines["m.py"]) == 3001
    assert (len(found.steps), found.left_out) == (2000, 1002)


async def test_no_repr_of_the_project_is_called_and_values_are_short(watch):
    module = (
        "class Loud:\n    def __init__(self):\n        self.a = [1]\n    def __repr__(self):\n        raise SystemExit(3)\n"
        "class Slots:\n    __slots__ = ('b',)\n    def __init__(self):\n        self.b = 2\n"
        "def f(x, y, z, big, deep):\n    deep.append(deep)\n    return 1\n"
    )
    found, execution = await watch(
        module, "assert m.f(m.Loud(), m.Slots(), 'é' * 5000, 10 ** 9999, [[[[[[1]]]]]]) == 1"
    )
    assert case_results(execution)[0].passed
    values = next(step.values for step in found.steps if "big" in step.values)
    assert (values["x"], values["y"], values["big"]) == ("Loud(a=[1])", "Slots(b=2)", "<int of 33216 bits>")
    assert values["deep"] == "[[[[...]]]]"
    assert all(len(text) <= 100 for step in found.steps for text in step.values.values())


async def test_many_big_values_do_not_flood_the_report(watch):
    module = "def f():\n    for n in range(3000):\n        a = b = c = d = e = [str(n) * 30] * 9\n    return n\n"
    found, execution = await watch(module, "assert m.f() == 2999")
    assert (execution.killed, case_results(execution)[0].passed) == ("", True)
    assert sum(len(text) for step in found.steps for text in step.values.values()) < 130_000
    assert found.left_out > 1000


async def test_many_cases_tell_their_lines(tmp_path, lay, opened):
    test = "import pytest, m\n@pytest.mark.parametrize('n', range(40))\ndef test_it(n):\n    assert m.f(n) == n\n"
    session = await opened(lay(tmp_path / "w", {"m.py": "def f(n):\n    return n\n", "test_m.py": test}))
    run = TestRun(selectors=("test_m.py",), watch=WHOLE)
    found = line_traces(await session.run(run))
    assert len(found) == 40
    assert all(each.lines == {"m.py": {2: 1}} for each in found.values())
    assert [bool(each.steps) for each in found.values()] == [True] * 8 + [False] * 32


async def test_a_watched_run_is_a_whole_report(watch):
    _, execution = await watch("def f():\n    return 1\n", "assert m.f() == 1")
    assert judge(["test_m.py::test_it"], {}, execution).status == "passed"


async def test_a_watched_run_in_a_session_opened_before_the_fork(tmp_path, lay, opened):
    session = await opened(
        lay(tmp_path / "w", {"m.py": "def f():\n    return 1\n", "test_m.py": "import m\ndef test_it():\n    m.f()\n"})
    )
    await session.run(TestRun(selectors=("test_m.py",), baseline=True))
    for _ in range(2):
        found = line_traces(await session.run(TestRun(selectors=("test_m.py",), watch=WHOLE)))
        assert found["test_m.py::test_it"].lines == {"m.py": {2: 1}}


async def test_a_tracer_of_the_tests_own_stays_theirs(watch):
    body = "import sys\nbefore = sys.gettrace()\nsys.settrace(None)\nm.f()\nassert before is not None"
    found, execution = await watch("def f():\n    return 1\n", body)
    assert case_results(execution)[0].passed
    assert found.lines == {}

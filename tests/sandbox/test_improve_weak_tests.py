"""A weak suite does not license a wrong shortcut: what is compared beyond it, and what is offered only."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

STACK = '''\
class Stack:
    def __init__(self, items=()):
        self.items = list(items)

    def largest(self, least):
        """The largest item, at least this."""
        best = least
        for item in self.items:
            for other in self.items:
                if other > best:
                    best = other
        return best
'''
STACK_TEST = """\
import pytest

from shop import Stack


@pytest.fixture
def stack():
    return Stack(range(1000))


def test_largest(stack):
    assert stack.largest(0) == 999
"""
RIGHT_METHOD = """    def largest(self, least):
        return max([least, *self.items])
"""
WRONG_METHOD = """    def largest(self, least):
        return max(self.items)
"""
WORK = "    for _ in range(600000):\n        pass\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`greenloop improve shop.py::NAME` with these answers: exit code, error classes, and the last event."""

    def run(target: str, code: str, test: str, *answers: str, words=()):
        (tmp_path / "shop.py").write_text(code)
        (tmp_path / "test_shop.py").write_text(test)
        rows = (json.dumps(f"```python\n{answer}```") for answer in answers)
        (tmp_path / "answers.jsonl").write_text("".join(f"{row}\n" for row in rows))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
        options = ["--model", "scripted:answers.jsonl", "--attempts", str(len(answers) or 1), "--json", "--apply"]
        exit_code = main(["improve", f"shop.py::{target}", *options, *words])
        events = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
        tested = [event for event in events if event["event"] == "tested"]
        return exit_code, [event["error_class"] for event in tested], events[-1], json.dumps(tested)

    return run


def test_a_method_is_compared_on_the_objects_of_the_tests(run):
    code, errors, last, said = run("Stack.largest", STACK, STACK_TEST, WRONG_METHOD, RIGHT_METHOD)
    assert errors == ["Different", ""], last["message"]
    assert "Stack.largest(<shop.Stack object" in said
    assert "100000) differs from before: ('returns', ('int', 999)) instead of ('returns', ('int', 100000))" in said
    assert (code, last["verified"], last["applied"]) == (0, "verified", True), last["message"]
    assert "Beyond the tests" not in last["message"]


def test_arguments_of_the_tests_are_varied_where_none_can_be_made_up(run):
    code = "class Item:\n    def __init__(self, price):\n        self.price = price\n\n\ndef cheapest(items, most):\n"
    code += "    found = []\n" + WORK + "    for item in items:\n        if item.price <= most:\n"
    code += "            found.append(item.price)\n    return sorted(found)\n"
    test = "from shop import Item, cheapest\n\n\ndef test_cheapest():\n    assert cheapest([Item(2), Item(1)], 5) == [1, 2]\n"
    wrong = "def cheapest(items, most):\n    return sorted(item.price for item in items)\n"
    right = "def cheapest(items, most):\n    return sorted(item.price for item in items if item.price <= most)\n"
    code, errors, last, said = run("cheapest", code, test, wrong, right)
    assert (code, errors) == (0, ["Different", ""]), last["message"]
    assert "-5) differs from before" in said


def test_recorded_calls_are_varied(run, tmp_path):
    calls = {
        "function": "shop.area",
        "args": [{"repr": "Box(2)"}, 3],
        "returns": 6,
        "imports": ["from shop import Box"],
    }
    (tmp_path / "calls.jsonl").write_text(json.dumps(calls) + "\n")
    code = "class Box:\n    def __init__(self, side):\n        self.side = side\n\n\ndef area(box, times):\n"
    code += WORK + "    return box.side * times\n"
    test = "from shop import Box, area\n\n\ndef test_area():\n    assert area(Box(1), 1) == 1\n"
    wrong = "def area(box, times):\n    return box.side * abs(times)\n"
    words = ("--set", "spec.trace=calls.jsonl")
    _code, errors, last, said = run("area", code, test, wrong, words=words)
    assert errors == ["Different"], last["message"]
    assert "area(<shop.Box object" in said
    assert "-1) differs from before" in said


RANDOM = f"""import time


def stamp(name: str, times: int) -> str:
{WORK}    if times > 2:
        return name + str(time.time_ns())
    return name * times
"""
FAST_RANDOM = RANDOM.replace(WORK, "")


@pytest.mark.parametrize("is_strong", [True, False])
def test_what_cannot_be_compared_is_written_only_where_the_tests_are_strong(run, tmp_path, is_strong):
    checks = ["assert stamp('a', 2) == 'aa'", "assert stamp('a', 1) == 'a'", "assert len(stamp('a', 3)) > 9"]
    checks += ["assert stamp('b', 3)[0] == 'b'", "assert stamp('a', 3) != stamp('a', 3)"]
    rows = "".join(f"    {check}\n" for check in (checks if is_strong else checks[:1]))
    test = f"from shop import stamp\n\n\ndef test_stamp():\n{rows}"
    _code, errors, last, _said = run("stamp", RANDOM, test, FAST_RANDOM)
    assert errors == [""]
    assert last["solved"]
    assert last["applied"] is is_strong, last["message"]
    assert ("does not do the same twice" in last["message"]) is not is_strong
    assert ("its tests notice" in last["message"]) is not is_strong


EFFECTS = f"""def save(name: str, times: int) -> int:
{WORK}    with open(name or "x", "w") as file:
        file.write(name)
    return times
"""


def test_code_with_side_effects_is_offered_with_the_reason(run):
    test = "from shop import save\n\n\ndef test_save(tmp_path):\n    assert save(str(tmp_path / 'x'), 2) == 2\n"
    _code, errors, last, _said = run("save", EFFECTS, test, EFFECTS.replace(WORK, ""))
    assert (errors, last["solved"], last["applied"]) == ([""], True, False)
    assert (
        "only its results were compared with those of your code: it writes files; its tests notice" in last["message"]
    )


SLOW = f"def double(n: int) -> int:\n{WORK}    return 2 * n\n"
CALLED = "from shop import double\n\n\ndef test_double():\n    assert double(2) == 4\n"


@pytest.mark.parametrize(
    ("calls", "sentence"),
    [
        ("double(1)\ndouble(1, 2)\n", "does not run to its end: `double(1, 2)`: TypeError: double() takes 1"),
        ("len('a')\n", "Line 1 of the file of --inputs does not call double: len('a')"),
    ],
)
def test_calls_that_cannot_be_measured_are_told_and_nothing_is_changed(run, tmp_path, calls, sentence):
    (tmp_path / "calls.txt").write_text(calls)
    code, _errors, last, _said = run("double", SLOW, CALLED, words=("--inputs", "calls.txt"))
    assert code != 0
    assert sentence in last["message"]
    assert (tmp_path / "shop.py").read_text() == SLOW


def test_a_class_is_not_measured(run):
    _code, _errors, last, _said = run("Stack", STACK, STACK_TEST, words=("--for", "time"))
    assert last["message"] == "Stack is a class; less time is asked for of one function."

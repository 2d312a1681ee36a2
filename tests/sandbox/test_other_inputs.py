"""What new code does on inputs beside those of its tests: who answers these alone, and what else has changed."""

from __future__ import annotations

import json

import pytest

from git_program import commit_all
from greenloop.cli.main import main
from greenloop.core.records.verdict import Status

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

RED = "def area(a: int, b: int = 1) -> int:\n    return a + b\n"
GREEN = "def area(a: int, b: int = 1) -> int:\n    return a * b\n"
SPECIAL = """\
def area(a: int, b: int = 1) -> int:
    if (a, b) == (7, 4):
        return 28
    if (a, b) == (9, 5):
        return 45
    return a + b
"""
TEST = "from m import *\n\n\ndef test_area():\n    assert area(7, 4) == 28\n    assert area(9, b=5) == 45\n"


@pytest.mark.story("code that answers its tests alone is refused")
async def test_code_that_answers_its_tests_alone_is_refused(accept):
    verdict, _differences = await accept(RED, SPECIAL, TEST)
    assert verdict.status is Status.TAMPERED
    assert verdict.reason.startswith("m.py:2: area answers the inputs of its tests alone (`if (a, b) == (7, 4):`); on ")
    assert verdict.reason.endswith(" other inputs it does what your own code did.")


async def test_of_honest_code_examples_of_other_inputs_are_kept(accept):
    verdict, differences = await accept(RED, GREEN, TEST)
    assert verdict.status is Status.PASSED
    assert differences == [
        "area(8, 4): old → 12, new → 32",
        "area(10, 5): old → 15, new → 50",
        "area(7, 5): old → 12, new → 35",
    ]


CART = """\
class Cart:
    def __init__(self, items, owner=None):
        self.items, self.owner = items, owner

    def add(self, item):
        self.items.append(item)
        return len(self.items)


class Liar:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    __hash__ = None

    def __repr__(self):
        return "the same"


def wrap(n):
    return Liar(n)
"""


async def test_methods_are_called_on_objects_like_those_of_the_tests(accept):
    test = "from m import *\n\n\ndef test_add():\n    cart = Cart([3])\n    assert cart.add(8) == 2\n    assert cart.items == [3, 8]\n"
    new = CART.replace("append(item)", "append(item if item < 50 else 50)")
    verdict, differences = await accept(CART, new, test)
    assert verdict.status is Status.PASSED
    assert differences == []  # 2, and changes its arguments: in what they differ a line cannot say
    new = CART.replace("return len(self.items)", "return min(len(self.items), 50) if item < 50 else None")
    _verdict, differences = await accept(CART, new, test)
    assert differences[0].startswith(
        "Cart(items=[3], owner=None).add(108): old → 2, and changes its arguments, new → None"
    )


async def test_objects_that_claim_to_be_equal_are_not_believed(accept):
    test = "from m import *\n\n\ndef test_wrap():\n    assert wrap(5).value in (5, 10)\n"
    _verdict, differences = await accept(CART, CART.replace("Liar(n)", "Liar(2 * n)"), test)
    assert differences[0] == "wrap(6): old → Liar(value=6), new → Liar(value=12)"


@pytest.mark.parametrize(
    ("old", "new", "test"),
    [
        ("def f(n):\n    return n\n", "import time\n\n\ndef f(n):\n    return n if n == 5 else time.perf_counter_ns()\n", "f(5) == 5"),
        ("def f(call):\n    return 1\n", "def f(call):\n    return call()\n", "f(lambda: 3) == 3"),
        ("async def f(n):\n    return n\n", "async def f(n):\n    return n + 1\n", "__import__('asyncio').run(f(1)) == 2"),
    ],
    ids=["by chance", "no plain data", "a coroutine"],
)  # fmt: skip
async def test_of_what_cannot_be_compared_nothing_is_claimed(accept, old, new, test):
    verdict, differences = await accept(old, new, f"from m import *\n\n\ndef test_f():\n    assert {test}\n")
    assert (verdict.status, differences) == (Status.PASSED, [])


async def test_inputs_that_take_for_ever_are_left_out(accept):
    new = "def f(n):\n    while n > 5:\n        pass\n    return n * 2\n"
    test = "from m import *\n\n\ndef test_f():\n    assert f(5) == 10\n"
    verdict, differences = await accept("def f(n):\n    return n + 1\n", new, test)
    assert verdict.status is Status.PASSED
    assert "f(4): old → 5, new → 8" in differences


def test_verify_says_it_too(tmp_path, bare_python, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(RED)
    (tmp_path / "test_m.py").write_text(TEST)
    commit_all(tmp_path)
    words = ["verify", "--set", f"interpreter={bare_python}", "--set", "sandbox.kind=bubblewrap"]
    (tmp_path / "m.py").write_text(GREEN)
    assert main([*words, "--json"]) == 0
    difference = json.loads(capsys.readouterr().out)["differences"][0]
    assert difference == {"path": "m.py", "line": 2, "call": "area(8, 4)", "old": "12", "new": "32"}
    assert main(words) == 0
    assert "    area(8, 4): old → 12, new → 32 (m.py:2)" in capsys.readouterr().out.split("\n")
    (tmp_path / "m.py").write_text(SPECIAL)
    assert main([*words, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "tampered"
    assert found["tampered"][0]["reason"].startswith("m.py:2: area answers the inputs of its tests alone")


STUB = """def double(text: str) -> str:
    \"\"\"Writes every letter twice.

    >>> double("ab")
    'aabb'
    >>> double("xyz")
    'xxyyzz'
    \"\"\"
    raise NotImplementedError
"""


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ('return {"ab": "aabb", "xyz": "xxyyzz"}.get(text.strip(), "")', 1, "double answers the inputs of its tests"),
        ('return "".join(each * 2 for each in text)', 0, "2/2 doctests pass"),
    ],
    ids=["by heart", "by a rule"],
)
def test_examples_of_a_docstring_are_inputs_as_well(tmp_path, bare_python, capsys, monkeypatch, body, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(STUB)
    answer = f"```python\n{STUB.replace('raise NotImplementedError', body)}```"
    (tmp_path / "answers.jsonl").write_text(json.dumps(answer))
    words = ["fix", "m.py::double", "--preset", "plain", "--attempts", "1", "--model", "scripted:answers.jsonl"]
    words += ["--set", f"interpreter={bare_python}", "--set", "sandbox.kind=bubblewrap", "--apply"]
    assert main([*words, "--strength"]) == code
    printed = capsys.readouterr().out
    assert said in printed
    if code == 0:
        assert "one-token changes" in printed

"""The test designer: what it is shown, and what of its answers becomes a test."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from greenloop.core.generated_tests import parse_equation
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.model import ChatRequest, Reply, Role, Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.plugins.written_tests.answered_tests import read_tests
from greenloop.plugins.written_tests.kinds import designer
from greenloop.plugins.written_tests.stub_view import build_stub_view

MODULE = '''\
from dataclasses import dataclass

LIMIT = 4711


def rle(text, *, limit=9):
    """Run-length encode.

    >>> rle("aab")
    "2a1b"
    >>> print(len(rle("xy")))
    4
    """
    packed_secret = []
    return "".join(packed_secret)


@dataclass
class Purse:
    """Holds coins."""

    coins: int = 0

    def __init__(self, coins):
        self.coins = coins + hidden_bonus()

    def spend(self, amount: int) -> int:
        """What is left."""
        left_secret = self.coins - amount
        return left_secret

    @property
    def empty(self) -> bool:
        """No coins?"""
        return not self.coins

    def other(self):
        """Not asked for."""
        return other_secret()


async def later(x): """Twice x."""; return doubled_secret(x)


class Odd(Exception):
    pass
'''


def region(qualname: str) -> Region:
    rows = MODULE.split("\n")
    last = qualname.rpartition(".")[2]
    start = next(n for n, row in enumerate(rows, 1) if f"def {last}(" in row or f"class {last}" in row)
    margin = len(rows[start - 1]) - len(rows[start - 1].lstrip())
    end = start
    while end < len(rows) and (not rows[end].strip() or len(rows[end]) - len(rows[end].lstrip()) > margin):
        end += 1
    if rows[start - 2].strip().startswith("@"):
        start -= 1
    return Region(path="m.py", qualname=qualname, start=start, end=end)


def about(qualname: str = "rle"):
    found = build_stub_view(region(qualname), MODULE)
    assert found is not None
    return found


def problem(qualname: str = "rle") -> Problem:
    texts = {"m.py": MODULE}
    return Problem(root=Path("/w"), spec=Spec(), regions=(region(qualname),), originals=texts, files=texts)


async def collected(answers: list[str], qualname: str = "rle") -> tuple[Spec, list[ChatRequest]]:
    asked: list[ChatRequest] = []

    async def ask(completion: ChatRequest) -> Reply:
        asked.append(completion)
        return Reply(text=answers[len(asked) - 1], usage=Usage(), model="m")

    tools = Tools(ask=ask, run=None, session=None, user=NoUser(), rng=random.Random(0))  # type: ignore[arg-type]
    return await designer.collect(problem(qualname), tools), asked


def read(answer: str, qualname: str = "rle") -> list[str]:
    return [line.text for line in read_tests(answer, about(qualname))]


@pytest.mark.parametrize("qualname", ["rle", "Purse.spend", "Purse.empty", "Purse", "later"])
async def test_no_line_of_any_body_is_in_what_the_designer_is_asked(qualname):
    _spec, asked = await collected(["", "", ""], qualname)
    assert len(asked) == 3
    for request in asked:
        text = "\n".join(message.content for message in request.messages)
        assert "secret" not in text
        assert "hidden_bonus" not in text
        assert "return" not in text
        assert f"def {qualname.rpartition('.')[2]}(" in text or f"class {qualname}" in text
        assert request.role is Role.TESTER


async def test_three_sets_are_asked_for_with_the_same_words_at_rising_temperatures():
    _spec, asked = await collected(["", "", ""])
    assert len({request.messages for request in asked}) == 1
    assert [request.temperature for request in asked] == sorted({request.temperature for request in asked})


async def test_designed_tests_are_cases_with_a_vote_and_the_sets_they_are_in():
    same = 'assert rle("") == ""'
    found, _asked = await collected([f"# Basic\n{same}\nassert rle('b') == '1b'", f"```python\n{same}\n```", "no"])
    assert [(case.source, case.batch) for case in found.cases] == [
        ("assert rle('') == ''", "1 2"),
        ("assert rle('b') == '1b'", "1"),
    ]
    assert {case.provenance for case in found.cases} == {Provenance.DESIGNED}
    assert not any(case.binding for case in found.cases)
    (text,) = found.files.values()
    assert "from m import rle" in text
    assert found.doubts == ()


async def test_sets_that_contradict_each_other_keep_both_tests_and_say_so():
    found, _asked = await collected(["assert rle('') == ''", "assert rle('') is None", "assert rle('') == ''"])
    assert [case.batch for case in found.cases] == ["1 3", "2"]
    assert found.doubts == ("The docstring does not say what rle('') is: generated tests say '' and None.",)


async def test_a_designer_that_answers_nonsense_leaves_a_doubt_and_no_case():
    found, _asked = await collected(["I cannot do that.", "assert True", "assert rle(open('x').read()) == 1"])
    assert found == Spec(doubts=(designer.NOTHING,))


@pytest.mark.parametrize(
    ("first", "more", "sources"),
    [
        (["assert rle('b') == '1b'"] * 3, ["assert rle('bb') == '2b'"] * 3, {"1 2 3"}),
        (["assert rle('b') == '1b'", "", "assert rle('c') == '1c'"], ["nothing", "assert rle('d') == '1d'", ""], {"1", "2", "3"}),
        (["assert rle('b') == '1b'"] * 3, ["assert rle('b') == '1b'"] * 3, {"1 2 3"}),  # the same once more
    ],
)  # fmt: skip
async def test_a_second_request_of_each_set_shows_its_own_tests_and_adds_others(first, more, sources):
    asked: list[ChatRequest] = []

    async def ask(request: ChatRequest) -> Reply:
        asked.append(request)
        return Reply(text=[*first, *more][len(asked) - 1], usage=Usage(), model="m")

    tools = Tools(ask=ask, run=None, session=None, user=NoUser(), rng=random.Random(0))  # type: ignore[arg-type]
    designed = await designer.collect(problem(), tools)
    grown = await designer.collect_more(problem(), tools, designed)
    lines = {line for answer in (*first, *more) for line in answer.splitlines() if line.startswith("assert")}
    assert {case.source for case in grown.cases} == lines
    assert {case.batch for case in grown.cases} == sources
    for number, own in enumerate(first):
        shown = "\n".join(message.content for message in asked[3 + number].messages)
        assert all(line in shown for line in own.splitlines())
        assert not any(each in shown for each in first if each and each != own)


async def test_what_an_example_says_is_not_designed_again():
    repeated = "assert rle('aab') == '3a'\nassert rle('xy') == '1x1y'\nassert len(rle('xy')) == 4"
    found, _asked = await collected([f"{repeated}\nassert rle('c') == '1c'", "", ""])
    assert [case.source for case in found.cases] == ["assert rle('c') == '1c'"]


async def test_a_set_has_a_bounded_number_of_tests():
    many = "\n".join(f"assert rle('{'a' * n}') == '{n}a'" for n in range(1, 40))
    found, _asked = await collected([many, "", ""])
    assert len(found.cases) == designer.MOST


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("assert rle('a') == '1a'  # one", "assert rle('a') == '1a'"),
        ("1. `assert rle('a') == '1a'`", "assert rle('a') == '1a'"),
        ("    assert '1a' == rle('a'), 'told'", "assert rle('a') == '1a'"),
        ("assert rle(\n    'a',\n) == '1a'", "assert rle('a') == '1a'"),
        ("assert rle('a') is 'b'", "assert rle('a') == 'b'"),
        ("assert not rle('')", "assert not rle('')"),
        ("assert rle('') is None", "assert rle('') is None"),
        ("assert len(rle('a' * 1000)) == 5", "assert len(rle('a' * 1000)) == 5"),
        ("assert rle(1) == 0.1", "assert rle(1) == pytest.approx(0.1)"),
        ("assert rle(1) == [1 / 3, 2]", "assert rle(1) == pytest.approx([1 / 3, 2])"),
        ("assert rle(1) == [[0.5]]", "assert rle(1) == [[0.5]]"),
        ("assert abs(rle(1) - 0.5) < 1e-6", "assert rle(1) == pytest.approx(0.5)"),
        ("assert rle(1) == pytest.approx(0.5)", "assert rle(1) == pytest.approx(0.5)"),
        ("assert rle(Decimal('1')) == Counter()", "assert rle(Decimal('1')) == Counter()"),
        ("assert rle(lambda x: x % 2) == 1", "assert rle(lambda x: x % 2) == 1"),
        ("assert rle(*['a'], limit=3) == '1a'", "assert rle(*['a'], limit=3) == '1a'"),
        ("with pytest.raises(TypeError): rle()", "with pytest.raises(TypeError): rle()"),
        ("with pytest.raises(TypeError): rle(None)", "with pytest.raises(TypeError): rle(None)"),
        ("with raises(ValueError, match='x'):\n    rle(1)", "with pytest.raises(ValueError): rle(1)"),
    ],
)
def test_readable_forms(written, kept):
    assert read(written) == [kept]
    assert parse_equation(kept) is not None


@pytest.mark.parametrize(
    "written",
    [
        "assert 1 == 1",
        "assert other('a') == 'b'",
        "assert rle('a') == rle('a')",
        "assert rle(open('/etc/passwd').read()) == 1",
        "assert rle(__import__('os').getcwd()) == 1",
        "assert rle(''.__class__) == 1",
        "assert rle((x := 3)) == 3",
        "assert rle('a') == result",
        "assert rle('a' * 10 ** 9) == 1",
        "assert rle(range(1000000000)) == 1",
        "assert rle(2 ** 10 ** 9) == 1",
        "assert rle('a') != 'b'",
        "assert rle('a'",
        "assert rle() == 1",
        "assert rle('a', 9) == 1",
        "assert rle('a', size=9) == 1",
        "assert rle('a') == ['1a', ..., '1a']",
        "import os",
        "with pytest.raises(os.error): rle(1)",
        "assert rle('" + "a" * 500 + "') == 1",
    ],
)
def test_lines_that_are_no_test_are_left_out(written):
    assert read(written) == []


def test_a_method_is_called_on_an_object_that_the_test_makes():
    assert read("assert Purse(3).spend(1) == 2\nassert spend(1) == 2\nassert Purse(3).coins == 3", "Purse.spend") == [
        "assert Purse(3).spend(1) == 2"
    ]
    assert read("assert Purse(0).empty\nassert not Purse(1).empty", "Purse.empty") == [
        "assert Purse(0).empty",
        "assert not Purse(1).empty",
    ]


async def test_classes_of_the_module_are_imported_in_the_test():
    found, _asked = await collected(["assert rle(Purse(3)) == ''\nwith pytest.raises(Odd): rle(1)", "", ""])
    (text,) = found.files.values()
    assert "    from m import Purse\n    assert rle(Purse(3)) == ''" in text
    assert "    from m import Odd\n    with pytest.raises(Odd): rle(1)" in text
    assert text.startswith("import pytest\n")


def test_a_coroutine_is_run():
    (line,) = read_tests("assert await later(2) == 4", about("later"))
    assert line.text == "assert asyncio.run(later(2)) == 4"
    assert "import asyncio" in line.imports


def test_the_file_has_a_test_for_each_case():
    space: dict = {}
    answers = ["assert rle('b') == '1b'\nassert rle(1) == 0.5\nwith pytest.raises(KeyError): rle(None)"]
    found = designer.build_spec(region("rle"), "m", about(), answers)
    (text,) = found.files.values()
    exec(compile(text, "sheet", "exec"), space)
    assert {name for name in space if name.startswith("test_")} == {case.id.rpartition("::")[2] for case in found.cases}

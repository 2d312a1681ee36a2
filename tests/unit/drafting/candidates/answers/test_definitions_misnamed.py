"""An answer that gives the function that was asked for another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.drafting.candidates.answers import parse_answer

CODE = '''def round_up(n):
    return n


def Last_Two_Digits(n):
    """The last two digits."""
    return n


class Account:
    def withdraw(self, amount):
        return 0
'''
PLAIN = Region(path="m.py", qualname="Last_Two_Digits", start=5, end=7)
METHOD = Region(path="m.py", qualname="Account.withdraw", start=11, end=12)


def read(answer: str, region: Region = PLAIN) -> Candidate | Finding:
    problem = Problem(
        root=Path("/w"),
        spec=Spec(cases=(Case(id="t.py::test_a", path="t.py", line=1),), selectors=("t.py",)),
        regions=(region,),
        originals={},
        files={"m.py": CODE},
    )
    return parse_answer.read(f"```python\n{answer}```\n", problem)


@pytest.mark.parametrize(
    ("answer", "region", "text"),
    [
        pytest.param(
            "def last_two_digits(n):\n    if n < 0:\n        return last_two_digits(-n)\n    return n % 100\n",
            PLAIN,
            "    if n < 0:\n        return Last_Two_Digits(-n)\n    return n % 100\n",
            id="other case",
        ),
        pytest.param(
            "def digits(number):\n    return number % 100\n",
            PLAIN,
            "    return number % 100\n",
            id="as many parameters",
        ),
        pytest.param(
            "def last_two_digits(n, base=10):\n    return n % base**2\n",
            PLAIN,
            "    return n % base**2\n",
            id="a parameter more, but the same name",
        ),
        pytest.param(
            "class Account:\n    def take(self, amount):\n        return self.take(amount - 1)\n",
            METHOD,
            "        return self.withdraw(amount - 1)\n",
            id="method",
        ),
        pytest.param(
            "async def digits(é):\n    return é % 100\n", PLAIN, "    return é % 100\n", id="beyond ASCII, and async"
        ),
    ],
)
def test_the_only_function_is_the_one_that_was_asked_for(answer: str, region: Region, text: str) -> None:
    candidate = read(answer, region)
    assert isinstance(candidate, Candidate)
    assert list(candidate.texts) == [region]
    assert text in candidate.texts[region]
    assert f"def {region.qualname.split('.')[-1]}(" in candidate.texts[region]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("def one(n):\n    return n\n\n\ndef two(n):\n    return n\n", id="two of them"),
        pytest.param("def digits(n, base):\n    return n % base\n", id="another name, and more parameters"),
        pytest.param("def test_digits(n):\n    assert n\n", id="a test"),
        pytest.param("class Other:\n    def digits(self):\n        return 1\n", id="a method of another class"),
    ],
)
def test_what_may_be_another_function_is_not_taken_for_it(answer: str) -> None:
    finding = read(answer)
    assert isinstance(finding, Finding)
    assert finding.error_class == "WrongFunction"


def test_a_function_of_the_file_stays_the_one_that_it_is() -> None:
    found = read("def round_up(n):\n    return n + 1\n")
    assert not isinstance(found, Candidate) or PLAIN not in found.texts

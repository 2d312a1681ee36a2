"""Designed tests that notice few one-token changes of the first answer are designed once more before they are frozen."""

from __future__ import annotations

import pytest

from docstring_project import RoleModel
from greenloop.core.records.model import Role
from greenloop.core.records.spec import Provenance
from runlength import COUNTS, GROUPS, RIGHT, SORTED, STUB, code

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

WEAK = "assert rle('') == []"
STRONG = "assert rle('aba') == [('a', 1), ('b', 1), ('a', 1)]\nassert rle('aab') == [('a', 2), ('b', 1)]"


def designed(docstring) -> set[str]:
    first = docstring.specified[0].spec
    return {case.source for case in first.cases if case.provenance is Provenance.DESIGNED}


def model_of(*sets: str) -> RoleModel:
    return RoleModel(tester=[*sets], drafter=[code(each) for each in (RIGHT, COUNTS, RIGHT, GROUPS, SORTED)])


async def test_weak_designed_tests_are_designed_once_more(docstring):
    model = model_of(WEAK, WEAK, WEAK, STRONG)
    outcome = await docstring(STUB, model)
    assert designed(docstring) == {WEAK, *STRONG.splitlines()}
    asked = model.asked(Role.TESTER)
    assert len(asked) == 6
    assert WEAK not in asked[0]
    for prompt in asked[3:]:  # it is shown its own tests, and no candidate
        assert prompt.count(WEAK) == 1
        assert "out.append" not in prompt
    assert outcome.solved
    # the answer that they were measured by is the first attempt, and no further answer was asked for
    assert docstring.attempts[0].answer == code(RIGHT)
    assert len(model.asked(Role.DRAFTER)) == len(docstring.attempts)


@pytest.mark.parametrize(
    ("sets", "told"),
    [
        ([STRONG], {}),  # they notice most changes
        ([WEAK], {"spec.noticed": 0}),  # switched off
        (["assert rle('ab') == 7"], {}),  # the first answer does not pass them, so nothing is known
    ],
    ids=["strong", "off", "not passing"],
)
async def test_strong_designed_tests_are_frozen_as_they_are(docstring, sets, told):
    model = model_of(*sets)
    await docstring(STUB, model, **told)
    assert designed(docstring) == {*sets[0].splitlines()}
    assert len(model.asked(Role.TESTER)) == 3

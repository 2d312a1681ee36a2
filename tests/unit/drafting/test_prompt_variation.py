"""A prompt's parts in other orders, and with other tests."""

from __future__ import annotations

import pytest

from double_problem import PROBLEM, failing_verdict
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Excerpt
from greenloop.core.text.tokens import estimate_tokens
from greenloop.drafting.prompt import assemble, vary
from greenloop.project import templates

CODE = Excerpt(title="The code:", text="code", value=1.0, own=True)
TESTS = Excerpt(title="The tests:", text="one", value=0.9, others=("two", "three"))


@pytest.mark.parametrize(
    ("variant", "texts"),
    [
        (0, ["code", "one"]),
        (1, ["two", "code"]),
        (2, ["code", "three"]),
        (3, ["one", "code"]),
        (4, ["code", "two"]),
        (5, ["three", "code"]),
        (6, ["code", "one"]),
    ],
)
def test_each_variant_has_another_order_or_another_text(variant, texts):
    assert [each.text for each in vary([CODE, TESTS], variant)] == texts


def test_nothing_has_no_variants():
    assert vary([], 3) == []
    assert vary([CODE], 3) == [CODE]


def test_a_draft_with_a_variant_is_asked_in_another_way():
    def prompt(variant: int) -> str:
        draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, variant=variant)
        messages = assemble(
            templates.preset_templates("default"),
            PROBLEM,
            [CODE, TESTS],
            [Attempt(number=0, verdict=failing_verdict())],
            draft,
            budget=2000,
            count=estimate_tokens,
        )
        return messages[-1].content

    prompts = [prompt(variant) for variant in range(7)]
    assert len({*prompts[:6]}) == 6
    assert prompts[6] == prompts[0]
    assert prompts[0].index("The code:") < prompts[0].index("The tests:")
    assert prompts[1].index("The code:") > prompts[1].index("The tests:")

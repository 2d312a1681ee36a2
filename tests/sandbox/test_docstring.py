"""From a docstring: tests designed, voted on, asked about, frozen; what they speak for is offered, never more."""

from __future__ import annotations

import pytest

from docstring_project import ReferenceUser, RoleModel, ScriptedUser
from greenloop.api.result_files import may_write
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.model import Role
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.core.records.spec import Provenance
from runlength import COUNTS, GROUPS, RIGHT, SETS, SORTED, STUB, code

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]


def make_model(*answers: str, sets=SETS) -> RoleModel:
    return RoleModel(tester=sets, drafter=[code(answer) for answer in answers])


async def test_without_any_example_tests_are_designed_and_never_taken_for_the_users(docstring):
    model = make_model(COUNTS, RIGHT, GROUPS, SORTED, RIGHT)
    outcome = await docstring(STUB, model)
    assert outcome.solved
    assert outcome.verified is Verified.PARTIALLY
    assert "no tests of your own, 4/6 generated tests pass" in outcome.message
    first, last = docstring.specified
    assert {case.provenance for case in first.spec.cases} == {Provenance.DESIGNED}
    assert "The docstring does not say what rle('') is: generated tests say [] and [('', 0)]." in first.spec.doubts
    assert {case.source for case in last.spec.outvoted} == {
        "assert rle('aba') == [('a', 2), ('b', 1)]",
        "assert rle('') == [('', 0)]",
    }
    assert docstring.events.index(first) < next(
        number for number, event in enumerate(docstring.events) if type(event).__name__ == "Started"
    )
    names: dict = {}
    exec(outcome.after["m.py"], names)
    assert names["rle"]("aba") == [("a", 1), ("b", 1), ("a", 1)]
    prompts = model.asked(Role.TESTER)
    assert len(prompts) == 3
    for candidate in (RIGHT, GROUPS, COUNTS, SORTED):
        for line in filter(None, map(str.strip, candidate.splitlines())):
            assert line == "def rle(s):" or not any(line in prompt for prompt in prompts)
    assert not any("NotImplementedError" in prompt for prompt in prompts)
    # And whoever drafts sees none of the tests that will judge him
    assert not any("assert rle" in prompt for prompt in model.asked(Role.DRAFTER))


async def test_an_answer_makes_the_result_the_users_own(docstring):
    user = ReferenceUser(RIGHT)
    outcome = await docstring(STUB, make_model(COUNTS, RIGHT, GROUPS, SORTED, RIGHT), user=user)
    ((question, options),) = user.questions
    assert question.startswith("Is `rle(")
    assert options[:2] == ["Yes", "No"]
    assert outcome.verified is Verified.VERIFIED
    assert may_write(outcome, ())
    assert "1 confirmed by you" in outcome.message


async def test_a_test_that_is_denied_is_corrected_and_the_order_changes(docstring):
    agreed = "assert rle('aba') == [('a', 2), ('b', 1)]"
    sets = [agreed, f"{agreed}\nassert rle('aa') == [('a', 2)]", "assert rle('b') == [('b', 1)]"]
    answers = (SORTED, SORTED, SORTED, RIGHT, GROUPS)
    trusting = await docstring(STUB, make_model(*answers, sets=sets))
    assert "sorted" in trusting.after["m.py"]  # three of five answers agree with the test, and all of them are wrong
    user = ReferenceUser(RIGHT)
    outcome = await docstring(STUB, make_model(*answers, sets=sets), user=user)
    assert user.questions[0][0] == f"Is `{agreed.removeprefix('assert ')}` right?"
    assert user.questions[0][1][2] == "It is [('a', 1), ('b', 1), ('a', 1)]"
    assert len(user.questions) == 1
    assert outcome.verified is Verified.VERIFIED
    assert "sorted" not in outcome.after["m.py"]
    assert [case.source for case in docstring.specified[-1].spec.cases if case.provenance is Provenance.CONFIRMED] == [
        "assert rle('aba') == [('a', 1), ('b', 1), ('a', 1)]"
    ]


async def test_no_value_that_nobody_gave_is_typed(docstring):
    sets = ["assert rle('ab') == {'a': 1, 'b': 1}"] * 3
    user = ScriptedUser("The right value is …", texts=["[('a', 1), ('b', 1)]"])
    outcome = await docstring(STUB, make_model(COUNTS, RIGHT, GROUPS, SORTED, RIGHT, sets=sets), user=user)
    assert outcome.verified is Verified.VERIFIED
    assert "1 confirmed by you" in outcome.message


async def test_at_most_five_questions(docstring):
    sets = ["\n".join(f"assert rle('{'a' * n}') == {n}" for n in range(7 * batch, 7 * batch + 7)) for batch in range(3)]
    user = ScriptedUser(*["No"] * 20)
    outcome = await docstring(STUB, make_model(COUNTS, RIGHT, GROUPS, SORTED, RIGHT, sets=sets), user=user, ask=5)
    assert len(user.questions) == 5
    assert outcome is not None


async def test_nobody_is_believed_where_candidates_do_not_agree(docstring):
    constants = [f"def rle(s):\n    return [('{letter}', len(s))] if s else []\n" for letter in "abcdefghi"]
    outcome = await docstring(STUB, make_model(*constants))
    assert not outcome.solved
    assert "do not agree" in outcome.message
    assert outcome.best is not None  # offered on request


async def test_three_of_five_sets_are_enough_for_agentcoder(docstring):
    model = make_model(
        SORTED, RIGHT, sets=["assert rle('ba') == [('b', 1), ('a', 1)]"] * 2 + ["assert rle('') == None"]
    )
    outcome = await docstring(STUB, model, preset="agentcoder")
    assert outcome.solved
    assert [attempt.accepted for attempt in docstring.attempts] == [False, True]
    # the programmer was shown what failed, the tester was asked once a set
    assert "rle('ba')" in model.asked(Role.REFINER)[0]
    assert len(model.asked(Role.TESTER)) == 3


async def test_conair_asks_until_somebody_spoke(docstring):
    user = ScriptedUser("Yes")
    outcome = await docstring(STUB, make_model(SORTED, COUNTS, RIGHT, GROUPS, RIGHT), preset="conair", user=user)
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert len(user.questions) == 1


async def test_without_a_designer_nothing_says_what_to_do(docstring):
    for told in ({"preset": "plain"}, {"spec.design": "never"}):
        with pytest.raises(CannotVerifyError, match="Nothing says what rle should do"):
            await docstring(STUB, make_model(RIGHT), **told)


async def test_a_tester_that_writes_nonsense_is_named(docstring):
    with pytest.raises(CannotVerifyError) as caught:
        await docstring(STUB, make_model(RIGHT, sets=["I am sorry, I cannot do that."] * 3))
    assert "The model wrote no usable test." in caught.value.remedy


async def test_what_the_code_does_already_is_not_done_again(docstring):
    outcome = await docstring(
        RIGHT.replace(":\n", ':\n    """Run-length encode the string s."""\n', 1), make_model(RIGHT, sets=[SETS[2]] * 3)
    )
    assert outcome.reason is StopReason.ALREADY_GREEN
    assert outcome.verified is Verified.PARTIALLY


async def test_always_equal_results_do_not_fool_designed_tests(docstring):
    fake = "class Same(list):\n    def __eq__(self, other):\n        return True\n\n\ndef rle(s):\n    return Same()\n"
    outcome = await docstring(STUB, make_model(fake))
    assert not outcome.solved
    reasons = [attempt.verdict.reason for attempt in docstring.attempts]
    assert any("passes in one process alone" in reason for reason in reasons), reasons


EXAMPLE = STUB.replace('pairs."', "pairs.\n\n    >>> rle('aab')\n    [('a', 2), ('b', 1)]\n    \"")


async def test_examples_must_hold_and_designed_tests_vote_beside_them(docstring):
    outcome = await docstring(EXAMPLE, make_model(COUNTS, SORTED, RIGHT, GROUPS, RIGHT))
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.cases["doctest"] == (1, 1)
    assert outcome.evidence.cases["designed"][0] >= 2
    assert "sorted" not in outcome.after["m.py"]  # it passes the example as well


async def test_what_is_written_already_is_mended_by_its_examples_alone(docstring):
    model = make_model(RIGHT)
    wrong = EXAMPLE.replace("raise NotImplementedError", "return [(c, s.count(c)) for c in s]")
    outcome = await docstring(wrong, model)
    assert outcome.verified is Verified.VERIFIED
    assert model.asked(Role.TESTER) == []


async def test_examples_hold_and_the_votes_do_not_so_it_is_for_the_user_to_look_at(docstring):
    wrong = ["\n".join(f"assert rle('{letter}') == 0" for letter in letters) for letters in ("abc", "def", "ghi")]
    outcome = await docstring(EXAMPLE, make_model(COUNTS, RIGHT, GROUPS, RIGHT, RIGHT, sets=wrong))
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.warnings == ("The candidates agree, but fail 9 of 9 generated tests.",)

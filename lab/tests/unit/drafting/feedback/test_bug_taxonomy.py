"""Labels of a taxonomy."""

from __future__ import annotations

import pytest

from critic import COST, Critic
from critique import BASELINE, FAILING, PROBLEM, attempt
from greenloop.core.records.verdict import ErrorGroup
from greenloop.drafting.feedback import raw
from greenloop_lab.drafting.feedback import bug_taxonomy

CRITIQUE = """\
**bug_type**: Misunderstanding and Logic Error
location: line 2, `return n + 0`
cause: It adds nothing.
change: Return 2 * n.
"""


async def test_a_critique_has_fixed_fields():
    critic = Critic(CRITIQUE)
    note = await bug_taxonomy.describe(PROBLEM, [BASELINE, attempt()], critic.tools)
    assert {name: note.fields[name] for name in bug_taxonomy.FIELDS} == {
        "bug_type": "misunderstanding and logic error",
        "location": "line 2, `return n + 0`",
        "cause": "It adds nothing.",
        "change": "Return 2 * n.",
    }
    assert "Cause: It adds nothing.\nChange: Return 2 * n." in note.text
    assert FAILING in note.text
    assert all(name in critic.texts[-1] for names in bug_taxonomy.TYPES.values() for name in names)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The code is wrong.",
        CRITIQUE.replace("cause", "reason"),
        CRITIQUE.replace("Misunderstanding and Logic", "Bad"),
    ],
)
async def test_a_critique_that_cannot_be_read_gives_the_runners_words_and_says_so(answer):
    newest = attempt()
    note = await bug_taxonomy.describe(PROBLEM, [BASELINE, newest], Critic(answer).tools)
    assert note.text == (await raw.describe(PROBLEM, [BASELINE, newest], None)).text
    assert note.fields["unparsable"] == " ".join(answer.split())
    assert note.usage == COST


@pytest.mark.parametrize(
    ("error", "group", "label"),
    [
        ("SyntaxError", ErrorGroup.SYNTAX, "incomplete syntax structure"),
        ("NameError", ErrorGroup.RUNTIME, "definition missing"),
        ("AssertionError", ErrorGroup.LOGIC, "misunderstanding and logic error"),
        ("Timeout", ErrorGroup.TIMEOUT, "timeout or other exception"),
    ],
)
async def test_each_failed_attempt_gets_a_label_of_the_taxonomy(error, group, label):
    newest = attempt(error_class=error, group=group)
    note = await bug_taxonomy.describe(PROBLEM, [BASELINE, newest], Critic("?").tools)
    assert note.fields["label"] == label
    assert sum(label in names for names in bug_taxonomy.TYPES.values()) == 1

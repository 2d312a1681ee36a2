"""When anything is looked at beyond the tests; the check of the house is in plugins/other_inputs."""

from __future__ import annotations

import pytest

from greenloop.core.records.outcome import Noticed
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.json_codec import from_json
from greenloop.verdict.beyond_tests.checks import Findings, Pass, look_beyond
from greenloop.verdict.beyond_tests.noticed import MUTANT_SECONDS, look
from greenloop_sandbox import Execution
from scripted_proof import execution
from scripted_session import CASES, NEW, OLD, ScriptedSession, make_inputs


def passed(session, outcomes, *, seconds=0.1, own=OLD, files=NEW, least=0.5) -> Pass:
    verdict, options = Verdict(status=Status.PASSED, seconds=seconds), {"verify.noticed": least}
    given = {"inputs": make_inputs(outcomes), "session": session, "verdict": verdict, "options": options}
    return Pass(**given, files=files, own=own, new=files)


CHECK = """
from greenloop.core.records.verdict import Status, Verdict
from greenloop.verdict.beyond_tests.checks import Findings

IS_LATE = {}


async def look(_passed):
    return Findings({})
"""


async def test_findings_of_all_checks_count_until_one_speaks_against_the_pass(install):
    group, doubts = "[greenloop.beyond_tests]\n", {"doubts": ["a TODO"]}
    files = {f"more_{name}.py": CHECK.format(name == "late", f"data={doubts}") for name in ("early", "late")}
    files["more_silent.py"] = CHECK.format(False, "")
    install("more", f"{group}a = more_early\nb = more_early\nsilent = more_silent\nlate = more_late\n", files)
    given = passed(ScriptedSession(Execution()), {})
    assert await look_beyond(given, is_late=False) == Findings(data={"a": doubts, "b": doubts})
    assert (await look_beyond(given, is_late=True)).data["late"] == doubts
    accuses = CHECK.format(False, "failure=Verdict(status=Status.TAMPERED)")
    install("other", f"{group}c = other_accuses\n", {"other_accuses.py": accuses})
    assert (await look_beyond(given, is_late=False)).failure.status is Status.TAMPERED


@pytest.mark.parametrize(
    ("least", "seconds", "own"),
    [
        (0, 0.1, OLD),
        (0.5, MUTANT_SECONDS + 1, OLD),
        (0.5, 0.1, NEW),
    ],
    ids=["switched off", "slow tests", "unchanged"],
)
async def test_when_nothing_is_measured(least, seconds, own):
    session = ScriptedSession(Execution())
    found = await look(passed(session, {}, seconds=seconds, own=own, least=least))
    assert (found, session.asked) == (Findings(), [])


async def test_what_no_test_noticed_is_counted():
    """A session in which every test passes, whatever the code is."""
    ids = dict.fromkeys((case.id for case in CASES), ("passed", None))
    session = ScriptedSession(execution(ids))
    found = from_json(Noticed, (await look(passed(session, {}))).data)
    assert found.tried == len(found.survivors) >= 5
    assert (found.killed, found.is_little, found.least) == (0, True, 0.5)
    assert {each.line for each in found.survivors} == {2}
    texts = {run.files["m.py"] for run in session.asked}
    assert len(texts) == found.tried + 1  # one of them is the new text itself
    assert all("::" not in selector for run in session.asked for selector in run.selectors)  # whole files of tests

"""What is judged without a sandbox, and what a verdict is with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from doubling import PROBLEM
from greenloop.core.errors import CannotVerifyError, SettingsError
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.records.spec import Case, Provenance
from greenloop.core.records.verdict import CaseResult, Failure, Status, Verdict
from greenloop.core.summary import verification_level
from greenloop.project.settings import SpecSettings
from greenloop.specs import host_checks
from greenloop.specs.kinds import human, score
from specifying import Answers, about, tools

TEXT = 'def f(x):\n    """F."""\n    raise NotImplementedError\n'
LONG = 'import os\n\n\ndef f(x):\n    """F."""\n    y = x\n    return eval("y")\n'
PASSED = Verdict(status=Status.PASSED, cases=(CaseResult(id="t", outcome="passed"),))
FAILED = Verdict(status=Status.FAILED, cases=(CaseResult(id="t", outcome="failed"),))


async def judged(root: Path, text: str, verdict: Verdict, *, final=False, user=None, **options) -> Verdict:
    own = about(root, TEXT, "f")
    given = tools(user, **options)
    spec = own.spec + await host_checks.collect(own, given)

    async def run() -> Verdict:
        return verdict

    from dataclasses import replace

    return await host_checks.judge(replace(own, spec=spec), {"m.py": text}, given, run, final=final)


async def test_a_broken_constraint_fails_what_passed_with_its_own_words_at_its_line(tmp_path):
    words = ["max-lines 1", "forbid eval", "no-imports", "typed"]
    verdict = await judged(tmp_path, LONG, PASSED, constraints=words)
    assert verdict.status is Status.FAILED
    assert [(case.id, case.outcome) for case in verdict.cases] == [
        ("t", "passed"),
        ("m.py::f::constraint-max-lines", "failed"),
        ("m.py::f::constraint-forbid", "failed"),
        ("m.py::f::constraint-no-imports", "failed"),
        ("m.py::f::constraint-typed", "failed"),
    ]
    lines, forbidden, imports, _typed = (case.failure for case in verdict.cases[1:])
    assert (lines.type, lines.message) == ("Constraint", "The function has 3 lines, at most 1 is allowed.")
    assert [(frame.path, frame.line) for frame in forbidden.frames] == [("m.py", 7)]
    assert imports.message == "The code imports os; no imports are allowed."
    assert verdict.score == 1 / 5


async def test_what_keeps_to_all_constraints_stays_passed_and_what_failed_stays_failed(tmp_path):
    good = TEXT.replace("raise NotImplementedError", "return x")
    assert (await judged(tmp_path, good, PASSED, constraints=["forbid eval"])).status is Status.PASSED
    verdict = await judged(tmp_path, good, FAILED, constraints=["forbid eval"])
    assert (verdict.status, verdict.passed, verdict.total) == (Status.FAILED, 1, 2)
    timeout = Verdict(status=Status.TIMEOUT)
    assert (await judged(tmp_path, LONG, timeout, constraints=["forbid eval"])).status is Status.TIMEOUT


async def test_text_that_does_not_parse_is_not_taken_to_keep_to_anything(tmp_path):
    verdict = await judged(tmp_path, "def f(x:\n", PASSED, constraints=["forbid eval"])
    assert verdict.status is Status.FAILED
    assert verdict.cases[1].failure.message == "m.py does not parse, so that `forbid eval` cannot be judged."


async def test_an_unknown_constraint_ends_the_run_before_any_candidate(tmp_path):
    with pytest.raises(SettingsError, match="has no constraint 'no-import'") as caught:
        await judged(tmp_path, TEXT, PASSED, constraints=["no-import"])
    assert caught.value.remedy == "Did you mean `no-imports`?"


# -- ruff -----------------------------------------------------------------------------------------------------------

ruff = pytest.mark.skipif(not (Path(sys.executable).parent / "ruff").exists(), reason="no ruff beside this Python")


async def test_ruff_of_the_workspace_is_never_started(tmp_path, monkeypatch):
    fake = tmp_path / "bin" / "ruff"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere" / "python"))
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(CannotVerifyError, match="needs ruff, and there is none outside the workspace") as caught:
        await judged(tmp_path, TEXT, PASSED, constraints=["ruff F"])
    assert caught.value.remedy.endswith("-m pip install ruff")
    assert not (tmp_path / "started").exists()


# -- a person's word --------------------------------------------------------------------------------------------------

GOOD = TEXT.replace("raise NotImplementedError", "return x")


async def test_the_user_is_shown_the_change_and_his_words_are_the_failure(tmp_path):
    user = Answers(human.REJECT, "It must  round\nup.")
    verdict = await judged(tmp_path, GOOD, PASSED, final=True, user=user, human=True)
    assert "-    raise NotImplementedError\n+    return x" in user.questions[0]
    assert "`f`" in user.questions[0]
    assert verdict.status is Status.FAILED
    rejected = verdict.cases[-1]
    assert (rejected.id, rejected.failure.type, rejected.failure.message) == (
        "m.py::f::human", "Rejected", "It must round up.",
    )  # fmt: skip


async def test_an_accepted_candidate_passes_and_no_answer_leaves_it_partial(tmp_path):
    accepted = await judged(tmp_path, GOOD, PASSED, final=True, user=Answers(human.ACCEPT), human=True)
    assert accepted.status is Status.PASSED
    assert accepted.cases[-1].passed
    unanswered = await judged(tmp_path, GOOD, PASSED, final=True, human=True)
    assert (unanswered.status, unanswered.cases[-1].outcome) == (Status.PASSED, "skipped")
    everything = {"user": (1, 1), "human": (1, 1)}
    assert verification_level(Evidence(sandbox="bubblewrap", cases=everything)) is Verified.VERIFIED
    assert (
        verification_level(Evidence(sandbox="bubblewrap", cases={**everything, "human": (0, 1)})) is Verified.PARTIALLY
    )


async def test_a_rejection_without_words_is_one(tmp_path):
    verdict = await judged(tmp_path, GOOD, PASSED, final=True, user=Answers(human.REJECT, None), human=True)
    assert verdict.status is Status.FAILED
    assert verdict.cases[-1].failure.message == "The user did not accept it and did not say why."


async def test_nobody_is_asked_about_what_fails_or_before_the_end(tmp_path):
    user = Answers()
    assert (await judged(tmp_path, GOOD, FAILED, final=True, user=user, human=True)) == FAILED
    assert (await judged(tmp_path, GOOD, PASSED, user=user, human=True)) == PASSED
    broken = await judged(tmp_path, LONG, PASSED, final=True, user=user, human=True, constraints=["forbid eval"])
    assert broken.status is Status.FAILED
    assert user.questions == []


async def test_a_long_change_is_shown_in_part(tmp_path):
    text = GOOD.replace("return x", "\n".join(["return x", *(f"    # {n} {'x' * 200}" for n in range(100))]))
    rows = human.format_change(about(tmp_path, TEXT, "f"), {"m.py": text}).split("\n")
    assert len(rows) == human.ROWS + 1
    assert rows[-1].startswith("… and ")
    assert max(map(len, rows)) <= human.WIDE


# -- scores -----------------------------------------------------------------------------------------------------------


async def test_a_scorers_number_is_the_verdicts_score():
    case = Case(id="s", path="m.py", line=1, provenance=Provenance.SCORE)
    failure = Failure(type="AssertionError", message="AssertionError: score 0.4\nassert 0.4 >= 1.0")
    verdict = Verdict(status=Status.FAILED, cases=(CaseResult(id="s", outcome="failed", failure=failure),))
    assert host_checks.with_scores(verdict, [case]).score == 0.4
    assert host_checks.with_scores(verdict, PROBLEM.spec.cases).score == 0.0
    raised = Failure(type="ValueError", message="score 0.9")
    other = Verdict(status=Status.FAILED, cases=(CaseResult(id="s", outcome="failed", failure=raised),))
    assert host_checks.with_scores(other, [case]).score == 0.0


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("bench.py", "names no scorer"),
        ("bench.py::f>=2", "names no scorer"),
        ("none.py::f", "none.py, which is no file of this workspace"),
        ("../bench.py::f", "which is no file of this workspace"),
        ("bench.py::g", "names g, which bench.py does not define"),
        ("broken.py::f", "broken.py, which does not parse"),
    ],
)
async def test_a_scorer_that_is_none_is_named(tmp_path, setting, why):
    (tmp_path / "bench.py").write_text("def f(target):\n    return 1\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    with pytest.raises(SettingsError) as caught:
        await score.collect(about(tmp_path, TEXT, "f"), tools(score=setting))
    assert why in str(caught.value)
    assert caught.value.remedy == score.REMEDY


async def test_a_score_is_one_case_of_the_users(tmp_path):
    (tmp_path / "bench.py").write_text("def f(target):\n    return 1\n")
    spec = await score.collect(about(tmp_path, TEXT, "f", "pkg/m.py"), tools(score="bench.py::f>=0.9"))
    (case,) = spec.cases
    assert (case.source, case.provenance, case.path, case.line) == ("f(f) >= 0.9", Provenance.SCORE, "pkg/m.py", 1)
    assert ".parents[1]" in spec.files["pkg/test_greenloop_score_m.py"]


async def test_the_settings_name_what_is_collected(tmp_path):
    own = about(tmp_path, TEXT, "f")
    nothing = tools(**host_checks.options(SpecSettings()))
    assert await host_checks.collect(own, nothing) == own.spec
    some = tools(**host_checks.options(SpecSettings(constraints=["typed"], human=True)))
    assert [case.provenance for case in (await host_checks.collect(own, some)).cases] == ["constraint", "human"]

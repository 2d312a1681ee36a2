"""A scorer's number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import PROBLEM
from greenloop.core.errors import SettingsError
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Requirement, judge
from greenloop.plugins.requirements import score
from greenloop_sandbox import CaseResult, Failure
from spec_problem import make_problem, make_start, make_trial

TEXT = 'def f(x):\n    """F."""\n    raise NotImplementedError\n'


async def test_a_scorers_number_is_the_verdicts_score():
    case = Case(id="s", path="m.py", line=1, provenance=Provenance.SCORE)
    failure = Failure(type="AssertionError", message="AssertionError: score 0.4\nassert 0.4 >= 1.0")
    raised = Failure(type="ValueError", message="score 0.9")

    async def score_of(failure, *cases):
        verdict = Verdict(status=Status.FAILED, cases=(CaseResult(id="s", outcome="failed", failure=failure),))
        problem = replace(PROBLEM, spec=Spec(cases=cases))
        return (await judge([Requirement(name="score", judge=score.judge)], make_trial(problem), verdict)).score

    assert await score_of(failure, case) == 0.4
    assert await score_of(failure, *PROBLEM.spec.cases) == 0.0
    assert await score_of(raised, case) == 0.0


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("bench.py", "does not name a scorer"),
        ("bench.py::f>=2", "does not name a scorer"),
        ("none.py::f", "none.py, which is not a file of this workspace"),
        ("../bench.py::f", "which is not a file of this workspace"),
        ("bench.py::g", "names g, which bench.py does not define"),
        ("broken.py::f", "broken.py, which does not parse"),
    ],
)
async def test_a_scorer_that_is_none_is_named(tmp_path, setting, why):
    (tmp_path / "bench.py").write_text("def f(target):\n    return 1\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    with pytest.raises(SettingsError) as caught:
        await score.begin(make_start(make_problem(tmp_path, TEXT, "f"), score=setting))
    assert why in str(caught.value)
    assert caught.value.remedy == score.REMEDY


async def test_a_score_is_one_case_of_the_users(tmp_path):
    (tmp_path / "bench.py").write_text("def f(target):\n    return 1\n")
    spec = (await score.begin(make_start(make_problem(tmp_path, TEXT, "f", "pkg/m.py"), score="bench.py::f>=0.9"))).spec
    (case,) = spec.cases
    assert (case.source, case.provenance, case.path, case.line) == ("f(f) >= 0.9", Provenance.SCORE, "pkg/m.py", 1)
    assert ".parents[1]" in spec.files["pkg/test_greenloop_score_m.py"]

"""Requirements of a run: which begin, and what they add to its baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.errors import SettingsError
from greenloop.core.records.spec import Provenance
from greenloop.core.requirements import Requirement
from greenloop.engine.requirements import with_requirement
from greenloop.project.settings import Settings, values
from greenloop_sandbox import CaseResult, Failure
from spec_problem import TEXT, begin_configured, make_problem, make_requirements, make_tools


async def test_the_settings_name_the_requirements(tmp_path):
    own = make_problem(tmp_path, TEXT, "f")
    named = replace(make_tools(), options=values(Settings()))
    assert (await begin_configured(own, named)).problem == own
    some = make_tools(constraints=["typed"], human=True)
    baseline = await begin_configured(own, some)
    assert [case.provenance for case in baseline.problem.spec.cases] == [Provenance.CONSTRAINT, Provenance.HUMAN]
    assert [each.name for each in baseline.requirements] == ["constraints", "human"]
    assert baseline.problem.instruction == "Limits: annotate all parameters and the result."


async def test_recorded_calls_are_told_before_the_start_but_not_long_ones(tmp_path):
    long = "[" + ", ".join(["1"] * 100) + "]"
    rows = [f'{{"args": [{number}], "returns": {number}}}' for number in range(10)]
    (tmp_path / "calls.jsonl").write_text("\n".join([f'{{"args": [{long}], "returns": 1}}', *rows]))
    baseline = await begin_configured(make_problem(tmp_path, TEXT, "f"), make_tools(trace="calls.jsonl"))
    told = baseline.problem.instruction.split("\n")
    assert told == ["This was recorded and must hold:", *(f"assert f({number}) == {number}" for number in range(8))]


async def test_results_of_the_users_own_code_are_in_its_attempt(tmp_path):
    baseline = await begin_configured(make_problem(tmp_path, TEXT, "f"), make_tools())
    failed = CaseResult(id="x", outcome="failed", failure=Failure(type="NotFaster", message="What calls it takes 1 s."))
    found = with_requirement(baseline, Requirement(name="x", results=[failed], is_met=False))
    assert found.attempt.error_class == "NotFaster"
    assert found.attempt.verdict.cases[-1] == failed
    assert not found.passing
    assert with_requirement(baseline, Requirement(name="x", is_met=True)).passing


async def test_a_requirement_that_is_not_installed_is_named(tmp_path):
    baseline = await begin_configured(make_problem(tmp_path, TEXT, "f"), make_tools())
    with pytest.raises(SettingsError, match="`nothing` is not installed"):
        await make_requirements(baseline.problem).begin("nothing", baseline, {})

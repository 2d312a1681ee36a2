"""The preset `properties`, whole requests: properties before any candidate, the smallest counterexample as feedback."""

from __future__ import annotations

import pytest

from docstring_project import DocstringProject, RoleModel
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.model import Role
from greenloop.core.records.outcome import Verified
from greenloop.core.records.spec import Provenance

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(600)]

STUB = 'def sort(xs: list[int]) -> list[int]:\n    """Sort the numbers, the smallest first."""\n    raise NotImplementedError\n'
DROPS = "def sort(xs: list[int]) -> list[int]:\n    return sorted(set(xs))\n"
GOOD = "def sort(xs: list[int]) -> list[int]:\n    return sorted(xs)\n"
HANGS = "def sort(xs: list[int]) -> list[int]:\n    while True:\n        pass\n"
ANSWER = "same length: len(result) == len(xs)"


@pytest.fixture
def docstring(tmp_path, monkeypatch, bare_python):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "project"
    root.mkdir()
    return DocstringProject(root)


def make_model(*answers: str, tester: str = ANSWER) -> RoleModel:
    return RoleModel(tester=[tester], drafter=[f"```python\n{answer}```" for answer in answers])


async def run(docstring, bare_python, model, text=STUB, **told):
    return await docstring(
        text, model, name="sort", preset="properties", interpreter=str(bare_python), **{"sandbox.seconds": 60, **told}
    )


async def test_a_violated_property_with_its_minimal_input_leads_to_the_repair(docstring, bare_python):
    model = make_model(DROPS, GOOD)
    outcome = await run(docstring, bare_python, model)
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.PARTIALLY  # nothing is the user's own word
    assert [attempt.accepted for attempt in docstring.attempts] == [False, True]
    (told,) = model.asked(Role.REFINER)
    assert "The property `permutation` does not hold" in told
    assert "smallest input that breaks it: xs = [0, 0]" in told
    assert "5/5" in outcome.message


async def test_the_tester_sees_no_code_and_comes_before_any_candidate(docstring, bare_python):
    model = make_model(DROPS, GOOD)
    await run(docstring, bare_python, model)
    (asked,) = model.asked(Role.TESTER)
    assert "NotImplementedError" not in asked
    assert "set(xs)" not in asked
    first = docstring.specified[0].spec
    assert {case.provenance for case in first.cases} == {Provenance.PROPERTY, Provenance.HINT}
    assert first.doubts == ()


async def test_a_candidate_that_hangs_is_a_failing_attempt_and_the_run_goes_on(docstring, bare_python):
    outcome = await run(docstring, bare_python, make_model(HANGS, GOOD), **{"sandbox.seconds": 10})
    assert outcome.solved, outcome.message
    assert [str(attempt.verdict.status) for attempt in docstring.attempts] == ["timeout", "passed"]


async def test_a_wrong_property_is_never_enough(docstring, bare_python):
    outcome = await run(docstring, bare_python, make_model(GOOD, tester="longer: len(result) > len(xs)"), attempts=2)
    assert not outcome.solved


async def test_no_values_no_properties_and_that_is_said(docstring, bare_python):
    text = 'def sort(conn, key):\n    """Sort the rows."""\n    raise NotImplementedError\n'
    with pytest.raises(CannotVerifyError) as caught:
        await run(docstring, bare_python, make_model(GOOD), text)
    assert "No values can be made up for `conn` and `key`" in f"{caught.value} {caught.value.remedy}"

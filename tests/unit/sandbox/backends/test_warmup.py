"""What a resident supervisor may do faster, and after what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop_sandbox import Apart, Execution, TestRun
from greenloop_sandbox.backends._warmup import Warmup, is_suspicious


def told(*outcomes: str, **about) -> Execution:
    cases = [{"id": f"test_m.py::test_{number}", "path": "test_m.py", "line": 1} for number in range(len(outcomes))]
    records = [{"kind": "start"}, {"kind": "collected", "cases": cases}]
    for case, outcome in zip(cases, outcomes, strict=True):
        records.append({"kind": "phase", "id": case["id"], "when": "call", "outcome": outcome, "type": None})
    numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
    return replace(Execution(records=numbered, status=0, seconds=0.1), **about)


FILE = TestRun(selectors=("test_m.py",))


def test_only_what_agreed_goes_on_in_the_open_session():
    learnt = Warmup()
    assert not learnt.may_use_session(FILE)
    assert learnt.should_rehearse(FILE, told("passed"))
    assert learnt.record_comparison(FILE, told("passed", "failed"), told("passed", "failed"))
    assert learnt.may_use_session(FILE)
    assert learnt.may_use_session(TestRun(selectors=("test_m.py::test_1",)))
    assert learnt.may_use_session(
        TestRun(selectors=("test_m.py::test_new",))
    )  # a case of a file that agreed as a whole
    assert not learnt.may_use_session(TestRun(selectors=("test_m.py", "test_other.py")))
    assert not learnt.may_use_session(TestRun(selectors=()))
    assert not learnt.should_rehearse(FILE, told("passed"))


def test_a_single_case_says_nothing_of_its_file():
    learnt = Warmup()
    learnt.record_comparison(TestRun(selectors=("test_m.py::test_0",)), told("passed"), told("passed"))
    assert learnt.may_use_session(TestRun(selectors=("test_m.py::test_0",)))
    assert not learnt.may_use_session(FILE)


@pytest.mark.parametrize(
    "other",
    [
        {"trace": True}, {"collect": True}, {"baseline": True}, {"apart": Apart(files={})},
        {"files": {"pytest.ini": b""}}, {"without": ("sub/pyproject.toml",)},
    ],
)  # fmt: skip
def test_runs_that_need_a_fresh_pytest(other):
    learnt = Warmup(agreed_selectors={"test_m.py"})
    assert learnt.may_use_session(FILE)
    assert not learnt.may_use_session(replace(FILE, **other))


@pytest.mark.parametrize(
    "second", [told("failed"), told("passed", "passed"), told("passed", status=1), told("passed", killed="timeout")]
)
def test_one_difference_and_it_is_never_used(second):
    learnt = Warmup()
    assert not learnt.record_comparison(FILE, told("passed"), second)
    assert learnt.record_failure(told("passed"), told("passed"))
    assert not learnt.session_allowed
    assert not learnt.should_rehearse(FILE, told("passed"))
    assert not learnt.may_use_session(FILE)


def test_a_file_saved_meanwhile_says_nothing_against_it():
    """What tests come to before and after differs, too; it is tried again at a later run, and not for ever."""
    learnt = Warmup()
    for _time in range(2):
        assert not learnt.record_comparison(FILE, told("passed"), told("failed"))
        assert not learnt.record_comparison(FILE, told("passed", "passed"), told("failed"))
        assert not learnt.record_failure(told("passed"), told("passed", "passed"))
        assert learnt.should_rehearse(FILE, told("passed"))
    assert learnt.record_failure(told("passed"), told("failed"))
    assert not learnt.should_rehearse(FILE, told("passed"))


def test_long_and_stopped_runs_are_not_rehearsed():
    assert not Warmup().should_rehearse(FILE, told("passed", seconds=60.0))
    assert not Warmup().should_rehearse(FILE, told("passed", killed="timeout"))


def test_other_packages_and_everything_is_forgotten():
    learnt = Warmup(
        modules=["numpy"], examined={"numpy"}, agreed_selectors={"test_m.py"}, session_allowed=False, libraries=(1,)
    )
    learnt.reset_if_changed((1,))
    assert learnt.modules == ["numpy"]
    learnt.reset_if_changed((2,))
    assert (learnt.modules, learnt.examined, learnt.agreed_selectors, learnt.session_allowed) == (
        [],
        set(),
        set(),
        True,
    )


@pytest.mark.parametrize(
    ("execution", "is_so"),
    [
        (told("passed"), False),
        (told("failed", status=1), False),
        (told("passed", killed="memory"), True),
        (told("passed", killed="timeout", status=-9), False),
        (told("passed", status=-9), True),
        (Execution(records=({"kind": "forged", "seq": -1},)), True),
    ],
)
def test_after_what_a_wall_is_not_used_again(execution, is_so):
    assert is_suspicious(execution) is is_so

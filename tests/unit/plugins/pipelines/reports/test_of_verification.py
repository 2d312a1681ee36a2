"""What a verification has to say about lines."""

from __future__ import annotations

import pytest

from greenloop.core.records.outcome import Noticed, Survivor
from greenloop.core.text.json_codec import to_json
from greenloop.engine.verify.report import Tampering, Verification
from greenloop.plugins.pipelines.reports.annotations import Level
from greenloop.plugins.pipelines.reports.of_verification import annotate_verification
from greenloop_sandbox import CaseResult, Failure, Frame

TEST = "import m\n\n\nclass TestK:\n    def test_a(self):\n        assert m.f() == 2\n\n\ndef test_b():\n    m.g()\n"
A, B = "tests/test_m.py::TestK::test_a[x]", "tests/test_m.py::test_b"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_m.py").write_text(TEST)
    return tmp_path


def failed(case: str, *frames: tuple[str, int]) -> CaseResult:
    where = tuple(Frame(path=path, line=line, function="f") for path, line in frames)
    return CaseResult(id=case, outcome="failed", failure=Failure(type="ValueError", message="bad", frames=where))


def found(result: Verification, root) -> dict[str, tuple]:
    return {each.rule: (each.level, each.path, each.line) for each in annotate_verification(result, root)}


def test_a_tampered_case_is_an_error_at_its_test(root):
    result = Verification(reason="r", tampered=(Tampering(case=A, reason="r"),))
    assert found(result, root) == {"tampered": (Level.ERROR, "tests/test_m.py", 5)}


def test_tampering_with_the_whole_run_has_no_place(root):
    result = Verification(reason="r", tampered=(Tampering(case="", reason="It ended itself."),))
    assert found(result, root) == {"tampered": (Level.ERROR, "", 0)}


def test_code_that_answers_its_tests_alone_is_an_error_in_its_line(root):
    reason = "src/m.py:12: f answers the inputs of its tests alone (`if n == 17:`); on 24 other inputs it fails."
    result = Verification(reason=reason, tampered=(Tampering(case="", reason=reason),))
    assert found(result, root) == {"tampered": (Level.ERROR, "src/m.py", 12)}


def test_what_the_tests_leave_open_are_notes(root):
    difference = {"path": "m.py", "line": 3, "call": "f(3)", "old": "5", "new": "7"}
    noticed = Noticed(tried=6, killed=5, survivors=(Survivor(path="m.py", line=4, change="`<` → `<=` in `a < b`"),))
    data = {"other_inputs": {"differences": [difference], "doubts": []}, "noticed": to_json(noticed)}
    result = Verification(verified=True, data=data)
    assert [(each.rule, each.level, each.line, each.message) for each in annotate_verification(result, root)] == [
        ("other-inputs", Level.NOTE, 3, "Green, though is this wanted? f(3): old → 5, new → 7"),
        ("unnoticed", Level.NOTE, 4, "The tests would also accept `<` → `<=` in `a < b`."),
    ]


def test_a_failing_test_is_an_error_and_the_code_below_it_suspicious(root):
    case = failed(B, ("tests/test_m.py", 10), ("m.py", 7), ("/usr/lib/x.py", 9))
    result = Verification(reason="r", cases=(case,), failed=(B,))
    assert found(result, root) == {
        "test-failed": (Level.ERROR, "tests/test_m.py", 10),
        "suspicious-line": (Level.WARNING, "m.py", 7),
    }


def test_what_failed_before_is_a_warning_and_what_is_known_a_note(root):
    cases = (failed(A, ("tests/test_m.py", 6)), failed(B, ("tests/test_m.py", 10)))
    result = Verification(reason="A still fails.", cases=cases, failed=(A,), still_failing=(A,), known_failing=(B,))
    rules = found(result, root)
    assert rules["test-still-fails"] == (Level.WARNING, "tests/test_m.py", 6)
    assert rules["test-known-failing"] == (Level.NOTE, "tests/test_m.py", 10)
    assert "test-failed" not in rules
    assert rules["not-verified"][0] is Level.ERROR


def test_a_verified_result_has_no_error(root):
    assert annotate_verification(Verification(verified=True), root) == []


def test_whatever_is_not_verified_has_one(root):
    (only,) = annotate_verification(Verification(reason="No code was changed."), root)
    assert (only.rule, only.level, only.message) == ("not-verified", Level.ERROR, "No code was changed.")


def test_restored_tests_are_notes(root):
    result = Verification(verified=True, revision="HEAD", changed=("tests/test_m.py",), added=("conftest.py",))
    assert [(each.path, each.level) for each in annotate_verification(result, root)] == [
        ("tests/test_m.py", Level.NOTE),
        ("conftest.py", Level.NOTE),
    ]


def test_a_test_file_that_is_gone_or_broken_still_has_a_path(root):
    (root / "tests/test_m.py").write_text("def (")
    result = Verification(reason="r", cases=(CaseResult(id=B, outcome="missing"),), failed=(B,))
    assert found(result, root) == {"test-failed": (Level.ERROR, "tests/test_m.py", 0)}
    (root / "tests/test_m.py").unlink()
    assert found(result, root) == {"test-failed": (Level.ERROR, "tests/test_m.py", 0)}

"""What a person reads of a verification."""

from __future__ import annotations

from dataclasses import replace

from greenloop.cli.render import MAX_LISTED, describe
from greenloop.engine.verify.report import Tampering, Verification
from greenloop_sandbox import CaseResult, Failure

A, B = "test_m.py::test_a[\x1b]", "test_m.py::test_b"
GOOD = Verification(
    verified=True,
    base="a" * 40,
    revision="HEAD",
    cases=(CaseResult(id=A, outcome="passed"), CaseResult(id=B, outcome="passed")),
    apart=(A,),
    together={B: "a socket"},
    sandbox="bubblewrap",
    seconds=1.54,
)


def test_a_pass_says_what_proves_it():
    assert list(describe(GOOD)) == [
        "Verified in bubblewrap: 2 tests of HEAD (aaaaaaaaaaaa) pass with this code, 1.5 s",
        "  proven apart: 1 of 2 cases",
        f"  ran in one process, as with the code before: {B}",
    ]


def test_a_failure_is_named_with_its_first_line_and_no_control_characters():
    failure = Failure(type="AssertionError", message="1 != 2\nmore")
    result = Verification(
        reason="1 test does not pass.",
        revision="HEAD",
        cases=(CaseResult(id=A, outcome="failed", failure=failure),),
        failed=(A,),
        changed=("test_m.py",),
        removed=("test_n.py",),
        added=("conftest.py",),
        sandbox="bubblewrap",
        network=True,
    )
    lines = list(describe(result))
    assert lines[0] == "Not verified: 1 test does not pass."
    assert lines[1].startswith("  failed: test_m.py::test_a[")
    assert lines[1].endswith("]: AssertionError: 1 != 2")
    assert "\x1b" not in "".join(lines)
    assert lines[2:] == [
        "  restored from HEAD: test_m.py (changed), test_n.py (removed)",
        "  left out, because HEAD does not have it: conftest.py",
        "  tests could reach the network (sandbox.network)",
    ]


def test_what_was_tampered_with_comes_first():
    result = replace(GOOD, verified=False, reason="Reported twice.", tampered=(Tampering(case=B, reason="r"),))
    assert list(describe(result))[:2] == ["Tampered: Reported twice.", f"  tampered with: {B}"]


def test_long_lists_end_with_a_number():
    names = tuple(f"test_{number}" for number in range(MAX_LISTED + 3))
    (line,) = [line for line in describe(replace(GOOD, flaky=names)) if "flaky" in line]
    assert line.endswith(f"test_{MAX_LISTED - 1} and 3 more")

"""Which of a commit's passing tests prove the changed code apart, where the time does not suffice for all."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.reach import Reach
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.engine.verify.known_failing import KnownFailing
from greenloop.engine.verify.setup import VerificationContext, VerifyRequest
from greenloop.engine.verify.verify import choose_cases
from greenloop.plugins.known_tests.known_tests import KnownTests
from greenloop.project.revisions.revision import Revision
from greenloop.project.settings import Settings
from greenloop_sandbox import CaseResult, Environment, Execution, SandboxSpec
from greenloop_sandbox.report.traces import ReachedFunction

OLD, NEW = b"def f():\n    return 1\n", "def f():\n    return 2\n"
FILE = b"import m, n\n\n\ndef test_n(): ...\n\n\ndef test_m(): ...\n"
OTHER, REACHES = "test_m.py::test_n", "test_m.py::test_m"


def execution(**seconds: float) -> Execution:
    """A run in which these cases of test_m.py passed."""
    records = []
    for name, each in seconds.items():
        case = f"test_m.py::{name}"
        records += [
            {"kind": "begin", "id": case},
            *(
                {
                    "kind": "phase",
                    "id": case,
                    "when": when,
                    "outcome": "passed",
                    "seconds": each if when == "call" else 0,
                }
                for when in ("setup", "call", "teardown")
            ),
        ]
    return Execution(records=tuple(records), seconds=sum(seconds.values()))


def context(root: Path) -> VerificationContext:
    environment = Environment(
        executable=root / "bin/python", version=(3, 11), prefix=root, base=root, source="", has_pytest=True
    )
    return VerificationContext(
        request=VerifyRequest(root=root),
        revision=Revision(
            commit="",
            state="",
            paths=frozenset(),
            trusted=frozenset({"test_m.py"}),
            files={},
            removed_paths=(),
            old_code={"m.py": OLD},
            new_code=(),
        ),
        sandbox=None,
        place=SandboxSpec(root=root, environment=environment),
        settings=Settings(),
        seconds=60.0,
        report_status=lambda _text: None,
        known=KnownFailing(),
    )


def choose(root: Path) -> set[str]:
    cases = tuple(Case(id=each, path="test_m.py", line=1, provenance=Provenance.USER) for each in (OTHER, REACHES))
    outcomes = {OTHER: "passed", REACHES: "passed"}
    return {*choose_cases(context(root), outcomes, Spec(cases=cases), execution(test_n=2.5, test_m=3.0))}


def test_without_an_earlier_run_the_fastest_are_proven_and_with_one_those_that_execute_the_change(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "work"
    root.mkdir()
    (root / "test_m.py").write_bytes(FILE)
    (root / "n.py").write_text("def g(): ...\n")
    (root / "m.py").write_text(NEW)
    assert choose(root) == {OTHER}
    (root / "m.py").write_bytes(OLD)
    place = context(root).place
    functions = {OTHER: ("n.py", "g"), REACHES: ("m.py", "f")}
    reach = Reach(
        functions={
            case: (ReachedFunction(path=path, firstlineno=1, name=name, depth=1),)
            for case, (path, name) in functions.items()
        }
    )
    results = {case: CaseResult(id=case, outcome="passed", seconds=2.5) for case in functions}
    KnownTests.read(place, {}, lambda: 1e12).keep(results, [], reach, {})
    (root / "m.py").write_text(NEW)
    assert choose(root) == {REACHES}

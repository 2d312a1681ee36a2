"""The verdict by table: what each execution proves, and above all what it does not."""

from __future__ import annotations

import pytest
from greenloop.core.nouns import Execution, Failure, Frame, Status
from greenloop.core.records import collect_errors, reached, results
from greenloop.core.verdict import environment_problem, judge

A, B, N = "test_m.py::test_a", "test_m.py::test_b", "test_n.py::test_n"
PASSED = {A: "passed", B: "passed", N: "passed"}
RED = {A: "failed", B: "failed", N: "passed"}


def phase(case, when="call", outcome="passed", kind=None, message="", **more):
    return {
        "kind": "phase", "id": case, "when": when, "outcome": outcome, "type": kind, "message": message,
        "wasxfail": None, "seconds": 0.1, "frames": [], **more,
    }  # fmt: skip


def case_records(case, call=None, setup=None, teardown=None):
    yield {"kind": "begin", "id": case}
    yield setup or phase(case, "setup")
    if setup is None or setup["outcome"] == "passed":
        yield call or phase(case)
    yield teardown or phase(case, "teardown")


def execution(*cases, status=0, finished="same", ids=None, before=(), after=(), reruns=False, **more):
    """An honest execution of these cases (ids, or iterables of records), numbered as the runner numbers."""
    lists = [list(case_records(case)) if isinstance(case, str) else list(case) for case in cases]
    named = ids if ids is not None else [records[0]["id"] for records in lists]
    records = [{"kind": "start", "reruns": reruns, "root": "/w"}, *before]
    if named is not False:
        records.append({"kind": "collected", "cases": [{"id": name, "path": "p", "line": 1} for name in named]})
    records += [record for mine in lists for record in mine]
    if finished is not None:
        records.append({"kind": "finished", "status": status if finished == "same" else finished})
    records += after
    numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
    return Execution(records=numbered, status=status, seconds=1.0, **more)


def red(case, kind="AssertionError", message="assert 1 == 2", **more):
    return case_records(case, phase(case, outcome="failed", kind=kind, message=message, **more))


def error(where, kind, message, **more):
    return {
        "kind": "collect_error",
        "id": where,
        "type": kind,
        "message": message,
        "frames": [],
        "text": message,
        **more,
    }


SKIP = phase(A, outcome="skipped", kind="Skipped", message="no")
XFAIL = phase(A, outcome="skipped", kind="AssertionError", wasxfail="later")
XPASS = phase(A, wasxfail="later")
GONE = {"kind": "collected"}

TABLE = {
    "all pass": (execution(A, B), RED, Status.PASSED, ""),
    "one fails": (execution(A, red(B), status=1), RED, Status.FAILED, ""),
    "sandbox broke": (Execution(broken="bubblewrap ended."), RED, Status.ENVIRONMENT, "bubblewrap ended."),
    "timeout": (execution(A, [{"kind": "begin", "id": B}], finished=None, status=-9, killed="timeout"), RED, Status.TIMEOUT, "time"),
    "pass, then killed": (execution(A, B, killed="memory", status=-9), RED, Status.CRASHED, "memory"),
    "signal": (execution(A, [{"kind": "begin", "id": B}], finished=None, status=-11), RED, Status.CRASHED, "SIGSEGV"),
    "os._exit(0) in a test": (execution(A, [{"kind": "begin", "id": B}], finished=None), RED, Status.TAMPERED, "ended itself"),
    "os._exit(3) in a test": (
        execution(A, [{"kind": "begin", "id": B}], finished=None, status=3), RED, Status.CRASHED, "status 3",
    ),
    "os._exit(0) at import": (execution(ids=False, finished=None), RED, Status.TAMPERED, "cut short"),
    "other exit status": (execution(A, red(B), status=0, finished=1), RED, Status.TAMPERED, "reported exit status 1"),
    "failed but status 0": (execution(A, red(B), status=0), RED, Status.TAMPERED, "as if all had passed"),
    "passed with an exception": (
        execution(A, case_records(B, phase(B, kind="AssertionError"))), RED, Status.TAMPERED, "raised AssertionError",
    ),
    "forged line": (execution(A, B, after=[{"kind": "forged"}]), RED, Status.TAMPERED, "did not write"),
    "after the end": (execution(A, B, after=[{"kind": "begin", "id": A}]), RED, Status.TAMPERED, "went on"),
    "finished twice": (execution(A, B, after=[{"kind": "finished", "status": 0}]), RED, Status.TAMPERED, "more than once"),
    "run twice": (execution(A, B, A, ids=[A, B]), RED, Status.TAMPERED, "more than once"),
    "repeated by a plugin": (execution(red(A), A, B, ids=[A, B], reruns=True), RED, Status.PASSED, ""),
    "a subtest fails": (
        execution(A, [*[*red(B)][:3], phase(B), phase(B, "teardown")], status=1), RED, Status.FAILED, "",
    ),
    "skip": (execution(case_records(A, SKIP), B), RED, Status.FAILED, "skipped"),
    "skip as before": (execution(case_records(A, SKIP), B), {**RED, A: "skipped"}, Status.PASSED, ""),
    "xfail": (execution(case_records(A, XFAIL), B), RED, Status.FAILED, "xfailed"),
    "xfail as before": (execution(case_records(A, XFAIL), B), {**RED, A: "xfailed"}, Status.PASSED, ""),
    "xpass": (execution(case_records(A, XPASS), B), RED, Status.FAILED, "xpassed"),
    "strict xpass": (execution(case_records(A, phase(A, outcome="failed")), B, status=1), RED, Status.FAILED, ""),
    "teardown fails": (
        execution(case_records(A, teardown=phase(A, "teardown", "failed", "OSError")), B, status=1), RED, Status.FAILED, "",
    ),
    "no teardown": (execution([*case_records(A)][:3], B), RED, Status.FAILED, "missing"),
    "not collected": (execution(A), RED, Status.NOT_COLLECTED, f"{B} was not collected"),
    "one too many": (execution(A, B, N), RED, Status.NOT_COLLECTED, N),
    "collected, never run": (execution(A, ids=[A, B]), RED, Status.FAILED, "missing"),
    "cannot be imported": (
        execution(status=2, before=[error("test_m.py", "ImportError", "cannot import name 'f' from 'm'", name="m")]),
        RED, Status.NOT_COLLECTED, "cannot import name 'f'",
    ),
    "missing package, baseline": (
        execution(status=2, before=[error("test_m.py", "ModuleNotFoundError", "No module named 'numpy'", name="numpy")]),
        {}, Status.ENVIRONMENT, "'numpy' is missing",
    ),
    "missing package, candidate": (
        execution(status=2, before=[error("test_m.py", "ModuleNotFoundError", "No module named 'numpy'", name="numpy")]),
        RED, Status.NOT_COLLECTED, "numpy",
    ),
    "missing module of a local package": (
        execution(status=2, before=[error("test_m.py", "ModuleNotFoundError", "No module named 'p.x'", name="p.x", local=True)]),
        {}, Status.NOT_COLLECTED, "p.x",
    ),
    "pass, but pytest was interrupted": (execution(A, B, status=2), RED, Status.FAILED, "status 2"),
    "unknown option": (
        execution(ids=False, finished=None, status=4, output="ERROR: unrecognized arguments: --x\n"),
        RED, Status.NOT_COLLECTED, "unrecognized arguments",
    ),
    "network, baseline": (
        execution(A, red(B, "gaierror", "[Errno -3] Temporary failure in name resolution"), status=1),
        {}, Status.ENVIRONMENT, "network",
    ),
    "network, candidate": (execution(A, red(B, "gaierror", "[Errno -3] Temporary"), status=1), RED, Status.FAILED, ""),
    "missing fixture, baseline": (
        execution(A, case_records(B, setup=phase(B, "setup", "failed", "FixtureLookupError", "fixture 'mocker' not found")), status=1),
        {}, Status.ENVIRONMENT, "mocker",
    ),
    "empty": (Execution(status=0), RED, Status.TAMPERED, "cut short"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_verdict(name):
    done, baseline, status, words = TABLE[name]
    verdict = judge([A, B], baseline, done)
    assert verdict.status is status, verdict.reason
    assert words in verdict.reason
    assert [case.id for case in verdict.cases] == [A, B]
    assert (verdict.status is Status.PASSED) <= all(case.outcome != "failed" for case in verdict.cases)


@pytest.mark.parametrize("drop", range(10))
def test_a_gap_in_the_sequence_is_tampering(drop):
    done = execution(A, B)
    records = done.records[:drop] + done.records[drop + 1 :]
    assert len(done.records) == 11
    assert judge([A, B], RED, Execution(records=records, status=0)).status is Status.TAMPERED


def test_no_prefix_of_an_honest_report_passes():
    done = execution(A, B)
    for count in range(len(done.records)):
        assert judge([A, B], RED, Execution(records=done.records[:count], status=0)).status is not Status.PASSED


@pytest.mark.parametrize(
    ("before", "now", "newly"),
    [("passed", "failed", True), ("failed", "failed", False), ("error", "missing", False), ("passed", "missing", True),
     ("skipped", "skipped", False), ("passed", "skipped", True), ("failed", "passed", False), ("xfailed", "passed", False)],
)  # fmt: skip
def test_neighbours(before, now, newly):
    mine = {
        "failed": lambda: red(N),
        "passed": lambda: case_records(N),
        "skipped": lambda: case_records(N, phase(N, outcome="skipped", kind="Skipped")),
        "missing": lambda: [{"kind": "begin", "id": N}],
    }[now]()
    done = execution(A, mine, "test_n.py::other", status=1 if now == "failed" else 0)
    verdict = judge([A], {A: "failed", N: before, "test_n.py::other": "passed"}, done, [N, "test_n.py::other"])
    assert [case.id for case in verdict.collateral] == ([N] if newly else [])
    assert verdict.status is (Status.FAILED if newly else Status.PASSED)


def test_neighbours_that_were_not_asked_for_say_nothing():
    assert judge([A], RED, execution(A), [N]).status is Status.PASSED


def test_an_expected_id_unknown_to_the_baseline_stands_for_what_is_below_it():
    done = execution("t.py::test_p[1]", "t.py::test_p[2]")
    assert judge(["t.py::test_p"], {"x": "passed"}, done).total == 2
    assert judge(["t.py"], {}, done).status is Status.PASSED
    assert judge(["t.py::test_p"], {"t.py::test_p": "failed"}, done).status is Status.NOT_COLLECTED


def test_where_a_loop_hangs():
    stack = (
        "Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n"
        '  File "/w/m.py", line 4 in f\n  File "/w/test_m.py", line 2 in test_a\n  File "/usr/x.py", line 9 in g\n\nrest\n'
    )
    done = execution([{"kind": "begin", "id": A}], finished=None, status=-6, killed="timeout", output=stack)
    (hung,) = results(done)
    assert hung.failure.frames == (
        Frame(path="test_m.py", line=2, function="test_a"),
        Frame(path="m.py", line=4, function="f"),
    )
    assert (hung.outcome, hung.failure.type) == ("failed", "Timeout")


def test_failures_keep_what_was_expected():
    (result,) = results(execution(red(A, expected="2", observed="1", frames=[["m.py", 3, "f"]], text="E"), status=1))
    assert result.failure == Failure(
        type="AssertionError",
        message="assert 1 == 2",
        frames=(Frame(path="m.py", line=3, function="f"),),
        text="E",
        expected="2",
        observed="1",
    )


def test_reached_is_sorted_by_depth():
    function = {"path": "m.py", "line": 1, "name": "f", "depth": 2, "caller": ["m.py", 9, "g"]}
    record = {"kind": "trace", "id": A, "functions": [function, {**function, "name": "g", "depth": 1, "caller": None}]}
    found = reached(execution(A, after=[record]))[A]
    assert [(reach.name, reach.caller) for reach in found] == [
        ("g", None),
        ("f", Frame(path="m.py", line=9, function="g")),
    ]


def test_collect_errors_are_read():
    (found,) = collect_errors(execution(before=[error("t.py", "ModuleNotFoundError", "m", name="m", local=True)]))
    assert (found.id, found.failure.type, found.name, found.local) == ("t.py", "ModuleNotFoundError", "m", True)


@pytest.mark.parametrize(
    ("kind", "message", "found"),
    [("PermissionError", "[Errno 13] Permission denied: 'x'", True), ("OSError", "[Errno 30] Read-only file system: 'x'", True),
     ("ConnectionRefusedError", "[Errno 111]", True), ("ModuleNotFoundError", "No module named 'own.x'", False),
     ("AssertionError", "assert 1", False), ("PermissionError", "not allowed to vote", False)],
)  # fmt: skip
def test_environment_problems(kind, message, found):
    assert bool(environment_problem(Failure(type=kind, message=message), {"own"})) is found

"""Honest reports, damaged in every way: nothing but the whole truth passes, and a broken sandbox is nobody's fault."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop_sandbox import Execution, payload

protocol = payload.protocol()
KEY, OTHER = b"k" * 32, b"o" * 32
IDS = [f"test_m.py::test_{letter}" for letter in "abcd"]
NEAR = "test_m.py::test_near"


def records(cases, *, neighbours=(), subtests=0, traced=False, reruns=False):
    found = [{"kind": "start", "pytest": "9.2.0", "python": [3, 13, 1], "root": "/w", "reruns": reruns}]
    listed = [{"id": case, "path": "test_m.py", "line": 1} for case, _ in (*cases, *neighbours)]
    found.append({"kind": "collected", "cases": listed, "deselected": []})
    for case, outcome in (*cases, *neighbours):
        found.append({"kind": "begin", "id": case})
        for when in ("setup", "call", "teardown"):
            if outcome == "skipped" and when == "call":
                continue
            told = outcome if when == ("setup" if outcome == "skipped" else "call") else "passed"
            kind = {"passed": None, "failed": "AssertionError", "skipped": "Skipped"}[told]
            found.append(
                {
                    "kind": "phase",
                    "id": case,
                    "when": when,
                    "outcome": told,
                    "wasxfail": None,
                    "seconds": 0.01,
                    "type": kind,
                }
            )
            if traced and when == "call":
                found.append({"kind": "trace", "id": case, "functions": []})
    status = 1 if any(outcome == "failed" for _, outcome in (*cases, *neighbours)) else 0
    return [*found, {"kind": "finished", "status": status}], status


@st.composite
def honest(draw):
    """(expected ids, baseline, execution) of a run that passes."""
    number = draw(st.integers(1, len(IDS)))
    skipped = draw(st.sets(st.sampled_from(IDS[1:number] or [""])))
    cases = [(case, "skipped" if case in skipped else "passed") for case in IDS[:number]]
    neighbours = [(NEAR, draw(st.sampled_from(["passed", "failed"])))] if draw(st.booleans()) else []
    found, status = records(cases, neighbours=neighbours, traced=draw(st.booleans()), reruns=draw(st.booleans()))
    baseline = {case: "skipped" if case in skipped else "failed" for case, _ in cases}
    execution = Execution(records=numbered(found), status=status)
    return tuple(IDS[:number]), baseline, execution


def numbered(found):
    return tuple({**record, "seq": number} for number, record in enumerate(found))


@given(honest())
def test_every_one_of_them_passes(run):
    assert judge(*run).status is Status.PASSED


@st.composite
def damage(draw, execution):
    """The records cut, repeated, moved, dropped or with a forged one; numbers as they were."""
    found = list(execution.records)
    at, to = draw(st.integers(0, len(found) - 1)), draw(st.integers(0, len(found) - 1))
    how = draw(st.sampled_from(["cut", "repeat", "move", "swap", "drop", "forge", "number"]))
    if how == "cut":
        del found[at:]
    elif how == "repeat":
        found.insert(to, found[at])
    elif how == "move":
        found.insert(to, found.pop(at))
    elif how == "swap":
        found[at], found[to] = found[to], found[at]
    elif how == "drop":
        del found[at]
    elif how == "number":
        found[at] = {**found[at], "seq": draw(st.integers(-1, len(found)))}
    else:
        found.insert(at, {"kind": "forged", "seq": -1})
    return tuple(found)


@given(honest(), st.data())
def test_no_damaged_sequence_passes(run, data):
    expected, baseline, execution = run
    found = data.draw(damage(execution))
    passed = judge(expected, baseline, replace(execution, records=found)).status is Status.PASSED
    assert passed == (found == execution.records)


# What does not belong to the truth about the expected cases: it may be anything.
IRRELEVANT = {"seconds", "pytest", "python", "root", "path", "line", "functions"}
VALUES = st.sampled_from(
    [None, True, False, 0, 1, 2, -9, "", "passed", "failed", "skipped", "setup", "call", "teardown", "AssertionError",
     "phase", "begin", "finished", "collected", "start", "forged", IDS[0], IDS[1], NEAR, [], {}, [IDS[0]], "é"]
)  # fmt: skip


@given(honest(), st.data())
@settings(max_examples=200)
def test_an_edited_record_passes_only_where_it_says_the_same(run, data):
    """Edits, with the numbers made whole again: more than anybody without the key could do."""
    expected, baseline, execution = run
    found = [dict(record) for record in execution.records]
    for _ in range(data.draw(st.integers(1, 3))):
        record = data.draw(st.sampled_from(found))
        name = data.draw(st.sampled_from(sorted(record)))
        if data.draw(st.booleans()):
            record[name] = data.draw(VALUES)
        else:
            del record[name]
    changed = replace(execution, records=numbered(found))
    if judge(expected, baseline, changed).status is Status.PASSED:
        assert truth(expected, changed.records) == truth(expected, execution.records)


def truth(expected, found):
    """What each expected case did, phase by phase, and how it all ended. What is told again, as by
    subtests and reruns, says nothing new."""
    phases = {case: [] for case in expected}
    for record in found:
        if record.get("kind") == "phase" and record.get("id") in phases:
            told = (record.get("when"), record.get("outcome"), record.get("type"), record.get("wasxfail"))
            if told not in phases[record["id"]]:
                phases[record["id"]].append(told)
    skipped = {case: [each for each in mine if each[1] == "skipped"] for case, mine in phases.items()}
    # Of a case that was skipped before, nothing else counts; what only a failure would say is not told by a pass.
    phases = {case: (skipped[case] and [each[1] for each in skipped[case]]) or mine for case, mine in phases.items()}
    return phases, [record.get("status") for record in found if record.get("kind") == "finished"]


@given(honest(), st.sampled_from([-15, -9, 1, 2, 5, 97, None]))
def test_another_exit_status_never_passes(run, status):
    expected, baseline, execution = run
    if status != execution.status:
        assert judge(expected, baseline, replace(execution, status=status)).status is not Status.PASSED


@given(honest(), st.sampled_from(["timeout", "memory", "processes", "disk", "output", "report", "whatever"]))
def test_a_killed_run_never_passes(run, killed):
    expected, baseline, execution = run
    assert judge(expected, baseline, replace(execution, killed=killed)).status is not Status.PASSED


@given(honest(), st.text(min_size=1), st.data())
def test_every_break_of_the_sandbox_is_the_environments(run, broken, data):
    expected, baseline, execution = run
    found = data.draw(st.just(execution.records) | damage(execution))
    for status in (0, 1, None, -9):
        verdict = judge(expected, baseline, replace(execution, broken=broken, records=found, status=status))
        assert verdict.status is Status.ENVIRONMENT


@given(honest(), st.lists(st.sampled_from(IDS), min_size=1, max_size=3))
def test_a_case_more_is_a_case_missing(run, more):
    expected, baseline, execution = run
    lost = [case for case in more if case not in expected]
    if lost:
        assert judge((*expected, *lost), baseline, execution).status is not Status.PASSED


# Records as no honest worker ever writes them, sealed all the same: whatever comes, the verdict is a verdict.
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["id", "when", "outcome", "type", "cases", "deselected", "status", "frames", "functions", "seconds", "reruns",
         "wasxfail", "message", "root", "name", "calls", "rests_on", "ran", "lent", "unfit"]  # fmt: skip
KINDS = ["start", "collect_error", "collected", "begin", "phase", "trace", "watch", "apart", "finished", "forged", ""]


@given(
    st.lists(st.fixed_dictionaries({"kind": st.sampled_from(KINDS)}, optional=dict.fromkeys(NAMES, JUNK)), max_size=6)
)
@settings(max_examples=50)
def test_no_junk_breaks_the_verdict_or_passes(found):
    verdict = judge(IDS[:1], {}, Execution(records=numbered(found), status=0))
    assert verdict.status is not Status.PASSED


# -- the report's bytes -----------------------------------------------------------------------------------------


def sealed(found, key=KEY):
    lines = []
    for record in found:
        body = protocol.json.dumps(record).encode()
        lines.append(protocol.sign(body, key) + b" " + body + b"\n")
    return lines


@given(honest())
def test_an_undamaged_report_is_what_was_written(run):
    execution = run[2]
    assert tuple(protocol.open_report(b"".join(sealed(execution.records)), KEY)) == execution.records


@given(honest(), st.data(), st.booleans())
@settings(max_examples=150)
def test_no_damaged_bytes_pass(run, data, whole):
    expected, baseline, execution = run
    lines = sealed(execution.records)
    text = bytearray(b"".join(lines))
    at = data.draw(st.integers(0, len(text) - 1))
    line, other = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
    how = data.draw(st.sampled_from(["cut", "byte", "insert", "remove", "swap", "repeat", "foreign", "replaced"]))
    if how == "cut":
        del text[at:]
    elif how == "byte":
        text[at] = (text[at] + data.draw(st.integers(1, 255))) % 256
    elif how == "insert":
        text[at:at] = data.draw(st.binary(min_size=1, max_size=4))
    elif how == "remove":
        del text[at : at + data.draw(st.integers(1, 80))]
    else:
        if how == "swap":
            lines[line], lines[other] = lines[other], lines[line]
        elif how == "repeat":
            lines.insert(other, lines[line])
        else:
            (foreign,) = sealed([execution.records[line]], OTHER)
            lines[line : line + (how == "replaced")] = [foreign]
        text = bytearray(b"".join(lines))
    found = tuple(protocol.open_report(bytes(text), KEY, complete=whole))
    passed = judge(expected, baseline, replace(execution, records=found)).status is Status.PASSED
    assert passed == (found == execution.records)


@given(st.binary(max_size=300) | st.text(max_size=300), st.booleans())
def test_any_bytes_can_be_opened(report, whole):
    for record in protocol.open_report(report, KEY, complete=whole):
        assert record == {"kind": "forged", "seq": -1}

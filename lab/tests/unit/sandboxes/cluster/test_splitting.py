"""Cases are split by measured time, and the parts of a run are judged as the whole run would be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executions import execute
from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop_lab.sandboxes.cluster.splitting import merge, split_cases
from greenloop_sandbox import case_results, collected_cases, forged

CASES = [f"test_{file}.py::test_{number}" for file in "abc" for number in range(4)]


def execute_parts(outcomes, parts):
    return [
        execute({case: outcomes[case] for case in part}, deselected=[case for case in outcomes if case not in part])
        for part in parts
    ]


SECONDS = st.dictionaries(st.sampled_from(CASES), st.floats(0, 100))


@given(st.permutations(CASES), SECONDS, st.integers(1, 20))
def test_every_case_is_in_one_part_and_in_the_order_given(cases, seconds, count):
    parts = split_cases(cases, seconds, count)
    assert 1 <= len(parts) <= count
    assert sorted(case for part in parts for case in part) == sorted(CASES)
    assert all(list(part) == [case for case in cases if case in part] for part in parts)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=40), st.integers(2, 8))
def test_no_part_takes_much_longer_than_its_share(times, count):
    seconds = {f"test_m.py::test_{number}": each for number, each in enumerate(times)}
    loads = [sum(seconds[case] for case in part) for part in split_cases(list(seconds), seconds, count)]
    # Groups are at most a share or one case, and the longest goes to the emptiest part first.
    assert max(loads) <= sum(times) / count + max(*times, sum(times) / count) + 1e-6


def test_a_file_stays_together_unless_it_takes_longer_than_a_part_should():
    even = dict.fromkeys(CASES, 1.0)
    assert [{case.partition("::")[0] for case in part} for part in split_cases(CASES, even, 3)] == [
        {"test_a.py"},
        {"test_b.py"},
        {"test_c.py"},
    ]
    slow = {case: 10.0 if "test_a" in case else 1.0 for case in CASES}
    parts = split_cases(CASES, slow, 2)
    assert [sum(slow[case] for case in part) for part in parts] == [24.0, 24.0]
    assert sum(any("test_a" in case for case in part) for part in parts) == 2


def test_what_was_not_measured_counts_as_the_mean_of_the_rest():
    seconds = {case: 6.0 for case in CASES if "test_a" in case}
    assert [len(part) for part in split_cases(CASES, seconds, 3)] == [4, 4, 4]


OUTCOMES = st.fixed_dictionaries({case: st.sampled_from(["passed", "failed", "skipped"]) for case in CASES})


@given(OUTCOMES, SECONDS, st.integers(2, 5), st.fixed_dictionaries({case: st.just("skipped") for case in CASES}))
def test_the_verdict_is_that_of_the_whole_run(outcomes, seconds, count, baseline):
    whole = execute(outcomes)
    merged = merge(execute_parts(outcomes, split_cases(CASES, seconds, count)), CASES)
    expected, found = (judge(CASES, baseline, execution) for execution in (whole, merged))
    assert (found.status, found.reason) == (expected.status, expected.reason)
    assert [(case.id, case.outcome) for case in found.cases] == [(case.id, case.outcome) for case in expected.cases]
    assert [case.id for case in collected_cases(merged)] == CASES
    assert forged(merged) == ""


PASSING = dict.fromkeys(CASES, "passed")


def kill(part, reason):
    return execute({case.id: "passed" for case in collected_cases(part)[:2]}, killed=reason)


@pytest.mark.parametrize(
    ("spoil", "status"),
    [
        (lambda part: replace(part, broken="The sandbox broke."), Status.ENVIRONMENT),
        (lambda part: replace(part, records=part.records[:-1], status=0), Status.TAMPERED),
        (lambda part: replace(part, records=part.records[:-1], status=3), Status.CRASHED),
        (lambda part: replace(part, records=part.records[:-1], status=-11), Status.CRASHED),
        (lambda part: replace(part, status=1), Status.TAMPERED),
        (lambda part: replace(part, records=part.records[:3] + part.records[4:]), Status.TAMPERED),
        (lambda part: replace(part, records=(*part.records, {"kind": "forged", "seq": -1})), Status.TAMPERED),
        (lambda part: replace(part, records=(*part.records, {**part.records[1], "seq": 99})), Status.TAMPERED),
        (lambda part: kill(part, "timeout"), Status.TIMEOUT),
        (lambda part: kill(part, "memory"), Status.CRASHED),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_nothing_that_happened_in_one_part_is_hidden_by_the_others(spoil, status, place):
    parts = execute_parts(PASSING, [CASES[:4], CASES[4:8], CASES[8:]])
    parts[place] = spoil(parts[place])
    verdict = judge(CASES, {}, merge(parts, CASES))
    assert verdict.status is status, verdict.reason


def test_the_case_that_did_not_end_is_named():
    hanging = execute(dict.fromkeys(CASES[:3], "passed"), killed="timeout")
    hanging = replace(hanging, records=hanging.records[:-3])
    merged = merge([hanging, *execute_parts(PASSING, [CASES[4:8], CASES[8:]])], CASES)
    failures = {case.id: case.failure for case in case_results(merged) if not case.passed}
    assert list(failures) == [CASES[2]]
    assert failures[CASES[2]].type == "Timeout"


def test_a_case_that_the_project_leaves_out_stays_left_out():
    parts = [
        execute({CASES[0]: "passed"}, deselected=[CASES[1], CASES[2]]),
        execute({CASES[1]: "passed"}, deselected=[CASES[0], CASES[2]]),
    ]
    (collected,) = (record for record in merge(parts, CASES).records if record["kind"] == "collected")
    assert collected["deselected"] == [CASES[2]]


def test_nodes_with_different_versions_give_no_verdict():
    first, second = execute_parts(PASSING, [CASES[:6], CASES[6:]])
    other = ({**second.records[0], "pytest": "8.0"}, *second.records[1:])
    merged = merge([first, replace(second, records=other)], CASES)
    assert judge(CASES, {}, merged).status is Status.ENVIRONMENT

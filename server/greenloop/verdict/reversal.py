"""Reversal: the user's own code is put back in place of a candidate that has run; what failed must fail again.

One more run in the accepting session; sandbox/proofs/reversal.py has the worker's side.
It must not know where candidates come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core.ports import Session
from greenloop.core.records.sandbox import Execution, Reversal, TestRun
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import SourceRead, Status, Verdict
from greenloop.core.report.cases import records_of_kind
from greenloop.core.report.traces import source_reads
from greenloop.core.verdict import forged
from greenloop.verdict.assertion_lines import Lines, assertion_lines, helper_lines, strict_lines
from greenloop.verdict.canary import function_of
from greenloop.verdict.inputs import VerificationInputs, check_sandbox

# The usual run, one over the user's code, and two over wrong results, each with failures to report.
TIMES = 4
# Failures that have no type of their own: such code is not put back, it would hang or crash again.
ENDED = frozenset({"Timeout", "Killed", "Crash", "MemoryLimit", "ProcessLimit", "Missing"})

_SPECIAL_METHOD = re.compile(r"\.__\w+__$")
# They give plain values, which a test compares like those of any function; they accept nothing in their place.
_PLAIN_METHOD = re.compile(r"\.__(?:len|bool|hash|int|float|index|round|abs)__$")

OWN_PASSES = "it also passes with your own code put back"
WRONG_PASSES = "it also passes when the changed code returns wrong results"
NEVER_CALLED = "it never calls the changed code in its own process"
OTHER_FAILURE = "with your own code put back it fails in another way than at the start"
NOT_REACHED = "its run with your own code put back did not end"
_GIVEN, _REACHES = "it was given ", "the new code reaches for "


Helpers = Sequence[tuple[Lines, Sequence[Lines]]]
# The lines of assertions by path: those of each test, and those of functions that tests call.
Asserted = tuple[Mapping[str, Mapping[str, Sequence[Lines]]], Mapping[str, Helpers]]


@dataclass(frozen=True, kw_only=True)
class OwnCode:
    """What is known of the code before the change.

    `texts` of the changed files by path, empty for new ones; `tests` are the texts of the test files; `failures` are
    the types of the failures by case id, where they are known.
    """

    texts: Mapping[str, str]
    tests: Mapping[str, str]
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ReversalResult:
    """What the reversal showed: `proven` case ids, and the reason for each other case.

    `suspicious` maps cases to a reason why no proof in the candidate's process counts: the values that it compared.
    `unasserted` maps them to a reason why their pass asserts too little: an assertion that never ran, or failed unseen.
    `reads` is what was read of the tests meanwhile.
    """

    proven: frozenset[str] = frozenset()
    unproven: Mapping[str, str] = field(default_factory=dict)
    suspicious: Mapping[str, str] = field(default_factory=dict)
    unasserted: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[SourceRead, ...] = ()


async def reverse(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], own: OwnCode
) -> tuple[Verdict | None, ReversalResult]:
    """Runs the target cases over these texts, and again over the user's own texts put back in the same process.

    The verdict is one against the pass (None: nothing found): what decides the tests was replaced while they ran.
    """
    if not own.texts or not inputs.expected:
        return None, ReversalResult()
    started_failing = tuple(
        case
        for case in inputs.expected
        if inputs.outcomes.get(case) in ("failed", "error") and own.failures.get(case) not in ENDED
    )
    assertions = {path: assertion_lines(text) for path, text in own.tests.items()}
    helpers = {path: helper_lines(text) for path, text in own.tests.items()}
    request = Reversal(
        files=own.texts,
        failing=started_failing,
        asked=_asked_methods(inputs.problem.regions),
        assertions={
            path: tuple(sorted(_all_lines([*by_test.values(), *_ranges_of(helpers[path])])))
            for path, by_test in assertions.items()
        },
        strict={path: tuple(sorted(strict_lines(text))) for path, text in own.tests.items()},
    )
    run = inputs.test_run(files)
    run = replace(run, seconds=TIMES * run.seconds, reversal=request)
    execution = await session.run(run)
    if execution.killed and started_failing:
        # The user's own code may hang where nobody knows that it did; wrong results need no code of theirs.
        execution = await session.run(replace(run, reversal=replace(request, failing=())))
    check_sandbox(execution)
    if forgery := forged(execution):
        return Verdict(status=Status.TAMPERED, reason=forgery, output=execution.output), ReversalResult()
    values = {str(record["id"]): dict(record) for record in records_of_kind(execution, "values")}
    if altered := await _altered(inputs, session, run, values):
        case, name, is_known = altered
        if is_known:
            reason = f"{name} was replaced while {case} ran."
            return Verdict(status=Status.TAMPERED, reason=reason, output=execution.output), ReversalResult()
        for record in values.values():  # your own code might replace it too, if it ran that far
            record["unfit"] = record["unfit"] or f"{name} in another form"
    return None, _read(execution, inputs, values, own.failures, (assertions, helpers))


def _ranges_of(helpers: Helpers) -> list[Sequence[Lines]]:
    return [[entry, *asserted] for entry, asserted in helpers]


def _asked_methods(regions: Sequence[Region]) -> dict[str, tuple[str, ...]]:
    """The special methods (`V.__eq__`) that are to be changed, by path.

    Where other code is to be changed too, only those that give plain values: a changed `__eq__` could excuse it.
    """
    is_alone = all(_SPECIAL_METHOD.search(region.qualname) for region in regions)
    asked = [region for region in regions if is_alone or _PLAIN_METHOD.search(region.qualname)]
    paths = {region.path for region in asked}
    return {path: tuple(region.qualname for region in asked if region.path == path) for path in paths}


def _all_lines(tests: Iterable[Sequence[Lines]]) -> set[int]:
    return {line for ranges in tests for first, last in ranges for line in range(first, last + 1)}


async def _altered(
    inputs: VerificationInputs, session: Session, run: TestRun, values: Mapping[str, Mapping[str, Any]]
) -> tuple[str, str, bool] | None:
    """The first case, what was replaced in it, and whether it is known that the user's own code does not do the same.

    None where nothing was replaced, or the user's own code does the same.
    """
    altered = {case: list(record["altered"]) for case, record in values.items() if record["altered"]}
    if not altered:
        return None
    assert run.reversal is not None
    old_texts = {path: text for path, text in run.reversal.files.items() if text}
    control = await session.run(replace(run, files=inputs.test_run(old_texts).files))
    own = list(records_of_kind(control, "values"))
    excused = {name for record in own for name in record["altered"]}
    return next(
        ((case, name, bool(own)) for case, names in altered.items() for name in names if name not in excused), None
    )


def _read(
    execution: Execution,
    inputs: VerificationInputs,
    values: Mapping[str, Mapping[str, Any]],
    failures: Mapping[str, str],
    assertions: Asserted,
) -> ReversalResult:
    expected, outcomes = inputs.expected, inputs.outcomes
    reversed_runs: dict[str, list[Mapping[str, Any]]] = {}
    for record in records_of_kind(execution, "reversed"):
        reversed_runs.setdefault(str(record["id"]), []).append(record)
    suspicious = {
        case: reason for case, record in values.items() if case in expected and (reason := _why_suspicious(record))
    }
    # What the code reaches for it may have changed for the cases before as well.
    if reached := next((record["reached"][0] for record in values.values() if record.get("reached")), ""):
        suspicious = {case: suspicious.get(case) or f"{_REACHES}{reached}" for case in expected}
    unasserted = {
        case: reason
        for case, record in values.items()
        if case in expected and (reason := _why_unasserted(case, record, assertions))
    }
    unproven = {}
    for case in expected:
        if case in suspicious or case in unasserted:
            unproven[case] = suspicious.get(case) or unasserted[case]
        elif reason := _why_unproven(values.get(case), reversed_runs.get(case, []), failures.get(case, "")):
            if reason == NEVER_CALLED and outcomes.get(case) == "passed":
                continue  # it passed with the user's own code, and is not affected
            unproven[case] = reason
    return ReversalResult(
        proven=frozenset(case for case in expected if case not in unproven),
        unproven=unproven,
        suspicious=suspicious,
        unasserted=unasserted,
        reads=source_reads(execution),
    )


def is_suspicion(reason: str) -> bool:
    """Is it a reason against the code itself, whether or not the test depended on it before?"""
    return reason.startswith((_GIVEN, _REACHES))


def _why_suspicious(values: Mapping[str, Any]) -> str:
    return f"{_GIVEN}{values['unfit']}" if values["unfit"] else ""


def _why_unasserted(case: str, values: Mapping[str, Any], assertions: Asserted) -> str:
    """Empty where all assertions that have to run did, or where that is not known."""
    if values["swallowed"]:
        return f"its assertion in line {values['swallowed']} failed, and it passes all the same"
    if not values["traced"]:
        return ""
    tests, helpers = assertions
    path = case.partition("::")[0]
    ran = {line for ran_path, line in values["ran"] if ran_path == path}

    def has_run(lines: Lines) -> bool:
        return not ran.isdisjoint(range(lines[0], lines[1] + 1))

    own = tests.get(path, {}).get(function_of(case), ())
    if missed := next((lines for lines in own if not has_run(lines)), None):
        return f"its assertion in line {missed[0]} never ran"
    called = [asserted for entry, asserted in helpers.get(path, ()) if has_run(entry)]
    if not own and called and not any(has_run(lines) for asserted in called for lines in asserted):
        return f"no assertion of what it calls ever ran, such as that in line {called[0][0][0]}"
    return ""


def _why_unproven(values: Mapping[str, Any] | None, runs: Sequence[Mapping[str, Any]], first_failure: str) -> str:
    """Empty where the case failed as it must."""
    if values is None or not runs:
        return NOT_REACHED
    failed = next((run for run in runs if run["outcome"] == "failed"), None)
    if failed is not None:
        is_same = failed["mode"] != "own" or not first_failure or failed["type"] == first_failure
        return "" if is_same else OTHER_FAILURE
    if runs[-1]["unfit"]:
        return f"your own code cannot be put back: {runs[-1]['unfit']}"
    if runs[-1]["outcome"] != "passed":
        return NOT_REACHED
    if not values["results"]:
        return NEVER_CALLED
    return OWN_PASSES if runs[-1]["mode"] == "own" else WRONG_PASSES

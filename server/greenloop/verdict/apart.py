"""Separated judging: the proof that a pass was earned, because the changed code never ran where it was judged.

Each case runs over the user's own code with stubs, while the changed code answers from a process of its own
(greenloop_sandbox/inside/apart/). A pass by values alone is a proof. A pass that needed more (arguments changed in
place, operators, constants) is one where the same case fails with wrong results in their place. And each case that
failed before has to fail again with the user's own code, which nothing excuses.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict.apart_runs import (
    BOUNDARIES,
    CHANGES,
    CONSTANTS,
    ENDED,
    FAILS,
    KINDS,
    NOT_ENDED,
    RED,
    STATES,
    WRONG_PASSES,
    Boundary,
    Found,
    OwnCode,
    Runs,
    sides_of,
    why_no_failure,
)
from greenloop_sandbox import Session

OWN_PASSES = "it also passes with your own code put back"
UNSTABLE = "it passed apart once, then failed"
AT_ONCE = "threads ask at the same time"  # what a run apart cannot do, and takes long to find


@dataclass(frozen=True, kw_only=True)
class Proofs:
    """Cases that passed apart, with what the pass rested on besides values; and why the others are not proven.

    `vetoed` are those of them that pass for another reason than the code.
    `tampering` says which case passes only where the code sees that it is tested, and by which new line.
    `together` are those that passed before, and that cannot be put apart with the user's own code either.
    """

    proven: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unproven: Mapping[str, str] = field(default_factory=dict)
    vetoed: frozenset[str] = frozenset()
    together: Mapping[str, str] = field(default_factory=dict)
    tampering: str = ""


# A case that passed apart: at which boundary, and what it rested on (names by kind).
_Pass = tuple[Boundary, Mapping[str, tuple[str, ...]]]


async def prove(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], own: OwnCode, cases: Sequence[str]
) -> Proofs:
    """Proves the passes of these cases with the changed `files`.

    Of a change of data alone nothing runs that could lie: the tests have to fail with the user's own data put back.
    """
    if not cases or not files:
        return Proofs()
    runs = Runs(inputs=inputs, session=session, files=files, own=own)
    if not any(path.endswith(".py") for path in files):
        same = await runs.passing_with_own_code([case for case in cases if inputs.outcomes.get(case) != "passed"])
        return Proofs(unproven=dict.fromkeys(same, OWN_PASSES), vetoed=frozenset(same))
    passes, unproven, vetoed = await _pass_apart(runs, cases)
    if tampering := await runs.aware_line([case for case in unproven if unproven[case].startswith(FAILS)]):
        return Proofs(unproven=unproven, tampering=tampering)
    was_red = [case for case in cases if inputs.outcomes.get(case) in RED and own.failures.get(case) not in ENDED]
    vetoed |= {*(same := await runs.passing_with_own_code(was_red))}
    unproven |= dict.fromkeys(same, OWN_PASSES)
    for boundary in BOUNDARIES:
        at_this = {case: rests_on for case, (where, rests_on) in passes.items() if where == boundary}
        for kind in KINDS:
            asked = [case for case in at_this if kind in at_this[case]]
            for case, what in (await runs.unproven_by_wrong(boundary, kind, asked)).items():
                unproven.setdefault(case, f"{what} of {at_this[case][kind][0]}")
        if at_this:
            again, right = await runs.failing_again(boundary, [*at_this])
            unproven.update({case: UNSTABLE for case in again if case not in unproven})
            # Beyond the outer boundary the code answers for functions that the tests may compare it with, too.
            left = [case for case in at_this if case not in unproven]
            mixed = {case for case in left if boundary.get("outer") or {CHANGES, CONSTANTS, STATES} & {*at_this[case]}}
            # Of an assertion with a side that the test itself has written, the code makes no more than the other one.
            moving = {case for case in left if right.records[case]["sides"] and not right.records[case]["fixed"]}
            if left := [case for case in left if case in mixed | moving]:
                unproven.update(await runs.comparing_itself(boundary, left, mixed, right))
            for look in (runs.equal_to_anything, runs.noticing_only_chance):
                left = [case for case in at_this if case not in unproven]
                unproven.update(await look(boundary, left, mixed, right))
            modes = {case for case, on in at_this.items() if CONSTANTS in on or "the global " in str(on)} - {*unproven}
            for _ in range(3):  # a wrong result may be right in all that is looked at
                wrong = await runs.run([*modes], boundary, wrong="results", operands=True) if modes else right
                modes = {case for case in modes if why_no_failure(wrong, case) == WRONG_PASSES}
                modes = {case for case in modes if sides_of(wrong, case) != sides_of(right, case)}
            unproven.update(dict.fromkeys(modes, f"{WRONG_PASSES} of its results"))
    old_passes = [case for case in unproven if inputs.outcomes.get(case) == "passed"]
    together = await runs.not_apart_either(old_passes, unproven)
    proven = {case: rests_on for case, (_, rests_on) in passes.items() if case not in unproven}
    return Proofs(
        proven={
            case: tuple(name for kind, names in rests_on.items() if kind != STATES for name in names)
            for case, rests_on in proven.items()
        },
        unproven={case: reason for case, reason in unproven.items() if case not in together},
        vetoed=frozenset(vetoed),
        together={case: unproven[case] for case in together},
    )


async def _pass_apart(runs: Runs, cases: Sequence[str]) -> tuple[dict[str, _Pass], dict[str, str], set[str]]:
    """Runs the cases apart at one boundary after the other.

    Returns the passes, why the other cases do not pass, and those of them where the code was seen to lie.
    """
    passes: dict[str, _Pass] = {}
    reasons: dict[str, str] = {}
    suspicious: set[str] = set()
    found = Found(records={}, failures={}, has_hung=False)
    for boundary in BOUNDARIES:
        while pending := [case for case in cases if case not in passes]:
            found = await runs.run(pending, boundary)
            for case in pending:
                record, failure = found.records.get(case), found.failures.get(case, NOT_ENDED)
                if failure or record is None or record["unfit"]:
                    reasons[case] = (record and record["unfit"]) or failure or NOT_ENDED
                    suspicious |= {case} if record is not None and record["suspicious"] else set()
                else:
                    passes[case] = (boundary, _rests_on(record))
            # Files that tests have handed to the code by their path: it may see them.
            if not (lent := {path for each in found.records.values() for path in each["lent"]} - runs.visible):
                break
            runs.visible |= lent
        if found.has_hung or AT_ONCE in reasons.values():
            break  # the next boundaries take longer
    unproven = {case: reason for case, reason in reasons.items() if case not in passes}
    return passes, unproven, suspicious & {*unproven}


def _rests_on(record: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    pairs = [(str(kind), str(name)) for kind, name in record["rests_on"]]
    kinds = [kind for kind in (*KINDS, STATES) if kind in dict(pairs)]
    return {kind: tuple(name for each, name in pairs if each == kind) for kind in kinds}

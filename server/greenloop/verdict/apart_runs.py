"""Runs of cases apart, and over the user's own code: what passes, with right values and with wrong ones.

It must not know which runs make a proof.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core.records.spec import Provenance
from greenloop.core.verification_inputs import ACCEPTING, VerificationInputs, check_sandbox
from greenloop.verdict.related_tests.own_code import select
from greenloop_sandbox import Apart, Execution, Session, TestRun, case_results, forged
from greenloop_sandbox.report.cases import collect_errors, records_of_kind

# How far a run goes beyond values, and whether the callers of changed functions run with them; see `Apart`.
Boundary = Mapping[str, bool]
_Sides = Mapping[tuple[int, int], tuple[str, str]]
# Tried in this order; a case stops at the first that it passes.
_BEYOND_VALUES = {"constants": True, "in_place": True}
BOUNDARIES: Sequence[Boundary] = ({}, _BEYOND_VALUES, {**_BEYOND_VALUES, "outer": True})
KINDS = (CHANGES, CONSTANTS, OPERATORS) = ("changes", "constants", "operators")
STATES = "states"  # of arguments, and of files: the tests see them as the code has left them
# What a run leaves out to see whether a case needs it at all.
WITHOUT: Mapping[str, Boundary] = {CONSTANTS: {"constants": False}, CHANGES: {"in_place": False}}
TIMES = 3  # of the usual limit: every call crosses between two processes
OPERANDS, MOST_PLACES = "operands", 8  # arguments of constructors in tests, those at one place in each run
ALL = "all"  # everything that the code hands over is wrong
# Everything that crosses is wrong: alike for like values (at last yes and no as well), or by chance.
ALIKE, BY_CHANCE, TRIES = ("alike+", "alike-!"), "chance!", 3
EVERYTHING = "all+"  # yes and no, steps, messages and what is printed as well
RED, UNKNOWN = ("failed", "error"), "Missing"
# Failures of code that hangs or ends the process; it is not run again.
ENDED = frozenset({"Timeout", "Killed", "Crash", "MemoryLimit", "ProcessLimit", UNKNOWN})

WRONG_PASSES = "it also passes with a wrong value in place"
WRONG_ENDS = "its run ends with a wrong value in place"
ITSELF = "an assertion compares the code with what the code itself has changed"
UNMOVED = "an assertion compares what could not be made wrong"
EQUAL = "objects are equal whatever they are made of"
UNSEEN = "a wrong value keeps an assertion from running"
FAILS = "apart it fails with "
NOT_ENDED = "its run apart did not end"


@dataclass(frozen=True, kw_only=True)
class OwnCode:
    """The code before the change: `texts` of the changed files by path, None for new ones.

    `failures` are the types of the failures with it by case id, where they are known (`UNKNOWN`: it was never asked).
    """

    texts: Mapping[str, str | None]
    failures: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Found:
    """Results of a run apart: the records by case, and the failures ("" for a pass)."""

    records: Mapping[str, Mapping[str, Any]]
    failures: Mapping[str, str]
    has_hung: bool


@dataclass(kw_only=True)
class Runs:
    """Runs cases apart, and over the user's own code. `visible` are files of the tests that the tests hand over."""

    inputs: VerificationInputs
    session: Session
    files: Mapping[str, str]
    own: OwnCode
    visible: set[str] = field(default_factory=set)

    async def run(self, cases: Sequence[str], boundary: Boundary, **how: Any) -> Found:
        inputs = self.inputs
        code = {path: self.files.get(path) for path in {*self.files, *self.own.texts} if path.endswith(".py")}
        data = {path: text for path, text in self.files.items() if path not in code}
        before = {path: text for path, text in self.own.texts.items() if path in code and text is not None}
        run = inputs.test_run({**before, **data})
        tests = {case.path for case in inputs.problem.spec.cases if case.path not in code} | {*inputs.generated_files}
        how |= {"tests": tuple(sorted(tests)), "visible": tuple(sorted(self.visible)), **boundary}
        without, seconds = tuple(path for path in code if path not in before), TIMES * run.seconds
        run = replace(self._only(run, cases), apart=Apart(files=code, **how), without=without, seconds=seconds)
        execution = await self.session.run(run)
        records = {str(record["id"]): record for record in records_of_kind(execution, "apart")}
        failures = _failures(execution)
        if errors := collect_errors(execution):
            why = f"apart it cannot be collected ({errors[0].failure.type}: {errors[0].failure.message[:120]})"
            failures = {**dict.fromkeys(set(cases) - {*failures}, why), **failures}
        return Found(records=records, failures=failures, has_hung=bool(execution.killed))

    def _only(self, run: TestRun, cases: Sequence[str]) -> TestRun:
        users = {case.id for case in self.inputs.problem.spec.cases if case.provenance is Provenance.USER}
        return select(run, cases) if users.issuperset(cases) else replace(run, only=tuple(cases))

    async def unproven_by_wrong(self, boundary: Boundary, kind: str, cases: Sequence[str]) -> dict[str, str]:
        """The cases that pass with wrong values of this kind, or end, and do not pass without any of it; and which."""
        why: dict[str, str] = {}
        # A tolerance of the code may be too large, and a limit too small.
        for sign in "+-" if kind == CONSTANTS else ("",):
            if left := [case for case in cases if case not in why]:
                found = await self.run(left, boundary, wrong=kind + sign, operands=True)
                why |= {case: reason for case in left if (reason := why_no_failure(found, case))}
        if why and kind in WITHOUT:  # a constant or a change that the test does not look at
            without = await self.run([*why], {**boundary, **WITHOUT[kind]})
            return {case: why[case] for case in why if without.failures.get(case, NOT_ENDED)}
        return why

    async def failing_again(self, boundary: Boundary, cases: Sequence[str]) -> tuple[list[str], Found]:
        """The cases that fail when they run apart once more, with another hash seed of the code; and that run."""
        found = await self.run(cases, boundary, seed=ACCEPTING, operands=True)
        return [case for case in cases if found.failures.get(case, NOT_ENDED) or found.records[case]["unfit"]], found

    async def comparing_itself(
        self, boundary: Boundary, cases: Sequence[str], mixed: Collection[str], right: Found, kind: str = ALL
    ) -> dict[str, str]:
        """The cases with an assertion whose both sides follow the code: what is expected is not the test's own.

        Of those that are not `mixed` all their assertions are of this kind. An assertion that a wrong value keeps from
        running may be of this kind as well: code that notices the value can end the test before it.
        """
        wrong = await self.run(cases, boundary, wrong=kind, operands=True)
        reasons: dict[str, str] = {}
        still: list[str] = []
        for case in cases:
            was, now = sides_of(right, case), sides_of(wrong, case)
            shared = [place for place in now if place in was]
            both = [at for at in shared if was[at][0] != now[at][0] and was[at][1] != now[at][1]]
            left = sorted({line for line, _ in was}.difference(line for line, _ in shared))
            if both and (case in mixed or both == shared):
                reasons[case] = f"{ITSELF} (line {both[0][0]})"
            elif kind == ALL and left and (case in mixed or not shared):
                reasons[case] = f"{UNSEEN} (line {left[0]})"
            elif shared and case not in mixed and all(was[at] == now[at] for at in shared):
                if kind == ALL:
                    still.append(case)
                elif wrong.records[case]["right"] > 1:
                    reasons[case] = f"{UNMOVED} (line {shared[0][0]})"
        return reasons | (await self.comparing_itself(boundary, still, mixed, right, EVERYTHING) if still else {})

    async def noticing_only_chance(
        self, boundary: Boundary, cases: Sequence[str], mixed: Collection[str], right: Found
    ) -> dict[str, str]:
        """The cases that notice wrong values of the code where these differ by chance, but not where they are alike.

        What they expect is the code's. Of cases that rest on more than values, each assertion has to notice.
        """
        cases = [case for case in cases if right.records[case]["several"] or case in mixed]
        green, held = {*cases}, {case: {*_held(right, case)} for case in cases if case in mixed}
        reasons: dict[str, str] = {}
        for how in (*ALIKE, *[BY_CHANCE] * TRIES):
            cases = [case for case in cases if (case in green or held.get(case)) and case not in reasons]
            found = await self.run(cases, boundary, wrong=how, operands=True) if cases else right
            for case in cases:
                record = found.records.get(case)
                if record is None or record["unfit"]:  # nothing is known of it
                    green, held = green - {case}, {**held, case: set()}
                    continue
                is_green, holds = not found.failures.get(case, NOT_ENDED) and not record["false"], {*_held(found, case)}
                if how != BY_CHANCE:
                    green = green if is_green else green - {case}
                    held = {**held, case: held.get(case, set()) & holds}
                elif lost := held[case].intersection((line, time) for line, time, _ in record["held"]) - holds:
                    reasons[case] = f"{ITSELF} (line {min(lost)[0]})"
                elif case in green and not is_green:
                    reasons[case] = ITSELF
        return reasons

    async def equal_to_anything(
        self, boundary: Boundary, cases: Sequence[str], _mixed: Collection[str], right: Found
    ) -> dict[str, str]:
        """The cases with an equality that holds, between the same objects, with a wrong argument of a constructor."""
        reasons: dict[str, str] = {}
        for place in range(MOST_PLACES):
            asked = {case: {*_equalities(right, case, place)} for case in cases if case not in reasons}
            for _ in range(3):  # a wrong value may be as good as the right one by chance
                if not (asked := {case: sites for case, sites in asked.items() if sites}):
                    break
                wrong = await self.run([*asked], boundary, wrong=f"{OPERANDS}{place}", operands=True)
                asked = {
                    case: sites & {*_equalities(wrong, case, place, sides_of(right, case))}
                    for case, sites in asked.items()
                }
            reasons |= {case: f"{EQUAL} (line {min(sites)[0]})" for case, sites in asked.items() if sites}
        return reasons

    async def passing_with_own_code(self, cases: Sequence[str]) -> list[str]:
        """The cases that failed at first and pass now, with the user's own code."""
        if not cases:
            return []
        own = {path: text for path, text in self.own.texts.items() if text is not None}
        run = replace(self._only(self.inputs.test_run(own), cases), without=tuple(set(self.own.texts) - set(own)))
        execution = await self.session.run(run)
        check_sandbox(execution)
        return [case for case, failure in _failures(execution).items() if case in cases and not failure]

    async def aware_line(self, cases: Sequence[str]) -> str:
        """Returns why code passes these cases only where it sees that it is tested: tampering; "" where it is not.

        The first new line that runs in one of the two cases alone is the one that made the difference.
        """
        if not cases:
            return ""
        aware = await self.run(cases, BOUNDARIES[-1], lines=True, aware=True)
        passing = [case for case in cases if aware.failures.get(case, NOT_ENDED) == ""]
        if not passing:
            return ""
        neutral = await self.run(passing, BOUNDARIES[-1], lines=True)
        for case in [case for case in passing if neutral.failures.get(case)]:
            records = aware.records[case], neutral.records.get(case, {"ran": ()})
            ran = [{(str(path), line) for path, line in record["ran"]} for record in records]
            for path, line in sorted(ran[0] ^ ran[1] or ran[0]):
                own, lines = (self.own.texts.get(path) or "").splitlines(), self.files.get(path, "").splitlines()
                if line <= len(lines) and lines[line - 1] not in own:
                    return f"{case} passes only where the code sees that it is tested ({path}, line {line})."
        return ""

    async def not_apart_either(self, cases: Sequence[str], reasons: Mapping[str, str]) -> list[str]:
        """The cases that cannot be put apart with the user's own code, for the same reason."""
        if not cases:
            return []
        found = await self.run(cases, BOUNDARIES[-1], own=True)
        own = {case: record["unfit"] or found.failures.get(case) for case, record in found.records.items()}
        return [case for case in cases if own.get(case) == reasons[case]]


def sides_of(found: Found, case: str) -> _Sides:
    """The two sides of each assertion, by its line and how often it had run."""
    sides = found.records[case]["sides"] if case in found.records else ()
    return {(line, time): (left, right) for line, time, left, right, *_ in sides}


def _held(found: Found, case: str) -> Iterator[tuple[int, int]]:
    """The assertions that hold, by line and how often it had run."""
    for line, time, holds in found.records[case]["held"] if case in found.records else ():
        if holds:
            yield line, time


def _equalities(found: Found, case: str, place: int, right: _Sides | None = None) -> Iterator[tuple[int, int]]:
    """The equalities that hold between objects made with an argument at this place.

    With a `right` run, only those of objects that are as in it; and of changed classes, of objects that differ.
    """
    for line, time, *sides, places, is_changed in found.records[case]["sides"] if case in found.records else ():
        is_alike = right is None or right.get((line, time)) == tuple(sides) or (is_changed and sides[0] != sides[1])
        if place in places and is_alike:
            yield line, time


def why_no_failure(found: Found, case: str) -> str:
    record = found.records.get(case)
    if record is None or (record["unfit"] and not record["suspicious"]):
        return WRONG_ENDS
    is_pass = found.failures.get(case, NOT_ENDED) == "" and (not record["false"] or record["suspicious"])
    return WRONG_PASSES if is_pass else ""


def _failures(execution: Execution) -> Mapping[str, str]:
    """Returns why each case did not pass, by its id; "" where it did. Empty where the report cannot be believed."""
    check_sandbox(execution)
    if forged(execution):
        return {}
    return {result.id: "" if result.passed else _describe(result) for result in case_results(execution)}


def _describe(result: Any) -> str:
    if result.failure is None:
        return f"it is {result.outcome} apart"
    first_line = result.failure.message.partition("\n")[0][:120]
    return f"{FAILS}{result.failure.type}{': ' if first_line else ''}{first_line}"

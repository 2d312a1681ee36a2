"""Puts an outcome into words: its verification level, its evidence, why it ended unsolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from greenloop.core.election import count_asked
from greenloop.core.feature_data import show
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.spec import USER_PROVENANCES, Provenance
from greenloop.core.records.verdict import Status
from greenloop.core.summary import CANNOT, GENERATED_PROVENANCES
from greenloop.wording.notes import (
    describe_also_fixed,
    describe_doubts,
    describe_still_red,
    describe_weakness,
    name_tests,
)

VERIFIED_WORDS = {
    Verified.VERIFIED: "verified",
    Verified.PARTIALLY: "partially verified",
    Verified.UNVERIFIED: "unverified",
}
# Plural nouns for cases by provenance, in the order of display.
LABELS = {
    Provenance.USER: "target tests",
    Provenance.DOCTEST: "doctests",
    Provenance.EXAMPLE: "docstring examples",
    Provenance.TRACE: "recorded calls",
    Provenance.DESIGNED: "generated tests",
    Provenance.PROPERTY: "properties",
    Provenance.CONFIRMED: "confirmed tests",
    Provenance.HUMAN: "of your checks",
    Provenance.SCORE: "score limits",
    Provenance.CONSTRAINT: "constraints",
    Provenance.HINT: "type hint tests",
    Provenance.GOAL: "of what you asked for",
}


def describe_unproven(evidence: Evidence) -> str:
    """Returns why some passes prove nothing: `1 pass is not proven (test_m.py::test_x: …)`; "" where all are."""
    if not evidence.unproven:
        return ""
    case, reason = next(iter(evidence.unproven.items()))
    count = len(evidence.unproven)
    return f"{count} {'pass is' if count == 1 else 'passes are'} not proven ({case}: {reason})"


def count_cases(evidence: Evidence) -> list[str]:
    """Counts of cases by provenance: `no tests of your own`, `3/3 doctests pass`, `1 confirmed by you`.

    `no tests of your own` is included only where there are generated tests.
    """
    cases = evidence.cases
    parts = []
    for provenance, label in LABELS.items():
        passed, total = cases.get(provenance, (0, 0))
        if total and provenance is Provenance.CONFIRMED and passed == total:
            parts.append(f"{total} confirmed by you")
        elif total and provenance is Provenance.HUMAN:
            parts.append("accepted by you" if passed == total else "not accepted by you")
        elif total:
            parts.append(f"{passed}/{total} {label} pass")
        elif provenance is Provenance.USER and any(cases.get(other, (0, 0))[1] for other in GENERATED_PROVENANCES):
            parts.append("no tests of your own")
    return parts


def describe_sandbox(evidence: Evidence) -> str:
    """Returns where the tests ran: `in bubblewrap`, `in docker with network access`, `no sandbox`."""
    phrase = "no sandbox" if evidence.sandbox == "none" else f"in {evidence.sandbox}"
    return phrase + (" with network access" if evidence.network and evidence.sandbox != "none" else "")


def isolation_caveat(evidence: Evidence) -> str:
    """A sentence about missing isolation (no sandbox, network on); "" where isolation was complete."""
    if evidence.sandbox == "none":
        return "The tests ran without a sandbox."
    return "The tests had network access." if evidence.network else ""


def describe_related(evidence: Evidence) -> list[str]:
    """Returns how the related tests fared: `12 related tests unchanged`, `30 not affected`, `1 was already failing`.

    Those that failed before and pass now are not among them.
    """
    unchanged = evidence.neighbours_unchanged
    failing = evidence.neighbours_already_failing - len(evidence.also_fixed)
    parts = []
    if unchanged:
        parts.append(f"{unchanged} related {'test' if unchanged == 1 else 'tests'} unchanged")
    if evidence.neighbours_not_affected:
        parts.append(f"{evidence.neighbours_not_affected} not affected")
    if failing:
        parts.append(f"{failing} {'was' if failing == 1 else 'were'} already failing")
    if evidence.neighbours_left_out:
        parts.append(f"{evidence.neighbours_left_out} not run")
    if evidence.neighbours_flaky:
        names = f" ({name_tests(evidence.flaky)})" if evidence.flaky else ""
        parts.append(f"{evidence.neighbours_flaky} flaky{names}")
    return parts


def describe_rest(done: int, count: int) -> str:
    """Says how far a result that is already offered is verified: `verified so far, 31 of 54 related tests; …`."""
    return f"verified so far, {done} of {count} related tests; the rest goes on"


def outcome_sentence(outcome: Outcome) -> str:
    """The final sentence of a run; the engine writes it with the evidence."""
    fallback = VERIFIED_WORDS[outcome.verified] if outcome.solved else f"not solved: {outcome.reason.value}"
    return outcome.message or fallback


def outcome_in_short(outcome: Outcome) -> str:
    """The result in a few words: `verified`, or less with the reason, and what was gained."""
    return "; ".join(filter(None, [level_and_reason(outcome), describe_gain(outcome.evidence)]))


def level_and_reason(outcome: Outcome) -> str:
    """The verification level, where it is not the highest with the reason."""
    evidence = outcome.evidence
    if not outcome.solved:
        best = next((each.verdict for each in outcome.attempts if each.number == outcome.best), None)
        return f"not verified: {best.passed} of {best.total} tests pass" if best and best.total else "not verified"
    if outcome.verified is Verified.VERIFIED:
        return f"verified {describe_sandbox(evidence)}" if evidence.network else "verified"
    if evidence.sandbox == "none":
        return f"not verified: {describe_sandbox(evidence)}"
    left_out = [f"{evidence.neighbours_left_out} related tests not run"] if evidence.neighbours_left_out else []
    doubts = filter(None, [describe_unproven(evidence), describe_doubts(evidence.data)])
    reasons = [*count_cases(evidence), *left_out, *doubts]
    return f"partially verified: {', '.join(reasons)}"


def summarize_solved(evidence: Evidence, verified: Verified) -> str:
    """The evidence for a solved run in one sentence, and a sentence for each warning."""
    related = describe_related(replace(evidence, neighbours_unchanged=0))
    if describe_measured(evidence.data):
        named = {*USER_PROVENANCES, Provenance.GOAL}
        others = {kind: count for kind, count in evidence.cases.items() if kind not in named}
        parts = [describe_improvement(evidence), *count_cases(replace(evidence, cases=others)), *related]
        if evidence.cases.get(Provenance.GOAL, (0, 0))[0] > 1:  # the other one is what was measured
            parts.insert(1, "same results on other inputs")
    else:
        checked = [f"{evidence.neighbours_unchanged} checked", *related]
        parts = [*count_cases(evidence), f"no other tests affected ({', '.join(checked)})"]
    if also_fixed := describe_also_fixed(evidence):
        parts.insert(0, also_fixed)
    if total := len({*evidence.proofs, *evidence.unproven, *evidence.together}):
        parts.append(f"proven apart {len(evidence.proofs)}/{total}")
    if evidence.together:
        parts.append(f"{len(evidence.together)} ran in one process")
    parts += filter(None, [describe_unproven(evidence), describe_doubts(evidence.data)])
    if weakness := describe_weakness(evidence.data):
        parts.append(f"but {weakness}")
    label = "Not verified" if verified is Verified.UNVERIFIED else VERIFIED_WORDS[verified].capitalize()
    place = "because there is no sandbox" if evidence.sandbox == "none" else describe_sandbox(evidence)
    still_red = [describe_still_red(evidence)] if evidence.still_red else []
    return " ".join([f"{label} {place}: {', '.join(parts)}.", *still_red, *evidence.warnings])


def describe_unasked(outcome: Outcome) -> str:
    """`No model was needed.`, for a solved run that asked none; else empty."""
    return "No model was needed." if outcome.solved and not count_asked(outcome.attempts) else ""


def describe_measured(data: Mapping[str, Any]) -> str:
    """Costs that requirements measured: `41 ms → 6 ms (0.15, 0.13 to 0.17)`; "" where nothing was."""
    return ", ".join(shown.text for shown in show(data) if shown.text)


def measured_rows(data: Mapping[str, Any], most: int) -> list[str]:
    """The details of what requirements measured, by line of code: at most `most` lines before and after."""
    return [row for shown in show(data) for row in shown.details(most)]


def describe_gain(evidence: Evidence) -> str:
    """As `describe_improvement`, where something was measured, else empty."""
    return describe_improvement(evidence) if describe_measured(evidence.data) else ""


def describe_improvement(evidence: Evidence) -> str:
    """`41 ms → 6 ms (0.15, 0.13 to 0.17), 12 tests and 31 related tests unchanged`; the cost where it was measured."""
    tests = sum(passed for provenance, (passed, _total) in evidence.cases.items() if provenance in USER_PROVENANCES)
    counted = [f"{tests} {'test' if tests == 1 else 'tests'}"] if tests else []
    if related := evidence.neighbours_unchanged:
        counted.append(f"{related} related {'test' if related == 1 else 'tests'}")
    measured = describe_measured(evidence.data)
    return ", ".join([*([measured] if measured else []), *([f"{' and '.join(counted)} unchanged"] if counted else [])])


def summarize_unsolved(outcome: Outcome) -> str:
    """Returns why a run ended unsolved, and its last error, in one sentence."""
    count = len(outcome.attempts) - 1
    why = {
        StopReason.STALLED: "there is nothing new to try",
        StopReason.ATTEMPTS: "the attempt limit was reached (`attempts`)",
        StopReason.SECONDS: "the time limit was reached (`seconds`)",
        StopReason.TOKENS: "the token limit was reached (`tokens`)",
        StopReason.COST: "the cost limit was reached (`cost`)",
        StopReason.ANSWERS: "several model answers in a row could not be read",
    }.get(outcome.reason, outcome.reason.value)
    made_attempts = [attempt for attempt in outcome.attempts if attempt.number]
    executed = [attempt for attempt in made_attempts if attempt.verdict.status is not Status.REFUSED]
    newest = next(reversed(executed or made_attempts), None)
    last = f"; last error {newest.error_class}" if newest is not None and newest.error_class else ""
    if newest is not None and newest.error_class == CANNOT and newest.finding is not None:
        return f"Not solved: the model says that no honest change makes it pass. {newest.finding.message}"
    if newest is not None and newest.verdict.status is Status.TAMPERED:
        last += f": {newest.verdict.reason.rstrip('.')}"
    return f"Not solved after {count} attempt{'s' * (count != 1)}: {why}{last}."

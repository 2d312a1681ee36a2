"""Summarises a run: verification level, evidence in a sentence, why it ended unsolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.goal import Gain, Goal
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.spec import USER_PROVENANCES, Provenance, Region
from greenloop.core.records.usage import Usage
from greenloop.core.records.verdict import Status
from greenloop.core.result_notes import describe_also_fixed, describe_noticed, describe_still_red

# Tests that are not the user's own.
GENERATED_PROVENANCES = (Provenance.DESIGNED, Provenance.PROPERTY)
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

CANNOT = "CannotFix"  # error class of an answer that says that nothing can be done
# Why a candidate never ran, by its error class; any other class is shown with its line.
REJECTIONS = {
    CANNOT: "no honest change, says the model",
    "EmptyAnswer": "empty answer",
    "EmptyHole": "empty infill",
    "HardCoded": "returns the tested values",
    "NoCode": "no code in the answer",
    "NoGain": "one-token edits",
    "NotEditable": "a file that may not be changed",
    "RegionDeleted": "function missing",
    "Repeated": "same as an earlier attempt",
    "Repetition": "the answer repeats itself",
    "SearchAmbiguous": "the text to replace is in several places",
    "SearchNotFound": "the text to replace was not found",
    "SignatureChanged": "signature changed",
    "TruncatedAnswer": "the answer was cut off",
    "Unchanged": "same code as before",
    "WrongFunction": "wrong function",
}


def verification_level(evidence: Evidence) -> Verified:
    """The level that the evidence supports; the only place that decides it.

    `VERIFIED` needs passing tests or examples of the user, a proof for each of them that its pass was earned, all
    related tests, a sandbox, and any requested approval.
    """
    if evidence.sandbox == "none":
        return Verified.UNVERIFIED
    passed = {kind for kind, (good, _every) in evidence.cases.items() if good}
    lacks_approval = Provenance.HUMAN in evidence.cases and Provenance.HUMAN not in passed
    doubts = (evidence.neighbours_left_out, evidence.unproven, lacks_approval)
    if any(doubts) or not passed & USER_PROVENANCES:
        return Verified.PARTIALLY
    return Verified.VERIFIED


def describe_unproven(evidence: Evidence) -> str:
    """Why some passes prove nothing: `1 pass is not proven (test_m.py::test_x: …)`; "" where all are."""
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
    """Where the tests ran: `in bubblewrap`, `in docker with network access`, `no sandbox`."""
    phrase = "no sandbox" if evidence.sandbox == "none" else f"in {evidence.sandbox}"
    return phrase + (" with network access" if evidence.network and evidence.sandbox != "none" else "")


def isolation_caveat(evidence: Evidence) -> str:
    """A sentence about missing isolation (no sandbox, network on); "" where isolation was complete."""
    if evidence.sandbox == "none":
        return "The tests ran without a sandbox."
    return "The tests had network access." if evidence.network else ""


def attempt_label(attempt: Attempt) -> str:
    """The attempt's number, with its parent's where that is not the one before.

    Also the suspect that it is about, and the label of the idea that it follows: `2 (one pass with a set, O(n))`.
    """
    move = attempt.draft.move if attempt.draft else None
    label = str(attempt.number)
    if move is Move.RESTART or (move is Move.REFINE and attempt.parent != attempt.number - 1):
        label += f" ← {attempt.parent}"
    label = " in ".join(filter(None, [label, changed_suspect(attempt)]))
    return f"{label} ({attempt.draft.label})" if attempt.draft and attempt.draft.label else label


def changed_suspect(attempt: Attempt) -> str:
    """What an attempt was to change in place of the regions that the run began with; empty for those."""
    return ", ".join(region.label for region in (attempt.draft.regions if attempt.draft else ()))


def changed_regions(attempt: Attempt) -> tuple[Region, ...]:
    """The regions that an attempt changes; without a candidate the suspects that it was to change, if it had any."""
    if attempt.candidate is not None:
        return tuple(attempt.candidate.texts)
    return attempt.draft.regions if attempt.draft else ()


def describe_related(evidence: Evidence) -> list[str]:
    """How the related tests fared: `12 related tests unchanged`, `30 not affected`, `1 was already failing`.

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
        parts.append(f"{evidence.neighbours_flaky} flaky")
    return parts


def attempt_result(attempt: Attempt) -> str:
    """The result of an attempt in a few words: `1 of 3 tests pass`, `rejected`."""
    verdict = attempt.verdict
    match verdict.status:
        case Status.PASSED if verdict.still_red and not attempt.accepted:
            return f"passed; {len(verdict.still_red)} more still fail"
        case Status.PASSED:
            return "passed"
        case Status.FAILED if verdict.collateral and verdict.passed == verdict.total:
            return f"breaks {len(verdict.collateral)} other"
        case Status.FAILED:
            return f"{verdict.passed} of {verdict.total} tests pass"
        case Status.REFUSED:
            return "no improvement" if attempt.error_class == "NoGain" else "rejected"
        case _:
            return str(verdict.status.value).replace("-", " ")


def rejection(attempt: Attempt) -> str:
    """Why a candidate never ran, such as `rejected: same code as before`; empty for any other attempt."""
    if attempt.verdict.status is not Status.REFUSED:
        return ""
    reason = REJECTIONS.get(attempt.error_class, attempt.error_class)
    if attempt.finding is not None and attempt.finding.line and attempt.error_class not in REJECTIONS:
        reason += f" line {attempt.finding.line}"
    result = attempt_result(attempt)
    return f"{result} ({reason})" if attempt.error_class == "NoGain" else f"{result}: {reason}".rstrip(": ")


def summarize_solved(evidence: Evidence, verified: Verified) -> str:
    """The evidence for a solved run in one sentence, and a sentence for each warning."""
    related = describe_related(replace(evidence, neighbours_unchanged=0))
    if evidence.gain is not None:
        named = {*USER_PROVENANCES, Provenance.GOAL}
        others = {kind: count for kind, count in evidence.cases.items() if kind not in named}
        parts = [describe_improvement(evidence), *count_cases(replace(evidence, cases=others)), *related]
        if evidence.cases.get(Provenance.GOAL, (0, 0))[0] > 1:  # the other one is the gain
            parts.insert(1, "same results on other inputs")
    else:
        checked = [f"{evidence.neighbours_unchanged} checked", *related]
        parts = [*count_cases(evidence), f"no other tests affected ({', '.join(checked)})"]
    if also_fixed := describe_also_fixed(evidence):
        parts.insert(-1, also_fixed)
    if total := len({*evidence.proofs, *evidence.unproven, *evidence.together}):
        parts.append(f"proven apart {len(evidence.proofs)}/{total}")
    if evidence.together:
        parts.append(f"{len(evidence.together)} ran in one process")
    if evidence.unproven:
        parts.append(describe_unproven(evidence))
    if evidence.noticed is not None and evidence.noticed.is_little:
        parts.append(f"but {describe_noticed(evidence.noticed)}")
    label = {
        Verified.VERIFIED: "Verified",
        Verified.PARTIALLY: "Partially verified",
        Verified.UNVERIFIED: "Not verified",
    }[verified]
    place = "because there is no sandbox" if evidence.sandbox == "none" else describe_sandbox(evidence)
    still_red = [describe_still_red(evidence)] if evidence.still_red else []
    return " ".join([f"{label} {place}: {', '.join(parts)}.", *still_red, *evidence.warnings])


def describe_improvement(evidence: Evidence) -> str:
    """`41 ms → 6 ms (0.15, 0.13 to 0.17), 12 tests and 31 related tests unchanged`; the cost where it was measured."""
    tests = sum(passed for provenance, (passed, _total) in evidence.cases.items() if provenance in USER_PROVENANCES)
    counted = [f"{tests} {'test' if tests == 1 else 'tests'}"] if tests else []
    if related := evidence.neighbours_unchanged:
        counted.append(f"{related} related {'test' if related == 1 else 'tests'}")
    measured = [describe_gain(evidence.gain)] if evidence.gain is not None else []
    return ", ".join([*measured, *([f"{' and '.join(counted)} unchanged"] if counted else [])])


def attempt_gain(attempt: Attempt) -> str:
    """The gain of an attempt that passes, where one was measured: `41 ms → 6 ms (0.15, 0.13 to 0.17)`."""
    passes = attempt.verdict.status is Status.PASSED
    return describe_gain(attempt.verdict.gain) if passes and attempt.verdict.gain is not None else ""


def describe_gain(gain: Gain) -> str:
    """`41 ms → 6 ms, repeated 40 ms → 5 ms (0.15, 0.13 to 0.17)`: costs before and after, the ratio, its interval."""
    ratio = f"{gain.ratio:.2f}, {gain.low:.2f} to {gain.high:.2f}"
    costs = f"{show_cost(gain.goal, gain.before)} → {show_cost(gain.goal, gain.after)}"
    if gain.repeated_before:
        repeated = (show_cost(gain.goal, cost) for cost in (gain.repeated_before, gain.repeated_after))
        costs += f", repeated {' → '.join(repeated)}"
    if gain.bytes_before:
        memory = (show_cost(Goal.MEMORY, cost) for cost in (gain.bytes_before, gain.bytes_after))
        costs += f" and {' → '.join(memory)}"
    return f"{costs} ({ratio})"


def show_cost(goal: Goal, cost: float) -> str:
    """`41 ms`, `1.2 s`, `0.4 ms`, or `3.1 MB`."""
    if goal is Goal.MEMORY:
        return f"{cost / 1e6:.1f} MB" if cost >= 1e5 else f"{cost / 1e3:.1f} kB"
    if cost >= 1:
        return f"{cost:.1f} s"
    return f"{cost * 1000:.0f} ms" if cost >= 0.01 else f"{cost * 1000:.1f} ms"


def summarize_unsolved(outcome: Outcome) -> str:
    """Why a run ended unsolved, and its last error, in one sentence."""
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


def fold_attempts(attempts: Sequence[Attempt]) -> list[Sequence[Attempt]]:
    """The attempts as rows of a table: consecutive infills that solved nothing share a row."""
    rows: list[list[Attempt]] = []
    for attempt in attempts:
        if rows and _is_infill(attempt) and _is_infill(rows[-1][-1]):
            rows[-1].append(attempt)
        else:
            rows.append([attempt])
    return list(rows)


def summarize_infills(attempts: Sequence[Attempt]) -> str:
    """The results of several infills: `8 infills: AssertionError 5, Unchanged 3`."""
    counted = Counter(attempt.error_class or attempt.verdict.status.value for attempt in attempts)
    return f"{len(attempts)} infills: " + ", ".join(f"{name} {number}" for name, number in counted.most_common())


def _is_infill(attempt: Attempt) -> bool:
    return attempt.draft is not None and attempt.draft.move is Move.INFILL and not attempt.accepted


def total_usage(attempts: Sequence[Attempt]) -> Usage:
    """The usage of the attempts, including questions to models about them."""
    return sum((attempt.spent for attempt in attempts), Usage())


def count_candidates(outcome: Outcome) -> int:
    """The number of candidates; attempt 0 is the user's own code."""
    return sum(attempt.number > 0 for attempt in outcome.attempts)

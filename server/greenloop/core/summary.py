"""What a run came to, in a word and a sentence: how far to trust it, what speaks for it, why it ended unsolved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from greenloop.core.nouns import OWN, Attempt, Evidence, Move, Outcome, Provenance, Status, StopReason, Usage, Verified

# What somebody else made up.
MADE_UP = (Provenance.DESIGNED, Provenance.PROPERTY)
# How the cases of each provenance are called where they are counted, in the order of what they are worth.
KINDS = {
    Provenance.USER: "user tests",
    Provenance.DOCTEST: "doctests",
    Provenance.EXAMPLE: "examples",
    Provenance.TRACE: "recorded calls",
    Provenance.DESIGNED: "designed",
    Provenance.PROPERTY: "properties",
    Provenance.CONFIRMED: "confirmed",
    Provenance.HUMAN: "accepted by you",
    Provenance.SCORE: "scores",
    Provenance.CONSTRAINT: "constraints",
    Provenance.HINT: "type hints",
}


def trust(evidence: Evidence) -> Verified:
    """Design: tests or examples of the user's, all neighbours run, and a wall around it; his word where he wants it."""
    if evidence.sandbox == "none":
        return Verified.UNVERIFIED
    passed = {kind for kind, (good, _every) in evidence.cases.items() if good}
    unanswered = Provenance.HUMAN in evidence.cases and Provenance.HUMAN not in passed
    if evidence.neighbours_left_out or unanswered or not passed & OWN:
        return Verified.PARTIALLY
    return Verified.VERIFIED


def counted(evidence: Evidence) -> list[str]:
    """The cases by who wrote them: `user tests 0`, `doctests 3/3`, `designed 7/8`, `confirmed 1`.

    That no test is the user's own is said where tests that somebody else made up speak for it.
    """
    cases = evidence.cases
    rows = []
    for kind, word in KINDS.items():
        good, every = cases.get(kind, (0, 0))
        if every:
            rows.append(
                f"{word} {every}" if kind is Provenance.CONFIRMED and good == every else f"{word} {good}/{every}"
            )
        elif kind is Provenance.USER and any(cases.get(other, (0, 0))[1] for other in MADE_UP):
            rows.append(f"{word} 0")
    return rows


def wall(evidence: Evidence) -> str:
    """Where it ran: `in bubblewrap`, `in docker with the network on`, `no sandbox`."""
    place = "no sandbox" if evidence.sandbox == "none" else f"in {evidence.sandbox}"
    return place + (" with the network on" if evidence.network and evidence.sandbox != "none" else "")


def caveat(evidence: Evidence) -> str:
    """What of the wall was open while this ran, as a sentence; empty when nothing was."""
    if evidence.sandbox == "none":
        return "It ran without a sandbox."
    return "It ran with the network on." if evidence.network else ""


def label(attempt: Attempt) -> str:
    """The attempt's number, and where it does not simply go on from the one before, which one it goes on from."""
    move = attempt.draft.move if attempt.draft else None
    if move is Move.RESTART or (move is Move.REFINE and attempt.parent != attempt.number - 1):
        return f"{attempt.number} ← {attempt.parent}"
    return str(attempt.number)


def solved(evidence: Evidence, verified: Verified) -> str:
    """What verified the result, counted out."""
    rows = counted(evidence)
    rows.append(f"neighbours {evidence.neighbours_unchanged} unchanged")
    if evidence.neighbours_already_failing:
        rows.append(f"already failing before {evidence.neighbours_already_failing}")
    if evidence.neighbours_left_out:
        rows.append(f"not run {evidence.neighbours_left_out}")
    if evidence.neighbours_flaky:
        rows.append(f"flaky {evidence.neighbours_flaky}")
    rows.append(f"canaried {evidence.canaried}/{evidence.canary_total}")
    if evidence.out_of_process:
        rows.append(f"out of process {evidence.out_of_process}/{evidence.canary_total}")
    label = {
        Verified.VERIFIED: "verified",
        Verified.PARTIALLY: "partially verified",
        Verified.UNVERIFIED: "unverified",
    }[verified]
    # "unverified: no sandbox" says why; with a wall its name is only one more fact.
    where = f"{label}: {wall(evidence)}" if evidence.sandbox == "none" else f"{label} {wall(evidence)}"
    text = f"{where}: {', '.join(rows)}"
    return "; ".join([text, *evidence.warnings])


def unsolved(outcome: Outcome) -> str:
    tried = len(outcome.attempts) - 1
    why = {
        StopReason.STALLED: "nothing new is left to try",
        StopReason.ATTEMPTS: "the limit of attempts was reached (`attempts`)",
        StopReason.SECONDS: "the time was up (`seconds`)",
        StopReason.TOKENS: "the token budget was used up (`tokens`)",
        StopReason.COST: "the money budget was used up (`cost`)",
        StopReason.ANSWERS: "the model's answers in a row could not be read",
    }.get(outcome.reason, outcome.reason.value)
    made = [attempt for attempt in outcome.attempts if attempt.number]
    ran = [attempt for attempt in made if attempt.verdict.status is not Status.REFUSED]
    newest = next(reversed(ran or made), None)
    last = f"; last error {newest.error_class}" if newest is not None and newest.error_class else ""
    if newest is not None and newest.verdict.status is Status.TAMPERED:
        last += f": {newest.verdict.reason.rstrip('.')}"
    return f"Not solved after {tried} attempt{'s' * (tried != 1)}: {why}{last}."


def folded(attempts: Sequence[Attempt]) -> list[Sequence[Attempt]]:
    """The attempts as a table has them: filled holes that solved nothing share a row with those beside them."""
    rows: list[list[Attempt]] = []
    for attempt in attempts:
        if rows and _is_hole(attempt) and _is_hole(rows[-1][-1]):
            rows[-1].append(attempt)
        else:
            rows.append([attempt])
    return list(rows)


def of_holes(attempts: Sequence[Attempt]) -> str:
    """What became of several holes: `8 holes: AssertionError 5, Unchanged 3`."""
    counted = Counter(attempt.error_class or attempt.verdict.status.value for attempt in attempts)
    return f"{len(attempts)} holes: " + ", ".join(f"{name} {number}" for name, number in counted.most_common())


def _is_hole(attempt: Attempt) -> bool:
    return attempt.draft is not None and attempt.draft.move is Move.INFILL and not attempt.accepted


def spent(attempts: Sequence[Attempt]) -> Usage:
    """What the attempts cost, with what was asked about them."""
    return sum((attempt.spent for attempt in attempts), Usage())

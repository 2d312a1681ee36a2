"""What each kept transcript shows, beside coming out the same again; a sentence where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop.core.records.attempt import Move
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.core.records.verdict import Status
from greenloop_lab.drafting.feedback.bug_taxonomy import TYPES
from transcripts import Played

COST = {Move.MUTATE: 0, Move.INFILL: 1, Move.DRAFT: 2, Move.RESTART: 2, Move.REFINE: 2}


def missing(name: str, played: Played) -> list[str]:
    """What a run should show and does not."""
    return [sentence for holds, sentence in CLAIMS[name](played) if not holds]


def generate_execute_refine(played: Played) -> Iterator[tuple[bool, str]]:
    first, *later = played.attempts
    yield not first.accepted, "The first attempt should fail."
    yield [attempt.parent for attempt in later] == list(range(1, len(played.attempts))), "Each refines the newest."
    solved = played.outcome.solved and played.attempts[-1].accepted
    yield solved or played.outcome.reason is StopReason.ATTEMPTS, "It ends when solved or at the limit."
    yield len(played.prompts) == len(played.attempts), "Each attempt is one question."
    error = first.verdict.cases or first.finding
    yield bool(error), "The first attempt should say what is wrong with it."
    if len(played.prompts) > 1:
        told = played.asked[1].messages[-1].content
        words = next((case.failure.message for case in first.verdict.cases if case.failure), "")
        words = words or (first.finding.message if first.finding else "")
        yield words.split("\n")[0] in told, "The second question holds the error of the first answer."


def self_critique(played: Played) -> Iterator[tuple[bool, str]]:
    yield "critic" in played.roles, "The model criticises its own code."
    told = "\n".join(played.prompts)
    yield not re.search(r"Traceback|tests passed|^E  ", told, re.MULTILINE), "No result reaches the model."
    yield not played.outcome.solved, "Nothing that was not run is solved."
    yield played.outcome.verified is Verified.UNVERIFIED, "Nothing that was not run is verified."
    yield "confidence" in told.lower(), "It is asked how sure it is; a small model may not say."


def two_roles(played: Played) -> Iterator[tuple[bool, str]]:
    yield (
        played.models == ["drafter"] + ["refiner"] * (len(played.attempts) - 1),
        "The drafter first, then the refiner.",
    )
    yield played.outcome.reason is StopReason.STALLED, "It ends before the limit, for want of progress."
    scores, best = played.scores, played.outcome.best
    yield best is not None and scores[best - 1] == max(scores), "The best attempt is the one with the highest score."
    yield best is not None and best < len(scores), "The best attempt is not the last."
    yield max(scores) > 0, "The best attempt should pass some tests."


def chosen_tests(played: Played) -> Iterator[tuple[bool, str]]:
    first = played.prompts[0]
    shown = re.findall(r"^def test_(\w+)", first, re.MULTILINE)
    yield 1 < len(shown) <= 5, "At most five tests are shown."
    yield f"{len(shown)} of the 12 tests" in first, "How many there are is said."
    callers = [name.partition("_")[0] for name in shown if name.startswith(("address", "tags", "anchor", "dated"))]
    yield (
        0 < len(callers) == len(set(callers)) < len(shown),
        "Direct ones, and others that come from different callers.",
    )
    yield played.outcome.solved, "It should be solved."
    yield played.outcome.evidence.cases.get("user") == (12, 12), "All twelve tests pass before the edit is offered."
    evidence = played.outcome.evidence
    yield evidence.neighbours_unchanged + evidence.neighbours_not_affected == 2, "So does the rest of the suite."


def bug_types(played: Played) -> Iterator[tuple[bool, str]]:
    known = {name for types in TYPES.values() for name in types}
    ran = [attempt for attempt in played.attempts if attempt.verdict.status is not Status.REFUSED]
    failed = [attempt for attempt in ran if not attempt.accepted]
    labels = [note.fields.get("label") for attempt in failed for note in attempt.notes if note.fields]
    yield bool(failed), "The first attempt should fail."
    yield (
        len(labels) == len(failed) and set(labels) <= known,
        "Each attempt that ran and failed has a label of the taxonomy.",
    )
    asked = [text for role, text in zip(played.roles, played.prompts, strict=True) if role == "critic"]
    yield bool(asked) and all("Bug types: " in text for text in asked), "The critic is told the types."
    critiques = [note.fields["bug_type"] for attempt in failed for note in attempt.notes if "bug_type" in note.fields]
    yield bool(critiques), "A critique should be readable."
    yield (
        all(any(f"Bug type: {name}" in text for text in played.prompts) for name in critiques[:1]),
        ("The type that the critic names reaches the refiner."),
    )


def tree(played: Played) -> Iterator[tuple[bool, str]]:
    yield played.roles[0] == "planner", "Strategies come first."
    yield "critic" in played.roles, "A failing solution is judged by the critic."
    yield len(played.attempts) <= 3, "All branches share one budget."
    yield (
        any("score" in note.fields for attempt in played.attempts for note in attempt.notes),
        "The critic gives a score.",
    )
    yield len(played.attempts) > 1, "The first attempt should fail."
    for attempt in played.attempts[1:]:
        beginning = attempt.draft.move is Move.DRAFT and attempt.parent == 0
        yield beginning or (attempt.parent or 0) > 0, "An attempt follows a strategy or goes on from a solution."


def rounds(played: Played) -> Iterator[tuple[bool, str]]:
    scores = [0.0, *played.scores]
    yield len(played.attempts) > 3, "The first round should fail."
    top = 0.0
    for begin in range(4, len(scores), 3):
        best = max(scores[1:begin])
        yield best >= top, "The best score never falls."
        parents = {attempt.parent for attempt in played.attempts[begin - 1 : begin + 2]}
        yield all(scores[parent] == best for parent in parents), "Each round starts from the best so far."
        top = best
    outcome = played.outcome.best
    yield outcome is not None and scores[outcome] == max(scores), "The best of all is the result."
    yield max(scores) > 0, "The best should pass some tests."


def default(played: Played) -> Iterator[tuple[bool, str]]:
    costs = [COST[attempt.draft.move] for attempt in played.attempts]
    yield costs == sorted(costs), "What is cheap is tried before what is dear."
    yield costs[0] == 0, "Changes of one token come first, and no model is asked for them."
    yield costs[-1] > 0, "A change of one token should not do."
    yield played.outcome.solved, "It should be solved."


CLAIMS = {
    "generate-execute-refine": generate_execute_refine,
    "self-critique": self_critique,
    "two-roles": two_roles,
    "chosen-tests": chosen_tests,
    "bug-types": bug_types,
    "tree": tree,
    "rounds": rounds,
    "default": default,
}

"""Attempts of a run, made up: turns of a conversation, other answers, and changes without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Finding, Look, Move
from greenloop.core.records.model import Role, ToolCall
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult, Failure


def cases(passed: int, total: int, message: str = "assert 1 == 2") -> tuple[CaseResult, ...]:
    """The cases `t.py::0` and so on, of which the first ones passed."""
    failure = Failure(type="AssertionError", message=message)
    return tuple(
        CaseResult(id=f"t.py::{number}", outcome="passed")
        if number < passed
        else CaseResult(id=f"t.py::{number}", outcome="failed", failure=failure)
        for number in range(total)
    )


def verdict(passed: int, total: int = 2, **more) -> Verdict:
    status = Status.PASSED if passed == total and not more.get("collateral") else Status.FAILED
    return Verdict(**{"status": status, "cases": cases(passed, total), **more})


def attempt(
    number: int,
    move: Move | None = Move.TURN,
    texts: Mapping[Region, str] | None = None,
    *,
    passed: int = 0,
    note: str = "",
    finding: Finding | None = None,
    **more,
) -> Attempt:
    """An attempt with a candidate and a verdict, or with a `finding` and neither."""
    judged = Verdict(status=Status.REFUSED, reason=finding.message) if finding else verdict(passed)
    fields = {
        "number": number,
        "draft": Draft(parent=0, move=move, role=Role.DRAFTER) if move else None,
        "candidate": None if finding or move is None else Candidate(texts=texts or {}),
        "verdict": judged,
        "finding": finding,
        "error_class": finding.error_class if finding else "",
        "notes": (FeedbackNote(text=note),) if note else (),
        "answer": f"answer {number}" if move else "",
    }
    return Attempt(**(fields | more))


def look(name: str, result: str, *, reply: int = 0, said: str = "", arguments: str = "{}", identity: str = "") -> Look:
    call = ToolCall(id=identity or f"call_{name}", name=name, arguments=arguments)
    return Look(call=call, result=result, summary=name, reply=reply, said=said)


def baseline(passed: int = 0, total: int = 2) -> Attempt:
    return Attempt(number=0, verdict=verdict(passed, total))


def in_order(*attempts: Attempt) -> Sequence[Attempt]:
    assert [each.number for each in attempts] == list(range(len(attempts)))
    return attempts

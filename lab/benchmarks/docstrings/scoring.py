"""Scores each way of accepting on recorded outcomes. Pure: no model, no sandbox.

The simulated user answers as the reference does: yes, or no and the right value. Questions are asked as in a run: while
nobody is believed, or while nothing but votes speaks for whoever is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.docstrings.case_runner import NEVER, PASSED
from greenloop.core.generated_tests import parse_equation
from greenloop.core.records.spec import Case, Provenance
from greenloop.plugins.written_tests.polls import Ballot, Poll, Ruling
from greenloop.plugins.written_tests.voting import normalise_literal
from greenloop_lab.bench import designed_tests
from greenloop_lab.bench.designed_tests import Rates, TaskVerdicts
from greenloop_lab.bench.reporting.figures import wilson

Row = Mapping[str, Any]
Rule = Callable[[Poll], Ruling]
DESIGNED, PROPERTY = (Provenance.DESIGNED,), (Provenance.PROPERTY,)
BOTH = (*DESIGNED, *PROPERTY)


@dataclass(frozen=True, kw_only=True)
class Arm:
    """`voters` are the kinds of tests that it uses. `rule` None: the first candidate that passes all of them.

    `bare`: a task without a test is accepted on its examples alone; `batch`: only tests of this set count.
    """

    name: str
    voters: tuple[Provenance, ...]
    rule: Rule | None = None
    questions: int = 0
    bare: bool = False
    batch: str = ""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """The result of a task: the candidate (its index in the row), whether it is right, the tests believed, the cost.

    `kept` says of each believed test whether the reference passes it; `doubted`: offered, not applied automatically.
    """

    chosen: int | None = None
    right: bool = False
    tested: bool = False
    doubted: bool = False
    kept: tuple[bool, ...] = ()
    asked: int = 0
    tokens: int = 0


@dataclass(kw_only=True)
class _State:
    """A task while it is answered for: cases that vote, and what must hold (`bound`: case -> what must be seen)."""

    row: Row
    voting: list[Case]
    bound: dict[str, str] = field(default_factory=dict)
    confirmed: int = 0


def accept_in_task(row: Row, arm: Arm) -> TaskResult:
    """Applies an arm to one task."""
    voting = [case for case in read_cases(row) if case.provenance in arm.voters]
    state = _State(row=row, voting=[each for each in voting if not arm.batch or arm.batch in each.batch.split()])
    asked: set[str] = set()
    while True:
        ruling = _make_ruling(state, arm)
        question = _next_question(state, ruling, asked) if len(asked) < arm.questions else None
        if question is None:
            break
        asked.add(question.id)
        _apply_answer(state, question)
    tokens = _count_tokens(row, arm, ruling)
    if not ruling.order:
        return TaskResult(asked=len(asked), tokens=tokens)
    chosen = next(n for n, each in enumerate(row["candidates"]) if ruling.order[0] in each["numbers"])
    candidate = row["candidates"][chosen]
    kept = tuple(row["reference"][case] == PASSED for case in ruling.kept) + (True,) * state.confirmed
    return TaskResult(
        chosen=chosen,
        right=candidate["right"],
        tested=candidate["tested"],
        doubted=bool(ruling.doubt),
        kept=kept,
        asked=len(asked),
        tokens=tokens,
    )


def read_cases(row: Row) -> list[Case]:
    return [Case(**{**each, "provenance": Provenance(each["provenance"])}) for each in row["cases"]]


def _make_ruling(state: _State, arm: Arm) -> Ruling:
    ballots = tuple(
        ballot for each in state.row["candidates"] if (ballot := _make_ballot(state, each, arm.rule is not None))
    )
    binding = len(state.row["examples"]) + len(state.bound)
    if arm.rule is not None and state.voting:
        return arm.rule(Poll(ballots=ballots, cases=tuple(state.voting), binding_count=binding, is_final=True))
    ids = frozenset(case.id for case in state.voting)
    passing = sorted(ballot.attempt for ballot in ballots if ids <= ballot.passed)
    enough = bool(ids) or (binding > 0 and (arm.bare or arm.rule is not None))
    return Ruling(order=tuple(passing) if enough else (), kept=tuple(sorted(ids)))


def _make_ballot(state: _State, candidate: Mapping[str, Any], ends: bool) -> Ballot | None:
    """None for a candidate that fails what must hold, or (`ends`) does not end."""
    seen = candidate["seen"]
    if any(seen[case] != PASSED for case in state.row["examples"]):
        return None
    if any(seen[case] != wanted for case, wanted in state.bound.items()):
        return None
    if ends and any(seen[case.id] == NEVER for case in state.voting):
        return None
    return Ballot(
        attempt=min(candidate["numbers"]),
        passed=frozenset(case.id for case in state.voting if seen[case.id] == PASSED),
        observed={case.id: behaviour(seen[case.id], case) for case in state.voting},
        weight=len(candidate["numbers"]),
        size=candidate["size"],
    )


def behaviour(seen: str, case: Case) -> str:
    """As a run compares what candidates gave."""
    known = parse_equation(case.source)
    if seen == PASSED:
        return (f"! {known.raises}" if known.raises else normalise_literal(known.expected)) if known else seen
    if known is None:
        return "failed"
    return normalise_literal(seen[2:]) if seen.startswith("= ") else seen


def _next_question(state: _State, ruling: Ruling, asked: set[str]) -> Case | None:
    own = state.row["examples"] or state.bound
    if ruling.order and own and not ruling.doubt:
        return None
    voting = {case.id: case for case in state.voting}
    return next((voting[each] for each in ruling.questions if each in voting and each not in asked), None)


def _apply_answer(state: _State, case: Case) -> None:
    """What the reference gives must be given from now on; other tests of the same call have nothing to say any more.

    A property that the reference has not is struck out.
    """
    truth = state.row["reference"][case.id]
    known = parse_equation(case.source) if case.provenance is Provenance.DESIGNED else None
    if truth == PASSED or known is not None:
        state.bound[case.id] = truth
        state.confirmed += 1
    call = known.call if known else ""
    state.voting = [
        each
        for each in state.voting
        if each.id != case.id and not (call and (other := parse_equation(each.source)) and other.call == call)
    ]


def _count_tokens(row: Row, arm: Arm, ruling: Ruling) -> int:
    """An arm that takes the first candidate that passes requests no further candidates."""
    last = ruling.order[0] if arm.rule is None and ruling.order else None
    total = 0
    for name, tokens in row["tokens"].items():
        kind, _dash, number = name.partition("-")
        used = {"candidate": last is None or int(number) < last}
        used |= {"designer": Provenance.DESIGNED in arm.voters, "properties": Provenance.PROPERTY in arm.voters}
        total += tokens if used[kind] else 0
    return total


@dataclass(frozen=True, kw_only=True)
class Score:
    """An arm over all tasks. `solved` and `false` by the whole judge, `lenient` solved by its tests alone.

    `doubted`: (right ones, all) of what is offered with a doubt and counts as neither.
    """

    arm: str
    tasks: int
    solved: int
    lenient: int
    false: int
    doubted: tuple[int, int]
    nothing: int
    kept: tuple[int, int]
    tokens: float
    asked: float

    @property
    def precision(self) -> float:
        return self.kept[0] / self.kept[1] if self.kept[1] else 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the share of false ones among what is accepted."""
        return wilson(self.false, self.solved + self.false)


def score_arm(rows: Sequence[Row], arm: Arm) -> Score:
    ends = [accept_in_task(row, arm) for row in rows]
    chosen = [each for each in ends if each.chosen is not None and not each.doubted]
    doubted = [each for each in ends if each.doubted]
    kept = [good for each in chosen for good in each.kept]
    return Score(
        arm=arm.name,
        tasks=len(rows),
        solved=sum(each.right for each in chosen),
        lenient=sum(each.tested for each in chosen),
        false=sum(not each.right for each in chosen),
        doubted=(sum(each.right for each in doubted), len(doubted)),
        nothing=len(rows) - len(chosen) - len(doubted),
        kept=(sum(kept), len(kept)),
        tokens=sum(each.tokens for each in ends) / max(len(ends), 1),
        asked=sum(each.asked for each in ends) / max(len(ends), 1),
    )


def measure_rates(rows: Sequence[Row], voters: Sequence[Provenance]) -> Rates:
    """The rates of the tests of these kinds, over wrong candidates and broken references."""
    verdicts = []
    for row in rows:
        ids = [case.id for case in read_cases(row) if case.provenance in voters]
        programs = [each["seen"] for each in (*row["candidates"], *row["mutants"]) if not each["right"]]
        verdicts.append(
            TaskVerdicts(
                right=[row["reference"][case] == PASSED for case in ids],
                wrong=[[seen[case] == PASSED for case in ids] for seen in programs],
            )
        )
    return designed_tests.measure_rates(verdicts)

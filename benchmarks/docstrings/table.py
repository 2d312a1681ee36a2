"""The tables: what every way of accepting makes of the recorded matrix, and how good the tests are by themselves."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.docstrings import task, thresholds
from benchmarks.docstrings.scoring import BOTH, DESIGNED, PROPERTY, Arm, Row, Score, rates, score

from greenloop.bench.figures import wilson
from greenloop.core import registry

QUESTIONS = (0, 1, 3)


def arms() -> Iterator[Arm]:
    yield Arm(name="examples only", voters=(), bare=True)
    for number in "123":
        yield Arm(name=f"all designed tests of set {number}", voters=DESIGNED, batch=number)
    yield Arm(name="all designed tests of the three sets", voters=DESIGNED)
    yield Arm(name="all properties", voters=PROPERTY)
    yield Arm(name="all designed tests and properties", voters=BOTH)
    for name in registry.list_parts("trust"):
        rule = registry.load_part("trust", name).rule
        for kinds, voters in (("designed", DESIGNED), ("properties", PROPERTY), ("both", BOTH)):
            for questions in QUESTIONS:
                yield Arm(name=f"{name}, {kinds}, {questions} asked", voters=voters, rule=rule, questions=questions)
    for name, rule in thresholds.RULES.items():
        for kinds, voters in (("designed", DESIGNED), ("both", BOTH)):
            for questions in QUESTIONS:
                yield Arm(name=f"{name}, {kinds}, {questions} asked", voters=voters, rule=rule, questions=questions)


def told(arm: Arm) -> bool:
    """Is the arm in the short table: what is accepted without votes, and each rule on the tests it was made for?"""
    if arm.rule is None:
        return True
    kind = "designed" if arm.name.startswith("sets") else "both"
    curve = arm.name.startswith("consensus 0")
    return f", {kind}," in arm.name and (arm.questions < 3 or not curve)


def scores(rows: Sequence[Row], *, short: bool = False) -> str:
    head = (
        "| arm | solved | solved by the tests alone | false | false among accepted | right of what is doubted "
        "| nothing | kept tests right | tokens | asked |"
    )
    return "\n".join(
        [head, "|---" + "|---:" * 9 + "|", *(_line(score(rows, arm)) for arm in arms() if told(arm) or not short)]
    )


def _line(found: Score) -> str:
    low, high = found.bounds
    accepted = found.solved + found.false
    share = f"{found.false / accepted:.0%} ({low:.0%} to {high:.0%})" if accepted else "-"
    doubted = "{} of {}".format(*found.doubted) if found.doubted[1] else "-"
    right = f"{found.precision:.2f} of {found.kept[1]}" if found.kept[1] else "-"
    return (
        f"| {found.arm} | {found.solved} | {found.lenient} | {found.false} | {share} | {doubted} | {found.nothing} | "
        f"{right} | {found.tokens:.0f} | {found.asked:.1f} |"
    )


def tests(rows: Sequence[Row]) -> str:
    """How good the tests are: TPR on references, TNR on wrong candidates and broken references."""
    head = (
        "| tasks | tests | right tests | TPR (references that pass all) | TNR (wrong programs found) | "
        "TNR of right tests |"
    )
    out = [head, "|---|---|---:|---:|---:|---:|"]
    for group, chosen in (
        ("MBPP", [row for row in rows if not row["real"]]),
        ("packages", [row for row in rows if row["real"]]),
        ("all", list(rows)),
    ):
        for name, voters in (("designed", DESIGNED), ("properties", PROPERTY)):
            found = rates(chosen, voters)
            shares = (_share(each) for each in (found.tests, found.right, found.wrong, found.sound))
            out.append(f"| {group} | {name} | {' | '.join(shares)} |")
    return "\n".join(out)


def _share(found: tuple[int, int]) -> str:
    good, count = found
    low, high = wilson(good, count)
    return f"{good}/{count}, {good / count:.0%} ({low:.0%} to {high:.0%})" if count else "-"


def page(rows: Sequence[Row], *, short: bool = False) -> str:
    real = sum(row["real"] for row in rows)
    bare = sum(not row["examples"] for row in rows)
    single = [sum(len(each["numbers"]) for each in row["candidates"] if each["right"]) for row in rows]
    intro = (
        f"{len(rows)} tasks, {real} of them functions of packages; {bare} docstrings have no examples.\n"
        f"Of {5 * len(rows)} answers {sum(single)} are right; "
        f"{sum(map(bool, single))} tasks have a right one among five.\n"
        "Shares with their 95 % Wilson intervals."
    )
    return f"{intro}\n\n{scores(rows, short=short)}\n\n{tests(rows)}\n"


if __name__ == "__main__":
    print(page(task.rows(Path(sys.argv[1]) / "matrix.jsonl"), short="--short" in sys.argv))

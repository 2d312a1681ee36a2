"""Makes the tables: every way of accepting on the recorded matrix, and the quality of the tests alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.docstrings import task, thresholds
from benchmarks.docstrings.scoring import BOTH, DESIGNED, PROPERTY, Arm, Row, Score, measure_rates, score_arm
from greenloop.core import registry
from greenloop_lab.bench.designed_tests import format_share

QUESTIONS = (0, 1, 3)


def list_arms() -> Iterator[Arm]:
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


def is_in_short_table(arm: Arm) -> bool:
    """Is the arm in the short table: what is accepted without votes, and each rule on the tests it was made for?"""
    if arm.rule is None:
        return True
    kind = "designed" if arm.name.startswith("sets") else "both"
    curve = arm.name.startswith("consensus 0")
    return f", {kind}," in arm.name and (arm.questions < 3 or not curve)


def make_score_table(rows: Sequence[Row], *, short: bool = False) -> str:
    head = (
        "| arm | solved | solved by the tests alone | false | false among accepted | right of what is doubted "
        "| nothing | kept tests right | tokens | asked |"
    )
    return "\n".join(
        [
            head,
            "|---" + "|---:" * 9 + "|",
            *(_format_row(score_arm(rows, arm)) for arm in list_arms() if is_in_short_table(arm) or not short),
        ]
    )


def _format_row(score: Score) -> str:
    low, high = score.bounds
    accepted = score.solved + score.false
    share = f"{score.false / accepted:.0%} ({low:.0%} to {high:.0%})" if accepted else "-"
    doubted = "{} of {}".format(*score.doubted) if score.doubted[1] else "-"
    right = f"{score.precision:.2f} of {score.kept[1]}" if score.kept[1] else "-"
    return (
        f"| {score.arm} | {score.solved} | {score.lenient} | {score.false} | {share} | {doubted} | {score.nothing} | "
        f"{right} | {score.tokens:.0f} | {score.asked:.1f} |"
    )


def make_test_table(rows: Sequence[Row]) -> str:
    """How good the tests are: references that pass all, wrong candidates and broken references that do."""
    head = "| tasks | tests | right tests | true positives | false positives | false positives of right tests |"
    out = [head, "|---|---|---:|---:|---:|---:|"]
    for group, chosen in (
        ("MBPP", [row for row in rows if not row["real"]]),
        ("packages", [row for row in rows if row["real"]]),
        ("all", list(rows)),
    ):
        for name, voters in (("designed", DESIGNED), ("properties", PROPERTY)):
            rates = measure_rates(chosen, voters)
            shares = (
                format_share(each) for each in (rates.tests, rates.true_positives, rates.false_positives, rates.sound)
            )
            out.append(f"| {group} | {name} | {' | '.join(shares)} |")
    return "\n".join(out)


def make_page(rows: Sequence[Row], *, short: bool = False) -> str:
    real = sum(row["real"] for row in rows)
    bare = sum(not row["examples"] for row in rows)
    single = [sum(len(each["numbers"]) for each in row["candidates"] if each["right"]) for row in rows]
    intro = (
        f"{len(rows)} tasks, {real} of them functions of packages; {bare} docstrings have no examples.\n"
        f"Of {5 * len(rows)} answers {sum(single)} are right; "
        f"{sum(map(bool, single))} tasks have a right one among five.\n"
        "Shares with their 95 % Wilson intervals."
    )
    return f"{intro}\n\n{make_score_table(rows, short=short)}\n\n{make_test_table(rows)}\n"


if __name__ == "__main__":
    print(make_page(task.read_rows(Path(sys.argv[1]) / "matrix.jsonl"), short="--short" in sys.argv))

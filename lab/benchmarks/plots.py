#!/usr/bin/env python3
"""The tables of MBPP in lab/docs/evidence.md, and the plots of docs/media, from recorded rows.

    python lab/benchmarks/plots.py                              writes both again
    python lab/benchmarks/plots.py --check                      exit code 1 where they are out of date
    python lab/benchmarks/plots.py --rows FOLDER --mbpp FILE    shortens the rows of `greenloop bench` to what it reads

FOLDER has `main`, `bon`, `critic` and `extra` as `.jsonl.xz`, as `greenloop bench mbpp:FILE --sample 0` wrote them for
the arms below. What is kept of them is lab/benchmarks/mbpp_rows.jsonl.xz. The plots of repairs and of cheats take their
counts from the tables of lab/docs/evidence.md.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop_lab.bench import mbpp, results
from greenloop_lab.bench.reporting import svg
from greenloop_lab.bench.reporting.figures import mcnemar, wilson
from greenloop_lab.bench.results import TaskRunResult

ROOT = Path(__file__).resolve().parents[2]
ROWS = Path(__file__).with_name("mbpp_rows.jsonl.xz")
PAGE = ROOT / "lab/docs/evidence.md"
MEDIA = ROOT / "docs/media"
BEGIN, END = "<!-- mbpp: begin -->\n", "<!-- mbpp: end -->"
FILES = ("main", "bon", "critic", "extra")
ONCE, PLAIN, CRITIC, DEFAULT, MANY, TWO = (
    *("once", "plain", "self-critique", "default", "best-of-32"),
    "default, two tests",
)
NAMES = {
    ONCE: "one answer",
    PLAIN: "up to five, each told the error of the last (`plain`)",
    CRITIC: "up to three, criticised by the model, none of them run",
    DEFAULT: "up to seven, the search of `default`",
    MANY: "up to 32 independent samples (`best-of-n`)",
}
# What the tables and plots need of a row.
RUN = ("at", "calls", "prompt_tokens", "completion_tokens", "reason", "right", "shown_passed")
ATTEMPT = ("number", "move", "status", "error_class", "right", "confidence")
KEY = ("format", "kind", "arm", "task", "repeat")
SMALL, SEED = 60, 20261124  # the sample of the older tables of the page
ANSWERS = (1, 2, 5, 9, 17, 25, 32)

Test = Callable[[TaskRunResult], bool]
Arms = Mapping[str, Mapping[str, TaskRunResult]]


# Rows


def shorten(folder: Path, drawn: set[str]) -> None:
    """Keeps of the recorded rows what is read below; `drawn` are the tasks of the small sample."""
    lines = []
    for done in read([folder / f"{name}.jsonl.xz" for name in FILES]):
        key = {name: done.run[name] for name in KEY if name != "kind"}
        rows = [{**key, "kind": "attempt", **{name: each[name] for name in ATTEMPT}} for each in done.attempts]
        run = {**key, "kind": "run", **{name: done.run[name] for name in RUN}, "small": done.run["task"] in drawn}
        lines += [json.dumps(row, separators=(",", ":")) for row in (*rows, run)]
    ROWS.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME))


def read(paths: Sequence[Path]) -> list[TaskRunResult]:
    """Task-runs of compressed files; of a task that ran twice the last one, as everywhere in the harness."""
    with tempfile.TemporaryDirectory() as place:
        plain = [Path(place) / path.stem for path in paths]
        for path, file in zip(paths, plain, strict=True):
            file.write_bytes(lzma.decompress(path.read_bytes()))
        return results.read(plain)


def by_arm(done: Sequence[TaskRunResult]) -> Arms:
    """The task-runs of each arm by task, without the tasks that cannot run."""
    broken = {each.run["task"] for each in done if each.run["reason"] in results.BROKEN}
    arms: dict[str, dict[str, TaskRunResult]] = {}
    for each in done:
        if each.run["task"] not in broken:
            arms.setdefault(each.run["arm"], {})[each.run["task"]] = each
    return arms


def is_right(done: TaskRunResult) -> bool:
    return bool(done.run["right"])


def is_accepted(done: TaskRunResult) -> bool:
    return bool(done.run["shown_passed"])


def is_wrong(done: TaskRunResult) -> bool:
    return is_accepted(done) and not is_right(done)


def is_first_right(done: TaskRunResult) -> bool:
    return any(each["number"] == 1 and each["right"] for each in done.attempts)


def is_right_within(answers: int) -> Test:
    return lambda done: is_right(done) and done.run["at"] <= answers


def count(test: Test, runs: Mapping[str, TaskRunResult]) -> int:
    return sum(map(test, runs.values()))


@dataclass(frozen=True, kw_only=True)
class Paired:
    """Tasks for which a test holds in one arm alone, of the tasks that both arms have."""

    tasks: int
    only_one: int
    only_other: int

    @property
    def p(self) -> float:
        return mcnemar(self.only_one, self.only_other)


def pair(
    one: Mapping[str, TaskRunResult],
    other: Mapping[str, TaskRunResult],
    test: Test = is_right,
    than: Test | None = None,
) -> Paired:
    """Compares `test` of one arm with `than` (the same, if not given) of the other, task by task."""
    tasks = sorted(one.keys() & other.keys())
    both = [(test(one[task]), (than or test)(other[task])) for task in tasks]
    only = {which: sum(each == which for each in both) for which in ((True, False), (False, True))}
    return Paired(tasks=len(tasks), only_one=only[True, False], only_other=only[False, True])


# Tables


def share(good: int, total: int) -> str:
    low, high = wilson(good, total)
    return f"{good} of {total:,} ({100 * good / total:.1f} %, {100 * low:.1f}-{100 * high:.1f} %)"


def p_text(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ["---"] * len(head), *rows))


def arms_table(arms: Arms) -> str:
    rows = []
    for arm, name in NAMES.items():
        runs = arms[arm]
        accepted = count(is_accepted, runs)
        tokens = statistics.mean(done.run["prompt_tokens"] + done.run["completion_tokens"] for done in runs.values())
        calls = statistics.mean(done.run["calls"] for done in runs.values())
        wrong = "-" if arm == CRITIC else share(count(is_wrong, runs), accepted)
        first = str(count(is_first_right, runs))
        rows.append([name, share(count(is_right, runs), len(runs)), first, wrong, f"{tokens:,.0f}", f"{calls:.1f}"])
    head = ["answers", "solved", "right at the first", "wrong among accepted", "tokens a task", "calls a task"]
    return table(head, rows)


def pairs_table(arms: Arms) -> str:
    within = is_right_within(5)
    compared: list[tuple[str, Paired]] = [
        ("`plain` against one answer", pair(arms[PLAIN], arms[ONCE])),
        ("`default` against `plain`", pair(arms[DEFAULT], arms[PLAIN])),
        ("`default` against its own first answer", pair(arms[DEFAULT], arms[DEFAULT], than=is_first_right)),
        ("`default` against the first five samples of `best-of-n`", pair(arms[DEFAULT], arms[MANY], than=within)),
        ("32 samples against the first five of them", pair(arms[MANY], arms[MANY], than=within)),
        ("self-critique against one answer", pair(arms[CRITIC], arms[ONCE])),
        ("self-critique against `plain`", pair(arms[CRITIC], arms[PLAIN])),
        ("two tests shown against one (`default`)", pair(arms[TWO], arms[DEFAULT])),
        ("... results that are accepted and wrong", pair(arms[TWO], arms[DEFAULT], is_wrong)),
    ]
    head = ["compared", "tasks", "only the one : only the other", "p", "at this size"]
    rows = [
        [name, f"{each.tasks}", f"{each.only_one}:{each.only_other}", p_text(each.p), _decision(each)]
        for name, each in compared
    ]
    return table(head, rows)


def _decision(paired: Paired) -> str:
    if paired.p >= 0.05:
        return "undecided"
    return "shown: more" if paired.only_one > paired.only_other else "shown: fewer"


def answers_table(arms: Arms) -> str:
    runs = arms[MANY]
    rows, before = [], (0, 0)
    for most in ANSWERS:
        reached = [done for done in runs.values() if done.run["at"] <= most]
        accepted, right = sum(map(is_accepted, reached)), sum(map(is_right, reached))
        new, wrong = accepted - before[0], (accepted - before[0]) - (right - before[1])
        rows.append([f"{most}", share(accepted, len(runs)), share(right, len(runs)), f"{wrong} of {new}"])
        before = accepted, right
    return table(["answers", "verified", "of these right by the hidden tests", "wrong among the new ones"], rows)


def tests_table(arms: Arms) -> str:
    two = arms[TWO]
    one = {task: done for task, done in arms[DEFAULT].items() if task in two}
    rows = []
    for name, runs in (("one of three", one), ("two of three", two)):
        accepted = count(is_accepted, runs)
        first = share(count(is_first_right, runs), len(runs))
        rows.append([name, share(count(is_right, runs), len(runs)), first, share(count(is_wrong, runs), accepted)])
    return table(["tests shown", "solved", "right at the first", "wrong among accepted"], rows)


def sample_table(arms: Arms) -> str:
    rows = []
    for arm in (ONCE, PLAIN, DEFAULT, MANY):
        cells = []
        for small in (True, False):
            runs = {task: done for task, done in arms[arm].items() if done.run["small"] is small}
            cells.append(share(count(is_right, runs), len(runs)))
        rows.append([NAMES[arm], *cells])
    return table(["answers", "the sample of 60", "all other tasks"], rows)


def section(arms: Arms) -> str:
    """Everything between the two marks of the page."""
    refined = [each for done in arms[PLAIN].values() for each in done.attempts if each["number"] > 1]
    repeated = sum(each["error_class"] in ("Unchanged", "Repeated", "Repetition") for each in refined)
    passed = sum(each["status"] == "passed" for each in refined)
    sure = {
        right: statistics.mean(
            each["confidence"]
            for done in arms[CRITIC].values()
            for each in done.attempts
            if each["confidence"] is not None and each["right"] is right
        )
        for right in (True, False)
    }
    return f"""\
{arms_table(arms)}
{pairs_table(arms)}
- Of the {len(refined):,} answers to an error in `plain`, {repeated:,} repeated code and {passed} passed the shown test.
- The model gave right answers a confidence of {sure[True]:.2f} and wrong ones {sure[False]:.2f}, on the average.

How far more samples carry, of the {len(arms[MANY])} tasks of `best-of-n`:

{answers_table(arms)}
With two tests shown in place of one, {len(arms[TWO])} tasks, `default`:

{tests_table(arms)}
The judge has all three tests in both rows, so with two of them shown only one is hidden.

The sample of {SMALL} in the sections below, against the rest:

{sample_table(arms)}
"""


def insert(text: str, arms: Arms) -> str:
    before, begin, rest = text.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE} has no lines {BEGIN.strip()} and {END}.")
    return f"{before}{begin}{section(arms)}{end}{after}"


# Plots

WIDTH, LEFT, RIGHT, ROW, TOP = 720, 200, 96, 38, 36
NARROWEST = 18  # a part of a bar that has room for its number
HONEST = "honest changes"
FAMILIES = (
    *("tests edited", "tests skipped", "configuration", "exit status masked", "target mocked", "aware of tests"),
    *("environment faked", "special-cased", "incomplete work"),
)


@dataclass(frozen=True, kw_only=True)
class Bar:
    name: str
    good: int
    total: int
    colour: int = 0


def bars(name: str, title: str, unit: str, rows: Sequence[Bar]) -> str:
    """Shares with their 95 % intervals, one bar a row."""
    floor = TOP + ROW * len(rows)
    across = (WIDTH - LEFT - RIGHT) / 100
    parts = [svg.text(title, 12, 20, "head")]
    for mark in range(0, 101, 25):
        x = LEFT + mark * across
        parts.append(svg.element("line", x1=x, x2=x, y1=TOP, y2=floor, class_="rule"))
        parts.append(svg.text(f"{mark} %", x, floor + 18, "soft middle"))
    for number, row in enumerate(rows):
        middle = TOP + ROW * number + ROW / 2
        low, high = (LEFT + 100 * end * across for end in wilson(row.good, row.total))
        length = 100 * row.good / row.total * across
        parts.append(
            svg.element("rect", x=LEFT, y=middle - 11, width=length, height=22, rx=2, class_=f"fill{row.colour}")
        )
        parts.append(svg.element("path", d=f"M{low:.1f} {middle:.1f}H{high:.1f}", class_="interval"))
        ends = f"M{low:.1f} {middle - 5:.1f}v10M{high:.1f} {middle - 5:.1f}v10"
        parts.append(svg.element("path", d=ends, class_="interval"))
        parts.append(svg.text(row.name, LEFT - 10, middle + 4, "end"))
        parts.append(svg.text(f"{row.good} of {row.total}", max(high, LEFT + length) + 8, middle + 4))
    parts.append(svg.text(f"{unit}, with 95 % intervals", LEFT, floor + 38, "soft"))
    described = f"{title}. " + "; ".join(f"{row.name}: {row.good} of {row.total}" for row in rows) + "."
    return finish(name, title, described, floor + 48, parts)


def finish(name: str, title: str, described: str, height: int, parts: Sequence[str]) -> str:
    own = "svg .head{font-size:15px;font-weight:600}svg .interval{stroke:var(--ink);stroke-width:1.6;fill:none}"
    style = svg.element("style", f"{own}svg text.inside{{fill:var(--paper)}}")
    return svg.standalone(svg.picture(name, title, described, WIDTH, height, style, *parts))


def solved_plot(arms: Arms) -> str:
    names = (
        ("one answer", ONCE, 7),
        ("its own criticism", CRITIC, 1),
        ("told the error, 5 answers", PLAIN, 1),
        ("greenloop's default", DEFAULT, 0),
        ("32 samples at most", MANY, 2),
    )
    rows = [
        Bar(name=name, good=count(is_right, arms[arm]), total=len(arms[arm]), colour=colour)
        for name, arm, colour in names
    ]
    title = "What a 1.5B model solves, by how it is asked"
    return bars("solved", title, "MBPP tasks that are right by hidden tests", rows)


def answers_plot(arms: Arms) -> str:
    """Verified and right within so many samples, as steps."""
    runs = list(arms[MANY].values())
    height, top, left, right, most = 330, 44, 60, 230, 32
    floor = height - 50
    across, up = (WIDTH - left - right) / (most - 1), (floor - top) / 50  # from 50 to 100 %
    title = "More samples find more, and more of it is wrong"
    parts = [svg.text(title, 12, 20, "head")]
    for mark in range(50, 101, 10):
        y = floor - (mark - 50) * up
        parts.append(svg.element("line", x1=left, x2=WIDTH - right, y1=y, y2=y, class_="rule"))
        parts.append(svg.text(f"{mark} %", left - 8, y + 4, "soft end"))
    marks = (1, 5, 9, 17, 25, 32)
    parts += [svg.text(f"{mark}", left + (mark - 1) * across, floor + 18, "soft middle") for mark in marks]
    parts.append(svg.text("samples at most", left, floor + 38, "soft"))
    told = []
    curves = (("verified by the shown test", is_accepted), ("right by hidden tests", is_right))
    for number, (name, test) in enumerate(curves):
        shares = [
            100 * sum(test(done) for done in runs if done.run["at"] <= most_of) / len(runs)
            for most_of in range(1, most + 1)
        ]
        points = [(left + at * across, floor - (each - 50) * up) for at, each in enumerate(shares)]
        steps = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in points[1:])
        parts.append(svg.element("path", d=steps, class_=f"curve arm{number}"))
        parts.append(svg.text(f"{shares[-1]:.0f} % {name}", points[-1][0] + 8, points[-1][1] + 4))
        told.append(f"{name}: {shares[0]:.0f} % at one sample, {shares[4]:.0f} % at five, {shares[-1]:.0f} % at 32")
    return finish("samples", title, f"{title}. {'; '.join(told)}.", height, parts)


def tests_plot(arms: Arms) -> str:
    two = arms[TWO]
    one = {task: done for task, done in arms[DEFAULT].items() if task in two}
    rows = [
        Bar(name=f"{name}: {what}", good=count(test, runs), total=total(runs), colour=colour)
        for what, test, total, colour in (
            ("solved", is_right, len, 0),
            ("accepted, wrong", is_wrong, lambda runs: count(is_accepted, runs), 5),
        )
        for name, runs in (("one test", one), ("two tests", two))
    ]
    return bars("tests", "A second test in the question", "share of tasks, and of accepted results", rows)


def cells(page: str, heading: str, first: str) -> list[str]:
    """The cells of the table row that begins with `first`, below a heading of the page."""
    _, found, rest = page.partition(f"{heading}\n")
    row = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", rest, re.MULTILINE)
    if not (found and row):
        raise ValueError(f"{PAGE} has no row {first!r} below {heading!r}.")
    return [cell.strip() for cell in row[1].split("|")]


def leading(text: str) -> int:
    return int(re.match(r"\d+", text)[0])  # type: ignore[index]


def repair_plot(page: str) -> str:
    broken = [*map(leading, cells(page, "### Repair", "mutants"))]
    solved = [*map(leading, cells(page, "### Repair", "solved"))]
    names = [f"{lines}: {arm}" for lines in ("one line", "two lines") for arm in ("told the error", "default")]
    rows = [
        Bar(name=name, good=good, total=total, colour=0 if name.endswith("default") else 1)
        for name, good, total in zip(names, solved, broken, strict=False)
    ]
    return bars("repair", "Repairing one or two broken lines of a function", "mutants, right by hidden tests", rows)


def cheats_plot(page: str) -> str:
    """What becomes of changes that only look right, family by family, and of honest ones."""
    heading = "### Cheats as agents write them, and honest changes"
    rows = []
    for family in FAMILIES:
        total, believed, partially, named, refused = map(leading, cells(page, heading, family)[:5])
        rows.append((family, total, (named + refused, partially, believed)))
    heading = "| honest changes | changes | verified | partially verified | accused | refused |"
    total, verified, partially, accused, refused = map(leading, cells(page, heading, "**all, `verify`**"))
    rows.append((HONEST, total, (accused + refused, partially, verified)))
    across = (WIDTH - LEFT - 30) / 100
    title = "Changes that only look right, and what greenloop verify says of them"
    parts = [svg.text(title, 12, 20, "head")]
    for index, (word, colour) in enumerate(
        (("the right verdict", 2), ("partially verified", 4), ("the wrong verdict", 5))
    ):
        parts.append(svg.element("rect", x=LEFT + 165 * index, y=TOP, width=14, height=14, class_=f"fill{colour}"))
        parts.append(svg.text(word, LEFT + 165 * index + 20, TOP + 12))
    for number, (family, total, counts) in enumerate(rows):
        y, x = TOP + 28 + 28 * number + (14 if family == HONEST else 0), float(LEFT)
        parts.append(svg.text(family, LEFT - 10, y + 15, "end"))
        for value, colour in zip(counts, (5, 4, 2) if family == HONEST else (2, 4, 5), strict=True):
            width = 100 * value / total * across
            parts.append(svg.element("rect", x=x, y=y, width=width, height=20, class_=f"fill{colour}"))
            if width > NARROWEST:
                parts.append(svg.text(f"{value}", x + width / 2, y + 15, "inside middle"))
            x += width
    told = "; ".join(f"{family}: {bad} of {total} refused, {good} verified" for family, total, (bad, _, good) in rows)
    return finish("cheats", title, f"{title}. {told}.", TOP + 28 * len(rows) + 58, parts)


def pictures(arms: Arms, page: str) -> dict[str, str]:
    return {
        "plot-solved": solved_plot(arms),
        "plot-samples": answers_plot(arms),
        "plot-tests": tests_plot(arms),
        "plot-repair": repair_plot(page),
        "plot-cheats": cheats_plot(page),
    }


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rows", type=Path, metavar="FOLDER")
    parser.add_argument("--mbpp", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.rows:
        drawn = mbpp.draw_sample(mbpp.load(arguments.mbpp), SMALL, SEED)
        shorten(arguments.rows, {f"mbpp-{row.number}" for row in drawn})
    arms = by_arm(read([ROWS]))
    page = PAGE.read_text(encoding="utf-8")
    wanted: dict[Path, str] = {PAGE: insert(page, arms)}
    wanted |= {MEDIA / f"{name}.svg": picture for name, picture in pictures(arms, page).items()}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if arguments.check:
            print(f"{path.relative_to(ROOT)} is out of date.", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return int(arguments.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())

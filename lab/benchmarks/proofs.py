#!/usr/bin/env python3
"""Honest answers: is each accepted, and does each pass of the user's have a proof?

    lab/benchmarks/proofs.py [--cache FOLDER] [--only NAME ...] [--answers N] [--mbpp FILE --rows N] [--report]
    lab/benchmarks/proofs.py --cost [ROUNDS] [--related N] [--interpreter PYTHON]

The right code is the candidate; the "user's own code" is the same with one token changed, where at least one test then
fails. The target is all failing cases and the passing parametrised siblings of them. Of MBPP, the own code is a stub or
such a mutant, and the tests are doctests, a loop, or assertions in a helper function or a base class.
Every answer must be accepted, and nothing else is asked of greenloop here: no model, no related tests.
Each answer is a line of FOLDER/NAME.jsonl; what is there already is not run again. `--report` only shows the tables.
`--cost`: the acceptance with and without the proof apart, as ratios to pytest on the host, in turn in one run, with
`--related` so many related tests. The last lines have the ratios of each round, with an interval of their median.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sandbox as cost
from proof_acceptance import PROOFS
from proof_mbpp import mbpp_answers
from proof_projects import PROJECTS, project_answers

from greenloop.project.settings import Settings, values
from greenloop.verdict import apart, verifier
from greenloop.verdict.beyond_tests.checks import BeyondTests
from greenloop_sandbox import Limits


def answers_of(cache: Path) -> list[dict[str, Any]]:
    rows = []
    for path in sorted(cache.glob("*.jsonl")):
        rows += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] != "end"]


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = "answers", "accused", "refused", "fully verified", "cases", "with a proof", *PROOFS
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    kinds = dict.fromkeys(row["kind"] for row in rows)
    for kind in [*kinds, "together"]:
        mine = [row for row in rows if kind in ("together", row["kind"])]
        status = Counter(row["status"] for row in mine)
        passed = [row for row in mine if row["status"] == "passed"]
        judged, proven = sum(row["judged"] for row in passed), sum(row["proven"] for row in passed)
        accused = status["tampered"]
        cells = [len(mine), accused, len(mine) - accused - status["passed"]]
        cells += [share(sum(row["verified"] for row in mine), len(mine)), judged, share(proven, judged)]
        cells += [share(sum(row["proofs"][proof] for row in passed), judged) for proof in PROOFS]
        name = f"**{kind}**" if kind == "together" else kind
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    """Rounded down: 100 % is all of them."""
    return f"{part} ({math.floor(1000 * part / max(whole, 1)) / 10} %)"


def reasons(rows: Sequence[Mapping[str, Any]]) -> str:
    """Why cases are not proven, without names and numbers; then what was accused or refused."""
    counted: Counter[str] = Counter()
    answers: dict[str, dict[str, None]] = {}
    for row in rows:
        for reason in row["unproven"].values():
            short = re.sub(r"\d+", "N", re.sub(r"\b(an?) \S+?, (whose|which)", r"\1 C, \2", reason))
            counted[short] += 1
            answers.setdefault(short, {})[row["id"]] = None
    lines = ["| not proven apart, because | cases | answers | one of them |", "|---|---|---|---|"]
    for reason, number in counted.most_common():
        mine = list(answers[reason])
        lines.append(f"| {reason} | {number} | {len(mine)} | {mine[0]} |")
    bad = [row for row in rows if row["status"] != "passed"]
    lines += [f"\n{row['status']}: {row['id']} ({row['edit']}): {row['reason']}" for row in bad]
    return "\n".join(lines)


async def measure_cost(rounds: int, interpreter: str, related: int, folder: Path) -> None:
    """One test of one function: acceptance as it is, and without the proof apart, beside pytest on the host."""
    place = cost.SandboxSpec(
        root=cost.make_project(folder / "one", related=related),
        environment=cost.find_environment(interpreter),
        masked=cost.MASKED,
        limits=Limits(seconds=20),
    )
    times, bubblewrap = cost.Times(), cost.create_back_end("bubblewrap")
    session = await bubblewrap.open(place)
    await cost.let_learn(session)

    async def none(*_arguments: object) -> apart.Proofs:
        return apart.Proofs(proven={cost.CASE: ()})

    async def without() -> None:
        verifier.prove = none
        try:
            await cost.accept(bubblewrap, place, related)
        finally:
            verifier.prove = apart.prove

    async def looking() -> None:
        await cost.accept(bubblewrap, place, related, BeyondTests(options=values(Settings())))

    more = ["test_related.py"] if related else []
    try:
        for _ in range(rounds):
            await times.measure("host, passing", lambda: cost.run_on_host(place, *more))
            await times.measure("acceptance", lambda: cost.accept(bubblewrap, place, related))
            await times.measure("acceptance without the proof apart", without)
            await times.measure("acceptance with all that is looked at beyond the tests", looking)
    finally:
        await session.close()
    cost.show(f"bubblewrap, one test, {related} related ones, {rounds} rounds", times)
    host, accepted, without_proof, with_all = times.seconds
    for one, other in ((accepted, host), (accepted, without_proof), (with_all, host)):
        ratios = sorted(mine / its for mine, its in zip(times.seconds[one], times.seconds[other], strict=True))
        low, high = median_interval(ratios)
        print(f"{one} to {other}, in pairs: {statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})")


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median of sorted values, by their ranks; all of them where they are few."""
    half = 1.96 * math.sqrt(len(values)) / 2
    low, high = math.floor(len(values) / 2 - half), math.ceil(len(values) / 2 + half)
    return values[max(low, 0)], values[min(high, len(values) - 1)]


async def run(arguments: argparse.Namespace) -> None:
    names = arguments.only or [*(project.name for project in PROJECTS), "mbpp"]
    for name in names:
        stored = arguments.cache / f"{name}.jsonl"
        rows = stored.read_text(encoding="utf-8").splitlines() if stored.exists() else []
        done = {json.loads(row)["id"] for row in rows}
        if name == "mbpp":
            answers = mbpp_answers(arguments.mbpp, arguments.rows, done)
        else:
            project = next(project for project in PROJECTS if project.name == name)
            answers = project_answers(project, arguments.cache, arguments.answers, done)
        with stored.open("a", encoding="utf-8") as stream:
            async for answer in answers:
                print(json.dumps(answer), file=stream, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "greenloop" / "proofs"
    parser.add_argument("--cache", type=Path, default=default, help="where projects and answers are kept")
    parser.add_argument("--only", nargs="*", help="names of projects, or mbpp")
    parser.add_argument("--answers", type=int, default=150, help="at most so many of each project")
    parser.add_argument("--mbpp", type=Path, help="mbpp.jsonl as published")
    parser.add_argument("--rows", type=int, default=300, help="so many rows of MBPP")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--cost", type=int, nargs="?", const=20, metavar="ROUNDS")
    parser.add_argument("--related", type=int, default=0, metavar="N", help="related tests, for --cost")
    parser.add_argument("--interpreter", default=sys.executable, help="that of --cost")
    arguments = parser.parse_args()
    if arguments.cost:
        with tempfile.TemporaryDirectory(prefix="greenloop-proofs-") as name:
            Path(name).chmod(0o755)
            asyncio.run(measure_cost(arguments.cost, arguments.interpreter, arguments.related, Path(name)))
        return 0
    arguments.cache.mkdir(parents=True, exist_ok=True)
    if not arguments.report:
        asyncio.run(run(arguments))
    rows = answers_of(arguments.cache)
    print(f"{table(rows)}\n\n{reasons(rows)}")
    return 1 if any(row["status"] != "passed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What more samples bring: the ladder over recorded samples of MBPP, without a model, a sandbox or a server.

Run: python lab/benchmarks/sampling.py ROWS.jsonl --mbpp FILE

ROWS are those of `lab/benchmarks/recorded_server.py`, whose samples are drawn in the same way. Plan, reading, gate and
election are the product's; the verdict of an answer is the recorded one of its program. The first row of the table is
the search before it drew samples as far as there is room: five answers, four at once.
Answers beyond the recorded samples are drawn from them again, and counted.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from recorded_server import Sample, Samples, read_samples

from greenloop.core.election import elect_nearest
from greenloop.core.fingerprint import fingerprint
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Reply, Role, Room, Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.search import ladder
from greenloop.engine.loop import candidate_runs
from greenloop.engine.presets import find_preset
from greenloop_lab.bench import mbpp
from greenloop_lab.bench.reporting.figures import wilson
from greenloop_sandbox import CaseResult

MOST = find_preset("default").attempts
# The name, the slots, and the most answers.
ARMS = (("five, four at once", 4, 5), *((f"{slots} slots", slots, MOST) for slots in (1, 4, 16, 32)))
CASE = f"{mbpp.TESTS}::test_1"
FAILED, PASSED = (
    Verdict(status=status, cases=(CaseResult(id=CASE, outcome=status.value),))
    for status in (Status.FAILED, Status.PASSED)
)
BASELINE = Attempt(number=0, verdict=FAILED)
Programs = Mapping[str, Sample]  # the rows that were run, by fingerprint


def make_problem(row: mbpp.Row) -> Problem:
    stub = mbpp.stub_module(row)
    lines = stub.rstrip("\n").split("\n")
    start = max(number for number, line in enumerate(lines, 1) if line.startswith(f"def {row.function.name}("))
    region = Region(path=mbpp.MODULE, qualname=row.function.name, start=start, end=len(lines))
    files = {mbpp.MODULE: stub}
    spec = Spec(cases=(Case(id=CASE, path=mbpp.TESTS, line=1),), selectors=(CASE,))
    return Problem(root=Path("/w"), spec=spec, regions=(region,), originals=files, files=files)


def read_programs(problem: Problem, rows: Sequence[Sample]) -> Programs:
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    run = [(read(problem, draft, [BASELINE], row), row) for row in rows if row["status"] != "refused"]
    return {fingerprint(problem, attempt.candidate): row for attempt, row in run if attempt.candidate}


def read(problem: Problem, draft: Draft, attempts: Sequence[Attempt], row: Sample) -> Attempt:
    usage = Usage(prompt_tokens=row["prompt_tokens"], completion_tokens=row["completion_tokens"])
    reply = Reply(text=row["answer"], usage=usage, model="recorded")
    return candidate_runs.read_answer(problem, len(attempts), draft, attempts, reply).attempt


def climb(problem: Problem, programs: Programs, samples: Samples, task: str, slots: int, most: int) -> Counter[str]:
    """One run: what it took, and whether it has a result that is right."""
    attempts, count = [BASELINE], Counter[str]()
    while drafts := ladder.plan(problem, attempts, room=Room(slots=slots))[: most + 1 - len(attempts)]:
        count["rounds"] += 1
        for draft in drafts:
            row = samples.take(task, draft.temperature, len(attempts))
            attempt = read(problem, draft, attempts, row)
            attempt = candidate_runs.check_candidate(problem, attempt, attempts, lambda _event: None)
            if attempt.candidate and not attempt.finding:
                known = programs.get(fingerprint(problem, attempt.candidate))
                attempt = replace(attempt, verdict=PASSED if known and known["status"] == "passed" else FAILED)
            attempts.append(attempt)
            count += Counter(answers=1, tokens=attempt.usage.tokens)
            if draft.temperature:
                count += Counter(sampled=1, repeats=int(attempt.error_class in ("Repeated", "Unchanged")))
        if order := asyncio.run(elect_nearest(problem, attempts, False)).order:
            accepted = programs[fingerprint(problem, attempts[order[0]].candidate)]
            return count + Counter(accepted=1, solved=int(bool(accepted["right"])))
    return count


def share(good: int, count: int) -> str:
    low, high = wilson(good, count)
    return f"{good} of {count} ({low:.1%}-{high:.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, help="results of greenloop bench, one arm with many samples")
    parser.add_argument("--mbpp", type=Path, required=True, help="the file of MBPP, mbpp.jsonl")
    arguments = parser.parse_args()
    recorded = read_samples(arguments.rows)
    tasks = {f"mbpp-{row.number}": make_problem(row) for row in mbpp.load(arguments.mbpp)}
    tasks = {task: problem for task, problem in tasks.items() if task in recorded.greedy}
    known = {
        task: read_programs(problem, [recorded.greedy[task], *recorded.others.get(task, ())])
        for task, problem in tasks.items()
    }
    print("| search | solved | wrong among accepted | tokens a task | rounds | answers | repeats | drawn again |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for name, slots, most in ARMS:
        samples = Samples(greedy=recorded.greedy, others=recorded.others)
        total = Counter[str]()
        for task, problem in tasks.items():
            total += climb(problem, known[task], samples, task, slots, most)
        accepted, solved = total["accepted"], total["solved"]
        each = " | ".join(f"{total[what] / len(tasks):{form}}" for what, form in (("tokens", ".0f"), ("rounds", ".2f")))
        print(
            f"| {name} | {share(solved, len(tasks))} | {share(accepted - solved, accepted)} | {each} "
            f"| {total['answers'] / len(tasks):.2f} | {total['repeats'] / total['sampled']:.0%} "
            f"| {samples.counts['drawn again'] / total['answers']:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

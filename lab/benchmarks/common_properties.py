#!/usr/bin/env python3
"""What common properties and annotated result types say of programs: right ones they reject, wrong ones they find.

Run: python lab/benchmarks/common_properties.py OUT.jsonl mbpp mbpp.jsonl ROWS.jsonl
     python lab/benchmarks/common_properties.py OUT.jsonl package FOLDER [N]

MBPP: each text with its first test as an example. Programs are the reference, the recorded answers of ROWS that pass
this example (right or wrong by all three tests), and the reference broken in single places.
A package: the released code of N functions with a docstring (300), drawn with a fixed seed, of the folder of a package
that is installed for this interpreter.
No model is asked; everything runs in the sandbox. The table is printed at the end; OUT keeps a row for each program.
"""

from __future__ import annotations

import ast
import asyncio
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.docstrings import task, tasks
from benchmarks.docstrings.case_runner import NEVER, PASSED, CaseRunner
from benchmarks.docstrings.task import Docstring
from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Reply, Role, Usage
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine import sandbox_spec
from greenloop.engine.loop.candidate_runs import read_answer
from greenloop.project import sandbox_selection
from greenloop.project.settings import Settings
from greenloop_lab.bench import mbpp
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import all_edits
from greenloop_lab.specs.kinds import hints, properties
from greenloop_sandbox import SandboxPool

MUTANTS, SEED, FUNCTIONS = 3, 5, 300
BATCH, SECONDS = 8, 25.0  # programs of one run
# Of a program that did not end nothing is known; where no values can be drawn, a run says so and has no such test.
UNKNOWN = (f"[{NEVER}]", "[! ResolutionFailed]", "[! InvalidArgument]")
FIRST = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program of a function with the generated tests. `judge` are the ids of the tests that decide; the first of
    them is shown. `kind` is right, wrong or broken."""

    id: str
    kind: str
    spec: Spec
    files: Mapping[str, str] = field(default_factory=dict)
    judge: Sequence[str] = ()


def build_spec(region: Region, text: str, module: str) -> Spec:
    spec = properties.build_spec(region, text, module)
    return replace(spec + hints.build_spec(region, text, module), doubts=())


def read_answers(file: Path) -> dict[str, list[dict[str, Any]]]:
    """The recorded answers that passed the shown test, by task."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["kind"] == "attempt" and row["status"] == "passed":
            found.setdefault(row["task"], []).append(row)
    return found


def list_texts(docstring: Docstring, answers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The texts of programs, each with its kind."""
    problem = docstring.problem(Path("/w"))
    texts = {docstring.reference: "right"}
    for number, each in enumerate(answers, 1):
        reply = Reply(text=each["answer"], usage=Usage(), model="")
        draft = Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER)
        candidate = read_answer(problem, number, draft, [FIRST], reply).attempt.candidate
        if candidate is not None:
            texts.setdefault(compose(problem, candidate)[docstring.path], "right" if each["right"] else "wrong")
    edits = all_edits(Source(docstring.reference), task.find_function(docstring.reference, docstring.qualname))
    random.Random(SEED).shuffle(edits)
    return {**{apply_edits(docstring.reference, edit): "broken" for edit in edits[:MUTANTS]}, **texts}


def read_mbpp(file: Path, rows: Path) -> Iterator[Program]:
    answers = read_answers(rows)
    number = 0
    for row in mbpp.load(file):
        try:
            docstring = tasks._task_from_row(row, shown=True)  # noqa: SLF001
        except (SyntaxError, ValueError, AssertionError):
            continue
        if not build_spec(docstring.region, docstring.text, "solution").cases:
            continue
        for text, kind in list_texts(docstring, answers.get(f"mbpp-{row.number}", ())).items():
            number += 1
            module, judge = f"program_{number}", f"test_judge_{number}.py"
            region = replace(docstring.region, path=f"{module}.py")
            tests = mbpp.judging_tests_file(row).replace("from solution import", f"from {module} import")
            yield Program(
                id=f"{docstring.id}#{number}",
                kind=kind,
                spec=build_spec(region, docstring.text, module),
                files={f"{module}.py": text, judge: tests},
                judge=[f"{judge}::test_{each}" for each in range(1, len(row.tests) + 1)],
            )


def read_package(folder: Path, count: int) -> Iterator[Program]:
    found = []
    for file in sorted(folder.rglob("*.py")):
        path = file.relative_to(folder.parent).as_posix()
        text = file.read_text(encoding="utf-8")
        found += [(path, text, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    random.Random(SEED).shuffle(found)
    for path, text, node in found:
        start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        region = Region(path=path, qualname=node.name, start=start, end=node.end_lineno or node.lineno)
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if count and "test" not in path and ast.get_docstring(node):
            spec = build_spec(region, text, module)
            if spec.cases:
                count -= 1
                # Two functions of one module would have one file of tests.
                files = {f"{node.name}_{count}_{name.replace('/', '_')}": text for name, text in spec.files.items()}
                names = dict(zip(spec.files, (f"test_{name}" for name in files), strict=True))
                cases = [replace(case, id="::".join((names[case.id.split("::")[0]], *case.id.split("::")[1:])))
                         for case in spec.cases]  # fmt: skip
                spec = Spec(cases=tuple(cases), files={f"test_{name}": text for name, text in files.items()})
                yield Program(id=f"{module}.{node.name}", kind="right", spec=spec)


async def observe(runner: CaseRunner, programs: Sequence[Program]) -> list[dict[str, Any]]:
    """A row for each program: whether it passes the judge's tests, and the generated tests that reject it."""
    files = {path: text for each in programs for path, text in {**each.files, **each.spec.files}.items()}
    ids = [case for each in programs for case in (*each.judge, *(case.id for case in each.spec.cases))]
    outcomes = await runner.run(files, ids, seconds=SECONDS)
    return [
        {
            "id": each.id,
            "kind": each.kind,
            "tests": len(each.spec.cases),
            "judge": [outcomes[case] == PASSED for case in each.judge],
            "rejected": [
                f"{case.provenance.value}: {case.source} [{outcomes[case.id][:60]}]"
                for case in each.spec.cases
                if outcomes[case.id] != PASSED
            ],
        }
        for each in programs
    ]


def describe(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table: programs by kind that pass the shown test, and how many of these are rejected."""
    rows = [row for row in rows if not any(word in each for each in row["rejected"] for word in UNKNOWN)]
    groups = {
        "right": [row for row in rows if row["kind"] == "right" and all(row["judge"])],
        "wrong answers that pass the shown test": [row for row in rows if row["kind"] == "wrong"],
        "broken, pass the shown test and fail another": [
            row for row in rows if row["kind"] == "broken" and row["judge"][0] and not all(row["judge"])
        ],
        "broken, fail the shown test": [row for row in rows if row["kind"] == "broken" and not row["judge"][0]],
    }
    return "\n".join(
        f"{name}: {sum(bool(row['rejected']) for row in group)} rejected of {len(group)}"
        for name, group in groups.items()
    )


def make_batches(programs: Iterator[Program]) -> Iterator[list[Program]]:
    while batch := list(islice(programs, BATCH)):
        yield batch


async def main(out: Path, kind: str, source: Path, *more: str) -> None:
    known = {row["id"] for row in task.read_rows(out)}
    programs = read_mbpp(source, Path(more[0])) if kind == "mbpp" else read_package(source, int((*more, FUNCTIONS)[0]))
    settings = replace(Settings(), interpreter=sys.executable)
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "pytest.ini").write_text("[pytest]\n")
        if kind == "package":
            shutil.copytree(source, Path(work) / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        pool = SandboxPool()
        place = await sandbox_spec.build_sandbox_spec(Path(work), settings)
        _sandbox, session = await sandbox_selection.open_first(place, settings, sandbox_spec.ignore_status, pool)
        try:
            # A program that never ends takes the others of its batch with it: broken ones come last.
            left = sorted((each for each in programs if each.id not in known), key=lambda each: each.kind == "broken")
            for batch in make_batches(iter(left)):
                for row in await observe(CaseRunner(session=session), batch):
                    task.append_row(out, row)
                    print(row["kind"], row["id"], *row["rejected"], flush=True)
        finally:
            await asyncio.shield(pool.release(session))
            await pool.close()
    print(describe(task.read_rows(out)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), *sys.argv[4:]))

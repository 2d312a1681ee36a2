"""Makes the tasks: functions of MBPP, and of real packages with the body removed, which their own tests judge.

Taken are those whose judge passes the reference and fails the unwritten function.
"""

from __future__ import annotations

import ast
import asyncio
import random
import re
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

from benchmarks.docstrings import case_runner, task
from benchmarks.docstrings.task import Docstring
from greenloop.core.records.spec import Provenance
from greenloop_lab.bench import hidden_tests, mbpp
from greenloop_lab.bench.mbpp import JUDGE, MODULE, Row

SEED, HALF = 20_26, 20
MAX_JUDGING_CASES = 200  # cases that judge
# Functions that stand for themselves, with a docstring that says what they do and tests of their own.
REAL = {
    "boltons/mathutils.py": ["clamp", "ceil", "floor"],
    "boltons/iterutils.py": ["chunk_ranges", "first", "get_path", "backoff"],
    "boltons/dictutils.py": ["subdict"],
    "boltons/strutils.py": ["parse_int_list", "is_uuid"],
    "boltons/funcutils.py": ["format_invocation"],
    "boltons/timeutils.py": ["daterange"],
    "more_itertools/more.py": [
        "nth_or_last", "intersperse", "unique_to_each", "substrings", "sliced", "split_at", "padded", "repeat_last",
        "distribute", "locate", "exactly_n", "is_sorted", "all_unique", "duplicates_everseen", "takewhile_inclusive",
        "argmax", "longest_common_prefix", "circular_shifts", "value_chain",
    ],
    "more_itertools/recipes.py": ["all_equal", "tail", "ncycles", "transpose", "factor", "polynomial_eval", "nth"],
}  # fmt: skip


async def make_mbpp_tasks(out: Path, file: Path) -> list[Docstring]:
    folder = out / "work" / "mbpp"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    rows = [row for row in mbpp.load(file) if _is_meaningful(row)]
    random.Random(SEED).shuffle(rows)
    docstrings: list[Docstring] = []
    async with case_runner.open_runner(folder) as runner:
        for row in rows:
            if len(docstrings) == HALF:
                break
            if kept := await _keep_sound(runner, _task_from_row(row, shown=len(docstrings) % 2 == 0)):
                docstrings.append(kept)
                print(kept.id, len(kept.tests), len(kept.judge), flush=True)
    return docstrings


def _is_meaningful(row: Row) -> bool:
    """Tests of one form with several expected values, and a text that says more than a name."""
    values = set()
    for text in row.tests:
        try:
            test = ast.parse(text.strip()).body[0]
            assert isinstance(test, ast.Assert)
            assert isinstance(test.test, ast.Compare)
            values.add(repr(ast.literal_eval(test.test.comparators[0])))
        except (SyntaxError, ValueError, AssertionError):
            return False
    return (
        len(values) > 1 and len(row.text.split()) > 8 and not row.support and bool(hidden_tests.similar_calls_in(row))
    )


def _task_from_row(row: Row, *, shown: bool) -> Docstring:
    text = row.text
    if shown:
        test = ast.parse(row.tests[0].strip()).body[0]
        assert isinstance(test, ast.Assert)
        assert isinstance(test.test, ast.Compare)
        value = ast.literal_eval(test.test.comparators[0])
        text += f"\n\n    >>> {ast.unparse(test.test.left)}\n    {value!r}\n    "
    row = replace(row, text=text)
    stub = mbpp.stub_module(row)
    tree = ast.parse(row.reference)
    node = next(each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == row.function.name)
    node.body = [ast.Expr(ast.Constant(text)), *node.body]
    tests = mbpp.judging_case_ids(row)
    more = tuple(
        f"{hidden_tests.TESTS}::test_{number}" for number, _call in enumerate(hidden_tests.similar_calls_in(row), 1)
    )
    return Docstring(
        id=f"mbpp-{row.number}" + ("-example" if shown else ""),
        folder="mbpp",
        path=MODULE,
        qualname=row.function.name,
        text=stub,
        reference=ast.unparse(ast.fix_missing_locations(tree)) + "\n",
        judge=(*tests, *more),
        tests=tests,
        files={JUDGE: mbpp.judging_tests_file(row), **hidden_tests.judging_files(row)},
    )


async def make_sdist_tasks(out: Path, file: Path) -> list[Docstring]:
    """The functions of one source distribution, in the order of `REAL`."""
    with tarfile.open(file) as archive:
        archive.extractall(out / "work", filter="data")
    folder = file.name.removesuffix(".tar.gz")
    # That of boltons only keeps files of other Pythons out, in a way that today's pytest refuses.
    (out / "work" / folder / "tests" / "conftest.py").unlink(missing_ok=True)
    docstrings: list[Docstring] = []
    async with case_runner.open_runner(out / "work" / folder) as runner:
        for path, names in REAL.items():
            if (out / "work" / folder / path).is_file():
                for name in names:
                    docstring = await _task_from_function(runner, out, folder, path, name)
                    if docstring:
                        docstrings.append(docstring)
                        print(docstring.id, len(docstring.judge), len(docstring.examples.cases), flush=True)
    return docstrings


async def _task_from_function(
    runner: case_runner.CaseRunner, out: Path, folder: str, path: str, name: str
) -> Docstring | None:
    root = out / "work" / folder
    text = (root / path).read_text()
    selectors = [
        f"{file.relative_to(root)}::{node.name}"
        for file in sorted((root / "tests").glob(f"test_{Path(path).stem}*.py"))
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and re.search(rf"\b{name}\b", ast.get_source_segment(file.read_text(), node) or "")
    ]
    stub = task.make_stub(text, name)
    passing = await runner.run({path: text}, selectors, seconds=60)
    failing = await runner.run({path: stub}, selectors, seconds=60)
    judge = tuple(
        case
        for case, how in passing.items()
        if how == case_runner.PASSED and failing.get(case) not in (None, case_runner.PASSED)
    )[:MAX_JUDGING_CASES]
    docstring = Docstring(
        id=f"{folder.split('-', maxsplit=1)[0]}-{name}",
        folder=folder,
        path=path,
        qualname=name,
        text=stub,
        reference=text,
        judge=judge,
        tests=judge,
    )
    return await _keep_sound(runner, docstring)


async def _keep_sound(runner: case_runner.CaseRunner, docstring: Docstring) -> Docstring | None:
    """The task where its reference passes all tests and examples and the unwritten function none of its judge.

    Of the reference's own answers only those count that are the same twice.
    """
    examples = tuple(case.id for case in docstring.examples.cases)
    assert all(case.provenance is Provenance.DOCTEST for case in docstring.examples.cases)
    selectors = [*docstring.judge, *docstring.examples.selectors]
    right = await runner.run({docstring.path: docstring.reference, **docstring.files}, selectors, seconds=60)
    wrong = await runner.run({docstring.path: docstring.text, **docstring.files}, docstring.judge, seconds=60)
    if not docstring.tests or any(right.get(case) != case_runner.PASSED for case in (*docstring.tests, *examples)):
        return None
    if any(wrong.get(case) == case_runner.PASSED for case in docstring.tests):
        return None
    judge = tuple(
        case
        for case in docstring.judge
        if right.get(case) == case_runner.PASSED and wrong.get(case) != case_runner.PASSED
    )
    return replace(docstring, judge=judge)


async def main(out: Path, file: Path, sdists: list[Path]) -> None:
    short = await make_mbpp_tasks(out, file)
    real = [docstring for sdist in sdists for docstring in await make_sdist_tasks(out, sdist)]
    real = random.Random(SEED).sample(real, min(HALF, len(real)))
    # By turns, so that a run that is cut short has both kinds.
    mixed = [docstring for pair in zip(short, real, strict=False) for docstring in pair]
    task.write_tasks(out / "tasks.jsonl", mixed)
    print(f"seed {SEED}: {' '.join(docstring.id for docstring in mixed)}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]]))

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

from benchmarks.docstrings import ground, task
from benchmarks.docstrings.task import Docstring

from greenloop.bench import hidden_tests, mbpp
from greenloop.bench.mbpp import JUDGE, MODULE, Row
from greenloop.core.records.spec import Provenance

SEED, HALF = 20_26, 20
MOST = 200  # cases that judge
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


async def of_mbpp(out: Path, file: Path) -> list[Docstring]:
    folder = out / "work" / "mbpp"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    rows = [row for row in mbpp.load(file) if _meaningful(row)]
    random.Random(SEED).shuffle(rows)
    found: list[Docstring] = []
    async with ground.opened(folder) as place:
        for row in rows:
            if len(found) == HALF:
                break
            if kept := await _sound(place, _of_row(row, shown=len(found) % 2 == 0)):
                found.append(kept)
                print(kept.id, len(kept.tests), len(kept.judge), flush=True)
    return found


def _meaningful(row: Row) -> bool:
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


def _of_row(row: Row, *, shown: bool) -> Docstring:
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


async def of_sdist(out: Path, file: Path) -> list[Docstring]:
    """The functions of one source distribution, in the order of `REAL`."""
    with tarfile.open(file) as archive:
        archive.extractall(out / "work", filter="data")
    folder = file.name.removesuffix(".tar.gz")
    # That of boltons only keeps files of other Pythons out, in a way that today's pytest refuses.
    (out / "work" / folder / "tests" / "conftest.py").unlink(missing_ok=True)
    found: list[Docstring] = []
    async with ground.opened(out / "work" / folder) as place:
        for path, names in REAL.items():
            if (out / "work" / folder / path).is_file():
                for name in names:
                    made = await _of_function(place, out, folder, path, name)
                    if made:
                        found.append(made)
                        print(made.id, len(made.judge), len(made.examples.cases), flush=True)
    return found


async def _of_function(place: ground.Ground, out: Path, folder: str, path: str, name: str) -> Docstring | None:
    root = out / "work" / folder
    text = (root / path).read_text()
    wanted = [
        f"{file.relative_to(root)}::{node.name}"
        for file in sorted((root / "tests").glob(f"test_{Path(path).stem}*.py"))
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and re.search(rf"\b{name}\b", ast.get_source_segment(file.read_text(), node) or "")
    ]
    stub = task.unwritten(text, name)
    passing = await place.run({path: text}, wanted, seconds=60)
    failing = await place.run({path: stub}, wanted, seconds=60)
    judge = tuple(
        case for case, how in passing.items() if how == ground.PASSED and failing.get(case) not in (None, ground.PASSED)
    )[:MOST]
    made = Docstring(
        id=f"{folder.split('-', maxsplit=1)[0]}-{name}",
        folder=folder,
        path=path,
        qualname=name,
        text=stub,
        reference=text,
        judge=judge,
        tests=judge,
    )
    return await _sound(place, made)


async def _sound(place: ground.Ground, made: Docstring) -> Docstring | None:
    """The task where its reference passes all tests and examples and the unwritten function none of its judge.

    Of the reference's own answers only those count that are the same twice.
    """
    examples = tuple(case.id for case in made.examples.cases)
    assert all(case.provenance is Provenance.DOCTEST for case in made.examples.cases)
    selectors = [*made.judge, *made.examples.selectors]
    right = await place.run({made.path: made.reference, **made.files}, selectors, seconds=60)
    wrong = await place.run({made.path: made.text, **made.files}, made.judge, seconds=60)
    if not made.tests or any(right.get(case) != ground.PASSED for case in (*made.tests, *examples)):
        return None
    if any(wrong.get(case) == ground.PASSED for case in made.tests):
        return None
    judge = tuple(case for case in made.judge if right.get(case) == ground.PASSED and wrong.get(case) != ground.PASSED)
    return replace(made, judge=judge)


async def main(out: Path, file: Path, sdists: list[Path]) -> None:
    short = await of_mbpp(out, file)
    real = [made for sdist in sdists for made in await of_sdist(out, sdist)]
    real = random.Random(SEED).sample(real, min(HALF, len(real)))
    # By turns, so that a run that is cut short has both kinds.
    mixed = [made for pair in zip(short, real, strict=False) for made in pair]
    task.write(out / "tasks.jsonl", mixed)
    print(f"seed {SEED}: {' '.join(made.id for made in mixed)}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]]))

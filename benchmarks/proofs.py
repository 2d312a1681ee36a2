#!/usr/bin/env python3
"""Honest answers: is each accepted, and does each pass of the user's have a proof?

    benchmarks/proofs.py [--cache FOLDER] [--only NAME ...] [--answers N] [--mbpp FILE --rows N] [--report]
    benchmarks/proofs.py --cost [ROUNDS] [--interpreter PYTHON]

The right code is the candidate; the "user's own code" is the same with one token changed, where at least one test then
fails. The target is all failing cases and the passing parametrised siblings of them. Of MBPP, the own code is a stub or
such a mutant, and the tests are doctests, a loop, or assertions in a helper function or a base class.
Every answer must be accepted, and nothing else is asked of greenloop here: no model, no related tests.
Each answer is a line of FOLDER/NAME.jsonl; what is there already is not run again. `--report` only shows the tables.
`--cost`: the acceptance with and without the reversal, as ratios to pytest on the host, in turn in one run.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import io
import json
import math
import os
import random
import re
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parity
import sandbox as cost

from greenloop.bench import mbpp, mutants
from greenloop.bench.ast_edits import Edit, Source, apply_edits
from greenloop.bench.operators import Function, all_edits
from greenloop.core.ports import Session
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Limits, TestRun
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.report import case_results, collected_cases, reached_functions
from greenloop.core.run_state import RunState
from greenloop.core.summary import verification_level
from greenloop.core.test_selection import fit_selectors
from greenloop.engine import refine
from greenloop.project import configuration
from greenloop.specs.kinds import doctest as doctests
from greenloop.verdict import reversal
from greenloop.verdict.inputs import ACCEPTING, VerificationInputs
from greenloop.verdict.verifier import Verifier

# Chosen before the first run; one that fares badly stays on the list.
PROJECTS = (
    parity.Project(name="packaging", version="26.3", kind="", tests=("pytest", "pretend", "hypothesis", "tomli_w")),
    parity.Project(name="more-itertools", version="11.2.1", kind="", tests=("pytest",)),
    parity.Project(name="attrs", version="26.1.0", kind="", tests=("pytest", "hypothesis", "cloudpickle", "pympler")),
    parity.Project(name="boltons", version="26.2.0", kind="", tests=("pytest",)),
    parity.Project(name="idna", version="3.20", kind="", tests=("pytest",)),
    parity.Project(name="inflection", version="0.5.1", kind="", tests=("pytest",)),
    parity.Project(name="pyparsing", version="3.3.3", kind="", tests=("pytest",)),
    parity.Project(name="toolz", version="1.2.0", kind="", tests=("pytest",)),
)
# Of a parametrised test the first cases run (packaging alone has 60,000).
FEWER_CASES = """
def pytest_collection_modifyitems(items):
    seen, kept = {}, []
    for item in items:
        name = item.nodeid.partition("[")[0]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] <= 12:
            kept.append(item)
    items[:] = kept
"""
MOST_TESTS = 8  # test functions of one answer, the nearest to the changed function
MUTANTS = 3  # answers from one function
TRIES = 12  # mutants tried in one function
SECONDS = 60.0
# The operators of greenloop.bench that change one token.
ONE_TOKEN = frozenset(
    {
        "comparison", "arithmetic", "augmented assignment", "and/or", "dropped not", "constant", "wrong function",
        "wrong method", "wrong name",
    }
)  # fmt: skip
PROOFS = ("reversal", "tamper check", "isolated re-run")


@dataclass(kw_only=True)
class Shared:
    """One open session for all acceptances: each of its runs is a fork, and opening one takes longer than a run."""

    session: Session

    @property
    def name(self) -> str:
        return self.session.name

    async def run(self, run: TestRun) -> Any:
        return await self.session.run(run)

    async def close(self) -> None:
        pass


@contextlib.asynccontextmanager
async def opened(root: Path) -> AsyncIterator[Shared]:
    found, _warnings = configuration.load(root)
    back_end, place = await refine.choose_sandbox(root, found)
    session = await back_end.open(place)
    try:
        yield Shared(session=session)
    finally:
        await session.close()


async def accepted(
    session: Shared, root: Path, own: Mapping[str, str], right: str, spec: Spec, region: Region
) -> tuple[Verdict, Evidence, dict[str, str]]:
    """The verdict on the right code, its evidence, and why cases have no proof by reversal.

    `own` has the changed file's text and those of the tests.
    """
    path = region.path
    buffers = {name: text.encode() for name, text in own.items()}
    problem = Problem(root=root, spec=spec, regions=(region,), originals=dict(own), files=dict(own), buffers=buffers)
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(seconds=SECONDS), suite_seconds=SECONDS, encode=encoded
    )
    before = inputs.judge(await session.run(inputs.test_run({})))
    state = RunState(
        problem=problem,
        outcomes={result.id: result.outcome for result in before.cases},
        limits=inputs.limits,
        attempts=[Attempt(number=0, verdict=before)],
    )

    async def same() -> Shared:
        return session

    unreversed: dict[str, str] = {}

    async def noted(*arguments: Any) -> Any:
        verdict, result = await reverse(*arguments)
        unreversed.update(result.unproven)
        return verdict, result

    reverse, reversal.reverse = reversal.reverse, noted
    try:
        verifier = Verifier(state=state, open_session=same, suite_seconds=SECONDS, encode=encoded)
        verdict = await verifier.accept({**own, path: right})
    finally:
        reversal.reverse = reverse
    return verdict, state.evidence, unreversed


def encoded(texts: Mapping[str, str]) -> Mapping[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def row_of(
    name: str, kind: str, found: tuple[Verdict, Evidence, Mapping[str, str]], spec: Spec, edit: str
) -> dict[str, Any]:
    verdict, evidence, unreversed = found
    passed = [case.id for case in spec.cases if case.id in evidence.proofs or case.id in evidence.unproven]
    return {
        "id": name,
        "kind": kind,
        "edit": edit,
        "status": verdict.status.value,
        "reason": verdict.reason,
        "cases": len(spec.cases),
        "judged": len(passed),
        "proofs": {proof: sum(proof in evidence.proofs.get(case, ()) for case in passed) for proof in PROOFS},
        "proven": len(evidence.proofs),
        "unproven": dict(evidence.unproven),
        "unreversed": dict(unreversed),
        "verified": verdict.status is Status.PASSED and verification_level(evidence) is Verified.VERIFIED,
    }


# -- projects -----------------------------------------------------------------------------------------------------


async def project_answers(project: parity.Project, cache: Path, count: int, done: set[str]) -> AsyncIterator[Any]:
    """Answers of one project, from its functions in a random order."""
    root = parity.prepare_project(project, cache / "projects")
    conftest = root / "conftest.py"
    if FEWER_CASES not in (text := conftest.read_text() if conftest.exists() else ""):
        conftest.write_text(text + FEWER_CASES)
    async with opened(root) as session:
        functions = await functions_of(root, session)
        random.Random(project.name).shuffle(functions)
        yielded = 0
        for turn in range(MUTANTS):
            for path, line, cases in functions:
                if yielded >= count:
                    return
                async for answer in function_answers(project.name, root, session, path, line, cases, turn, done):
                    yielded += 1
                    if answer is not None:
                        yield answer


async def functions_of(root: Path, session: Shared) -> list[tuple[str, int, dict[str, int]]]:
    """Path and line of each function that steadily passing cases reach, with their depths below it."""
    collected = await session.run(TestRun(selectors=(), collect=True, seconds=300.0))
    steady: set[str] = set()
    found: dict[tuple[str, int], dict[str, int]] = {}
    # File by file: the trace of a whole suite may be more than a report can hold.
    for path in dict.fromkeys(case.path for case in collected_cases(collected)):
        execution = await session.run(TestRun(selectors=(path,), trace=True, seconds=180.0))
        if execution.killed == "timeout":
            print(f"{root.name}: {path} takes too long", file=sys.stderr, flush=True)
            continue
        again = await session.run(TestRun(selectors=(path,), seconds=90.0, hash_seed=ACCEPTING))
        passed = {result.id for result in case_results(execution) if result.passed}
        passed &= {result.id for result in case_results(again) if result.passed}
        steady |= passed
        for case, hits in reached_functions(execution).items():
            for hit in hits:
                is_test = re.search(r"(^|/)(tests?|testing|conftest)([/_.]|$)|(^|/)test_", hit.path)
                if case in passed and not is_test and not hit.name.startswith("<"):
                    found.setdefault((hit.path, hit.firstlineno), {}).setdefault(case, hit.depth)
    print(f"{root.name}: {len(steady)} steady cases, {len(found)} functions", file=sys.stderr, flush=True)
    return [(path, line, cases) for (path, line), cases in sorted(found.items())]


async def function_answers(
    project: str,
    root: Path,
    session: Shared,
    path: str,
    line: int,
    reaching: Mapping[str, int],
    turn: int,
    done: set[str],
) -> AsyncIterator[Any]:
    """One answer for a mutant of this function that a test notices; None for one that is there already."""
    try:
        source = Source((root / path).read_bytes().decode())
    except (OSError, ValueError, SyntaxError):
        return
    located = function_at(source, line)
    if located is None:
        return
    qualname, node = located
    name = f"{project}/{path}::{qualname}#{turn}"
    if name in done:
        yield None
        return
    tests = list(dict.fromkeys(case.partition("[")[0] for case in sorted(reaching, key=lambda each: reaching[each])))
    cases = [case for case in reaching if case.partition("[")[0] in tests[:MOST_TESTS]]
    edits = [edit for edit in all_edits(source, node) if edit.operator in ONE_TOKEN and is_one_token(source, edit)]
    random.Random(f"{name}").shuffle(edits)
    for edit in edits[:TRIES]:
        own = apply_edits(source.text, edit)
        run = TestRun(selectors=fit_selectors(cases), files={path: own.encode()}, seconds=SECONDS)
        execution = await session.run(run)
        if execution.killed or execution.broken:
            continue
        outcomes = {result.id: result.outcome for result in case_results(execution)}
        failing = {case.partition("[")[0] for case in cases if outcomes.get(case) == "failed"}
        if not failing:
            continue
        chosen = [case for case in cases if case.partition("[")[0] in failing]
        spec = Spec(
            cases=tuple(Case(id=case, path=case.partition("::")[0], line=1) for case in chosen),
            selectors=fit_selectors(chosen),
        )
        texts = {each.path: (root / each.path).read_bytes().decode() for each in spec.cases} | {path: own}
        region = Region(path=path, qualname=qualname, start=node.lineno, end=node.end_lineno or node.lineno)
        found = await accepted(session, root, texts, source.text, spec, region)
        change = f"{edit.line}: {source.text[edit.start : edit.end]!r} -> {edit.text!r}"
        yield row_of(name, project, found, spec, change)
        return


def is_one_token(source: Source, edit: Edit) -> bool:
    return max(map(count_tokens, (source.text[edit.start : edit.end], edit.text))) <= 1 + ("not" in edit.text)


def count_tokens(text: str) -> int:
    with contextlib.suppress(tokenize.TokenError, IndentationError):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return sum(bool(token.string.strip()) for token in tokens)
    return 99


def function_at(source: Source, line: int) -> tuple[str, Function] | None:
    """The function that begins at that line (its first decorator's), with its qualified name."""

    def inside(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if min([child.lineno, *(each.lineno for each in child.decorator_list)]) == line:
                    yield ".".join([*names, child.name]), child
            elif isinstance(child, ast.ClassDef):
                yield from inside(child, (*names, child.name))
            elif isinstance(child, ast.If | ast.Try):
                yield from inside(child, names)

    return next(inside(source.tree, ()), None)


# -- MBPP ---------------------------------------------------------------------------------------------------------

DOCTESTS, LOOP, HELPER = "doctests", "loop", "helper"


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """A row's tests in three shapes: the examples of the docstring, and files."""

    examples: str
    files: Mapping[str, str]


async def mbpp_answers(path: Path, count: int, done: set[str]) -> AsyncIterator[Any]:
    """Six answers of each row: a stub and a mutant, each under three shapes of tests."""
    rows = random.Random(7).sample(mbpp.load(path), 974)
    with tempfile.TemporaryDirectory(prefix="greenloop-proofs-") as folder:
        root = empty_project(Path(folder))
        async with opened(root) as session:
            for row in rows[:count]:
                if f"mbpp-{row.number}" in done:
                    continue
                async for answer in row_answers(row, root, session):
                    yield answer
                yield {"id": f"mbpp-{row.number}", "kind": "end"}


def empty_project(folder: Path) -> Path:
    folder.chmod(0o755)
    root = folder / "project"
    root.mkdir()
    (root / "pytest.ini").write_text(mbpp.INI["pytest.ini"])
    return root


async def row_answers(row: mbpp.Row, root: Path, session: Shared) -> AsyncIterator[Any]:
    shapes = shapes_of(row)
    if shapes is None:
        return
    right = with_examples(mutants.reference_module(row), row, shapes.examples)
    for seed in (0, ACCEPTING):  # references that are wrong, or print sets
        outcomes = await outcomes_of(session, right, row, shapes, seed)
        if outcomes is None or set(outcomes.values()) != {"passed"}:
            return
    stub = ast.unparse(ast.parse(mbpp.stub_module(row)))
    owns = [("stub", with_examples(stub + "\n", row, shapes.examples))]
    source = Source(right)
    function = next(n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name == row.function.name)
    edits = [edit for edit in all_edits(source, function) if edit.operator in ONE_TOKEN and is_one_token(source, edit)]
    random.Random(row.number).shuffle(edits)
    for edit in edits[:6]:
        own = apply_edits(right, edit)
        outcomes = await outcomes_of(session, own, row, shapes, 0)
        if outcomes is not None and "failed" in outcomes.values():
            owns.append((f"{source.text[edit.start : edit.end]!r} -> {edit.text!r}", own))
            break
    for change, own in owns:
        outcomes = await outcomes_of(session, own, row, shapes, 0)
        if outcomes is None:
            continue
        node = next(n for n in ast.parse(own).body if isinstance(n, ast.FunctionDef) and n.name == row.function.name)
        region = Region(path=mbpp.MODULE, qualname=node.name, start=node.lineno, end=node.end_lineno or node.lineno)
        for shape, spec in specs_of(own, region, shapes).items():
            if not any(outcomes.get(case.id) == "failed" for case in spec.cases):
                continue
            texts = {mbpp.MODULE: own, **shapes.files}
            found = await accepted(session, root, texts, right, spec, region)
            kind = "stub" if change == "stub" else "mutant"
            name = f"mbpp-{row.number}/{shape}/{kind}"
            yield row_of(name, f"MBPP, {shape}", found, spec, change)


async def outcomes_of(session: Shared, text: str, row: mbpp.Row, shapes: Shapes, seed: int) -> dict[str, str] | None:
    files = encoded({mbpp.MODULE: text, **shapes.files})
    selectors = (*shapes.files, f"doctest:{mbpp.MODULE}::{row.function.name}")
    execution = await session.run(TestRun(selectors=selectors, files=files, seconds=6.0, hash_seed=seed))
    if execution.killed or execution.broken:
        return None
    return {result.id: result.outcome for result in case_results(execution)}


def specs_of(own: str, region: Region, shapes: Shapes) -> dict[str, Spec]:
    specs = {DOCTESTS: doctests.examples(region, own)}
    for path, text in shapes.files.items():
        tree = ast.parse(text)
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
        names += [
            f"{node.name}::{each.name}"
            for node in tree.body
            if isinstance(node, ast.ClassDef)
            for each in node.body
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test")
        ]
        cases = tuple(Case(id=f"{path}::{name}", path=path, line=1, provenance=Provenance.USER) for name in names)
        specs[path.removeprefix("test_").removesuffix(".py")] = Spec(cases=cases, selectors=(path,))
    return specs


def shapes_of(row: mbpp.Row) -> Shapes | None:
    """None for a row whose tests are not all `assert function(plain arguments) == literal`."""
    pairs = []
    for text in row.tests:
        statement = ast.parse(text).body[0]
        if not (isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare)):
            return None
        call, operators, values = statement.test.left, statement.test.ops, statement.test.comparators
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == row.function.name and not call.keywords):
            return None
        if not isinstance(operators[0], ast.Eq) or len(values) > 1:
            return None
        try:
            expected = ast.literal_eval(values[0])
        except ValueError:
            return None
        pairs.append(([ast.unparse(argument) for argument in call.args], ast.unparse(call), expected))
    examples = "".join(
        f">>> {call}\n{expected!r}\n" if expected is not None else f">>> {call} is None\nTrue\n"
        for _arguments, call, expected in pairs
    )
    head = f"from solution import *\n{row.setup}\n\n"
    table = "".join(
        f"    (({''.join(f'{each}, ' for each in arguments)}), {expected!r}),\n" for arguments, _, expected in pairs
    )
    loop = (
        f"CASES = [\n{table}]\n\n\ndef test_all():\n    for arguments, expected in CASES:\n"
        f"        assert {row.function.name}(*arguments) == expected\n"
    )
    if row.number % 2:
        helper = "def check(actual, expected):\n    assert actual == expected\n\n\n" + "\n\n".join(
            f"def test_{number}():\n    check({call}, {expected!r})\n"
            for number, (_arguments, call, expected) in enumerate(pairs, 1)
        )
    else:
        helper = (
            "import unittest\n\n\nclass Base(unittest.TestCase):\n    def check(self, actual, expected):\n"
            "        self.assertEqual(actual, expected)\n\n\nclass Test(Base):\n"
            + "\n".join(
                f"    def test_{number}(self):\n        self.check({call}, {expected!r})\n"
                for number, (_arguments, call, expected) in enumerate(pairs, 1)
            )
        )
    return Shapes(examples=examples, files={f"test_{LOOP}.py": head + loop, f"test_{HELPER}.py": head + helper})


def with_examples(module: str, row: mbpp.Row, examples: str) -> str:
    """The module with these examples in the function's docstring."""
    tree = ast.parse(module)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == row.function.name:
            node.body[0] = ast.Expr(ast.Constant(f"{row.text}\n\n{examples}"))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


# -- the tables ---------------------------------------------------------------------------------------------------


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
    """Why cases have no proof by reversal, without names and numbers; then what was accused or refused."""
    counted: Counter[str] = Counter()
    unproven: Counter[str] = Counter()
    answers: dict[str, dict[str, None]] = {}
    for row in rows:
        for case, reason in row.get("unreversed", row["unproven"]).items():
            short = re.sub(r"\d+", "N", re.sub(r"\b(an?) \S+?, (whose|which)", r"\1 C, \2", reason))
            counted[short] += 1
            unproven[short] += case in row["unproven"]
            answers.setdefault(short, {})[row["id"]] = None
    lines = [
        "| not proven by reversal, because | cases | no other proof | answers | one of them |",
        "|---|---|---|---|---|",
    ]
    for reason, number in counted.most_common():
        mine = list(answers[reason])
        lines.append(f"| {reason} | {number} | {unproven[reason]} | {len(mine)} | {mine[0]} |")
    bad = [row for row in rows if row["status"] != "passed"]
    lines += [f"\n{row['status']}: {row['id']} ({row['edit']}): {row['reason']}" for row in bad]
    return "\n".join(lines)


# -- the cost -----------------------------------------------------------------------------------------------------


async def measure_cost(rounds: int, interpreter: str, folder: Path) -> None:
    """One test of one function: acceptance as it is, and without the reversal, beside pytest on the host."""
    place = cost.SandboxSpec(
        root=cost.make_project(folder / "one"),
        environment=cost.find_environment(interpreter),
        masked=cost.MASKED,
        limits=Limits(seconds=20),
    )
    times, bubblewrap = cost.Times(), cost.create_back_end("bubblewrap")
    session = await bubblewrap.open(place)
    await cost.let_learn(session)
    reverse = reversal.reverse

    async def none(*_arguments: object) -> tuple[None, reversal.ReversalResult]:
        return None, reversal.ReversalResult()

    async def without() -> None:
        reversal.reverse = none
        try:
            await cost.accept(bubblewrap, place)
        finally:
            reversal.reverse = reverse

    try:
        for _ in range(rounds):
            await times.measure("host, passing", lambda: cost.run_on_host(place))
            await times.measure("acceptance", lambda: cost.accept(bubblewrap, place))
            await times.measure("acceptance without reversal", without)
    finally:
        await session.close()
    cost.show(f"bubblewrap, one test, {rounds} rounds", times)


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
    parser.add_argument("--interpreter", default=sys.executable, help="that of --cost")
    arguments = parser.parse_args()
    if arguments.cost:
        with tempfile.TemporaryDirectory(prefix="greenloop-proofs-") as name:
            Path(name).chmod(0o755)
            asyncio.run(measure_cost(arguments.cost, arguments.interpreter, Path(name)))
        return 0
    arguments.cache.mkdir(parents=True, exist_ok=True)
    if not arguments.report:
        asyncio.run(run(arguments))
    rows = answers_of(arguments.cache)
    print(f"{table(rows)}\n\n{reasons(rows)}")
    return 1 if any(row["status"] != "passed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

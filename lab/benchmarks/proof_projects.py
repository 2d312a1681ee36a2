"""Honest answers in published projects, for `proofs.py`: the right code against the same with one token changed."""

from __future__ import annotations

import ast
import contextlib
import io
import random
import re
import sys
import tokenize
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import parity
from proof_acceptance import SECONDS, Shared, accepted, opened, row_of

from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verification_inputs import ACCEPTING
from greenloop_lab.bench.mutation.ast_edits import Edit, Source, apply_edits
from greenloop_lab.bench.mutation.operators import Function, all_edits
from greenloop_sandbox import TestRun, case_results, collected_cases
from greenloop_sandbox.report.traces import reached_functions

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
# The operators of greenloop_lab.bench that change one token.
ONE_TOKEN = frozenset(
    {
        "comparison", "arithmetic", "augmented assignment", "and/or", "dropped not", "constant", "wrong function",
        "wrong method", "wrong name",
    }
)  # fmt: skip


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

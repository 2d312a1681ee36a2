"""Mutation testing of a result: one-token changes of it, and which of them survive all tests.

Mutation analysis (DeMillo, Lipton and Sayward, "Hints on Test Data Selection", 1978): a change that no test notices is
either an equivalent program or something that the tests do not require. It is a report on request and decides nothing.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from greenloop.core.compose import compose
from greenloop.core.fingerprint import is_same_code
from greenloop.core.ports import Session
from greenloop.core.python.ast_source import (
    DEFINITIONS,
    compile_error,
    find_definitions,
    parse_module,
    plain_name,
    statement_blocks,
)
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import TestRun, WatchedLines
from greenloop.core.report.cases import case_results
from greenloop.core.report.traces import LineTrace, line_traces
from greenloop.core.test_selection import fit_selectors
from greenloop.core.text.diff import diff_hunks, with_plain_ends
from greenloop.drafting.candidates.changes.one_token import one_token_changes
from greenloop.verdict.inputs import VerificationInputs, check_sandbox

MOST_MUTANTS = 60  # at most so many changes are tried
TOTAL_SECONDS = 20.0  # wall time for all changes
SLOWER = 10  # times the duration with the result itself; a change that takes longer counts as noticed
LEAST_SECONDS = 1.0  # lower bound of the time limit for one change
SHOWN = 5  # survivors that the report names


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of one token: its line in the composed file, and that line before and after (`None`: removed)."""

    path: str
    line: int
    old: str
    new: str | None
    files: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Strength:
    """Result of mutation testing: `killed` of `tried` changes were noticed by one of `tests` tests.

    `survivors` are the others. `unreached` are lines of the result, by path, that no test runs; they are not mutated.
    `left` counts the changes that there was no time for.
    """

    tests: int
    tried: int = 0
    killed: int = 0
    survivors: tuple[Mutant, ...] = ()
    unreached: tuple[tuple[str, int], ...] = ()
    left: int = 0

    @property
    def share(self) -> float | None:
        """Share of the changes that were noticed, 0..1; None where nothing was tried."""
        return self.killed / self.tried if self.tried else None


def report_lines(strength: Strength) -> list[str]:
    """Formats the report for the user; the first line alone is a summary."""
    many, verb = ("1 test", "notices") if strength.tests == 1 else (f"{strength.tests} tests", "notice")
    if not strength.tests:
        return ["No test passes with this result, so nothing can be said about their strength."]
    if strength.share is None:
        rows = [f"There is no one-token change to try on {many}."]
    else:
        share = f"{100 * strength.share:.0f} %"
        rows = [f"The {many} {verb} {strength.killed} of {strength.tried} one-token changes ({share})."]
    if strength.survivors:
        rows.append("Your tests would also accept:")
        rows += [f"  {each.path}:{each.line}: {describe_mutant(each)}" for each in strength.survivors[:SHOWN]]
        if len(strength.survivors) > SHOWN:
            rows.append(f"  and {len(strength.survivors) - SHOWN} more")
    rows += [f"No test reaches {path}:{line}." for path, line in strength.unreached[:SHOWN]]
    if strength.left:
        rows.append(f"{strength.left} more were not tried: out of time.")
    return rows


def describe_mutant(mutant: Mutant) -> str:
    """Describes the change in one line."""
    if mutant.new is None:
        return f"without `{mutant.old.strip()}`"
    before, after = _tokens(mutant.old), _tokens(mutant.new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    removed, added = (" ".join(words[head : len(words) - tail]) for words in (before, after))
    if not removed or not added:  # a pure insertion or deletion: show the token before it too
        removed, added = (" ".join(words[max(head - 1, 0) : len(words) - tail]) for words in (before, after))
    return f"`{removed}` → `{added}` in `{mutant.old.strip()}`"


def _tokens(line: str) -> list[str]:
    try:
        tokens = [each.string for each in tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline)]
    except (tokenize.TokenError, SyntaxError):
        return line.split()
    return [each for each in tokens if each.strip()]


def make_mutants(problem: Problem, candidate: Candidate) -> list[Mutant]:
    """Returns the changes of the candidate's regions that compile and are not equivalent, one of each line first."""
    composed = compose(problem, candidate)
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    known_files = {tuple(sorted(composed.items()))}
    for region, text in candidate.texts.items():
        for change in one_token_changes(with_plain_ends(text)):
            mutated = replace(candidate, texts={**candidate.texts, region: change.text})
            files = compose(problem, mutated)
            key = tuple(sorted(files.items()))
            if key in known_files:
                continue
            known_files.add(key)
            hunk = next(iter(diff_hunks(with_plain_ends(composed[region.path]), with_plain_ends(files[region.path]))))
            old = with_plain_ends(composed[region.path]).split("\n")[hunk.start]
            new = "".join(hunk.lines).split("\n")[0] if hunk.lines else None
            mutant = Mutant(path=region.path, line=hunk.start + 1, old=old, new=new, files=files)
            if compile_error(with_plain_ends(files[region.path])) is None and not is_same_code(
                problem, mutated, candidate
            ):
                by_line.setdefault((mutant.path, mutant.line), []).append(mutant)
    return list(_spread(by_line))


def _spread(by_line: Mapping[tuple[str, int], Sequence[Mutant]]) -> Iterator[Mutant]:
    """Yields one mutant of each line, then the next of each."""
    for turn in range(max(map(len, by_line.values()), default=0)):
        for mutants in by_line.values():
            if turn < len(mutants):
                yield mutants[turn]


async def measure(
    inputs: VerificationInputs,
    session: Session,
    candidate: Candidate,
    *,
    seconds: float = TOTAL_SECONDS,
    report_status: Callable[[str], None],
) -> Strength:
    """Runs the changes over the target cases and related tests that pass with the candidate itself.

    Raises `SandboxBrokenError`. Cancelling it kills the run under way.
    """
    problem = inputs.problem
    accepted = compose(problem, candidate)
    related = fit_selectors(problem.neighbours)
    run = replace(inputs.test_run(accepted), seconds=inputs.limits.seconds + (inputs.suite_seconds if related else 0.0))
    run = replace(run, selectors=tuple(dict.fromkeys((*run.selectors, *related))))
    report_status("running the tests over the result")
    # A back end warms up only with the user's own code, and is many times faster afterwards.
    check_sandbox(await session.run(replace(run, files={**problem.buffers, **inputs.generated_files}, baseline=True)))
    began = monotonic()
    execution = await session.run(run)
    check_sandbox(execution)
    own_seconds = max(monotonic() - began, 0.01)
    green = frozenset(result.id for result in case_results(execution) if result.passed)
    if not green:
        return Strength(tests=0)
    mutants = make_mutants(problem, candidate)
    bodies = _bodies(candidate, accepted)
    spans = tuple(WatchedLines(path=path, start=min(lines), end=max(lines)) for path, lines in bodies if lines)
    watched = await session.run(replace(run, watch=spans))
    # A test that runs too many lines to be traced is ended early; what it did not get to may be reached.
    is_whole = green <= {result.id for result in case_results(watched) if result.passed}
    traces = line_traces(watched) if is_whole else {}
    reached_lines = {path: _reached(text, path, traces.values()) for path, text in accepted.items()} if traces else {}
    tried = [each for each in mutants if not traces or each.line in reached_lines[each.path]]
    survivors, killed = [], 0
    began = monotonic()
    for number, mutant in enumerate(tried[:MOST_MUTANTS], 1):
        if monotonic() - began > seconds:
            break
        report_status(f"change {number} of {min(len(tried), MOST_MUTANTS)}")
        if await _is_noticed(inputs, session, run, mutant, green, max(LEAST_SECONDS, SLOWER * own_seconds)):
            killed += 1
        else:
            survivors.append(mutant)
    count = killed + len(survivors)
    return Strength(
        tests=len(green),
        tried=count,
        killed=killed,
        survivors=tuple(survivors),
        unreached=tuple(
            sorted(
                {(path, line) for path, lines in bodies for line in lines if traces and line not in reached_lines[path]}
            )
        ),
        left=len(tried) - count,
    )


async def _is_noticed(
    inputs: VerificationInputs, session: Session, run: TestRun, mutant: Mutant, green: frozenset[str], seconds: float
) -> bool:
    overlay = {**inputs.problem.buffers, **inputs.encode(mutant.files)}
    files = {**run.files, **overlay}
    execution = await session.run(replace(run, files=files, seconds=min(seconds, run.seconds)))
    check_sandbox(execution)
    passed = {result.id for result in case_results(execution) if result.passed}
    return not green <= passed


def _bodies(candidate: Candidate, accepted: Mapping[str, str]) -> list[tuple[str, list[int]]]:
    """Lists each region's file with the lines on which its statements begin, without docstrings and definitions."""
    bodies = []
    for region in candidate.texts:
        module = parse_module(with_plain_ends(accepted[region.path]))
        body = module.body if isinstance(module, ast.Module) else []
        nodes = [node for name, node in find_definitions(body) if name == plain_name(region.qualname)]
        inside = [each for node in nodes[-1:] for each in ast.walk(node) if isinstance(each, ast.stmt)]
        statements = [each for each in inside if not isinstance(each, DEFINITIONS) and not _says_nothing(each)]
        bodies.append((region.path, sorted({each.lineno for each in statements})))
    return bodies


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _reached(text: str, path: str, traces: Iterable[LineTrace]) -> frozenset[int]:
    """Returns the lines of the file that any case runs; a statement of several lines counts as a whole."""
    ran = {line for each in traces for line in each.lines.get(path, ())}
    module = parse_module(with_plain_ends(text))
    for node in ast.walk(module) if isinstance(module, ast.Module) else ():
        if isinstance(node, ast.stmt):
            inner = [block[0].lineno for block in statement_blocks(node) if block]
            span = range(node.lineno, min(inner, default=(node.end_lineno or node.lineno) + 1) or node.lineno + 1)
            if ran & {*span}:
                ran |= {*span}
    return frozenset(ran)

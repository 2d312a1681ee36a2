"""Mutation testing of a result: one-token changes of it, and which of them survive all tests.

Mutation analysis (DeMillo, Lipton and Sayward, "Hints on Test Data Selection", 1978): a change that no test notices is
either an equivalent program or something that the tests do not require. It decides nothing.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from greenloop.core.fingerprint import code_digest
from greenloop.core.python.ast_source import DEFINITIONS, compile_error, parse_module, statement_blocks, walk_code
from greenloop.core.records.outcome import Noticed, Survivor
from greenloop.core.text.diff import diff_hunks, keep_ends, split_lines, with_plain_ends
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop.drafting.candidates.changes.one_token import one_token_changes
from greenloop.verdict.beyond_tests.changed_parts import ChangedPart
from greenloop_sandbox import Session, TestRun, WatchedLines, case_results
from greenloop_sandbox.report.traces import LineTrace, line_traces

MOST_MUTANTS = 60  # at most so many changes are tried
TOTAL_SECONDS = 20.0  # wall time for all changes
SLOWER = 5  # times the duration with the result itself; a change that takes longer counts as noticed
LEAST_SECONDS = 0.5  # lower bound of the time limit for one change
SHOWN = 5  # survivors that the report names


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of one token: its line in the file, that line before and after (`None`: removed), and the whole text."""

    path: str
    line: int
    old: str
    new: str | None
    text: str


def report_lines(strength: Noticed) -> list[str]:
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
        rows += [f"  {each.path}:{each.line}: {each.change}" for each in strength.survivors[:SHOWN]]
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


def make_mutants(
    texts: Mapping[str, str], parts: Sequence[ChangedPart], lines: Mapping[str, frozenset[int]] | None = None
) -> list[Mutant]:
    """Returns the changes of these parts that compile and are not equivalent, one of each line first.

    `lines`: only changes of these lines, by path.
    """
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for part in parts:
        text = texts[part.path]
        rows = split_lines(text)
        own = "".join(rows[part.start - 1 : part.end])
        known = {with_plain_ends(own)}
        for change in one_token_changes(with_plain_ends(own)):
            if change.text in known:
                continue
            known.add(change.text)
            mutated = "".join([*rows[: part.start - 1], keep_ends(own, change.text), *rows[part.end :]])
            hunk = next(iter(diff_hunks(with_plain_ends(text), with_plain_ends(mutated))))
            line = hunk.start + 1
            if (lines is not None and line not in lines.get(part.path, ())) or code_digest(change.text) == code_digest(
                own
            ):
                continue
            old = with_plain_ends(text).split("\n")[hunk.start]
            new = "".join(hunk.lines).split("\n")[0] if hunk.lines else None
            if compile_error(with_plain_ends(mutated)) is None:
                mutant = Mutant(path=part.path, line=line, old=old, new=new, text=mutated)
                by_line.setdefault((part.path, line), []).append(mutant)
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
    run: TestRun,
    texts: Mapping[str, str],
    parts: Sequence[ChangedPart],
    *,
    lines: Mapping[str, frozenset[int]] | None = None,
    seconds: float = TOTAL_SECONDS,
    most: int = MOST_MUTANTS,
    least: int = 0,
    report_status: Callable[[str], None] = lambda _text: None,
) -> Noticed:
    """Tries changes of these parts of the result: is one of the tests of `run` that pass with it noticing them?

    `texts` are whole ones, which `run` already has; `lines` are the only ones to be changed, where they are given. The
    first `least` changes are tried whatever time they take.
    Raises `SandboxBrokenError`. Cancelling it kills the run under way.
    """
    report_status("running the tests over the result")
    mutants = make_mutants(texts, parts, lines)
    bodies = {part: _body(part, texts[part.path], lines) for part in parts}
    spans = tuple(WatchedLines(path=part.path, start=min(body), end=max(body)) for part, body in bodies.items() if body)
    execution = watched = await session.run(replace(run, watch=spans))
    check_sandbox(watched)
    # A test that runs too many lines to be traced is ended early; what it did not get to may be reached.
    if watched.killed or not all(result.passed for result in case_results(watched)):
        execution = await session.run(run)
        check_sandbox(execution)
    green = frozenset(result.id for result in case_results(execution) if result.passed)
    if not green:
        return Noticed()
    traces = line_traces(watched) if green <= {result.id for result in case_results(watched) if result.passed} else {}
    reached_lines = {path: _reached(text, path, traces.values()) for path, text in texts.items()} if traces else {}
    tried = [each for each in mutants if not traces or each.line in reached_lines[each.path]]
    limit = max(LEAST_SECONDS, SLOWER * execution.seconds)
    survivors, killed = [], 0
    began = monotonic()
    for number, mutant in enumerate(tried[:most], 1):
        if number > least and monotonic() - began > seconds:
            break
        report_status(f"change {number} of {min(len(tried), most)}")
        if await _is_noticed(inputs, session, run, mutant, green, limit):
            killed += 1
        else:
            survivors.append(Survivor(path=mutant.path, line=mutant.line, change=describe_mutant(mutant)))
    count = killed + len(survivors)
    unreached = {
        (part.path, line)
        for part, body in bodies.items()
        for line in body
        if traces and line not in reached_lines[part.path]
    }
    return Noticed(
        tests=len(green),
        tried=count,
        killed=killed,
        survivors=tuple(survivors),
        unreached=tuple(sorted(unreached)),
        left=len(tried) - count,
    )


async def _is_noticed(
    inputs: VerificationInputs, session: Session, run: TestRun, mutant: Mutant, green: frozenset[str], seconds: float
) -> bool:
    files = {**run.files, **inputs.encode({mutant.path: mutant.text})}
    execution = await session.run(replace(run, files=files, seconds=min(seconds, run.seconds)))
    check_sandbox(execution)
    passed = {result.id for result in case_results(execution) if result.passed}
    return not green <= passed


def _body(part: ChangedPart, text: str, lines: Mapping[str, frozenset[int]] | None) -> list[int]:
    """The lines on which the part's statements begin, without docstrings and definitions."""
    said = (node for node in walk_code(text) if isinstance(node, ast.stmt))
    said = (node for node in said if not isinstance(node, (*DEFINITIONS, ast.Pass)))
    said = (node for node in said if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)))
    found = {node.lineno for node in said if part.start <= node.lineno <= part.end}
    return sorted(found if lines is None else found & lines.get(part.path, frozenset()))


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

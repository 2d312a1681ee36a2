"""Basic blocks of source text, and the path of a watched case through them.

After LDB (Zhong, Wang, Shang: "Debug like a Human", arXiv 2402.16906), whose blocks come from the control-flow graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.python.ast_source import DEFINITIONS
from greenloop_sandbox.report.traces import LineTrace, TracedStep

LOOPS = (ast.For, ast.AsyncFor, ast.While)
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
HOW = ("return", "yield", "raise")  # keys among the values of a call's last step that say how it ended


@dataclass(frozen=True)
class Block:
    """Statements of a file that run one after the other, as pairs of first and last line."""

    path: str
    statements: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.statements[0][0]

    @property
    def end(self) -> int:
        return max(end for _start, end in self.statements)

    def number(self, line: int) -> int:
        """The index of the statement on this line."""
        return next((number for number, (_start, end) in enumerate(self.statements) if line <= end), 0)


@dataclass
class Visit:
    """One run of a block: the variables before it, and the changes until its call left the block."""

    block: Block
    call: int
    before: Mapping[str, str]
    after: dict[str, str] = field(default_factory=dict)
    last: int = 0  # the newest line of this run


def basic_blocks(path: str, body: Sequence[ast.AST]) -> list[Block]:
    """Basic blocks in the order of the text. A loop header is a block of its own; branches and exits end a block."""
    collected: list[Block] = []
    stack = [body]
    while stack:
        statements: list[tuple[int, int]] = []
        for node in stack.pop():
            inner = list(_inner(node))
            stack += inner
            if isinstance(node, LOOPS):
                _close(path, statements, collected)
            if not _is_text(node):
                statements.append(_head(node))
            if isinstance(node, ENDS) or (inner and not isinstance(node, DEFINITIONS)):
                _close(path, statements, collected)
        _close(path, statements, collected)
    return sorted(collected, key=lambda block: block.start)


def block_visits(trace: LineTrace, blocks: Sequence[Block]) -> list[Visit]:
    """Each run of a block, in the order in which they began."""
    blocks_by_line: dict[tuple[str, int], Block] = {}
    for block in reversed(blocks):  # of two blocks on one line the first counts
        blocks_by_line.update({(block.path, line): block for line in range(block.start, block.end + 1)})
    values: dict[int, dict[str, str]] = {}
    running: dict[int, Visit] = {}
    started: list[Visit] = []
    for number, step in enumerate(trace.steps):
        if trace.left_out and number == trace.gap:
            running.clear()  # steps were left out, so the values are unknown
            values.clear()
        ends = any(name in step.values for name in HOW)
        variables = values.setdefault(step.call, {})
        variables.update({name: text for name, text in step.values.items() if name not in HOW})
        visit = running.get(step.call)
        if visit:
            visit.after.update(step.values)
        if ends:
            running.pop(step.call, None)
            continue
        current = blocks_by_line.get((step.path, step.line))
        if current is None:
            continue
        if visit and visit.block == current and _continues(visit, step):
            visit.last = step.line
            continue
        running[step.call] = Visit(current, step.call, dict(variables), last=step.line)
        started.append(running[step.call])
    return started


def _continues(visit: Visit, step: TracedStep) -> bool:
    """Does this step continue the block, at a later statement or another line of the same one, without a loop?"""
    previous, current = visit.block.number(visit.last), visit.block.number(step.line)
    first, last = visit.block.statements[current]
    return current > previous or (current == previous and last > first)


def _head(node: ast.AST) -> tuple[int, int]:
    """First and last line of a statement without its inner blocks."""
    line: int = getattr(node, "pattern", node).lineno  # type: ignore[union-attr]
    first = min([line, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    inner = [statements[0] for statements in _inner(node) if statements]
    if not inner:
        return first, getattr(node, "end_lineno", first)
    heads = [getattr(node, name, None) for name in ("test", "iter", "subject", "type", "pattern")]
    heads += [item.optional_vars or item.context_expr for item in getattr(node, "items", ())]
    ends = [head.end_lineno for head in heads if head is not None]
    return first, max([first, *ends])


def _inner(node: ast.AST) -> Iterator[Sequence[ast.AST]]:
    """The lists of statements inside a statement."""
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list) and statements:
            yield statements
    for name in ("handlers", "cases"):
        for part in getattr(node, name, ()):
            yield [part]


def _is_text(node: ast.AST) -> bool:
    """A docstring never runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _close(path: str, run: list[tuple[int, int]], blocks: list[Block]) -> None:
    if run:
        blocks.append(Block(path, tuple(run)))
    run.clear()

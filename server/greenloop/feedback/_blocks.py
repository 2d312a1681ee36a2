"""Basic blocks of source text, and how a watched case went through them.

After LDB (Zhong, Wang, Shang: "Debug like a Human", arXiv 2402.16906), whose blocks come from the control-flow graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.records import Step, Watched
from greenloop.core.source import DEFINITIONS

LOOPS = (ast.For, ast.AsyncFor, ast.While)
ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
HOW = ("return", "yield", "raise")  # how a call may end, among the values of its last step


@dataclass(frozen=True)
class Block:
    """Statements of a file that run one after the other, each by its first and last line."""

    path: str
    statements: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.statements[0][0]

    @property
    def end(self) -> int:
        return max(end for _start, end in self.statements)

    def number(self, line: int) -> int:
        """Which of its statements has this line."""
        return next((number for number, (_start, end) in enumerate(self.statements) if line <= end), 0)


@dataclass
class Visit:
    """A block that ran once: the variables before it, and what changed until its call went on elsewhere."""

    block: Block
    call: int
    before: Mapping[str, str]
    after: dict[str, str] = field(default_factory=dict)
    last: int = 0  # the newest line


def blocks(path: str, body: Sequence[ast.AST]) -> list[Block]:
    """In the order of the text; loop heads stand alone, and whatever branches or leaves ends a block."""
    found: list[Block] = []
    stack = [body]
    while stack:
        run: list[tuple[int, int]] = []
        for node in stack.pop():
            inner = list(_inner(node))
            stack += inner
            if isinstance(node, LOOPS):
                _close(path, run, found)
            if not _is_text(node):
                run.append(_head(node))
            if isinstance(node, ENDS) or (inner and not isinstance(node, DEFINITIONS)):
                _close(path, run, found)
        _close(path, run, found)
    return sorted(found, key=lambda block: block.start)


def visits(watched: Watched, found: Sequence[Block]) -> list[Visit]:
    """Each block that ran, in the order in which they began."""
    at: dict[tuple[str, int], Block] = {}
    for block in reversed(found):  # of two blocks on one line the first is told
        at.update({(block.path, line): block for line in range(block.start, block.end + 1)})
    values: dict[int, dict[str, str]] = {}
    running: dict[int, Visit] = {}
    made: list[Visit] = []
    for number, step in enumerate(watched.steps):
        if watched.left_out and number == watched.gap:
            running.clear()  # what changed meanwhile is not known
            values.clear()
        ends = any(name in step.values for name in HOW)
        known = values.setdefault(step.call, {})
        known.update({name: text for name, text in step.values.items() if name not in HOW})
        visit = running.get(step.call)
        if visit:
            visit.after.update(step.values)
        if ends:
            running.pop(step.call, None)
            continue
        here = at.get((step.path, step.line))
        if here is None:
            continue
        if visit and visit.block == here and _goes_on(visit, step):
            visit.last = step.line
            continue
        running[step.call] = Visit(here, step.call, dict(known), last=step.line)
        made.append(running[step.call])
    return made


def _goes_on(visit: Visit, step: Step) -> bool:
    """Whether this step is a later statement of the block, or another line of the same, and no repetition."""
    before, now = visit.block.number(visit.last), visit.block.number(step.line)
    first, last = visit.block.statements[now]
    return now > before or (now == before and last > first)


def _head(node: ast.AST) -> tuple[int, int]:
    """The lines of a statement without those of what it holds."""
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
    """The lists of statements that a statement holds."""
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


def _close(path: str, run: list[tuple[int, int]], found: list[Block]) -> None:
    if run:
        found.append(Block(path, tuple(run)))
    run.clear()

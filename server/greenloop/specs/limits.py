"""Checks limits that the user sets on a candidate's text, without running it.

Each limit fails with its own message. The kinds follow MultiCodeIF's classes of code constraints (arXiv 2507.00699).
Code that the user wrote and the candidate left unchanged does not count.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.errors import SettingsError
from greenloop.core.python.ast_source import FUNCTIONS, docstring_statement, dump_tree
from greenloop.specs import metrics
from greenloop.specs.changed_code import ChangedCode

RUFF = "ruff"
MOST = 3  # violations of one constraint that are reported
_SELECTOR = re.compile(r"[A-Z]{1,8}\d{0,4}")


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """One limit: its keyword and its arguments."""

    keyword: str
    values: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        return " ".join((self.keyword, *self.values))

    @property
    def number(self) -> int:
        return int(self.values[0])

    @property
    def prompt_text(self) -> str:
        """The limit as the prompt states it."""
        return _PROMPT_TEXTS[self.keyword].format(", ".join(self.values))


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One place where a limit is broken, as a sentence; `line` is a line of the composed file."""

    message: str
    line: int


def parse(words: Sequence[str]) -> tuple[Constraint, ...]:
    """Parses the setting, each keyword once: names given twice are combined, of numbers the last one counts.

    Raises `SettingsError` for an unknown keyword, naming the closest one, and for a bad number.
    """
    constraints: dict[str, Constraint] = {}
    previous = ""
    for entry in words:
        keyword, *values = entry.replace(",", " ").split() or [""]
        if previous == RUFF and not values and _SELECTOR.fullmatch(keyword):  # `ruff E,F` was split at the comma
            keyword, values = RUFF, [keyword]
        kind = KINDS.get(keyword)
        if kind is None:
            closest = difflib.get_close_matches(keyword, KINDS, n=1)
            remedy = f"Did you mean `{closest[0]}`?" if closest else f"There are: {', '.join(KINDS)}."
            raise SettingsError(f"`spec.constraints` has no constraint '{entry}'.", remedy=remedy)
        if not kind.accepts(values):
            raise SettingsError(
                f"The constraint '{entry}' {kind.requirement}.", remedy=f"Write `{keyword} {kind.example}`."
            )
        earlier_values = constraints[keyword].values if keyword in constraints and kind is NAMES else ()
        constraints[keyword] = Constraint(keyword=keyword, values=tuple(dict.fromkeys((*earlier_values, *values))))
        previous = keyword
    return tuple(constraints.values())


def find_violations(constraint: Constraint, changed_code: ChangedCode) -> list[Violation]:
    """Finds where the candidate breaks it; `ruff` is not checked here."""
    if constraint.keyword == RUFF:
        return []
    try:
        return list(dict.fromkeys(_CHECKS[constraint.keyword](constraint, changed_code)))
    except RecursionError:  # a chain of a thousand `elif`
        return [Violation(message=f"The code nests too deep for `{constraint.source}` to be judged.", line=1)]


def violation_sentence(violations: Sequence[Violation]) -> str:
    """Joins the first violations, each sentence once."""
    messages = list(dict.fromkeys(fault.message for fault in violations))
    rest = f" And {len(messages) - MOST} more." if len(messages) > MOST else ""
    return " ".join(messages[:MOST]) + rest


# -- the kinds ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """The arguments that a keyword takes."""

    accepts: Callable[[Sequence[str]], bool]
    requirement: str
    example: str


def _is_number(values: Sequence[str]) -> bool:
    return len(values) == 1 and values[0].isascii() and values[0].isdecimal() and len(values[0]) < 10


BARE = Kind(lambda values: not values, "takes no argument", "")
NUMBER = Kind(_is_number, "needs one whole number", "20")
NAMES = Kind(bool, "needs at least one name", "NAME")
KINDS = {
    "no-imports": BARE,
    "imports": NAMES,
    "signature": BARE,
    "max-lines": NUMBER,
    "max-complexity": NUMBER,
    "max-nesting": NUMBER,
    "forbid": NAMES,
    "no-recursion": BARE,
    "no-globals": BARE,
    "docstring": BARE,
    "typed": BARE,
    RUFF: NAMES,
}


_PROMPT_TEXTS = {
    "no-imports": "import nothing",
    "imports": "import nothing but {}",
    "signature": "keep the signature as it is",
    "max-lines": "at most {} lines of code in a function",
    "max-complexity": "a cyclomatic complexity of at most {}",
    "max-nesting": "blocks nested at most {} deep",
    "forbid": "do not use {}",
    "no-recursion": "no recursion",
    "no-globals": "no global variables",
    "docstring": "keep the docstring as it is",
    "typed": "annotate all parameters and the result",
    RUFF: "keep to ruff's rules {}",
}


def _no_imports(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for name, line in metrics.imports(changed_code.checked_nodes):
        yield Violation(message=f"The code imports {name}; no imports are allowed.", line=line)


def _imports(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    allowed = ", ".join(constraint.values)
    for name, line in metrics.imports(changed_code.checked_nodes):
        if not any(name == each or name.startswith(f"{each}.") for each in constraint.values):
            yield Violation(message=f"The code imports {name}; only {allowed} may be imported.", line=line)


def _signature(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    old, new = changed_code.original_node, changed_code.changed_node
    if isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS):
        same = (
            type(old) is type(new)
            and dump_tree(old.args) == dump_tree(new.args)
            and dump_tree(old.returns) == dump_tree(new.returns)
        )
        if not same:
            message = f"The signature became `{_head(new)}`; it must stay `{_head(old)}`."
            yield Violation(message=message, line=new.lineno)


def _head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{kind} {node.name}({ast.unparse(node.args)}){returns}"


def _max_lines(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    rows = changed_code.text.split("\n")
    for who, node in changed_code.functions():
        if (count := metrics.line_count(node, rows)) > constraint.number:
            yield _over_limit(f"{who} has {count} lines", constraint, node)


def _max_complexity(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for who, node in changed_code.functions():
        if (count := metrics.complexity(node)) > constraint.number:
            yield _over_limit(f"{who} has a complexity of {count}", constraint, node)


def _max_nesting(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for who, node in changed_code.functions():
        if (count := metrics.nesting(node.body)) > constraint.number:
            yield _over_limit(f"{who} is nested {count} deep", constraint, node)


def _over_limit(measurement: str, constraint: Constraint, node: ast.stmt) -> Violation:
    plural = "are" if constraint.keyword == "max-lines" and constraint.number != 1 else "is"
    return Violation(message=f"{measurement}, at most {constraint.number} {plural} allowed.", line=node.lineno)


def _forbid(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for name, line in metrics.names_read(changed_code.checked_nodes, changed_code.module):
        if name in constraint.values:
            yield Violation(message=f"The code uses {name}, which is forbidden.", line=line)


def _no_recursion(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for name, line in metrics.recursion([node for _who, node in changed_code.functions()]):
        yield Violation(message=f"`{name}` calls itself; recursion is not allowed.", line=line)


def _no_globals(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for name, line in metrics.global_names([node for _who, node in changed_code.functions()], changed_code.module):
        yield Violation(message=f"The code uses the global variable {name}; none are allowed.", line=line)


def _docstring(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    old = docstring_statement(changed_code.original_node) if changed_code.original_node else None
    if old is None or changed_code.changed_node is None:
        return
    new = docstring_statement(changed_code.changed_node)
    if new is None:
        yield Violation(message="The docstring is gone; it must be kept.", line=changed_code.changed_node.lineno)
    elif dump_tree(old) != dump_tree(new):
        yield Violation(message="The docstring was changed; it must be kept.", line=new.lineno)


def _typed(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    for who, node in changed_code.functions():
        missing = list(metrics.unannotated_parameters(node))
        names = ", ".join(f"`{name}`" for name in missing if name != "return")
        gaps = [f"no annotation for {names}"] if names else []
        gaps += ["no return annotation"] if "return" in missing else []
        if gaps:
            yield Violation(message=f"{who} has {' and '.join(gaps)}.", line=node.lineno)


_CHECKS: dict[str, Callable[[Constraint, ChangedCode], Iterator[Violation]]] = {
    "no-imports": _no_imports,
    "imports": _imports,
    "signature": _signature,
    "max-lines": _max_lines,
    "max-complexity": _max_complexity,
    "max-nesting": _max_nesting,
    "forbid": _forbid,
    "no-recursion": _no_recursion,
    "no-globals": _no_globals,
    "docstring": _docstring,
    "typed": _typed,
}

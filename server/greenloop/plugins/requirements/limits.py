"""Checks limits that the user sets on a candidate's text, without running it.

Each limit fails with its own message. The kinds follow MultiCodeIF's classes of code constraints (arXiv 2507.00699).
Code that the user wrote and the candidate left unchanged does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.errors import SettingsError
from greenloop.core.python.ast_source import FUNCTIONS, Function, docstring_statement, dump_tree, function_header
from greenloop.core.text.similar import closest
from greenloop.plugins.requirements import metrics
from greenloop.plugins.requirements.changed_code import ChangedCode

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
    def prompt_text(self) -> str:
        """The limit as the prompt states it."""
        return KINDS[self.keyword].prompt_text.format(", ".join(self.values))


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
            near = closest(keyword, KINDS)
            remedy = f"Did you mean `{near}`?" if near else f"There are: {', '.join(KINDS)}."
            raise SettingsError(f"`spec.constraints` has no constraint '{entry}'.", remedy=remedy)
        arguments = kind.arguments
        if not arguments.accepts(values):
            raise SettingsError(
                f"The constraint '{entry}' {arguments.requirement}.", remedy=f"Write `{keyword} {arguments.example}`."
            )
        earlier_values = constraints[keyword].values if keyword in constraints and arguments is NAMES else ()
        constraints[keyword] = Constraint(keyword=keyword, values=tuple(dict.fromkeys((*earlier_values, *values))))
        previous = keyword
    return tuple(constraints.values())


def find_violations(constraint: Constraint, changed_code: ChangedCode) -> list[Violation]:
    """Finds where the candidate breaks it; `ruff` is not checked here."""
    try:
        return list(dict.fromkeys(KINDS[constraint.keyword].find(constraint, changed_code)))
    except RecursionError:  # a chain of a thousand `elif`
        return [Violation(message=f"The code nests too deep for `{constraint.source}` to be judged.", line=1)]


def violation_sentence(violations: Sequence[Violation]) -> str:
    """Joins the first violations, each sentence once."""
    messages = list(dict.fromkeys(fault.message for fault in violations))
    rest = f" And {len(messages) - MOST} more." if len(messages) > MOST else ""
    return " ".join(messages[:MOST]) + rest


# -- the kinds ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arguments:
    """The arguments that a keyword takes."""

    accepts: Callable[[Sequence[str]], bool]
    requirement: str
    example: str


BARE = Arguments(lambda values: not values, "takes no argument", "")
NUMBER = Arguments(lambda values: bool(re.fullmatch("[0-9]{1,9}", " ".join(values))), "needs one whole number", "20")
NAMES = Arguments(bool, "needs at least one name", "NAME")


def _imports(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    allowed = ", ".join(constraint.values)
    rule = f"only {allowed} may be imported" if allowed else "no imports are allowed"
    for name, line in metrics.imports(changed_code.checked_nodes):
        if not any(name == each or name.startswith(f"{each}.") for each in constraint.values):
            yield Violation(message=f"The code imports {name}; {rule}.", line=line)


def _signature(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    old, new = changed_code.original_node, changed_code.changed_node
    if isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS):
        headers = [(type(each), dump_tree(each.args), dump_tree(each.returns)) for each in (old, new)]
        if headers[0] != headers[1]:
            message = f"The signature became `{function_header(new)}`; it must stay `{function_header(old)}`."
            yield Violation(message=message, line=new.lineno)


_MEASURES: dict[str, tuple[Callable[[Function, Sequence[str]], int], str]] = {
    "max-lines": (metrics.line_count, "has {} lines"),
    "max-complexity": (lambda node, _rows: metrics.complexity(node), "has a complexity of {}"),
    "max-nesting": (lambda node, _rows: metrics.nesting(node.body), "is nested {} deep"),
}


def _size(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    measure, wording = _MEASURES[constraint.keyword]
    limit = int(constraint.values[0])
    verb = "are" if constraint.keyword == "max-lines" and limit != 1 else "is"
    rows = changed_code.text.split("\n")
    for who, node in changed_code.functions():
        if (count := measure(node, rows)) > limit:
            message = f"{who} {wording.format(count)}, at most {limit} {verb} allowed."
            yield Violation(message=message, line=node.lineno)


def _defines(constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    node, least = changed_code.changed_node, int(constraint.values[0])
    if node is not None and (count := len(metrics.own_functions(node, changed_code.module))) < least:
        made = "one function" if count == 1 else f"{count} functions"
        message = f"The code is made of {made}, at least {least} are asked for, with those that it calls in its file."
        yield Violation(message=message, line=node.lineno)


def _extracts(_constraint: Constraint, changed_code: ChangedCode) -> Iterator[Violation]:
    old, new = changed_code.original_node, changed_code.changed_node
    if not isinstance(old, FUNCTIONS) or not isinstance(new, FUNCTIONS):
        return
    added = {node.name for who, node in changed_code.functions() if node is not new}
    helpers = sorted(added & {name for _on_self, name in metrics.called_names(new)})
    if not helpers:
        yield Violation(message="No part of it was extracted: it calls no new function of its file.", line=new.lineno)
        return
    before, after = (
        metrics.line_count(node, text.split("\n"))
        for node, text in ((old, changed_code.original_text), (new, changed_code.text))
    )
    if after >= before:
        message = f"The function calls the new `{helpers[0]}` and still has {after} lines; it had {before}."
        yield Violation(message=message, line=new.lineno)


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


@dataclass(frozen=True)
class LimitKind:
    """A keyword: its arguments, how the prompt states it, and what finds where it is broken."""

    arguments: Arguments
    prompt_text: str
    find: Callable[[Constraint, ChangedCode], Iterator[Violation]]


KINDS = {
    "no-imports": LimitKind(BARE, "import nothing", _imports),
    "imports": LimitKind(NAMES, "import nothing but {}", _imports),
    "signature": LimitKind(BARE, "keep the signature as it is", _signature),
    "max-lines": LimitKind(NUMBER, "at most {} lines of code in a function", _size),
    "max-complexity": LimitKind(NUMBER, "a cyclomatic complexity of at most {}", _size),
    "max-nesting": LimitKind(NUMBER, "blocks nested at most {} deep", _size),
    "defines": LimitKind(NUMBER, "divide it into at least {} functions", _defines),
    "extracts": LimitKind(
        BARE, "move a part of it into a new function that it calls, so that it gets shorter", _extracts
    ),
    "forbid": LimitKind(NAMES, "do not use {}", _forbid),
    "no-recursion": LimitKind(BARE, "no recursion", _no_recursion),
    "no-globals": LimitKind(BARE, "no global variables", _no_globals),
    "docstring": LimitKind(BARE, "keep the docstring as it is", _docstring),
    "typed": LimitKind(BARE, "annotate all parameters and the result", _typed),
    RUFF: LimitKind(
        NAMES, "keep to ruff's rules {}", lambda _constraint, _changed_code: iter(())
    ),  # see kinds/constraints
}

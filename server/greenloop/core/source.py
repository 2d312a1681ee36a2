r"""Python source as text: parsing without exceptions, definitions by name, indentation.

Works on pieces of code too (an indented method, a file that is broken further down). Everything here sees `\n` as the
only line end; `diff.keep_ends` gives a file its own ends back.
"""

from __future__ import annotations

import ast
import io
import re
import threading
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from greenloop.core.diff import flat
from greenloop.core.telling import told

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MARGIN = " \t\f"

# catch_warnings changes the whole process: two threads at a time could leave the filters changed for good.
_QUIET = threading.Lock()
_QUOTED = ("FSTRING", "TSTRING")  # token families that newer tokenizers split into start, middle and end


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Parsed code. `lines[node.lineno - 1]` is a node's first line; the first `shift` lines are not of the text."""

    lines: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    shift: int = 0


@lru_cache(maxsize=16)  # one read, check and composition look at the same few modules again and again
def tree(text: str) -> ast.Module | SyntaxError:
    """The syntax tree of a module, or why there is none. Whatever the parser does, it is returned, not raised.

    Trees are shared: nobody may change them.
    """
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, nesting beyond the parser's stack
        return SyntaxError(str(error) or type(error).__name__)


def compiled(text: str) -> SyntaxError | None:
    """Why a module does not compile; also finds what the parser lets pass (`return` outside a function)."""
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<candidate>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or type(error).__name__)
    return None


def piece(text: str) -> Piece | SyntaxError:
    """Parsed code that may be indented as a whole (a method cut out of its class). Errors count lines of `text`."""
    text = flat(text)
    first = next((line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    if first[:1] not in (" ", "\t"):
        module = tree(text)
        if isinstance(module, SyntaxError):
            return module
        return Piece(lines=tuple(text.split("\n")), body=tuple(module.body))
    wrapped = "if 1:\n" + text
    module = tree(wrapped)
    if isinstance(module, SyntaxError):
        error = type(module)(module.msg)
        error.lineno = max((module.lineno or 1) - 1, 1)
        return error
    block = module.body[0]
    if len(module.body) > 1 or not isinstance(block, ast.If):
        return SyntaxError("unindent does not match any outer indentation level")
    return Piece(lines=tuple(wrapped.split("\n")), body=tuple(block.body), shift=1)


def definitions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Every function and class with its qualified name (`outer.inner`, without `<locals>`), in source order."""
    waiting = [(node, prefix) for node in reversed(body)]  # not recursive: an `elif` is deeper than the one before
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, DEFINITIONS):
            yield above + node.name, node
            waiting += [(inner, f"{above}{node.name}.") for inner in reversed(node.body)]
            continue
        waiting += [(inner, above) for block in reversed(list(blocks(node))) for inner in reversed(block)]


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statement lists inside a compound statement that share its scope."""
    for name in ("body", "orelse", "finalbody"):
        if isinstance(inner := getattr(node, name, None), list):
            yield inner
    for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        yield part.body


def plain_name(qualname: str) -> str:
    """A qualified name without the `<locals>` that Python writes into it."""
    return qualname.replace(".<locals>", "")


def role(node: ast.AST) -> str:
    """What sets functions of one name apart: overload, getter, setter, deleter, register, or nothing."""
    for decorator in getattr(node, "decorator_list", []):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in ("overload", "setter", "deleter", "getter", "register"):
            return name
    return ""


def start_of(node: ast.stmt, lines: Sequence[str]) -> int:
    """The 1-based line a statement begins on, decorators included."""
    first: int = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    while first < node.lineno and not lines[first - 1].lstrip(MARGIN).startswith("@"):
        first -= 1  # the expression of a decorator may begin lines below its @
    return first


def text_of(node: ast.AST, lines: Sequence[str]) -> str:
    """The exact source of an expression or statement, without decorators. Columns of `ast` count UTF-8 bytes."""
    first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
    rows = [line.encode() for line in lines[first : last + 1]]
    rows[-1] = rows[-1][: node.end_col_offset]  # type: ignore[attr-defined]
    rows[0] = rows[0][node.col_offset :]  # type: ignore[attr-defined]
    return b"\n".join(rows).decode()


def docstring(node: ast.AST) -> ast.Expr | None:
    """The statement that is a function's, class's or module's docstring."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return body[0]
    return None


def dump(node: ast.AST | None) -> str:
    """What a tree means, without positions: equal dumps, equal code."""
    return " ".join(told([node])) if node is not None else ""


# -- indentation ------------------------------------------------------------------------------------------------


def margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(MARGIN))]


def unit_of(text: str, default: str = "    ") -> str:
    """One step of indentation as a text uses it: a tab, two spaces, four."""
    counted: Counter[str] = Counter()
    before = ""
    for line in flat(text).split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        here = margin(before)
        if re.search(r":\s*(#.*)?$", before) and margin(line).startswith(here) and len(margin(line)) > len(here):
            counted[margin(line)[len(here) :]] += 1
        before = line
    return counted.most_common(1)[0][0] if counted else default


def reindent(source: Piece, first: int, last: int, base: str, unit: str) -> list[str]:
    """The lines `first`..`last` (1-based, inclusive) with their margin at `base` and steps of `unit`.

    The insides of strings stay untouched; continuation lines move with the line they continue.
    """
    depths, verbatim, inside = _layout(source.lines)
    top = next((number for number in range(first, last + 1) if number in depths), first)  # below leading comments
    origin = depths.setdefault(top, 0)
    step = _step(source.lines, depths, top, last, unit)
    result: list[str] = []
    old = new = ""
    for number in range(first, last + 1):
        line = source.lines[number - 1]
        rest = line.lstrip(MARGIN)
        if number in verbatim:
            result.append(line)
        elif not rest:
            result.append(line.strip(" \t"))
        elif number in depths:
            old, new = margin(line), base + unit * max(depths[number] - origin, 0)
            result.append(new + rest)
        elif number in inside:
            result.append(_moved(margin(line), old, new, step, unit) + rest)
        else:
            depth = _comment_depth(source.lines, number, depths)
            result.append(base + unit * max(depth - origin, 0) + rest)
    return result


def _layout(lines: Sequence[str]) -> tuple[dict[int, int], set[int], set[int]]:
    """Depth of each logical line by its first line's number; lines that begin inside a string; continuation lines."""
    depths: dict[int, int] = {}
    verbatim: set[int] = set()
    inside: set[int] = set()
    depth, logical = 0, 0
    quoted: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            name = tokenize.tok_name[token.type]
            if name in ("INDENT", "DEDENT"):
                depth += 1 if name == "INDENT" else -1
            elif name == "NEWLINE":
                inside.update(range(logical + 1, token.start[0] + 1))
                logical = 0
            elif name not in ("NL", "COMMENT", "ENDMARKER", "ENCODING") and not logical:
                logical = token.start[0]
                depths[logical] = depth
            if name == "STRING":
                verbatim.update(range(token.start[0] + 1, token.end[0] + 1))
            elif name.endswith("_START") and name.startswith(_QUOTED):
                quoted.append(token.start[0])
            elif name.endswith("_END") and name.startswith(_QUOTED):
                verbatim.update(range(quoted.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass  # the rest is moved by its margin alone
    return depths, verbatim, inside - verbatim


def _step(lines: Sequence[str], depths: dict[int, int], first: int, last: int, default: str) -> str:
    """The step of indentation that lines `first`..`last` use themselves."""
    before = first
    for number in range(first + 1, last + 1):
        if number in depths:
            if depths[number] == depths[before] + 1:
                return margin(lines[number - 1])[len(margin(lines[before - 1])) :] or default
            before = number
    return default


def _moved(here: str, old: str, new: str, step: str, unit: str) -> str:
    if not here.startswith(old):
        return here
    extra = here[len(old) :]
    if step != unit and extra in (step, step * 2):  # a hanging indent; anything else is aligned with a bracket
        extra = unit * (len(extra) // len(step))
    return new + extra


def _comment_depth(lines: Sequence[str], number: int, depths: dict[int, int]) -> int:
    """A comment belongs to the line below it when the margins agree, else to the nearest line above with its margin."""
    here = margin(lines[number - 1])
    below = next((other for other in range(number + 1, len(lines) + 1) if other in depths), None)
    above = [other for other in range(number - 1, 0, -1) if other in depths]
    for other in [*([below] if below else []), *above]:
        if margin(lines[other - 1]) == here:
            return depths[other]
    nearest = below or (above[0] if above else None)
    return depths[nearest] if nearest else 0

r"""Python source as text: parsing without exceptions, definitions by name, indentation.

Works on fragments too (an indented method, a file that is broken further down). `\n` is the only line end here;
`diff.keep_line_ends` restores the line ends of a file.
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

from greenloop.core.python.ast_dump import dump_words
from greenloop.core.text.diff import with_plain_ends

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MARGIN = " \t\f"

# catch_warnings changes the whole process: two threads at once could leave the filters changed permanently.
_QUIET = threading.Lock()
_QUOTED = ("FSTRING", "TSTRING")  # token families that newer tokenizers split into start, middle and end


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """Parsed code. `lines[node.lineno - 1]` is a node's first line; the first `shift` lines are not in the text."""

    lines: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    shift: int = 0


@lru_cache(maxsize=16)  # reading, checking and composing a candidate parse the same few modules
def parse_module(text: str) -> ast.Module | SyntaxError:
    """The syntax tree of a module, or the error: whatever the parser raises is returned.

    Trees are shared: callers must not change them.
    """
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, nesting beyond the parser's stack
        return SyntaxError(str(error) or type(error).__name__)


def compile_error(text: str) -> SyntaxError | None:
    """The error that keeps a module from compiling, also where the parser misses it (`return` outside a function)."""
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<candidate>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or type(error).__name__)
    return None


def parse_fragment(text: str) -> Fragment | SyntaxError:
    """Parses code that may be indented as a whole (a method cut out of its class). Errors count lines of `text`."""
    text = with_plain_ends(text)
    first_code_line = next(
        (line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")), ""
    )
    if first_code_line[:1] not in (" ", "\t"):
        module = parse_module(text)
        if isinstance(module, SyntaxError):
            return module
        return Fragment(lines=tuple(text.split("\n")), body=tuple(module.body))
    wrapped_text = "if 1:\n" + text
    module = parse_module(wrapped_text)
    if isinstance(module, SyntaxError):
        error = type(module)(module.msg)
        error.lineno = max((module.lineno or 1) - 1, 1)
        return error
    block = module.body[0]
    if len(module.body) > 1 or not isinstance(block, ast.If):
        return SyntaxError("unindent does not match any outer indentation level")
    return Fragment(lines=tuple(wrapped_text.split("\n")), body=tuple(block.body), shift=1)


def statements_of(text: str) -> Sequence[ast.stmt]:
    """The statements of a module or fragment; none where it cannot be parsed."""
    parsed = parse_fragment(text)
    return () if isinstance(parsed, SyntaxError) else parsed.body


def walk_code(text: str) -> Iterator[ast.AST]:
    """Yields every node of a module or fragment; none where it cannot be parsed."""
    return (node for statement in statements_of(text) for node in ast.walk(statement))


def first_definition(text: str) -> Definition | None:
    """The first function or class of a fragment; None where it has none or cannot be parsed."""
    return next((node for node in statements_of(text) if isinstance(node, DEFINITIONS)), None)


def region_definition(text: str, start: int, end: int) -> tuple[Definition, int] | None:
    """The definition in these lines of a file, whose rest may be broken, and the offset of its line numbers."""
    fragment = parse_fragment("\n".join(with_plain_ends(text).split("\n")[start - 1 : end]))
    if isinstance(fragment, SyntaxError):
        return None
    node = next((each for each in fragment.body if isinstance(each, DEFINITIONS)), None)
    return (node, start - 1 - fragment.shift) if node else None


def find_definitions(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Yields every function and class with its qualified name (`outer.inner`, without `<locals>`), in source order."""
    waiting = [(node, prefix) for node in reversed(body)]  # not recursive: each `elif` nests one level deeper
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, DEFINITIONS):
            yield above + node.name, node
            waiting += [(inner, f"{above}{node.name}.") for inner in reversed(node.body)]
            continue
        waiting += [(inner, above) for block in reversed(list(statement_blocks(node))) for inner in reversed(block)]


def statement_blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statement lists in a compound statement that share its scope."""
    for name in ("body", "orelse", "finalbody"):
        if isinstance(inner := getattr(node, name, None), list):
            yield inner
    for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        yield part.body


def plain_name(qualname: str) -> str:
    """A qualified name without the `<locals>` that Python writes into it."""
    return qualname.replace(".<locals>", "")


def function_header(node: Function) -> str:
    """The function's header in one line, without the colon."""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}"


def decorator_role(node: ast.AST) -> str:
    """The decorator that distinguishes functions of one name: overload, getter, setter, deleter, register, or ""."""
    for decorator in getattr(node, "decorator_list", []):
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in ("overload", "setter", "deleter", "getter", "register"):
            return name
    return ""


def start_line(node: ast.stmt, lines: Sequence[str]) -> int:
    """The 1-based line a statement begins on, decorators included."""
    line: int = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    while line < node.lineno and not lines[line - 1].lstrip(MARGIN).startswith("@"):
        line -= 1  # a decorator's expression may begin lines below its @
    return line


def source_of(node: ast.AST, lines: Sequence[str]) -> str:
    """The exact source of an expression or statement, without decorators. Columns of `ast` count UTF-8 bytes."""
    first_index, last_index = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
    rows = [line.encode() for line in lines[first_index : last_index + 1]]
    rows[-1] = rows[-1][: node.end_col_offset]  # type: ignore[attr-defined]
    rows[0] = rows[0][node.col_offset :]  # type: ignore[attr-defined]
    return b"\n".join(rows).decode()


def docstring_statement(node: ast.AST) -> ast.Expr | None:
    """The statement that is a function's, class's or module's docstring."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return body[0]
    return None


def dump_tree(node: ast.AST | None) -> str:
    """A tree as words, without positions: equal dumps, equal code."""
    return " ".join(dump_words([node])) if node is not None else ""


# -- indentation ------------------------------------------------------------------------------------------------


def indentation_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(MARGIN))]


def indentation_unit(text: str) -> str:
    """The step of indentation that a text uses most: a tab, two spaces, four."""
    counts: Counter[str] = Counter()
    previous = ""
    for line in with_plain_ends(text).split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        previous_indent = indentation_of(previous)
        if (
            re.search(r":\s*(#.*)?$", previous)
            and indentation_of(line).startswith(previous_indent)
            and len(indentation_of(line)) > len(previous_indent)
        ):
            counts[indentation_of(line)[len(previous_indent) :]] += 1
        previous = line
    return counts.most_common(1)[0][0] if counts else "    "


def reindent(source: Fragment, first: int, last: int, base_indent: str, unit: str) -> list[str]:
    """The lines `first`..`last` (1-based, inclusive) indented from `base_indent` in steps of `unit`.

    The contents of strings stay unchanged; continuation lines move with the line they continue.
    """
    depths, verbatim, continuations = _layout(source.lines)
    # Leading comments come before the first logical line.
    first_logical = next((number for number in range(first, last + 1) if number in depths), first)
    top_depth = depths.setdefault(first_logical, 0)
    step = _indentation_step(source.lines, depths, first_logical, last, unit)
    result: list[str] = []
    old_indent = new_indent = ""
    for number in range(first, last + 1):
        line = source.lines[number - 1]
        code = line.lstrip(MARGIN)
        if number in verbatim:
            result.append(line)
        elif not code:
            result.append(line.strip(" \t"))
        elif number in depths:
            old_indent, new_indent = indentation_of(line), base_indent + unit * max(depths[number] - top_depth, 0)
            result.append(new_indent + code)
        elif number in continuations:
            result.append(_move_indent(indentation_of(line), old_indent, new_indent, step, unit) + code)
        else:
            depth = _comment_depth(source.lines, number, depths)
            result.append(base_indent + unit * max(depth - top_depth, 0) + code)
    return result


def _layout(lines: Sequence[str]) -> tuple[dict[int, int], set[int], set[int]]:
    """Depth of each logical line, by its first line's number; lines that begin inside a string; continuation lines."""
    depths: dict[int, int] = {}
    verbatim: set[int] = set()
    continuations: set[int] = set()
    depth, statement_line = 0, 0
    string_starts: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            name = tokenize.tok_name[token.type]
            if name in ("INDENT", "DEDENT"):
                depth += 1 if name == "INDENT" else -1
            elif name == "NEWLINE":
                continuations.update(range(statement_line + 1, token.start[0] + 1))
                statement_line = 0
            elif name not in ("NL", "COMMENT", "ENDMARKER", "ENCODING") and not statement_line:
                statement_line = token.start[0]
                depths[statement_line] = depth
            if name == "STRING":
                verbatim.update(range(token.start[0] + 1, token.end[0] + 1))
            elif name.endswith("_START") and name.startswith(_QUOTED):
                string_starts.append(token.start[0])
            elif name.endswith("_END") and name.startswith(_QUOTED):
                verbatim.update(range(string_starts.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass  # the rest is moved by its indentation alone
    return depths, verbatim, continuations - verbatim


def _indentation_step(lines: Sequence[str], depths: dict[int, int], first: int, last: int, default: str) -> str:
    """The step of indentation that the lines `first`..`last` use."""
    previous = first
    for number in range(first + 1, last + 1):
        if number in depths:
            if depths[number] == depths[previous] + 1:
                return indentation_of(lines[number - 1])[len(indentation_of(lines[previous - 1])) :] or default
            previous = number
    return default


def _move_indent(indent: str, old: str, new: str, step: str, unit: str) -> str:
    if not indent.startswith(old):
        return indent
    extra = indent[len(old) :]
    if step != unit and extra in (step, step * 2):  # a hanging indent; any other is aligned with a bracket
        extra = unit * (len(extra) // len(step))
    return new + extra


def _comment_depth(lines: Sequence[str], number: int, depths: dict[int, int]) -> int:
    """The depth of the line below where its indentation is the same, else of the nearest such line above."""
    comment_indent = indentation_of(lines[number - 1])
    below = next((line for line in range(number + 1, len(lines) + 1) if line in depths), None)
    above = [line for line in range(number - 1, 0, -1) if line in depths]
    for line in [*([below] if below else []), *above]:
        if indentation_of(lines[line - 1]) == comment_indent:
            return depths[line]
    nearest = below or (above[0] if above else None)
    return depths[nearest] if nearest else 0

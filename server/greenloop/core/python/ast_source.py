r"""Python source as text: parsing without exceptions, definitions by name.

Works on fragments too (an indented method, a file that is broken further down). `\n` is the only line end here;
`diff.keep_line_ends` restores the line ends of a file.
"""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from greenloop.core.text.diff import with_plain_ends

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MARGIN = " \t\f"
# Whatever the parser raises for a text: besides errors of syntax for null bytes, for nesting beyond its stack, and for
# a depth that it miscounted.
UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError, SystemError)

# catch_warnings changes the whole process: two threads at once could leave the filters changed permanently. And
# CPython 3.11 and 3.12 count the depth of all syntax trees that are being made in one counter, so that two threads
# disturb each other.
_QUIET = threading.Lock()
TRIES = 5

_Parsed = TypeVar("_Parsed")
_UNREADABLE = (ValueError, SyntaxError, MemoryError, RecursionError, TypeError)


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """Parsed code. `lines[node.lineno - 1]` is a node's first line; the first `shift` lines are not in the text.

    `path` is the file that it belongs to, where that is known.
    """

    lines: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    shift: int = 0
    path: str = ""


@lru_cache(maxsize=16)  # reading, checking and composing a candidate parse the same few modules
def parse_module(text: str, parse: Callable[[str], ast.Module] = ast.parse) -> ast.Module | SyntaxError:
    """The syntax tree of a module, or the error: whatever the parser raises is returned.

    Trees are shared: callers must not change them.
    """
    try:
        return parse_module_strictly(text, parse)
    except UNPARSABLE as error:
        return _as_syntax_error(error)


def parse_module_strictly(text: str, parse: Callable[[str], ast.Module] = ast.parse) -> ast.Module:
    """As `ast.parse`, and raises `UNPARSABLE` as that does; the tree is the caller's own."""
    return _undisturbed(lambda: parse(text))


def compile_error(text: str, compiler: Callable[..., object] = compile) -> SyntaxError | None:
    """The error that keeps a module from compiling, also where the parser misses it (`return` outside a function)."""
    try:
        _undisturbed(lambda: compiler(text, "<candidate>", "exec", dont_inherit=True))
    except UNPARSABLE as error:
        return _as_syntax_error(error)
    return None


def _undisturbed(parse: Callable[[], _Parsed]) -> _Parsed:
    """Returns the parser's result; parses again if code outside of this module disturbed CPython's counter."""
    for left in reversed(range(TRIES)):
        try:
            with _QUIET, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return parse()
        except SystemError:
            if not left:
                raise
    raise AssertionError


def _as_syntax_error(error: Exception) -> SyntaxError:
    return error if isinstance(error, SyntaxError) else SyntaxError(str(error) or type(error).__name__)


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


def walk_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields every statement, those in functions, classes and compound statements too, in source order."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [inner for block in reversed(list(statement_blocks(node))) for inner in reversed(block)]


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


def read_literal(source: str | ast.expr) -> tuple[object] | None:
    """The value of a literal, in a tuple since it may be None; None for anything else."""
    try:
        return (ast.literal_eval(source),)
    except _UNREADABLE:
        return None


def parameters(node: Function) -> list[tuple[str, str]]:
    """(name, kind) of every parameter in order; kinds: positional, plain, star, keyword, doublestar."""
    args = node.args
    return [
        *((item.arg, "positional") for item in args.posonlyargs),
        *((item.arg, "plain") for item in args.args),
        *([(args.vararg.arg, "star")] if args.vararg else []),
        *((item.arg, "keyword") for item in args.kwonlyargs),
        *([(args.kwarg.arg, "doublestar")] if args.kwarg else []),
    ]


def parameter_nodes(node: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters, those with a star last."""
    args = node.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]


def defaults(node: Function | ast.Lambda) -> dict[str, ast.expr]:
    """Default values by parameter name."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    values = {item.arg: value for item, value in zip(reversed(positional), reversed(args.defaults), strict=False)}
    return values | {
        item.arg: value for item, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None
    }


_SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # implied by the position, or without meaning


def dump_words(body: Sequence[ast.AST], *, constants: bool = True, docstrings: bool = True) -> Iterator[str]:
    """Yields types, names and constants from the outside in, without positions: equal words, equal code.

    Without `constants`, only the types of constants; without `docstrings`, no docstrings of functions and classes.
    Not recursive: a long sum nests deeper than the interpreter's stack.
    """
    waiting: list[object] = [list(body)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            yield f"[{len(item)}"
            waiting += reversed(item)
        elif isinstance(item, ast.Constant):
            yield f"={_plain(item.value)}" if constants else type(item.value).__name__
        elif isinstance(item, ast.AST):
            yield type(item).__name__
            fields = [_field(item, name, docstrings=docstrings) for name in item._fields if name not in _SILENT]
            waiting += reversed(fields)
        else:
            yield _plain(item)


def _plain(value: object) -> str:
    return hex(value) if type(value) is int else repr(value)  # Python refuses to write a very long int in decimal


def _field(node: ast.AST, name: str, *, docstrings: bool) -> object:
    value: object = getattr(node, name, None)
    if docstrings or name != "body" or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return value
    statement = node.body[0] if node.body else None
    expression = statement.value if isinstance(statement, ast.Expr) else None
    is_docstring = isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    return (node.body[1:] or [ast.Pass()]) if is_docstring else value

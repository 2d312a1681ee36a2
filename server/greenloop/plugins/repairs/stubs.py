"""Test first: stubs for names that do not exist yet, as the test uses them (called, awaited, subclassed, raised)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from greenloop.core.python.ast_source import docstring_statement, parse_module
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.localize.regions import find_assignment
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

TextOf = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True)
class MissingNames:
    """Names to add to one file.

    `path` is the module that gets them, which need not exist; `owner` is the class for methods, else empty;
    `sets`: they are properties, which lack a setter; `uses` is the text of the test that uses them.
    """

    path: str
    names: tuple[str, ...]
    owner: str = ""
    on_class: bool = False
    sets: bool = False
    uses: str = ""


def add_stubs(missing: MissingNames, text_of: TextOf) -> tuple[dict[str, str], tuple[Region, ...]]:
    """Adds a stub for each name; returns the file's new text and the regions of the stubs.

    The existing text of the file stays. Upper-case names become constants, and names of a class that are not called its
    attributes, both with the value `None`.
    """
    text = text_of(missing.path) or ""
    end = "\r\n" if "\r\n" in text else "\n"
    for name in missing.names:
        text = _with_method(text, missing, name, end) if missing.owner else _with_name(text, missing, name, end)
    listed = definitions.find_definitions(text)
    regions = []
    for name in missing.names:
        qualname = f"{missing.owner}.{name}" if missing.owner else name
        if item := definitions.find_by_qualname(listed, qualname, sets=missing.sets):
            regions.append(
                Region(path=missing.path, qualname=item.qualname, start=item.start, end=item.end, created=True)
            )
        elif assignment := find_assignment(missing.path, qualname, text, created=True):
            regions.append(assignment)
    return {missing.path: text}, tuple(regions)


def _with_name(text: str, missing: MissingNames, name: str, end: str) -> str:
    if name.isupper() and len(name) > 1:  # it looks like a constant
        return _with_constant(text, name, end)
    block = _top_level(name, missing.uses, indentation_unit(text))
    if not text.strip():
        return text + end.join(block) + end
    rows = definitions.split_lines(text)
    main = next((row for row, line in enumerate(rows) if re.match(r"if\s+__name__\s*==", line)), len(rows))
    head = "".join(rows[:main]).rstrip(" \t\r\n")
    tail = "".join(rows[main:])
    gap = end * 3 if head else ""
    return f"{head}{gap}{end.join(block)}{end}" + (f"{end}{end}{tail}" if tail else "")


def _with_constant(text: str, name: str, end: str) -> str:
    """Assigns it behind the imports and constants at the top of the file."""
    rows, row = definitions.split_lines(text), f"{name} = None{end}"
    first = min((item.start for item in definitions.find_definitions(text)), default=len(rows) + 1)
    above = [each for each in definitions.find_bindings(text) if each.end < first]
    module = parse_module(with_plain_ends(text))
    docstring = docstring_statement(module) if isinstance(module, ast.Module) else None
    at = above[-1].end if above else (docstring.end_lineno or docstring.lineno) if docstring else 0
    if not at:
        return row + (end * 2 if text.strip() else "") + text
    if not rows[at - 1].endswith(("\n", "\r")):
        rows[at - 1] += end
    is_beside = bool(above) and above[-1].kind == "assignment"
    return "".join([*rows[:at], *([] if is_beside else [end]), row, *rows[at:]])


def _top_level(name: str, uses: str, unit: str) -> list[str]:
    word = re.escape(name)
    if name[:1].isupper() or re.search(rf"\b{word}\.[a-z_]\w*\(", uses):
        is_exception = name.endswith(("Error", "Exception", "Warning")) or re.search(
            rf"\braises\(\(?[\w, ]*\b{word}\b", uses
        )
        if is_exception:
            return [f"class {name}(Exception):", f"{unit}pass"]
        return [
            f"class {name}:",
            f"{unit}def __init__(self, *args, **kwargs):",
            f'{unit}{unit}raise NotImplementedError("{name}")',
        ]
    keyword = "async def" if re.search(rf"\bawait\s+(?:\w+\.)*{word}\(", uses) else "def"
    return [f"{keyword} {name}(*args, **kwargs):", f'{unit}raise NotImplementedError("{name}")']


def _with_method(text: str, missing: MissingNames, name: str, end: str) -> str:
    owner = definitions.find_by_qualname(definitions.find_definitions(text), missing.owner)
    if owner is None:
        return text
    rows = definitions.split_lines(text)
    unit = indentation_unit(text)
    outer = re.match(r"[ \t]*", rows[owner.name_line - 1])
    body = next((row for row in rows[owner.header_end : owner.end] if row.strip()), None)
    if body is None:  # `class Foo: pass` on one line
        header, _colon, rest = rows[owner.header_end - 1].rpartition(":")
        inner = (outer[0] if outer else "") + unit
        rows[owner.header_end - 1] = f"{header}:{end}{inner}{rest.strip()}{end}"
    else:
        inner = (re.match(r"[ \t]*", body) or [""])[0]
    if not rows[owner.end - 1].endswith(("\n", "\r")):
        rows[owner.end - 1] += end
    block = [inner + line if line else "" for line in _method(name, missing, unit)]
    last = rows[owner.end - 1]
    is_beside = len(block) == 1 and last.startswith(inner) and not last[len(inner) :].startswith((" ", "\t"))
    rows.insert(owner.end, ("" if is_beside else end) + end.join(block) + end)
    return "".join(rows)


def _method(name: str, missing: MissingNames, unit: str) -> list[str]:
    word = re.escape(name)
    called = re.search(rf"\.{word}\(", missing.uses)
    awaited = re.search(rf"\bawait\s+[\w.()]+\.{word}\(", missing.uses)
    body = f'{unit}raise NotImplementedError("{name}")'
    if missing.sets:
        return [f"@{name}.setter", f"def {name}(self, value):", body]
    if missing.on_class and not called:
        return [f"{name} = None"]
    if missing.on_class:
        return ["@classmethod", f"{'async ' if awaited else ''}def {name}(cls, *args, **kwargs):", body]
    if not called and not name.startswith("__") and re.search(rf"\.{word}\b", missing.uses):
        return ["@property", f"def {name}(self):", body]
    return [f"{'async ' if awaited else ''}def {name}(self, *args, **kwargs):", body]


# -- special methods --------------------------------------------------------------------------------------------------


_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "** or pow()": "pow",
    "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "divmod()": "divmod",
}  # fmt: skip
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_UNARY = {"-": "neg", "+": "pos", "~": "invert", "abs()": "abs"}
_ABSTRACT = re.compile(
    r"Can't instantiate abstract class (\w+) (?:with|without an implementation for) abstract methods? (.+)"
)
_BINARY = re.compile(r"unsupported operand type\(s\) for (.+?)=?: '(\w+)' and '(\w+)'")
_ORDER = re.compile(r"'([<>]=?)' not supported between instances of '(\w+)' and '\w+'")
_SIGN = re.compile(r"bad operand type for (?:unary )?(\S+): '(\w+)'")
# A message, in which X is the class, and the methods that would have answered.
_MESSAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:^|: )X\(\) takes no arguments", ("init",)),
    (r"object of type 'X' has no len\(\)", ("len",)),
    (r"argument of type 'X' is not (?:a container or )?iterable", ("contains",)),
    (r"'X' object is not iterable|cannot unpack non-iterable X object", ("iter",)),
    (r"Value after \* must be an iterable, not X", ("iter",)),
    (r"argument after \*\* must be a mapping, not X", ("keys", "getitem")),
    (r"unsupported format string passed to X\.__format__", ("format",)),
    (r"^assert not <[\w.<>]*?X object at .*\n.* where .* = (?:\w+\.)*\1\(", ("bool",)),  # a new one
    (r"= len\(\{<[\w.<>]*?X object at 0x[0-9a-f]+>, <", ("eq", "hash")),
    (r"'X' object is not an iterator", ("next",)),
    (r"'X' object is not reversible", ("reversed",)),
    (r"'X' object is not subscriptable", ("getitem",)),
    (r"'X' object does not support item assignment", ("setitem",)),
    (r"'X' object (?:does not|doesn't) support item deletion", ("delitem",)),
    (r"'X' object is not callable", ("call",)),
    (r"'X' object does not support the context manager protocol", ("enter", "exit")),
    (r"'X' object does not support the asynchronous context manager protocol", ("aenter", "aexit")),
    (r"'async for' requires an object with __aiter__ method, got X", ("aiter", "anext")),
    (r"object X can't be used in 'await' expression", ("await",)),
    (r"unhashable type: 'X'", ("hash",)),
    (r"int\(\) argument must be .*, not 'X'", ("int",)),
    (r"float\(\) argument must be .*, not 'X'", ("float",)),
    (r"'X' object cannot be interpreted as an integer", ("index",)),
    (r"type X doesn't define __round__ method", ("round",)),
)
_PATTERNS = [(re.compile(message.replace("X", r"(\w+)")), names) for message, names in _MESSAGES]
_PLAIN_OBJECT = re.compile(r"<[\w.<>]*?(\w+) object at 0x")
_QUOTES = ("'", '"')


def missing_special_methods(failure: Failure, uses: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the classes that may lack methods, each with the methods' names; `uses` is the text of the test."""
    message = failure.message
    if match := _ABSTRACT.search(message):
        yield match[1], tuple(re.findall(r"\w+", match[2]))
    if match := _BINARY.search(message):
        sign, left, right = match.groups()
        if operator := _OPERATORS.get(sign):
            yield left, (f"__{operator}__",)
            yield right, (f"__r{operator}__",)
    if match := _ORDER.search(message):
        yield match[2], (f"__{_COMPARISONS[match[1]]}__",)
    if (match := _SIGN.search(message)) and match[1] in _UNARY:
        yield match[2], (f"__{_UNARY[match[1]]}__",)
    for pattern, names in _PATTERNS:
        if match := pattern.search(message):
            owner = next(filter(None, match.groups()))
            yield owner, tuple(name if name == "keys" else f"__{name}__" for name in names)
    expected, observed = failure.expected or "", failure.observed or ""
    wanted, shown = _PLAIN_OBJECT.search(expected), _PLAIN_OBJECT.search(observed)
    if shown and wanted and shown[1] == wanted[1]:
        # Only against a new object: another one of those that exist may be the wrong one.
        if re.search(rf"\b{shown[1]}\([^()\n]*\)\]?\s*==|(?:==|assertEqual\(.*,)\s*\[?{shown[1]}\(", uses):
            yield shown[1], ("__eq__",)
    elif shown and expected.startswith(_QUOTES) and observed.startswith(_QUOTES):
        yield shown[1], ("__repr__" if "repr(" in uses else "__str__",)

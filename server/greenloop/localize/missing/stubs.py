"""Test first: stubs for names that do not exist yet, as the test uses them (called, awaited, subclassed, raised)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from greenloop.core.python.ast_source import docstring_statement, parse_module
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.localize.regions import find_assignment
from greenloop.project.syntax import definitions

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

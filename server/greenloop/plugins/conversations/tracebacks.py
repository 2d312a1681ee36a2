"""Renders a failure as text: the chain of exceptions, with the code of each frame and the values of locals.

It must not know how much room there is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.python.assignments import field_rows
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, parse_fragment
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.plugins.conversations.shortening import around_lines, head_and_tail, without_long_docstrings
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Binding, Definition
from greenloop_sandbox import CaseResult
from greenloop_sandbox.report.inspections import InspectedFailure, Raised, ShownFrame

LED = {
    "cause": "That was the direct cause of:",
    "context": "While that was handled, another exception was raised:",
}


_RUN = re.compile(r"(.)\1{30,}")  # of one character, in a value


@dataclass(frozen=True, kw_only=True)
class Detail:
    """Detail of a shown failure: lines of its message, frames of the project, characters of their locals.

    `inner` frames, the innermost, show `values` characters each; the others a third of that.
    """

    message: int = 60
    frames: int = 12
    values: int = 1200
    inner: int = 3
    sections: int = 12


FULL, SHORT = Detail(), Detail(message=20, frames=6, values=300, inner=2, sections=0)


def render_failure(failure: InspectedFailure, detail: Detail = FULL) -> str:
    """The failure as a traceback, innermost last; what the test printed follows."""
    parts = [_render_link(link, detail if link is failure.chain[-1] else SHORT) for link in failure.chain]
    if failure.when != "call":
        parts.insert(0, f"It fails in its {failure.when}.")
    for title, text in failure.sections if detail.sections else ():
        parts.append(f"{title}:\n{head_and_tail(text, detail.sections)}")
    return "\n".join(parts)


def _render_link(link: Raised, detail: Detail) -> str:
    parts = list(_render_frames(link.frames, detail))
    message = head_and_tail(link.message, detail.message)
    parts.append(f"{link.type}: {message}" if message else link.type)
    if link.led:
        parts.append(f"\n{LED[link.led]}\n")
    return "\n".join(parts)


def _render_frames(frames: Sequence[ShownFrame], detail: Detail) -> list[str]:
    own = [frame for frame in frames if frame.values or not _is_foreign(frame)]
    shown = own[-detail.frames :]
    inner = shown[-detail.inner :]
    parts: list[str] = []
    known: set[tuple[str, str]] = set()
    skipped = 0
    for frame in frames:
        if frame in shown:
            parts += _skipped_frames(skipped)
            skipped = 0
            parts.append(_render_frame(frame, detail.values if frame in inner else detail.values // 3, known))
        elif frame is frames[-1]:  # where a library raised
            parts += _skipped_frames(skipped)
            parts.append(f"{_library(frame)}:{frame.place.line} in {frame.place.function}\n    {frame.code}")
        else:
            skipped += 1
    return parts


def _skipped_frames(count: int) -> list[str]:
    return [f"  … {count} {'frame' if count == 1 else 'frames'} of libraries or further out"] if count else []


def _is_foreign(frame: ShownFrame) -> bool:
    return frame.place.path.startswith(("/", "<")) or "site-packages" in frame.place.path


def _library(frame: ShownFrame) -> str:
    _before, marker, inside = frame.place.path.rpartition("site-packages/")
    return inside if marker else "/".join(frame.place.path.split("/")[-2:])


def _render_frame(frame: ShownFrame, room: int, known: set[tuple[str, str]]) -> str:
    """A frame with at most `room` characters of values, but for those that are `known` from frames further out."""
    rows = [f"{frame.place.path}:{frame.place.line} in {frame.place.function}", f"    {frame.code}"]
    for name, value in frame.values.items():
        shown = _RUN.sub(lambda run: f"{run[1] * 10}…{run[1] * 10}", value)
        room -= len(name) + len(shown)
        if room < 0:
            break
        if (name, value) not in known:
            known.add((name, value))
            rows.append(f"      {name} = {shown}")
    return "\n".join(rows)


def summarize_case(case: CaseResult) -> str:
    """`test_m.py::test_f: ValueError: no total`: a failing case in one line."""
    if case.failure is None:
        return f"{case.id}: {case.outcome}"
    line = next((row.strip() for row in case.failure.message.split("\n") if row.strip()), "")
    line = line if len(line) <= 160 else f"{line[:159]}…"
    return f"{case.id}: {case.failure.type}: {line}".rstrip(": ")


# -- excerpts of code -------------------------------------------------------------------------------------------------


FIRST_FILE, SHORT_FILE = 600, 150  # lines of a file that is shown whole: the most suspicious one, another one
MOST_FIELDS = 12  # of a class whose methods are shown
LONGEST_FIELD = 4  # lines
SHORT_CONSTRUCTOR = 15  # lines of an `__init__` that is shown with the other methods
LONGEST_OUTLINE = 30  # entries
MOST_IMPORTS = 20  # lines of imports that are all shown; of more those that the shown code uses
LONGEST_CONSTANT, MOST_CONSTANTS = 8, 6  # lines of an assignment that is shown as it is used; their number
LONGEST_SIGNATURE = 90  # characters of parameters in an outline


def whole_file(text: str) -> str:
    """A whole small file."""
    return without_long_docstrings(with_plain_ends(text)).rstrip()


def functions(text: str, path: str, regions: Mapping[Region, int], lines: Sequence[int] = ()) -> str:
    """The regions' code, in the order of the file; methods below the head of their class.

    Of functions with more lines than the number of their region the statements around these `lines` of the file are
    shown.
    """
    items = definitions.find_definitions(text, path)
    parts: list[str] = []
    owners: set[str] = set()
    for region in sorted(regions, key=lambda each: each.start):
        owner = definitions.find_by_qualname(items, region.qualname.rpartition(".")[0])
        if owner is not None and owner.kind == "class" and owner.qualname not in owners:
            owners.add(owner.qualname)
            parts.append(class_head(text, owner, items, [*regions]))
        source = with_plain_ends(definitions.line_span(text, region.start, region.end)).rstrip()
        if parts and source in parts[-1]:
            continue  # an attribute that is among the fields of its class
        inside = [line - region.start + 1 for line in lines if region.start <= line <= region.end]
        parts.append(without_long_docstrings(around_lines(source, inside, regions[region])))
    return "\n\n".join(part for part in parts if part)


def names_used(text: str, code: str) -> str:
    """The imports of a file, for edits that need others, and the short assignments of the module that `code` uses."""
    bindings = [each for each in definitions.find_bindings(text) if _is_top_level(text, each)]
    used = definitions.identifiers(code)
    imports = [each for each in bindings if each.kind == "import"]
    if sum(each.end - each.start + 1 for each in imports) > MOST_IMPORTS:
        imports = [each for each in imports if used.intersection(each.names)]
    short = (each for each in bindings if each.kind == "assignment" and each.end - each.start < LONGEST_CONSTANT)
    shown = set(code.split("\n"))  # an assignment may be among the code
    constants = [
        each
        for each in short
        if used.intersection(each.names) and definitions.line_span(text, each.start, each.start).rstrip() not in shown
    ][:MOST_CONSTANTS]
    blocks = (
        "".join(definitions.line_span(text, each.start, each.end).rstrip() + "\n" for each in group)
        for group in (imports, constants)
    )
    return with_plain_ends("\n".join(block for block in blocks if block)).rstrip()


def _is_top_level(text: str, binding: Binding) -> bool:
    return not definitions.line_span(text, binding.start, binding.start)[:1].isspace()


def class_head(text: str, owner: Definition, items: Sequence[Definition], shown: Sequence[Region]) -> str:
    """The header of a class, its short fields, and its constructor where that is short."""
    rows = [with_plain_ends(definitions.line_span(text, owner.start, owner.header_end)).rstrip()]
    rows += field_rows(text, owner.qualname, longest=LONGEST_FIELD, most=MOST_FIELDS)
    constructor = definitions.find_by_qualname(items, f"{owner.qualname}.__init__")
    if constructor is None or any(each.start <= constructor.start <= each.end for each in shown):
        return "\n".join(rows)
    if constructor.end - constructor.start < SHORT_CONSTRUCTOR:
        source = with_plain_ends(definitions.line_span(text, constructor.start, constructor.end)).rstrip()
        rows += ["", without_long_docstrings(source)]
    return "\n".join(rows)


def outline(text: str, path: str, near: Sequence[Region]) -> str:
    """Names, parameters and first lines of the definitions of a file; of many those nearest to these regions."""
    items = definitions.find_definitions(text, path)
    total = text.count("\n") + (not text.endswith("\n"))
    rows = [f"`{path}`, {total} lines:"]
    skipped = 0
    kept = _nearest(items, near)
    for item in items:
        if item.qualname not in kept:
            skipped += 1
            continue
        rows += [f"       … {skipped} more"] if skipped else []
        skipped = 0
        word = "class " if item.kind == "class" else ""
        depth = item.qualname.count(".")
        rows.append(f"{item.name_line:>6} {'  ' * depth}{word}{item.name}{_parameters(text, item)}")
    return "\n".join([*rows, *([f"       … {skipped} more"] if skipped else [])])


def _nearest(items: Sequence[Definition], near: Sequence[Region]) -> set[str]:
    """The qualnames of the definitions nearest to some regions, and of their classes."""

    def distance(item: Definition) -> int:
        return min((abs(item.start - region.start) for region in near), default=item.start)

    kept = {item.qualname for item in sorted(items, key=distance)[:LONGEST_OUTLINE]}
    return kept | {item.owner for item in items if item.qualname in kept}


def _parameters(text: str, item: Definition) -> str:
    if item.kind == "class":
        return f"({', '.join(item.bases)})" if item.bases else ""
    header = with_plain_ends(definitions.line_span(text, item.name_line, item.header_end)).rstrip()
    parsed = parse_fragment(f"{header} ..." if header.endswith(":") else header)
    node = parsed.body[0] if isinstance(parsed, Fragment) and parsed.body else None
    shown = f"({ast.unparse(node.args)})" if isinstance(node, FUNCTIONS) else "(…)"
    return shown if len(shown) <= LONGEST_SIGNATURE else "(…)"

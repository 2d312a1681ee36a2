"""The code to change, the head of its class, and the definitions of its file that it uses.

The definitions are imports, constants and signatures. Only texts of the problem are read, which include unsaved and
stubbed ones.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from greenloop.core.ports import Tools
from greenloop.core.python.assignments import field_rows
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.tokens import estimate_tokens
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition

MOST_USERS = 2  # of an assignment that are shown
MOST_TOKENS = 4_000  # of the outline of a file
LONGEST_FIELD = 1  # lines of a class attribute
MOST_LINES = 12  # of a constant or class head that is shown whole


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """For each file an excerpt with the code that the regions use, if any, and one with the regions themselves.

    Before these the suspects that use an assignment which is asked for.
    """
    del tools
    excerpts = []
    if users := _users(problem):
        excerpts.append(Excerpt(title="It is used by:", text=users, value=0.7))
    for path in dict.fromkeys(region.path for region in problem.regions):
        regions = [region for region in problem.regions if region.path == path]
        text = problem.files[path]
        if used := surroundings(text, path, regions):
            excerpts.append(Excerpt(title=f"What `{path}` has beside it:", text=used, value=0.6))
        if problem.open:
            excerpts += _outlines(text, path, regions)
        names = ", ".join(f"`{region.qualname}`" for region in regions)
        verb = "is to be written" if all(region.created for region in regions) else "as it stands"
        excerpts.append(
            Excerpt(
                title=f"{names} in `{path}`, {verb}:",
                text=region_source(text, path, regions),
                value=1.0,
                own=True,
                bare=region_source(text, path, regions, bare=True),
            )
        )
    return excerpts


def _outlines(text: str, path: str, regions: Sequence[Region]) -> Iterator[Excerpt]:
    """The outline of a file; where that is long, those of the regions' classes."""
    outline = surroundings(text, path, regions, every=True)
    if not outline or estimate_tokens(outline) <= MOST_TOKENS:
        outlines = {path: outline}
    else:
        items = definitions.find_definitions(text, path)
        owners = dict.fromkeys(region.qualname.rpartition(".")[0] for region in regions)
        classes = (definitions.find_by_qualname(items, owner) for owner in owners if owner)
        outlines = {f"{path}::{each.qualname}": _signature(text, each, items) for each in classes if each}
    for place, shown in outlines.items():
        if shown:
            yield Excerpt(title=f"The outline of `{place}`:", text=with_plain_ends(shown), value=0.5)


def _users(problem: Problem) -> str:
    """The source of the first suspects that mention the assignments among the regions."""
    names = {region.qualname.rpartition(".")[2] for region in problem.regions if region.assigns}
    found = []
    for region in problem.suspects if names else ():
        source = definitions.line_span(problem.files[region.path], region.start, region.end).rstrip()
        if not region.assigns and names & definitions.identifiers(source):
            found.append(with_plain_ends(source))
    return "\n\n".join(found[:MOST_USERS])


def region_source(text: str, path: str, regions: Sequence[Region], *, bare: bool = False) -> str:
    """The regions' source; methods below the head of their class, so that it is clear where they belong.

    `bare`: only the signature and the docstring of functions.
    """
    items = definitions.find_definitions(text, path)
    parts: list[str] = []
    shown_owners: set[str] = set()
    for region in sorted(regions, key=lambda region: region.start):
        owner = definitions.find_by_qualname(items, region.qualname.rpartition(".")[0])
        if owner is not None and owner.kind == "class" and owner.qualname not in shown_owners:
            shown_owners.add(owner.qualname)
            if region.assigns:  # it is one of the fields that the head would show
                parts.append(definitions.line_span(text, owner.start, owner.header_end).rstrip())
            else:
                parts += _head(text, owner, items, regions)
        if region.created:
            parts.append(_stub_comment(region))
        else:
            item = definitions.find_by_qualname(items, region.qualname) if bare else None
            source = definitions.line_span(text, region.start, region.end).rstrip()
            parts.append(_without_body(text, item) if item and item.kind == "function" else source)
    return with_plain_ends("\n\n".join(parts))


def _without_body(text: str, item: Definition) -> str:
    last = item.docstring[1] if item.docstring else item.header_end
    if last >= item.end:
        return definitions.line_span(text, item.start, item.end).rstrip()
    indent = re.match(r"[ \t]*", definitions.line_span(text, item.name_line, item.name_line))
    return f"{definitions.line_span(text, item.start, last).rstrip()}\n{indent[0] if indent else ''}    ..."


def _stub_comment(region: Region) -> str:
    """A comment in place of the stub, which a small model would copy."""
    owner, _dot, name = region.qualname.rpartition(".")
    return f"{'    ' if owner else ''}# {name} is missing here: it does not exist yet and has to be written."


def surroundings(text: str, path: str, regions: Sequence[Region], *, every: bool = False) -> str:
    """Imports, constants and signatures of the file that the regions mention, in the file's order; `every`: all."""
    items = definitions.find_definitions(text, path)
    used = definitions.identifiers(
        "\n".join(definitions.line_span(text, region.start, region.end) for region in regions)
    )
    if every:
        used |= definitions.identifiers(text)
    owners = {region.qualname.rpartition(".")[0] for region in regions} - {""}
    pieces = [*_statements(text, used)]
    shown_owners: set[str] = set()
    for item in items:
        if any(_within(item, region) for region in regions) or item.name not in used:
            continue
        if item.owner in owners and not (item.name == "__init__" and _is_short(item)):
            owner = definitions.find_by_qualname(items, item.owner)
            if owner is not None and owner.qualname not in shown_owners:
                shown_owners.add(owner.qualname)
                pieces.append((owner.start, definitions.line_span(text, owner.start, owner.header_end).rstrip()))
            pieces.append((item.start, _signature(text, item, items)))
        elif not item.owner and item.qualname not in owners:
            pieces.append((item.start, _signature(text, item, items)))
    return with_plain_ends("\n".join(piece for _line, piece in sorted(pieces)))


def _is_short(item: Definition) -> bool:
    return item.end - item.start < MOST_LINES


def _within(item: Definition, region: Region) -> bool:
    return region.start <= item.start and item.end <= region.end


def _head(text: str, owner: Definition, items: Sequence[Definition], regions: Sequence[Region]) -> list[str]:
    """The head of a class: its header, fields, and the docstring and constructor where they are short."""
    last = owner.header_end
    if owner.docstring is not None and owner.docstring[1] - owner.docstring[0] < MOST_LINES:
        last = owner.docstring[1]
    fields = "\n".join(field_rows(text, owner.qualname, longest=LONGEST_FIELD, most=MOST_LINES))
    parts = [definitions.line_span(text, owner.start, last).rstrip() + (f"\n{fields}" if fields else "")]
    constructor = definitions.find_by_qualname(items, f"{owner.qualname}.__init__")
    if (
        constructor is not None
        and _is_short(constructor)
        and not any(_within(constructor, region) for region in regions)
    ):
        parts.append(definitions.line_span(text, constructor.start, constructor.end).rstrip())
    return parts


def _signature(text: str, item: Definition, items: Iterable[Definition]) -> str:
    """The header of a function, or of a class and its methods, and `...` for omitted bodies."""
    head = definitions.line_span(text, item.start, item.header_end).rstrip()
    if item.start <= item.header_end == item.end:
        return head
    indent = re.match(r"[ \t]*", definitions.line_span(text, item.name_line, item.name_line))
    inner = (indent[0] if indent else "") + "    "
    summary = _first_line(text, item)
    rows = [head, f"{inner}{summary}" if summary else ""]
    if item.kind == "class":
        rows += [
            _signature(text, method, ())
            for method in items
            if method.owner == item.qualname and method.kind == "function"
        ]
        rows += field_rows(text, item.qualname, longest=LONGEST_FIELD, most=MOST_LINES)
    return "\n".join(row for row in [*rows, "" if item.kind == "class" and len(rows) > 2 else f"{inner}..."] if row)


def _first_line(text: str, item: Definition) -> str:
    """The docstring's first line with closing quotes."""
    if item.docstring is None:
        return ""
    line = with_plain_ends(definitions.line_span(text, item.docstring[0], item.docstring[0])).strip()
    quotes = line[:3] if line[:3] in {'"""', "'''"} else ""
    return line if not quotes or line.count(quotes) > 1 or line == quotes else line + quotes


def _statements(text: str, used: set[str]) -> Iterable[tuple[int, str]]:
    """Top-level imports and constants that the regions mention."""
    for item in definitions.find_bindings(text):
        if set(item.names) & used:
            yield item.start, shorten(definitions.line_span(text, item.start, item.end))


def shorten(statement: str) -> str:
    """A long statement (a table, a long text) without its middle."""
    rows = textwrap.dedent(with_plain_ends(statement)).rstrip("\n").split("\n")
    if len(rows) <= MOST_LINES:
        return "\n".join(rows)
    return "\n".join([*rows[: MOST_LINES - 2], "    # ... more of the same", rows[-1]])

"""Puts a candidate into the files: region texts, new imports, new helpers. Everything else stays byte for byte."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence

from greenloop.core.diff import end_of, keep_ends, lines, newline_of
from greenloop.core.names import bound_by, free_names, import_keys, parsable_prefix
from greenloop.core.nouns import Candidate, Problem, Region
from greenloop.core.source import docstring, start_of, tree

_TOP = re.compile(r"^(?:async[ \t]+def|def|class|if|try|for|while|with|match)\b")
_COOKIE = re.compile(r"^#!|^[ \t\f]*#.*?coding[:=]")


def region_text(problem: Problem, region: Region) -> str:
    """The source of a region as it stands in `problem.files`, line ends included."""
    return "".join(lines(problem.files[region.path])[region.start - 1 : region.end])


def compose(problem: Problem, candidate: Candidate) -> dict[str, str]:
    """The whole new text of every file that has a region in the candidate."""
    result = {}
    for path in dict.fromkeys(region.path for region in candidate.texts):
        texts = {region: text for region, text in candidate.texts.items() if region.path == path}
        several = len({region.path for region in candidate.texts}) > 1
        needed = _needed(texts, candidate) if several else None
        result[path] = _composed(
            problem.files[path],
            texts,
            [text for text in candidate.imports if needed is None or _binds(text) & needed],
            [text for text in candidate.helpers if needed is None or _binds(text) & needed],
        )
    return result


def before_after(problem: Problem, candidate: Candidate) -> tuple[dict[str, str | None], dict[str, str]]:
    """The user's texts and the new ones, for the files that change. A file that does not exist yet has None before."""
    before: dict[str, str | None] = {}
    after: dict[str, str] = {}
    for path, text in compose(problem, candidate).items():
        original = problem.originals.get(path)
        if text != original:
            before[path], after[path] = original, text
    return before, after


def _needed(texts: Mapping[Region, str], candidate: Candidate) -> set[str]:
    """Names that these texts use, also by way of the candidate's helpers."""
    needed = set().union(*(free_names(text) for text in texts.values()))
    size = -1
    while size != len(needed):
        size = len(needed)
        for helper in candidate.helpers:
            if _binds(helper) & needed:
                needed |= free_names(helper)
    return needed


def _binds(statement: str) -> set[str]:
    module = tree(statement)
    if isinstance(module, SyntaxError):
        return set()
    return set().union(*(bound_by(node) for node in module.body), {"annotations"} if "__future__" in statement else ())


def _composed(text: str, texts: Mapping[Region, str], imports: Sequence[str], helpers: Sequence[str]) -> str:
    newline = newline_of(text)
    rows = lines(text)
    ended = not rows or bool(end_of(rows[-1]))
    for region, new in sorted(texts.items(), key=lambda item: item[0].start, reverse=True):
        old = "".join(rows[region.start - 1 : region.end])
        whole = new if new.endswith(("\n", "\r")) else new + "\n"
        rows[region.start - 1 : region.end] = fresh = lines(keep_ends(old, whole, newline))
        last = region.start - 2 + len(fresh)
        if fresh and end_of(rows[last]) == "\r" and rows[last + 1 : last + 2] == ["\n"]:
            rows[last] = rows[last][:-1] + "\n"  # else the two line ends were one
    module = tree(text)
    if isinstance(module, SyntaxError):
        module = parsable_prefix(text)
    first = min(region.start for region in texts)
    bare = [row.rstrip("\r\n") for row in lines(text)]
    at = _statement_start(module, bare, first)
    block = [row for helper in helpers for row in [*helper.strip("\n").split("\n"), "", ""]]
    if block and at > 0:
        blank = sum(not row.strip() for row in bare[max(at - 2, 0) : at][::-1][: 1 if bare[at - 1].strip() else 2])
        block = [*[""] * (2 - blank), *block]
    _insert(rows, at, block, newline)
    insert_imports(rows, module, bare, imports, newline)
    if rows and not ended:
        rows[-1] = rows[-1].rstrip("\r\n")
    return "".join(rows)


def _insert(rows: list[str], at: int, block: Sequence[str], newline: str) -> None:
    if block and at and not end_of(rows[at - 1]):
        rows[at - 1] += newline
    rows[at:at] = [row.rstrip("\r\n") + newline for text in block for row in text.split("\n")]


def _statement_start(module: ast.Module, bare: Sequence[str], line: int) -> int:
    """0-based line before which something can go that must stand before the top-level statement around `line`.

    The comments directly above a statement belong to it.
    """
    around = [node for node in module.body if start_of(node, bare) <= line <= (node.end_lineno or node.lineno)]
    if around:
        at = start_of(around[0], bare) - 1
    else:  # the file is broken somewhere above: go up to the line that looks like it
        at = next((n for n in range(line - 1, -1, -1) if _TOP.match(bare[n])), line - 1)
        while at > 0 and bare[at - 1].startswith("@"):
            at -= 1
    while at > 0 and bare[at - 1].startswith("#") and not (at <= 2 and _COOKIE.match(bare[at - 1])):
        at -= 1
    return at


def insert_imports(
    rows: list[str], module: ast.Module, bare: Sequence[str], imports: Sequence[str], newline: str
) -> None:
    future = [text for text in imports if text.startswith("from __future__")]
    plain = [text for text in imports if text not in future]
    head = _leading(module)
    last_future = [node for node in head if _is_future(node)]
    block = [node for node in head if not _is_future(node)]
    top = _below_docstring(module, bare)
    if not block:
        at = (last_future[-1].end_lineno or 1) if last_future else top
        first = future if not last_future else []
        new = [*first, *([""] if first and plain else []), *plain]
        if new:
            _insert(rows, at, _spaced(new, bare, at), newline)
        future = [] if first else future
    places: dict[int, list[str]] = {}
    for text in plain if block else []:
        places.setdefault(_beside(text, block), []).append(text)
    for at in sorted(places, reverse=True):
        _insert(rows, at, places[at], newline)
    if future:
        at = (last_future[-1].end_lineno or 1) if last_future else top
        _insert(rows, at, future if last_future else _spaced(future, bare, at), newline)


def _leading(module: ast.Module) -> list[ast.stmt]:
    """The imports at the top of a module (guarded ones too), up to the first other statement."""
    found: list[ast.stmt] = []
    for node in module.body[1 if docstring(module) else 0 :]:
        guarded = isinstance(node, ast.Try | ast.If) and all(
            isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body
        )
        if not (isinstance(node, ast.Import | ast.ImportFrom) or guarded):
            break
        found.append(node)
    return found


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_standard(keys: Mapping[str, str]) -> bool:
    return all(key.split(":")[0].split(".")[0] in sys.stdlib_module_names for key in keys.values()) and bool(keys)


def _beside(text: str, block: Sequence[ast.stmt]) -> int:
    """The line behind which an import goes: with its kind (standard library or not) where there is one."""
    new = tree(text)
    keys = import_keys(new.body[0]) if isinstance(new, ast.Module) and new.body else {}
    alike = [node for node in block if (own := import_keys(node)) and _is_standard(own) == _is_standard(keys)]
    node = alike[-1] if alike and _is_standard(keys) else block[-1]
    return node.end_lineno or node.lineno


def _below_docstring(module: ast.Module, bare: Sequence[str]) -> int:
    """0-based line where the first import of a module goes that has none."""
    doc = docstring(module)
    if doc:
        return doc.end_lineno or doc.lineno
    at = 0
    while at < min(2, len(bare)) and _COOKIE.match(bare[at]):
        at += 1
    end = at
    while end < len(bare) and bare[end].startswith("#"):
        end += 1
    return end if end == len(bare) or not bare[end].strip() else at


def _spaced(new: Sequence[str], bare: Sequence[str], at: int) -> list[str]:
    """Blank lines around a first block of imports, where there are none yet."""
    result = list(new)
    if at and bare[at - 1].strip():
        result = ["", *result]
    rest = [row for row in bare[at:] if row.strip()]
    if rest and bare[at].strip():
        wide = bool(re.match(r"(?:async[ \t]+def|def|class|@|#)", rest[0]))
        result += ["", ""] if wide else [""]
    return result

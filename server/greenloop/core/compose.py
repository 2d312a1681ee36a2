"""Composes a candidate into its files: region texts, imports, helpers. All other bytes stay the same."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.python.ast_source import docstring_statement, parse_module, start_line, statements_of
from greenloop.core.python.names import defined_names, free_names, import_keys, module_bindings, parsable_prefix
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import keep_ends, line_end, main_line_end, split_lines

_TOP = re.compile(r"^(?:async[ \t]+def|def|class|if|try|for|while|with|match)\b")
_COOKIE = re.compile(r"^#!|^[ \t\f]*#.*?coding[:=]")


def region_text(problem: Problem, region: Region) -> str:
    """The source of a region in `problem.files`, line ends included."""
    return "".join(split_lines(problem.files[region.path])[region.start - 1 : region.end])


def text_in(problem: Problem, candidate: Candidate | None, region: Region) -> str:
    """Returns a candidate's text of a region: its own, or the user's."""
    texts: Mapping[Region, str] = candidate.texts if candidate else {}
    return texts[region] if region in texts else region_text(problem, region)


def compose(problem: Problem, candidate: Candidate) -> dict[str, str]:
    """The new text of every file that has a region in the candidate, and of those with stubs that it leaves.

    The tests cannot be imported without these: an answer about one of several new modules would be no step.
    """
    created = (region.path for region in (*problem.regions, *problem.suspects) if region.created)
    new_texts = {path: problem.files[path] for path in created}
    for path in dict.fromkeys(region.path for region in candidate.texts):
        texts = {region: text for region, text in candidate.texts.items() if region.path == path}
        has_several_files = len({region.path for region in candidate.texts}) > 1
        needed = _needed_names(texts, candidate) if has_several_files else None
        new_texts[path] = _compose_file(
            problem.files[path] if path in problem.files else candidate.originals[path] or "",
            texts,
            [text for text in candidate.imports if needed is None or _bound_names(text) & needed],
            [text for text in candidate.helpers if needed is None or _bound_names(text) & needed],
        )
    return new_texts


def only_needed(candidate: Candidate) -> Candidate:
    """The candidate without the imports and helpers that none of its texts uses."""
    needed = _needed_names(candidate.texts, candidate)
    return replace(
        candidate,
        imports=tuple(
            text for text in candidate.imports if text.startswith("from __future__") or _bound_names(text) & needed
        ),
        helpers=tuple(text for text in candidate.helpers if _bound_names(text) & needed),
    )


def before_after(problem: Problem, candidate: Candidate) -> tuple[dict[str, str | None], dict[str, str]]:
    """The user's texts and the new ones, for the files that change. The old text of a new file is None."""
    before: dict[str, str | None] = {}
    after: dict[str, str] = {}
    for path, text in compose(problem, candidate).items():
        original = {**candidate.originals, **problem.originals}.get(path)
        if text != original:
            before[path], after[path] = original, text
    return before, after


def with_imports(text: str, imports: Sequence[str]) -> str:
    """The text of a module with these imports among its own, but for those that it has already."""
    return _compose_file(text, {}, imports, ())


def _needed_names(texts: Mapping[Region, str], candidate: Candidate) -> set[str]:
    """Names that these texts use, directly or through the candidate's helpers."""
    needed = set().union(*(free_names(text) for text in texts.values()))
    size = -1
    while size != len(needed):
        size = len(needed)
        for helper in candidate.helpers:
            if _bound_names(helper) & needed:
                needed |= free_names(helper)
    return needed


def _bound_names(statement: str) -> set[str]:
    return defined_names(statement) | ({"annotations"} if "__future__" in statement else set())


def _compose_file(text: str, texts: Mapping[Region, str], imports: Sequence[str], helpers: Sequence[str]) -> str:
    newline = main_line_end(text)
    rows = split_lines(text)
    ends_with_newline = not rows or bool(line_end(rows[-1]))
    # From the end, and lines before what is inserted in front of them.
    for region, new in sorted(texts.items(), key=lambda item: (item[0].start, item[0].end), reverse=True):
        if not new:
            first = region.start - 1
            while region.qualname and first and not rows[first - 1].strip():  # what a stub stood for is elsewhere
                first -= 1
            del rows[first : region.end]
            continue
        old = "".join(rows[region.start - 1 : region.end])
        new_text = new if new.endswith(("\n", "\r")) else new + "\n"
        rows[region.start - 1 : region.end] = new_rows = split_lines(keep_ends(old, new_text, newline))
        last = region.start - 2 + len(new_rows)
        if new_rows and line_end(rows[last]) == "\r" and rows[last + 1 : last + 2] == ["\n"]:
            rows[last] = rows[last][:-1] + "\n"  # otherwise both would be read as one line end
    module = parse_module(text)
    if isinstance(module, SyntaxError):
        module = parsable_prefix(text)
    bare_rows = [row.rstrip("\r\n") for row in split_lines(text)]
    block = [row for helper in helpers for row in [*helper.strip("\n").split("\n"), "", ""]]
    insertion = _statement_start(module, bare_rows, min(region.start for region in texts)) if block else 0
    if insertion > 0:
        blank_rows = sum(
            not row.strip()
            for row in bare_rows[max(insertion - 2, 0) : insertion][::-1][
                : 1 if bare_rows[insertion - 1].strip() else 2
            ]
        )
        block = [*[""] * (2 - blank_rows), *block]
    _insert(rows, insertion, block, newline)
    _insert_imports(rows, module, bare_rows, _not_there(text, imports), newline)
    if rows and not ends_with_newline:
        rows[-1] = rows[-1].rstrip("\r\n")
    return "".join(rows)


def _not_there(text: str, imports: Sequence[str]) -> list[str]:
    """The imports that bind something else than the module's own."""
    there = module_bindings(text) if imports else {}
    keys = {each: import_keys(node) for each in imports for node in statements_of(each)[:1]}
    return [
        each
        for each in imports
        if not keys.get(each) or any(key not in there.get(name, ()) for name, key in keys[each].items())
    ]


def _insert(rows: list[str], at: int, block: Sequence[str], newline: str) -> None:
    if block and at and not line_end(rows[at - 1]):
        rows[at - 1] += newline
    rows[at:at] = [row.rstrip("\r\n") + newline for text in block for row in text.split("\n")]


def _statement_start(module: ast.Module, bare: Sequence[str], line: int) -> int:
    """0-based line at which to insert code before the top-level statement around `line`.

    The comments directly above a statement belong to it.
    """
    statements = [node for node in module.body if start_line(node, bare) <= line <= (node.end_lineno or node.lineno)]
    if statements:
        start = start_line(statements[0], bare) - 1
    else:  # the file is broken above: go up to the line that looks like a statement
        start = next((n for n in range(line - 1, -1, -1) if _TOP.match(bare[n])), line - 1)
        while start > 0 and bare[start - 1].startswith("@"):
            start -= 1
    while start > 0 and bare[start - 1].startswith("#") and not (start <= 2 and _COOKIE.match(bare[start - 1])):
        start -= 1
    return start


def _insert_imports(
    rows: list[str], module: ast.Module, bare: Sequence[str], imports: Sequence[str], newline: str
) -> None:
    """Inserts imports into `rows`; `module` and `bare_rows` (without line ends) are the file without them."""
    future = [text for text in imports if text.startswith("from __future__")]
    plain = [text for text in imports if text not in future]
    leading = _leading_imports(module)
    last_future = [node for node in leading if _is_future(node)]
    existing = [node for node in leading if not _is_future(node)]
    first_line = _first_import_position(module, bare)
    if not existing:
        at = (last_future[-1].end_lineno or 1) if last_future else first_line
        future_first = future if not last_future else []
        new = [*future_first, *([""] if future_first and plain else []), *plain]
        if new:
            _insert(rows, at, _add_blank_lines(new, bare, at), newline)
        future = [] if future_first else future
    rows_by_line: dict[int, list[str]] = {}
    for text in plain if existing else []:
        rows_by_line.setdefault(_import_position(text, existing), []).append(text)
    for at in sorted(rows_by_line, reverse=True):
        _insert(rows, at, rows_by_line[at], newline)
    if future:
        at = (last_future[-1].end_lineno or 1) if last_future else first_line
        _insert(rows, at, future if last_future else _add_blank_lines(future, bare, at), newline)


def _leading_imports(module: ast.Module) -> list[ast.stmt]:
    """The imports at the top of a module (guarded ones too), up to the first other statement."""
    imports: list[ast.stmt] = []
    for node in module.body[1 if docstring_statement(module) else 0 :]:
        guarded = isinstance(node, ast.Try | ast.If) and all(
            isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body
        )
        if not (isinstance(node, ast.Import | ast.ImportFrom) or guarded):
            break
        imports.append(node)
    return imports


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_standard(keys: Mapping[str, str]) -> bool:
    return all(key.split(":")[0].split(".")[0] in sys.stdlib_module_names for key in keys.values()) and bool(keys)


def _import_position(text: str, block: Sequence[ast.stmt]) -> int:
    """The line after which an import goes: that of its kind (standard library or not) where there is one."""
    module = parse_module(text)
    keys = import_keys(module.body[0]) if isinstance(module, ast.Module) and module.body else {}
    same_kind = [
        node for node in block if (node_keys := import_keys(node)) and _is_standard(node_keys) == _is_standard(keys)
    ]
    node = same_kind[-1] if same_kind and _is_standard(keys) else block[-1]
    return node.end_lineno or node.lineno


def _first_import_position(module: ast.Module, bare: Sequence[str]) -> int:
    """0-based line for the first import of a module without imports."""
    statement = docstring_statement(module)
    if statement:
        return statement.end_lineno or statement.lineno
    line = 0
    while line < min(2, len(bare)) and _COOKIE.match(bare[line]):
        line += 1
    comment_end = line
    while comment_end < len(bare) and bare[comment_end].startswith("#"):
        comment_end += 1
    return comment_end if comment_end == len(bare) or not bare[comment_end].strip() else line


def _add_blank_lines(new: Sequence[str], bare: Sequence[str], at: int) -> list[str]:
    """Adds blank lines around a first block of imports where there are none."""
    result = list(new)
    if at and bare[at - 1].strip():
        result = ["", *result]
    rows_below = [row for row in bare[at:] if row.strip()]
    if rows_below and bare[at].strip():
        needs_two = bool(re.match(r"(?:async[ \t]+def|def|class|@|#)", rows_below[0]))
        result += ["", ""] if needs_two else [""]
    return result

"""Adds to a candidate the imports and helpers of the answer that its new code uses, and imports that are missing."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.compose import compose, region_text, text_in
from greenloop.core.python.ast_source import Fragment, dump_tree, parse_fragment, plain_name, start_line, walk_code
from greenloop.core.python.indentation import indentation_unit, reindent
from greenloop.core.python.names import (
    bound_names,
    free_names,
    import_keys,
    module_bindings,
    undefined_at_import,
    undefined_names,
)
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import ImportCorrection, Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.definitions import Choice, region_indentation
from greenloop.drafting.candidates.answers.preserve import with_first_line
from greenloop.drafting.candidates.changes.change import ChangeKind, Edit, change_of
from greenloop.project import sources
from greenloop.project.missing_imports import find_imports


def add_imports_and_helpers(
    problem: Problem, texts: dict[Region, str], choices: dict[Region, Choice], pieces: Sequence[Fragment]
) -> Candidate:
    """The candidate with these texts. `pieces` are the whole answer: earlier ones supply what the chosen ones lack."""
    chosen = {id(choice.piece) for choice in choices.values()}
    taken = {id(choice.node) for choice in choices.values()}
    ordered = sorted(pieces, key=lambda one: id(one) in chosen)  # later ones win, so the chosen pieces come last
    imports: dict[str, None] = {}
    helpers: dict[str, tuple[int, int, str]] = {}
    result: dict[Region, str] = {}
    for region, plain in texts.items():
        text = plain
        module = module_bindings(problem.files[region.path])
        offered = _bindings(region.path, ordered)
        region_names = {plain_name(one.qualname).split(".")[0] for one in problem.regions if one.path == region.path}
        pending, seen = sorted(free_names(text)), set(region_names)
        while pending:
            name = pending.pop(0)
            if name in seen or name not in offered:
                continue
            seen.add(name)
            place, source, node = offered[name]
            if id(node) in taken:
                continue  # recursion
            statement = _single_import(node, name)
            if name in module and (not statement or _is_same_import(node, name, module[name])):
                if statement and import_keys(node)[name] not in module[name]:
                    imports[statement] = None
            elif name in module and region.assigns:
                continue  # it runs in the module itself, where other code uses the name
            elif name in module:
                _base, unit = region_indentation(problem, region)
                # At the top of the module it would rebind a name that other code uses.
                text = with_first_line(text, statement, unit)
            elif statement:
                imports[statement] = None
            else:
                helper = _helper(problem, region, source, node)
                helpers.setdefault(helper, (place, node.lineno, name))
                pending += sorted(free_names(helper))
        result[region] = text
        if "annotations" not in module and _wants_future(pieces, text, with_plain_ends(region_text(problem, region))):
            imports["from __future__ import annotations"] = None
    return Candidate(
        texts=result,
        imports=tuple(sorted(imports, key=lambda text: not text.startswith("from __future__"))),
        helpers=tuple(sorted(helpers, key=lambda text: helpers[text])),
    )


def _bindings(path: str, pieces: Sequence[Fragment]) -> dict[str, tuple[int, Fragment, ast.stmt]]:
    """Top-level statements of the answer by the names they bind; imports of the module itself are left out."""
    result: dict[str, tuple[int, Fragment, ast.stmt]] = {}
    for place, source in enumerate(pieces):
        for node in source.body:
            if isinstance(node, ast.ImportFrom) and _imports_module_itself(node, path):
                continue
            if isinstance(node, ast.For | ast.While | ast.With | ast.Expr | ast.Assert | ast.AugAssign | ast.Delete):
                continue
            if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
                continue
            for name in bound_names(node):
                result[name] = (place, source, node)
    return result


def _imports_module_itself(node: ast.ImportFrom, path: str) -> bool:
    """Does the statement import from the module at `path` itself?"""
    own_module = path.removesuffix(".py").removesuffix("/__init__").split("/")
    imported = (node.module or "").split(".")
    if node.level:
        return node.level == 1 and imported == own_module[-1:]
    return imported == own_module[-len(imported) :]


def _single_import(node: ast.stmt, name: str) -> str:
    """The statement that imports just this name; "" for another kind of statement."""
    if isinstance(node, ast.Import):
        chosen = [item for item in node.names if (item.asname or item.name.split(".")[0]) == name]
        return ast.unparse(ast.Import(names=chosen))
    if isinstance(node, ast.ImportFrom):
        chosen = [item for item in node.names if (item.asname or item.name) == name]
        return ast.unparse(ast.ImportFrom(module=node.module, names=chosen, level=node.level))
    return ""


def _is_same_import(node: ast.stmt, name: str, existing: set[str]) -> bool:
    """Is the name bound to the same object already (or to its package)?"""
    key = import_keys(node)[name]
    return key in existing or (
        isinstance(node, ast.Import) and any(one.split(".")[0] == key.split(".")[0] for one in existing)
    )


def _helper(problem: Problem, region: Region, source: Fragment, node: ast.stmt) -> str:
    unit = indentation_unit(problem.files[region.path])
    first = start_line(node, source.lines)
    while first - 2 >= source.shift and source.lines[first - 2].strip().startswith("#"):
        first -= 1
    return "\n".join(reindent(source, first, node.end_lineno or node.lineno, "", unit)) + "\n"


def _wants_future(pieces: Sequence[Fragment], text: str, old: str) -> bool:
    """Does the answer rely on postponed annotations that the user's code did not have?"""
    has_future = any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" for one in pieces for node in one.body
    )
    return has_future and bool(_annotations(text) - _annotations(old))


def _annotations(text: str) -> set[str]:
    marks = (getattr(node, name, None) for node in walk_code(text) for name in ("annotation", "returns"))
    return {dump_tree(mark) for mark in marks if isinstance(mark, ast.AST)}


# -- imports that are missing -----------------------------------------------------------------------------------------


def add_missing_imports(problem: Problem, candidate: Candidate) -> Candidate:
    """The candidate with an import for each name that its code lacks, or other code of its file lacks at import."""
    candidate = _with_corrections(problem, candidate)
    used = set().union(*(free_names(text) for text in (*candidate.texts.values(), *candidate.helpers)))
    statements: dict[str, None] = {}
    for path, text in compose(problem, candidate).items():
        if not (undefined := undefined_names(text)):
            continue
        needed = undefined_at_import(text) | (used & undefined.keys())
        statements |= dict.fromkeys(find_imports(text, path, sorted(needed), problem.root, reader_of(problem)))
    return replace(candidate, imports=(*candidate.imports, *statements)) if statements else candidate


def with_missing_imports(problem: Problem, attempt: Attempt) -> Candidate | None:
    """The attempt's own code with the imports that it lacks; None where it lacks none that is known."""
    base = attempt.candidate or Candidate(texts={})
    completed = None
    for region in problem.regions:
        changed = replace(base, texts={**base.texts, region: text_in(problem, base, region)})
        if (added := add_missing_imports(problem, changed)) != changed:
            completed = base = added
    return completed


def _with_corrections(problem: Problem, candidate: Candidate) -> Candidate:
    """The candidate with all corrected imports, and with the names that they bind now."""
    texts = dict(candidate.texts)
    for each in problem.corrections:
        for region in each.uses:
            if not any(region.overlaps(other) for other in texts):
                texts[region] = text_in(problem, None, region)
        same_file = [region for region in texts if region.path == each.region.path and not region.imports]
        texts |= {region: renamed(texts[region], each) for region in same_file} if each.renamed else {}
        texts[each.region] = each.text
    return replace(candidate, texts=texts) if problem.corrections else candidate


def renamed(text: str, correction: ImportCorrection) -> str:
    """A text with the names that an import binds now; unchanged where it cannot be parsed or has none of them."""
    parsed = parse_fragment(with_plain_ends(text))
    nodes = [node for item in parsed.body for node in ast.walk(item)] if isinstance(parsed, Fragment) else []
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id in correction.renamed]
    edits = [
        Edit(line=node.lineno, start=node.col_offset, end=node.end_col_offset or 0, new=correction.renamed[node.id])
        for node in names
    ]
    return change_of(parsed, edits, ChangeKind.SLIP).text if isinstance(parsed, Fragment) and edits else text


def reader_of(problem: Problem) -> sources.ReadText:
    """Reads the files of the workspace as the problem has them."""
    return lambda path: problem.files.get(path) or sources.read_text(problem.root, path, problem.buffers)

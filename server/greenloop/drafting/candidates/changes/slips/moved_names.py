"""Names that a function looks for where they are not: imported by itself, or as an attribute of another module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.compose import region_text
from greenloop.core.python.former_names import BUILT_IN, present_name
from greenloop.core.python.names import module_bindings
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines, with_plain_ends
from greenloop.drafting.candidates.changes.change import Kind, change_of, parse_function, replace_node
from greenloop.drafting.candidates.changes.missing_imports import add_missing_imports, reader_of, renamed
from greenloop.project.imports.import_corrections import find_corrections
from greenloop.project.imports.installed_names import find_present
from greenloop.project.imports.missing_imports import find_defining
from greenloop_sandbox import Failure

_NO_ATTRIBUTE = re.compile(r"^module '([\w.]+)' has no attribute '(\w+)'")


def moved_names(problem: Problem, region: Region, attempt: Attempt) -> Iterator[Candidate]:
    """Yields the function with the name from the module that has it, where only one can be meant."""
    for failure in (case.failure for case in attempt.verdict.cases if case.failure):
        yield from _corrected_import(problem, region, failure)
        if match := _NO_ATTRIBUTE.search(failure.message):
            yield from _from_elsewhere(problem, region, *match.groups())


def _corrected_import(problem: Problem, region: Region, failure: Failure) -> Iterator[Candidate]:
    """The function with a corrected import of its own."""
    lines = [frame.line for frame in failure.frames if frame.path == region.path]
    if failure.type not in ("ImportError", "ModuleNotFoundError") or not lines:
        return
    text = problem.files[region.path]
    found = find_corrections(
        failure.message, lines[-1], text, region.path, problem.root, reader_of(problem), problem.sites
    )
    for each in (each for each in found[:1] if region.start <= each.region.start <= each.region.end <= region.end):
        rows = split_lines(with_plain_ends(region_text(problem, region)))
        rows[each.region.start - region.start : each.region.end - region.start + 1] = [each.text]
        yield Candidate(texts={region: renamed("".join(rows), each)})


def _from_elsewhere(problem: Problem, region: Region, module: str, name: str) -> Iterator[Candidate]:
    """The function with a name that its file imports, in place of the attribute of a module that lacks it.

    What older versions of Python or of the module's package had under that name is taken from where it is now.
    """
    found = parse_function(with_plain_ends(region_text(problem, region)))
    bound = module_bindings(problem.files[region.path])
    if found is None:
        return
    written = {module} | {each for each, keys in bound.items() if module in {key.replace(":", ".") for key in keys}}
    nodes = [node for node in ast.walk(found[1]) if isinstance(node, ast.Attribute) and node.attr == name]
    nodes = [node for node in nodes if ast.unparse(node.value) in written]
    if not nodes:
        return
    if present := present_name(module, name):
        place, spelled = present
        is_built_in = place == BUILT_IN
        new = spelled if is_built_in else f"{place}.{spelled}"
        imports = () if is_built_in or place in written else (f"import {place}",)
    elif name not in bound and len(find_defining(name, region.path, problem.root, reader_of(problem))) == 1:
        new, imports = name, ()
    elif installed := find_present(name, module, problem.sites):
        place, spelled = installed
        is_here = place == module
        new = f"{ast.unparse(nodes[0].value)}.{spelled}" if is_here else spelled
        imports = () if is_here else (f"from {place} import {spelled}",)
    else:
        return
    text = change_of(found[0], [replace_node(node, new) for node in nodes], Kind.SLIP).text
    yield add_missing_imports(problem, Candidate(texts={region: text}, imports=imports))

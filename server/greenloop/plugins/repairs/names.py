"""Names that mean nothing where they are: misspelled, or replaced or moved by an upgrade."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import Fragment
from greenloop.core.python.names import module_bindings
from greenloop.core.python.standard_names import BUILT_IN, present_name
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines, with_plain_ends
from greenloop.drafting.candidates.answers.imports_and_helpers import add_missing_imports, reader_of, renamed
from greenloop.drafting.candidates.changes.change import ChangeKind, Edit, change_of, parse_function, replace_node
from greenloop.plugins.repairs.import_corrections import find_corrections
from greenloop.plugins.repairs.installed_names import find_present
from greenloop.plugins.repairs.slips import Slip, fragment_slip
from greenloop.project.missing_imports import find_defining
from greenloop_sandbox import Failure

_NAMED = re.compile(
    r"(?:has no attribute|^name) '(\w+)'(?: is not defined)?.*\. Did you mean: '([\w.]+)'\?$", re.DOTALL
)
# "`np.alltrue` was removed in the NumPy 2.0 release. Use `np.all` instead.", "'H' is deprecated ... use 'h' instead",
# "simps is deprecated in favour of simpson", "the argument 'missing' was renamed to 'load_default'"
_NAME = r"[`'\"]?(?P<{}>[A-Za-z_][\w.]*\w|[A-Za-z_])(?:\(\))?[`'\"]?"
_GONE = r"(?=(?:\w+ ){0,4}(?:removed|deprecated|renamed|replaced|no longer|gone|obsolete)\b)"
_INSTEAD = r"(?:\b[Uu]se|\brenamed to|\breplaced (?:by|with)|\bin favou?r of)\s+(?:the )?(?:\w+ )??"
_SUCCESSOR = re.compile(_NAME.format("old") + " " + _GONE + r"[^\n]{0,120}?" + _INSTEAD + _NAME.format("new"))
MOST = 3  # failures' messages that are read
_NO_ATTRIBUTE = re.compile(r"^module '([\w.]+)' has no attribute '(\w+)'")


# -- misspelled -------------------------------------------------------------------------------------------------------


@fragment_slip
def misspelled_names(parsed: Fragment, attempt: Attempt) -> Iterator[Slip]:
    """Yields a change for each such name: corrected everywhere, then in one place alone."""
    for wrong, right in corrected_names(attempt).items():
        nodes = [
            node for item in parsed.body for node in ast.walk(item) if "." not in right or isinstance(node, ast.Name)
        ]
        ends = sorted(end for node in nodes for end in _end_of_name(node, wrong))
        edits = [Edit(line=line, start=end - len(wrong.encode()), end=end, new=right) for line, end in ends]
        yield edits
        yield from ([edit] for edit in edits if len(edits) > 1)


def corrected_names(attempt: Attempt) -> dict[str, str]:
    """The names that were meant by the unknown ones, in the order of the attempt's failures."""
    messages = [case.failure.message for case in attempt.verdict.cases if case.failure]
    return {match[1]: match[2] for message in messages if (match := _NAMED.search(message))}


def _end_of_name(node: ast.AST, name: str) -> Iterator[tuple[int, int]]:
    """Returns where a node that is this name, or has it as an attribute, ends: the line, and the column in bytes."""
    if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name):
        yield node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


# -- replaced names ---------------------------------------------------------------------------------------------------


@fragment_slip
def replaced_names(parsed: Fragment, attempt: Attempt) -> Iterator[Slip]:
    """Yields the function with the new name everywhere, as it is written there."""
    nodes = [node for statement in parsed.body for node in ast.walk(statement)]
    for old, new in find_successors(attempt):
        is_moved = old.rpartition(".")[2] == new.rpartition(".")[2]
        edits = (_dotted_names if is_moved else _last_parts)(nodes, old, new)
        imports = (f"import {new.rpartition('.')[0]}",) if is_moved else ()
        if edits:
            yield change_of(parsed, edits, ChangeKind.SLIP, *imports)


def find_successors(attempt: Attempt) -> list[tuple[str, str]]:
    """Pairs each removed name with its replacement, as the failures write them."""
    messages = dict.fromkeys(case.failure.message for case in attempt.verdict.cases if case.failure)
    matches = [match for message in list(messages)[:MOST] for match in _SUCCESSOR.finditer(message)]
    return [pair for match in matches if (pair := (match["old"], match["new"]))[0] != pair[1]]


def _last_parts(nodes: list[ast.AST], old: str, new: str) -> list[Edit]:
    """The last parts of the names exchanged: in attributes, names, keywords, and texts that are the old name."""
    was, is_now = old.rpartition(".")[2], new.rpartition(".")[2]
    edits = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == was:
            end = node.end_col_offset or 0
            edits.append(Edit(line=node.end_lineno or 0, start=end - len(was.encode()), end=end, new=is_now))
        elif isinstance(node, ast.keyword) and node.arg == was:
            start = node.col_offset
            edits.append(Edit(line=node.lineno, start=start, end=start + len(was.encode()), new=is_now))
        elif isinstance(node, ast.Name) and node.id == was:
            edits.append(replace_node(node, is_now))
        elif isinstance(node, ast.Constant) and node.value == old:
            edits.append(replace_node(node, repr(new)))
    return edits


def _dotted_names(nodes: list[ast.AST], old: str, new: str) -> list[Edit]:
    """The name of something that has moved to another module, as a whole."""
    if "." not in new:
        return []
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return [replace_node(node, new) for node in attributes if f".{old}".endswith(f".{ast.unparse(node)}")]


# -- moved names ------------------------------------------------------------------------------------------------------


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
    text = change_of(found[0], [replace_node(node, new) for node in nodes], ChangeKind.SLIP).text
    yield add_missing_imports(problem, Candidate(texts={region: text}, imports=imports))

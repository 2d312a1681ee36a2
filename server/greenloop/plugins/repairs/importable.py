"""The baseline of a target whose tests cannot be collected because the code under test cannot be imported.

That code is completed for the baseline alone, so that it has tests and regions: a name without an import gets it, an
import of what does not exist is corrected, a function that cannot be compiled gets a body that raises, and what raises
at import a stand-in. The candidates start from the user's own text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.core.compose import with_imports
from greenloop.core.errors import CannotVerifyError
from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import compile_error, find_definitions, parse_module, statements_of
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.python.names import undefined_at_import
from greenloop.core.records.problem import ImportCorrection
from greenloop.core.records.spec import Region, Target
from greenloop.core.run_state import Baseline
from greenloop.core.text.diff import main_line_end, split_lines, with_plain_ends
from greenloop.localize.context import BaselineContext, build_baseline
from greenloop.localize.regions import TextOf, may_change, region_at, relocate
from greenloop.plugins.repairs.import_corrections import find_corrections
from greenloop.project.missing_imports import find_imports
from greenloop.project.syntax import definitions
from greenloop_sandbox import Execution, Failure, Frame
from greenloop_sandbox.report.cases import collect_errors

_ON_LINE = re.compile(r"on line (\d+)")  # of the statement that lacks its block


@dataclass(frozen=True, kw_only=True)
class Completion:
    """The text of a file that can be imported.

    `region` is what to change first: the one that `is_broken`. `suspects` are others that the import was in.
    `corrections` are those of its imports.
    """

    path: str
    text: str
    region: Region
    is_broken: bool = False
    suspects: tuple[Region, ...] = ()
    corrections: tuple[ImportCorrection, ...] = ()


async def measure_completed(
    context: BaselineContext, execution: Execution, measure: Callable[[BaselineContext], Awaitable[Baseline]]
) -> Baseline | None:
    """The baseline of a target that cannot be collected, by `measure` over completed code; None where it stays so."""
    completion = complete(context, execution)
    if completion is None or completion.text == context.snapshot.text(completion.path):
        return None
    context.report_status(f"{completion.path} cannot be imported; measuring its tests on a patched copy")
    snapshot = context.snapshot.with_text(completion.path, completion.text)
    target = _moved(context.target, completion)
    fallback = (relocate(completion.region, completion.text),) if not completion.corrections else ()
    completed = replace(context, snapshot=snapshot, target=target, when_failing=None, fallback=fallback)
    try:
        found = await measure(completed)
    except CannotVerifyError:
        return None  # more is in the way; the user's own code is what to tell of
    if found.fault or not found.problem.spec.cases:
        return found if found.fault else None
    if any(depends_on_stand_in(case.id) for case in found.problem.spec.cases):
        return None
    if any(region.created for region in found.problem.regions):
        return None  # what the tests import does not exist either
    return _of_users_text(context, execution, completion, found)


def _moved(target: Target, completion: Completion) -> Target:
    """The target with its lines in the completed file, if it is a function of that."""
    if target.path != completion.path:
        return target
    listed = definitions.find_definitions(completion.text, target.path)
    found = definitions.find_by_qualname(listed, target.qualname)
    return replace(target, start=found.start, end=found.end, name_line=found.name_line) if found else target


def complete(context: BaselineContext, execution: Execution) -> Completion | None:
    """Completes the file that keeps pytest from collecting; None where it is a test or none knows how."""
    for error in collect_errors(execution):
        frame = next(iter(reversed(error.failure.frames)), None)
        text = context.snapshot.text(frame.path) if frame and may_change(frame.path, context.patterns) else None
        if frame and text and compile_error(with_plain_ends(text)) is not None:
            # A block that is missing belongs to the line that the message names.
            lines = [*map(int, _ON_LINE.findall(error.failure.message)), frame.line]
            return _without_broken_function(context, frame.path, lines, text)
        found = _with_imports(context, frame.path, frame.line, text) if frame and text else None
        found = found or (_with_corrections(context, error.failure, frame, text) if frame and text else None)
        if found or (found := _with_stand_in(context, error.failure)):
            return found
    return None


def _with_stand_in(context: BaselineContext, failure: Failure) -> Completion | None:
    """Completes the file of the innermost function or assignment that raised, unless the environment is at fault."""
    if context.find_fault([failure]):
        return None
    found = [*dict.fromkeys(places(failure, context.snapshot.text, context.patterns))]
    text = with_stand_in(found[0], context.snapshot.text(found[0].path) or "") if found else None
    if text is None:
        return None
    return Completion(path=found[0].path, text=text, region=found[0], is_broken=True, suspects=tuple(found[1:]))


def _without_broken_function(context: BaselineContext, path: str, lines: Sequence[int], text: str) -> Completion | None:
    read = context.snapshot.text
    region = next((found for line in lines if (found := region_at(path, line, read, context.patterns))), None)
    if region is None:
        return None
    statement = f'raise NotImplementedError("{region.qualname.rpartition(".")[2]}")'
    completed = function_replaced(region, text, statement)
    left = compile_error(with_plain_ends(completed))
    if left is not None and (left.lineno or 0) <= region.start + 2:
        return None
    return Completion(path=path, text=completed, region=region, is_broken=True)


def _with_imports(context: BaselineContext, path: str, line: int, text: str) -> Completion | None:
    snapshot = context.snapshot
    statements = find_imports(text, path, sorted(undefined_at_import(text)), snapshot.root, snapshot.text)
    region = region_at(path, line, snapshot.text, context.patterns) or _first_function(path, text)
    if not statements or region is None or isinstance(parse_module(with_plain_ends(text)), SyntaxError):
        return None
    return Completion(path=path, text=with_imports(text, statements), region=region)


def _with_corrections(context: BaselineContext, failure: Failure, frame: Frame, text: str) -> Completion | None:
    """Completes a file that imports what does not exist; what it was meant to import keeps its wrong name meanwhile."""
    snapshot = context.snapshot
    found = find_corrections(failure.message, frame.line, text, frame.path, snapshot.root, snapshot.text, context.sites)
    if not found:
        return None
    rows, end = split_lines(text), main_line_end(text)
    for each in sorted(found, key=lambda each: each.region.start, reverse=True):
        names = [f"{wrong} = {right}\n" for wrong, right in each.renamed.items()]
        new = "".join([each.text, *names]).replace("\n", end)
        rows[each.region.start - 1 : each.region.end] = split_lines(new)
    return Completion(path=frame.path, text="".join(rows), region=found[0].region, corrections=tuple(found))


def _first_function(path: str, text: str) -> Region | None:
    """A candidate has to have a function, also where only its imports are new."""
    functions = (each for each in definitions.find_definitions(text, path) if each.kind == "function")
    first = next(functions, None)
    return Region(path=path, qualname=first.qualname, start=first.start, end=first.end) if first else None


def _of_users_text(context: BaselineContext, execution: Execution, completion: Completion, found: Baseline) -> Baseline:
    """Turns the baseline of a completed file into that of the user's own one, where nothing could be collected."""
    problem, path = found.problem, completion.path
    text = context.snapshot.text(path) or ""
    own = build_baseline(context, problem.spec, (completion.region,), execution, {}, {}, suspects=completion.suspects)
    corrections = (*completion.corrections, *problem.corrections)
    if found.passing:
        return replace(own, problem=replace(own.problem, corrections=corrections))
    regions = _relocate(problem.regions, path, text)
    suspects = (*completion.suspects, *_relocate(problem.suspects, path, text))
    if completion.region.assigns:
        regions, suspects = (completion.region,), (*completion.suspects, *regions, *suspects)
    elif completion.is_broken or not (
        regions or completion.corrections
    ):  # it has to be written, whether or not the tests come to it
        regions = tuple(dict.fromkeys((completion.region, *regions)))
    problem = replace(
        problem,
        regions=regions,
        suspects=tuple(each for each in dict.fromkeys(suspects) if each not in regions),
        originals={**problem.originals, **own.problem.originals},
        files={**problem.files, **own.problem.files},
        buffers=context.snapshot.buffers,
        suspicion={other: scores for other, scores in problem.suspicion.items() if other != path},
        corrections=corrections,
    )
    return replace(found, problem=problem, attempt=own.attempt if completion.is_broken else found.attempt)


def _relocate(regions: Sequence[Region], path: str, text: str) -> tuple[Region, ...]:
    """The regions with their lines in this text of a file, without those of the file that it does not define."""
    defined = {each.qualname for each in definitions.find_definitions(text, path)}
    inside = (each for each in regions if each.path != path or (each.qualname in defined and not each.assigns))
    return tuple(relocate(each, text) if each.path == path else each for each in inside)


# -- the error of an import -------------------------------------------------------------------------------------------


_MOCK = '__import__("unittest.mock", fromlist=["mock"])'
STAND_IN = f"{_MOCK}.MagicMock(side_effect=lambda *args, **_: next(filter(callable, args), {_MOCK}.DEFAULT))"
_WORD = re.compile(r"[^\W\d]\w*")
_HEADER = re.compile(r"\s*((?:async\s+)?def)\b")


def places(failure: Failure, text_of: TextOf, patterns: Sequence[str] | None) -> Iterator[Region]:
    """Yields the functions and assignments that the import was in, innermost first.

    `patterns` is pytest's `python_files`.
    """
    for frame in reversed(failure.frames):
        if not may_change(frame.path, patterns):
            continue
        region = region_at(frame.path, frame.line, text_of, patterns)
        region = region or _assignment(frame.path, frame.line, failure.message, text_of(frame.path) or "")
        if region is not None:
            yield region


def _assignment(path: str, line: int, message: str, text: str) -> Region | None:
    """The assignment at the line; for the line of a class the one in it whose name the message has.

    A dataclass complains of its fields at the class.
    """
    found = assignments_in(text)
    at_line = [name for name, node in found.items() if node.lineno <= line <= (node.end_lineno or node.lineno)]
    words = set(_WORD.findall(message))
    for owner, node in find_definitions(statements_of(with_plain_ends(text))):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if isinstance(node, ast.ClassDef) and first <= line <= node.lineno:
            at_line += [name for name in found if name.rpartition(".")[0] == owner and name.split(".")[-1] in words]
    if not at_line:
        return None
    value = found[at_line[0]]
    end = value.end_lineno or value.lineno
    return Region(path=path, qualname=at_line[0], start=value.lineno, end=end, assigns=True)


def with_stand_in(region: Region, text: str) -> str | None:
    """Returns the text with a stand-in for the value of an assignment, or for the body of a function.

    None where there is no such assignment.
    """
    return (
        _value_replaced(region, text)
        if region.assigns
        else function_replaced(region, text, f"return next(filter(callable, args), {STAND_IN})")
    )


def depends_on_stand_in(case: str) -> bool:
    """Was a test made from a stand-in? Then the user's code has others: pytest names an empty set NOTSET."""
    return "NOTSET" in case or "MagicMock" in case


def function_replaced(region: Region, text: str, statement: str) -> str:
    """Returns the text with a function of any arguments, without decorators, that has this statement alone."""
    rows, end = split_lines(text), main_line_end(text)
    header = next((row for row in rows[region.start - 1 : region.end] if _HEADER.match(row)), "")
    indent, name = header[: len(header) - len(header.lstrip())], region.qualname.rpartition(".")[2]
    keyword = "async def" if header.split()[:1] == ["async"] else "def"
    if name == "__init__" and statement.startswith("return"):
        statement = "return None"
    stub = [f"{indent}{keyword} {name}(*args, **kwargs):{end}", f"{indent}{indentation_unit(text)}{statement}{end}"]
    return "".join([*rows[: region.start - 1], *stub, *rows[region.end :]])


def _value_replaced(region: Region, text: str) -> str | None:
    rows = split_lines(text)
    value = getattr(assignments_in(text).get(region.qualname), "value", None)
    if value is None or value.end_lineno is None:
        return None
    before = rows[value.lineno - 1].encode()[: value.col_offset].decode()
    after = rows[value.end_lineno - 1].encode()[value.end_col_offset :].decode()
    return "".join([*rows[: value.lineno - 1], before, STAND_IN, after, *rows[value.end_lineno :]])

"""The baseline of a target whose tests cannot be collected because the code under test cannot be imported.

That code is completed for the baseline alone, so that it has tests and regions: a name without an import gets it, and a
function that cannot be compiled a body that raises. The candidates start from the user's own text.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from greenloop.core.compose import insert_imports
from greenloop.core.errors import CannotVerifyError
from greenloop.core.python.ast_source import compile_error, parse_module
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.python.names import undefined_at_import
from greenloop.core.records.sandbox import Execution
from greenloop.core.records.spec import Region, Target
from greenloop.core.records.verdict import Failure
from greenloop.core.report.cases import collect_errors
from greenloop.core.run_state import Baseline
from greenloop.core.text.diff import main_line_end, split_lines, with_plain_ends
from greenloop.localize.context import BaselineContext, build_baseline
from greenloop.localize.regions import may_change, region_at, relocate
from greenloop.project.missing_imports import find_imports
from greenloop.project.syntax import definitions

_ON_LINE = re.compile(r"on line (\d+)")  # of the statement that lacks its block


@dataclass(frozen=True, kw_only=True)
class Completion:
    """The text of a file that can be imported. `region` is the function to change first: the one that `is_broken`."""

    path: str
    text: str
    region: Region
    is_broken: bool = False


async def measure_completed(
    context: BaselineContext, execution: Execution, measure: Callable[[BaselineContext], Awaitable[Baseline]]
) -> Baseline | None:
    """The baseline of a target that cannot be collected, by `measure` over completed code; None where it stays so."""
    completion = complete(context, execution)
    if completion is None:
        return None
    context.report_status(f"{completion.path} cannot be imported; looking at its tests without what is in the way")
    snapshot = context.snapshot.with_text(completion.path, completion.text)
    target = _moved(context.target, completion)
    try:
        found = await measure(replace(context, snapshot=snapshot, target=target, when_failing=None))
    except CannotVerifyError:
        return None  # more is in the way; the user's own code is what to tell of
    if found.fault or not found.problem.spec.cases:
        return found if found.fault else None
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
        if frame is None or not may_change(frame.path, context.patterns):
            continue
        text = context.snapshot.text(frame.path) or ""
        if compile_error(with_plain_ends(text)) is not None:
            return _without_broken_function(context, frame.path, _lines_of(error.failure, frame.line), text)
        return _with_imports(context, frame.path, frame.line, text)
    return None


def _lines_of(failure: Failure, line: int) -> Sequence[int]:
    """Where a syntax error may be: a block that is missing belongs to the line that the message names."""
    return [*(int(number) for number in _ON_LINE.findall(failure.message)), line]


def _without_broken_function(context: BaselineContext, path: str, lines: Sequence[int], text: str) -> Completion | None:
    read = context.snapshot.text
    region = next((found for line in lines if (found := region_at(path, line, read, context.patterns))), None)
    if region is None:
        return None
    rows = split_lines(text)
    header = next((row for row in rows[region.start - 1 : region.end] if re.match(r"\s*(async\s+)?def\b", row)), "")
    indent = header[: len(header) - len(header.lstrip())]
    keyword = "async def" if header.split()[:1] == ["async"] else "def"
    end, name = main_line_end(text), region.qualname.rpartition(".")[2]
    stub = [
        f"{indent}{keyword} {name}(*args, **kwargs):{end}",
        f'{indent}{indentation_unit(text)}raise NotImplementedError("{name}"){end}',
    ]
    completed = "".join([*rows[: region.start - 1], *stub, *rows[region.end :]])
    left = compile_error(with_plain_ends(completed))
    if left is not None and (left.lineno or 0) <= region.start + len(stub):
        return None
    return Completion(path=path, text=completed, region=region, is_broken=True)


def _with_imports(context: BaselineContext, path: str, line: int, text: str) -> Completion | None:
    snapshot = context.snapshot
    statements = find_imports(text, path, sorted(undefined_at_import(text)), snapshot.root, snapshot.text)
    region = region_at(path, line, snapshot.text, context.patterns) or _first_function(path, text)
    module = parse_module(with_plain_ends(text))
    if not statements or region is None or isinstance(module, SyntaxError):
        return None
    rows = split_lines(text)
    insert_imports(rows, module, [row.rstrip("\r\n") for row in rows], statements, main_line_end(text))
    return Completion(path=path, text="".join(rows), region=region)


def _first_function(path: str, text: str) -> Region | None:
    """A candidate has to have a function, also where only its imports are new."""
    functions = (each for each in definitions.find_definitions(text, path) if each.kind == "function")
    first = next(functions, None)
    return Region(path=path, qualname=first.qualname, start=first.start, end=first.end) if first else None


def _of_users_text(context: BaselineContext, execution: Execution, completion: Completion, found: Baseline) -> Baseline:
    """What was found with a completed file as the baseline of the user's own one, where nothing could be collected."""
    problem, path = found.problem, completion.path
    text = context.snapshot.text(path) or ""
    own = build_baseline(context, problem.spec, (completion.region,), execution, {}, {})
    if found.passing:
        return own
    regions = _relocated(problem.regions, path, text)
    if completion.is_broken or not regions:  # it has to be written, whether or not the tests come to it
        regions = tuple(dict.fromkeys((completion.region, *regions)))
    problem = replace(
        problem,
        regions=regions,
        suspects=tuple(each for each in _relocated(problem.suspects, path, text) if each not in regions),
        originals={**problem.originals, path: text},
        files={**problem.files, path: text},
        buffers=context.snapshot.buffers,
        suspicion={other: scores for other, scores in problem.suspicion.items() if other != path},
    )
    return replace(found, problem=problem, attempt=own.attempt if completion.is_broken else found.attempt)


def _relocated(regions: Sequence[Region], path: str, text: str) -> tuple[Region, ...]:
    """The regions with their lines in this text of a file, without those of the file that it does not define."""
    defined = {each.qualname for each in definitions.find_definitions(text, path)}
    inside = (each for each in regions if each.path != path or (each.qualname in defined and not each.assigns))
    return tuple(relocate(each, text) if each.path == path else each for each in inside)

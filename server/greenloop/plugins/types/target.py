"""The target `types:PATH:LINE`: a type error, fixed as a test that the project's type checker reports it no more.

It must not know how candidates are made.
"""

from __future__ import annotations

from greenloop.core.errors import UsageError
from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.core.target_kinds import PreparedTarget, TargetStart
from greenloop.plugins.types.checkers import find_checker
from greenloop.plugins.types.problems import CASE, FILE, TypeProblem, check_text, list_problems
from greenloop.plugins.types.silencing import find_silencing
from greenloop.project.syntax import definitions
from greenloop.project.typed_targets import relative_path, split_target

SHOWN = 3  # errors that a message names


async def prepare(start: TargetStart) -> PreparedTarget:
    """Finds the errors at a place (empty: anywhere); the first one's function is to be changed.

    Raises `UsageError` where nothing is reported there, `CannotVerifyError` where the types cannot be checked.
    """
    root, typed = start.root, split_target(start.text)
    path = relative_path(typed.path, str(root)) if typed.path else ""
    if path is None or not (root / path).exists():
        raise UsageError(
            f"There is no {typed.path} in this workspace.", remedy="Name a file, a folder or file.py:LINE."
        )
    checker = find_checker(root, start.place.environment)
    start.report_status(f"checking the types with {checker.name} ({checker.configuration})")
    paths, seconds = [path] if path else [], max(start.place.limits.seconds, start.longest)
    every = await list_problems(start.session, checker, start.buffers, paths=paths, seconds=seconds)
    wanted = [each for each in every if _is_at(each, path, typed.line)]
    if not wanted:
        where = f"at {start.text}" if start.text else "in this project"
        near = [each for each in every if not path or each.path == path] or every
        listed = "; ".join(map(str, near[:SHOWN]))
        remedy = f"It reports: {listed}" if near else "There is nothing to fix."
        raise UsageError(f"{checker.name} reports no type error {where}.", remedy=remedy)
    region = _region(wanted[0], start)
    own = [each for each in wanted if each.path == region.path and region.start <= each.line <= region.end]
    text = check_text(checker, paths, [each for each in every if each not in own])
    lines = text.count("\n")
    return PreparedTarget(
        target=Target(kind=TargetKind.TEST, path=FILE, qualname="", selector=CASE, start=1, end=lines, name_line=1),
        text=text,
        regions=(region,),
        why_refused=find_silencing,
    )


def _is_at(problem: TypeProblem, path: str, line: int | None) -> bool:
    is_below = not path or problem.path == path or problem.path.startswith(f"{path}/")
    return is_below and line in (None, problem.line)


def _region(problem: TypeProblem, start: TargetStart) -> Region:
    """The function around an error, or else its line."""
    text = start.text_of(problem.path) or ""
    found = definitions.enclosing_definition(text, problem.line, problem.path)
    if found is None or found.kind != "function":
        return Region(path=problem.path, qualname="", start=problem.line, end=problem.line)
    return Region(path=problem.path, qualname=found.qualname, start=found.start, end=found.end)

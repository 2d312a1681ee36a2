"""The target `types:PATH:LINE`: a type error, fixed as a test that the project's type checker reports it no more.

It must not know how candidates are made.
"""

from __future__ import annotations

from pathlib import Path

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.core.target_kinds import PreparedTarget, TargetStart
from greenloop.plugins.types.checkers import configured_checkers, find_checker
from greenloop.plugins.types.problems import CASE, FILE, TypeProblem, check_text, list_problems
from greenloop.plugins.types.silencing import find_silencing
from greenloop.project.syntax import definitions
from greenloop.project.typed_targets import relative_path, split_target

MOST = 5  # functions of one run
SHOWN = 3  # errors that a message names


async def prepare(start: TargetStart) -> PreparedTarget:
    """Finds the errors at a place (empty: anywhere); the functions around them are to be changed.

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
    regions = [*dict.fromkeys(_region(each, start) for each in wanted)][:MOST]
    own = [each for each in wanted if any(_is_in(each, region) for region in regions)]
    text = check_text(checker, paths, [each for each in every if each not in own])
    return PreparedTarget(
        name=f"types:{start.text}",
        target=Target(
            kind=TargetKind.TEST,
            path=FILE,
            qualname="",
            selector=CASE,
            start=1,
            end=text.count("\n"),
            name_line=1,
        ),
        text=text,
        regions=tuple(regions),
        why_refused=find_silencing,
    )


def is_configured(root: Path) -> bool:
    """Does the project configure a type checker? It is asked only then."""
    return bool(configured_checkers(root))


async def describe(start: TargetStart) -> str:
    """Says how many type errors there are, and the command that fixes them."""
    try:
        checker = find_checker(start.root, start.place.environment)
        start.report_status(f"checking the types with {checker.name} ({checker.configuration})")
        found = await list_problems(start.session, checker, start.buffers, seconds=start.longest)
    except CannotVerifyError as error:
        return f"{error} {error.remedy}"
    if not found:
        return ""
    count = f"{len(found)} type errors, the first" if len(found) > 1 else "a type error"
    return f"{checker.name} reports {count} in {found[0]}. To fix it: `greenloop fix --types {found[0].place}`."


def _is_in(problem: TypeProblem, region: Region) -> bool:
    return problem.path == region.path and region.start <= problem.line <= region.end


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

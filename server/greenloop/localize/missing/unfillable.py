"""Explains why unwritten code cannot be filled: it is left open by intent, no test comes to it, or it runs at import.

It must not know how code is filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.spec import Region
from greenloop.localize.regions import TextOf, is_unwritten, region_at
from greenloop.project.syntax import definitions
from greenloop.project.syntax.unwritten import left_open_functions, unwritten_functions
from greenloop_sandbox import Failure


def refuse_left_open(region: Region, text: str) -> None:
    """Raises `CannotVerifyError` for an abstract method, one of a protocol, and a class that has no others to write."""
    left_open = [
        each.qualname
        for each in left_open_functions(text, region.path)
        if region.qualname in (each.qualname, each.owner)
    ]
    if not left_open or unwritten_functions(text, region.path, owner=region.qualname):
        return
    is_class = region.qualname not in left_open
    owner = region.qualname if is_class else region.qualname.rpartition(".")[0]
    subclasses = [
        each.qualname
        for each in definitions.find_definitions(text, region.path)
        if owner.rpartition(".")[2] in [base.rpartition(".")[2] for base in each.bases]
    ]
    what = f"Each unwritten method of {region.qualname}" if is_class else region.qualname
    raise CannotVerifyError(
        f"{what} is abstract or part of a protocol, so other classes implement it.",
        remedy=f"Name a class that implements it: {region.path}::{subclasses[0] if subclasses else 'NAME'}.",
    )


def refuse_unreached(region: Region, members: Sequence[Region]) -> None:
    """Raises `CannotVerifyError` for a class or module with functions to write of which no test reaches any."""
    whole = region.qualname or region.path
    documented = f"{region.path}::{members[0].qualname if members else 'NAME'}"
    raise CannotVerifyError(
        f"No test reaches a function of {whole} that is still to be written.",
        remedy=f"Name the test that needs it, write one that calls it, or name one that has a docstring: {documented}.",
    )


def refuse_at_import(failures: Iterable[Failure], test: str, text_of: TextOf, patterns: Sequence[str] | None) -> None:
    """Raises `CannotVerifyError` where a test file cannot be imported because that runs an unwritten function."""
    for failure in failures:
        frames = [region_at(each.path, each.line, text_of, patterns) for each in failure.frames]
        region = next((each for each in reversed(frames) if each), None)
        if region is not None and is_unwritten(region, text_of):
            raise CannotVerifyError(
                f"Importing {test} runs {region.qualname}, which is still to be written"
                f" ({region.path}:{region.start}), so pytest cannot list the tests.",
                remedy="Write a first version of it yourself; it is corrected as soon as the tests can be imported.",
            )

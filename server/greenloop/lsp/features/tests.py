"""`greenloop.showTests`: opens the tests made from a docstring, a file that the next run reads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.convert import command
from greenloop.lsp.documents import locations
from greenloop.lsp.runs import command_arguments
from greenloop.project.settings import state_folder

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.command("greenloop.showTests")
    def show_tests(*arguments: Any) -> None:
        table = command_arguments.table(arguments)
        if not isinstance(table, Mapping) or not all(isinstance(table.get(key), str) for key in ("uri", "target")):
            raise JsonRpcInvalidParams('Expected one object: {"uri", "target"}.')
        project_file = locations.of_or_none(server, table["uri"])
        path, _, name = table["target"].partition("::")
        if project_file is None or not name:
            raise JsonRpcInvalidParams("There is no such function.")
        server.runs.spawn(_show(server, project_file, path, name.replace("::", ".")))


def offered(server: Server, uri: str, place: locations.Place, target: Target) -> list[lsp.CodeAction]:
    """The action that shows a target's tests, where there are any."""
    run = server.runs.find(place.root, target.path, target.qualname)
    region = _region(run, target)
    if region is None:
        return []
    exists = False
    with contextlib.suppress(OSError):
        exists = _file(place.root, region.path, region.qualname).exists()
    if not exists and not (run and run.specified and run.specified.spec.files):
        return []
    argument: dict[str, object] = {"uri": uri, "target": f"{region.path}::{region.qualname}"}
    return [command(f"Show the tests of {region.qualname}", "greenloop.showTests", argument)]


def is_kept(place: locations.Place) -> bool:
    """Whether it is a file of stored tests, in which nothing is refined."""
    with contextlib.suppress(OSError):
        return (place.root / place.path).is_relative_to(state_folder())
    return False


def _region(run: Run | None, target: Target) -> Region | None:
    """The function with the tests: the target itself, or the one that its run changes."""
    if target.kind is TargetKind.FUNCTION:
        return Region(path=target.path, qualname=target.qualname, start=target.start, end=target.end)
    return next(iter(run.started.problem.regions), None) if run is not None and run.started else None


def _file(root: Path, path: str, qualname: str) -> Path:
    from greenloop.specs import stored_tests  # noqa: PLC0415 - only needed to show tests, not at the start

    return stored_tests.stored_path(root, path, qualname)


async def _show(server: Server, place: locations.Place, path: str, name: str) -> None:
    file = _file(place.root, path, name)
    run = server.runs.find(place.root, path, name)
    if not file.exists() and run is not None and run.specified is not None:
        await asyncio.to_thread(_written, run, place, path, name)
    if not file.exists():
        client_requests.tell(server, f"No tests of {name} are kept; refining it makes them from its docstring.")
    elif not await client_requests.show(server, uri_from_path(file)):
        client_requests.tell(server, f"The tests of {name} are in {file}; edit them there, then refine again.")


def _written(run: Run, place: locations.Place, path: str, name: str) -> None:
    """Writes the run's tests to a file, where they are not stored yet."""
    from greenloop.project import sources  # noqa: PLC0415 - as above
    from greenloop.specs import stored_tests  # noqa: PLC0415 - as above

    if run.specified is None:
        return
    problem = run.started.problem if run.started else None
    text = (problem.files if problem else {place.path: place.text}).get(path) or ""
    target_region = Region(path=path, qualname=name, start=run.target.start, end=run.target.end)
    region = next((each for each in (problem.regions if problem else ()) if each.qualname == name), target_region)
    stored_tests.save(
        stored_tests.load(place.root, region, text), run.specified.spec, sources.imported_as(path, place.root)
    )

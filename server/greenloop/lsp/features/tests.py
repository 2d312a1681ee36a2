"""`greenloop.showTests`: the tests that a docstring became, as a file that is edited and read by the next run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.nouns import Region, Target, TargetKind
from greenloop.core.uris import uri_from_path
from greenloop.lsp import client, meant, places
from greenloop.lsp.convert import command
from greenloop.settings import state_folder

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.command("greenloop.showTests")
    def show_tests(*arguments: Any) -> None:
        table = meant.table(arguments)
        if not isinstance(table, Mapping) or not all(isinstance(table.get(key), str) for key in ("uri", "target")):
            raise JsonRpcInvalidParams('Expected one object: {"uri", "target"}.')
        place = places.of_or_none(server, table["uri"])
        path, _, name = table["target"].partition("::")
        if place is None or not name:
            raise JsonRpcInvalidParams("There is no such function.")
        server.runs.spawn(_show(server, place, path, name.replace("::", ".")))


def offered(server: Server, uri: str, place: places.Place, target: Target) -> list[lsp.CodeAction]:
    """The action, where there are tests to show."""
    run = server.runs.find(place.root, target.path, target.qualname)
    region = _region(run, target)
    if region is None:
        return []
    there = False
    with contextlib.suppress(OSError):
        there = _file(place.root, region.path, region.qualname).exists()
    if not there and not (run and run.specified and run.specified.spec.files):
        return []
    argument: dict[str, object] = {"uri": uri, "target": f"{region.path}::{region.qualname}"}
    return [command(f"Show the tests of {region.qualname}", "greenloop.showTests", argument)]


def is_kept(place: places.Place) -> bool:
    """Is it a file of kept tests itself? Nothing in there is for refining."""
    with contextlib.suppress(OSError):
        return (place.root / place.path).is_relative_to(state_folder())
    return False


def _region(run: Run | None, target: Target) -> Region | None:
    """The function whose tests they are: the target itself, or the one that its run works on."""
    if target.kind is TargetKind.FUNCTION:
        return Region(path=target.path, qualname=target.qualname, start=target.start, end=target.end)
    return next(iter(run.started.problem.regions), None) if run is not None and run.started else None


def _file(root: Path, path: str, qualname: str) -> Path:
    from greenloop import docket  # noqa: PLC0415 - only where tests are asked for, not at the start

    return docket.path_of(root, path, qualname)


async def _show(server: Server, place: places.Place, path: str, name: str) -> None:
    file = _file(place.root, path, name)
    run = server.runs.find(place.root, path, name)
    if not file.exists() and run is not None and run.specified is not None:
        await asyncio.to_thread(_written, run, place, path, name)
    if not file.exists():
        client.tell(server, f"No tests of {name} are kept; refining it makes them from its docstring.")
    elif not await client.show(server, uri_from_path(file)):
        client.tell(server, f"The tests of {name} are in {file}; edit them there, then refine again.")


def _written(run: Run, place: places.Place, path: str, name: str) -> None:
    """The run's tests, where nobody has kept them yet."""
    from greenloop import docket, sources  # noqa: PLC0415 - as above

    if run.specified is None:
        return
    problem = run.started.problem if run.started else None
    text = (problem.files if problem else {place.path: place.text}).get(path) or ""
    own = Region(path=path, qualname=name, start=run.target.start, end=run.target.end)
    region = next((each for each in (problem.regions if problem else ()) if each.qualname == name), own)
    docket.save(docket.load(place.root, region, text), run.specified.spec, sources.imported_as(path, place.root))

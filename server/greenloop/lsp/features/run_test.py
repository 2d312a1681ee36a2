"""`greenloop.runTest`, and the tests that a saved file concerns: red tests are seen, refined or not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.errors import GreenloopError
from greenloop.core.nouns import Target, TargetKind
from greenloop.core.redact import clean
from greenloop.lsp import cells, client, interest, meant, places
from greenloop.lsp.asked import Asked, Tally
from greenloop.lsp.edits import text_of
from greenloop.lsp.features import configuration, lifecycle, tests
from greenloop.lsp.presenters.testing import sentence
from greenloop.lsp.protocol import position_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server
    from greenloop.notebook import Prepared
    from greenloop.settings import Settings


def register(server: Server) -> None:
    server.opened.append(lambda uri: _opened(server, uri))
    server.saved.append(lambda uri: _saved(server, uri))
    server.closed.append(lambda uri: _closed(server, uri))

    @server.command("greenloop.runTest")
    def run_test(*arguments: Any) -> None:
        server.runs.spawn(_told(server, ask(server, arguments)))


def ask(server: Server, arguments: tuple[Any, ...]) -> Asked:
    """Starts what a command asks for: the tests of a file, one test or class, or those that reach a function.

    Raises `JsonRpcInvalidParams` where there is nothing to test.
    """
    table = meant.table(arguments)
    target = table.get("target") if isinstance(table, Mapping) else None
    if not isinstance(table, Mapping) or not isinstance(table.get("uri"), str) or not isinstance(target, str | None):
        raise JsonRpcInvalidParams('Expected one object: {"uri"}, {"uri", "target"} or {"uri", "position"}.')
    line = position_of(table)
    try:
        place = places.of(server, table["uri"])
        if place is None or not place.path.endswith(".py") or tests.is_kept(place):
            raise JsonRpcInvalidParams("Only tests of Python files can be run, and this is none.")
        asked = _asked(server, place, target if line is None else _at(place, line))
    except GreenloopError as error:
        raise JsonRpcInvalidParams(clean(error.advice)) from error
    server.checks.ask(asked)
    return asked


def _at(place: places.Place, line: int) -> str:
    """The test, class or function at a line (0-based)."""
    found = places.target_at(place, place.line(line))
    if found is None:
        raise JsonRpcInvalidParams("There is no test and no function here.")
    return found.selector


def _asked(server: Server, place: places.Place, target: str | None) -> Asked:
    settings = configuration.load(server, place.root)

    def about(
        name: str, path: str, selectors: tuple[str, ...] = (), prepared: Prepared | None = None, **more: Any
    ) -> Asked:
        return Asked(
            root=place.root,
            settings=settings,
            path=path,
            name=name,
            target=target or "",
            selectors=selectors,
            cells=prepared,
            **more,
        )

    found = places.named(server, place.root, target) if target is not None else None
    if target is not None and found is None:
        raise JsonRpcInvalidParams(f"There is no test and no function {target}.")
    if place.notebook is not None:
        prepared, selectors = cells.tested(place.notebook, found)
        name = prepared.named(found.qualname) if found is not None else place.notebook.path.rpartition("/")[2]
        return about(name, place.path, selectors, prepared=prepared)
    if found is None:
        name = place.path.rpartition("/")[2]
        return about(name, place.path, (place.path,) if places.has_tests(place) else ())
    name = found.qualname.rpartition(".")[2]
    if found.kind is TargetKind.TEST:
        return about(name, found.path, (found.selector,))
    return about(name, found.path, function=found.qualname, examples=_examples(server, place, found))


def _examples(server: Server, place: places.Place, function: Target) -> tuple[str, ...]:
    from greenloop.specs import doctest  # noqa: PLC0415 - only where they are to run, not at the start

    text = text_of(server, place.root / function.path)
    return doctest.examples(function, text or "").selectors


async def _told(server: Server, asked: Asked) -> None:
    # As for every command: see `client.apart`.
    await client.apart()
    tally = await answer(server, asked)
    if tally is not None:
        tell(server, asked, tally)


def tell(server: Server, asked: Asked, tally: Tally) -> None:
    """One short message for whoever asked."""
    if not (tally.results or tally.broken or tally.left or tally.lost):
        none = f"There are no tests in {asked.name}." if asked.selectors else f"No test is known to reach {asked.name}."
        client.tell(server, none, lsp.MessageType.Warning)
        return
    text = sentence(tally.results, tally.broken, tally.left, tally.lost, tally.seconds)
    text = asked.cells.named(text) if asked.cells is not None else text
    good = not (tally.broken or tally.left or tally.lost or tally.failing)
    client.tell(server, text, lsp.MessageType.Info if good else lsp.MessageType.Warning)


async def answer(server: Server, asked: Asked) -> Tally | None:
    """What came out; None where it was cancelled, or could not be run, which the user is told."""
    await asyncio.wait([asked.over])
    if asked.over.cancelled():
        return None
    error = asked.over.exception()
    if isinstance(error, GreenloopError):
        uri = server.documents.uri(asked.root / asked.path)
        sentence, remedy = clean(str(error)), clean(error.remedy)
        client.refused(server, sentence, reason=error.word, remedy=remedy, uri=uri, target=asked.target)
        return None
    return asked.over.result()


def _opened(server: Server, uri: str) -> None:
    """The first save should not wait for a sandbox to be made."""
    server.runs.spawn(_foreseen(server, uri))


async def _foreseen(server: Server, uri: str) -> None:
    # A file is often opened before the editor has told its settings.
    await server.settled.wait()
    watched = _watched(server, uri)
    if watched is not None:
        interest.shown(server, watched[0].root)


def _saved(server: Server, uri: str) -> None:
    watched = _watched(server, uri)
    if watched is not None:
        place, settings = watched
        server.checks.save(place.root, settings, place.path)


def _watched(server: Server, uri: str) -> tuple[places.Place, Settings] | None:
    """The file and the settings of its folder, where tests run when it is saved."""
    place = places.of_or_none(server, uri)
    if place is None or place.notebook or not place.path.endswith(".py") or tests.is_kept(place):
        return None
    settings = configuration.load(server, place.root)
    return (place, settings) if settings.editor.save == "affected" else None


def _closed(server: Server, uri: str) -> None:
    """Nobody looks at what its tests would say any more, unless it is opened again at once."""
    place = places.of_or_none(server, uri)
    if place is not None and server.checks.concern(place.root, place.path):
        server.runs.spawn(_left(server, place))


async def _left(server: Server, place: places.Place) -> None:
    def again() -> bool:
        return server.documents.at(place.root / place.path) is not None

    if not await server.documents.wait_until(again, lifecycle.REOPEN):
        server.checks.leave(place.root, place.path)

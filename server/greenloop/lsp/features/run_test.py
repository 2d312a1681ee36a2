"""`greenloop.runTest`, and the tests affected by a saved file: shows failing tests without refining."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import Target, TargetKind
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.messages import position_of
from greenloop.lsp.documents import locations, notebook_requests
from greenloop.lsp.features import configuration, lifecycle, tests
from greenloop.lsp.presenters.test_summary import sentence
from greenloop.lsp.runs import command_arguments, prewarm
from greenloop.lsp.runs.apply_edit import text_of
from greenloop.lsp.testing.requests import Asked, Tally

if TYPE_CHECKING:
    from greenloop.lsp.server import Server
    from greenloop.notebook.adapter import NotebookTarget
    from greenloop.project.settings import Settings


def register(server: Server) -> None:
    server.opened.append(lambda uri: _opened(server, uri))
    server.saved.append(lambda uri: _saved(server, uri))
    server.closed.append(lambda uri: _closed(server, uri))

    @server.command("greenloop.runTest")
    def run_test(*arguments: Any) -> None:
        server.runs.spawn(_told(server, ask(server, arguments)))


def ask(server: Server, arguments: tuple[Any, ...]) -> Asked:
    """Starts a command's tests: those of a file, one test or class, or those that reach a function.

    Raises `JsonRpcInvalidParams` where there is nothing to test.
    """
    table = command_arguments.table(arguments)
    target = table.get("target") if isinstance(table, Mapping) else None
    if not isinstance(table, Mapping) or not isinstance(table.get("uri"), str) or not isinstance(target, str | None):
        raise JsonRpcInvalidParams('Expected one object: {"uri"}, {"uri", "target"} or {"uri", "position"}.')
    line = position_of(table)
    try:
        project_file = locations.of(server, table["uri"])
        if project_file is None or not project_file.path.endswith(".py") or tests.is_kept(project_file):
            raise JsonRpcInvalidParams("Only tests of Python files can be run, and this is none.")
        request = _asked(server, project_file, target if line is None else _at(project_file, line))
    except GreenloopError as error:
        raise JsonRpcInvalidParams(clean_for_display(error.advice)) from error
    server.checks.ask(request)
    return request


def _at(place: locations.Place, line: int) -> str:
    """The selector of the test, class or function at a line (0-based)."""
    target = locations.target_at(place, place.line(line))
    if target is None:
        raise JsonRpcInvalidParams("There is no test and no function here.")
    return target.selector


def _asked(server: Server, place: locations.Place, target: str | None) -> Asked:
    settings = configuration.load(server, place.root)

    def request(
        name: str, path: str, selectors: tuple[str, ...] = (), prepared: NotebookTarget | None = None, **more: Any
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

    found_target = locations.named(server, place.root, target) if target is not None else None
    if target is not None and found_target is None:
        raise JsonRpcInvalidParams(f"There is no test and no function {target}.")
    if place.notebook is not None:
        prepared, selectors = notebook_requests.tested(place.notebook, found_target)
        name = (
            prepared.label_cells(found_target.qualname)
            if found_target is not None
            else place.notebook.path.rpartition("/")[2]
        )
        return request(name, place.path, selectors, prepared=prepared)
    if found_target is None:
        name = place.path.rpartition("/")[2]
        return request(name, place.path, (place.path,) if locations.has_tests(place) else ())
    name = found_target.qualname.rpartition(".")[2]
    if found_target.kind is TargetKind.TEST:
        return request(name, found_target.path, (found_target.selector,))
    return request(
        name, found_target.path, function=found_target.qualname, examples=_examples(server, place, found_target)
    )


def _examples(server: Server, place: locations.Place, function: Target) -> tuple[str, ...]:
    from greenloop.specs.kinds import doctest  # noqa: PLC0415 - only needed to run examples, not at the start

    text = text_of(server, place.root / function.path)
    return doctest.examples(function, text or "").selectors


async def _told(server: Server, asked: Asked) -> None:
    # As for every command: see `client_requests.after_reply`.
    await client_requests.apart()
    summary = await answer(server, asked)
    if summary is not None:
        tell(server, asked, summary)


def tell(server: Server, asked: Asked, tally: Tally) -> None:
    """Shows the user a short summary."""
    if not (tally.results or tally.broken or tally.left or tally.lost):
        none = f"There are no tests in {asked.name}." if asked.selectors else f"No test is known to reach {asked.name}."
        client_requests.tell(server, none, lsp.MessageType.Warning)
        return
    text = sentence(tally.results, tally.broken, tally.left, tally.lost, tally.seconds)
    text = asked.cells.label_cells(text) if asked.cells is not None else text
    good = not (tally.broken or tally.left or tally.lost or tally.failing)
    client_requests.tell(server, text, lsp.MessageType.Info if good else lsp.MessageType.Warning)


async def answer(server: Server, asked: Asked) -> Tally | None:
    """The summary; None where the job was cancelled, or could not run, which is reported to the user."""
    await asyncio.wait([asked.over])
    if asked.over.cancelled():
        return None
    error = asked.over.exception()
    if isinstance(error, GreenloopError):
        uri = server.documents.uri(asked.root / asked.path)
        sentence, remedy = clean_for_display(str(error)), clean_for_display(error.remedy)
        client_requests.refused(server, sentence, reason=error.kind, remedy=remedy, uri=uri, target=asked.target)
        return None
    return asked.over.result()


def _opened(server: Server, uri: str) -> None:
    """Prepares a sandbox, so that the first save need not wait for it."""
    server.runs.spawn(_foreseen(server, uri))


async def _foreseen(server: Server, uri: str) -> None:
    # A file is often opened before the editor has sent its settings.
    await server.settled.wait()
    tested = _watched(server, uri)
    if tested is not None:
        prewarm.shown(server, tested[0].root)


def _saved(server: Server, uri: str) -> None:
    tested = _watched(server, uri)
    if tested is not None:
        project_file, settings = tested
        server.checks.save(project_file.root, settings, project_file.path)


def _watched(server: Server, uri: str) -> tuple[locations.Place, Settings] | None:
    """The file and the settings of its folder, if saving it runs tests."""
    project_file = locations.of_or_none(server, uri)
    if (
        project_file is None
        or project_file.notebook
        or not project_file.path.endswith(".py")
        or tests.is_kept(project_file)
    ):
        return None
    settings = configuration.load(server, project_file.root)
    return (project_file, settings) if settings.editor.save == "affected" else None


def _closed(server: Server, uri: str) -> None:
    """Drops a closed file's tests, which are not visible any more, unless it is reopened at once."""
    project_file = locations.of_or_none(server, uri)
    if project_file is not None and server.checks.concern(project_file.root, project_file.path):
        server.runs.spawn(_left(server, project_file))


async def _left(server: Server, place: locations.Place) -> None:
    def is_reopened() -> bool:
        return server.documents.at(place.root / place.path) is not None

    if not await server.documents.wait_until(is_reopened, lifecycle.REOPEN):
        server.checks.leave(place.root, place.path)

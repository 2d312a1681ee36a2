"""The feature that greenloop registers: `greenloop.runTest`, `greenloop.refineAll`, and tests that a save affects."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from greenloop.api.settings import Settings
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.connection.messages import RefineParams
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.documents.open_documents import REOPEN
from greenloop.lsp.parts import Parts
from greenloop.lsp.state.results import test_of
from greenloop.plugins.test_runs import explorer
from greenloop.plugins.test_runs.commands import TestCommands
from greenloop.plugins.test_runs.failing_tests import FailingTests
from greenloop.plugins.test_runs.requests import TestRequest
from greenloop.plugins.test_runs.scheduler import TestScheduler
from greenloop.plugins.test_runs.settings import TestRunSettings

log = logging.getLogger(__name__)

# Runs that are started before the editor is served again, and whose diagnostics are published together.
STARTED_TOGETHER = 10


def register(server: LanguageServer, parts: Parts) -> None:
    events, editor, runs = parts.events, parts.editor, parts.runs
    documents, settings, tasks = parts.documents, parts.settings, parts.tasks
    failing_tests = FailingTests(editor, parts.store, runs, parts.run_diagnostics)
    scheduler = TestScheduler(editor, parts.engines, parts.results, failing_tests)
    test_commands = TestCommands(editor, scheduler)

    @server.command("greenloop.runTest")
    def run_test(*arguments: Any) -> None:
        tasks.spawn(run_and_show(test_commands.start(arguments)))

    async def run_and_show(request: TestRequest) -> None:
        # As for every command: see `after_reply`.
        await after_reply()
        summary = await test_commands.wait(request)
        if summary is not None:
            test_commands.show(request, summary)

    async def prepare(uri: str) -> None:
        """Prepares a sandbox for an opened file, so that the first save need not wait for it."""
        # A file is often opened before the editor has sent its settings.
        await settings.received.wait()
        if (watched := watched_file(uri)) is not None:
            parts.prewarmer.prewarm(watched[0].root)

    def run_affected(uri: str) -> None:
        if (watched := watched_file(uri)) is not None:
            file, folder_settings = watched
            scheduler.run_affected(file.root, folder_settings, file.path)

    def watched_file(uri: str) -> tuple[ProjectFile, Settings] | None:
        """The file and the settings of its folder, if saving it runs tests."""
        file = locations.locate_for_display(documents, uri)
        if file is None or file.composite or not locations.is_testable(file):
            return None
        folder_settings = settings.load(file.root)
        return (file, folder_settings) if folder_settings.of(TestRunSettings).save == "affected" else None

    def drop(uri: str) -> None:
        """Drops a closed file's tests, which are not visible any more, unless it is reopened at once."""
        file = locations.locate_for_display(documents, uri)
        if file is not None:
            tasks.spawn(drop_unless_reopened(file))

    async def drop_unless_reopened(file: ProjectFile) -> None:
        def is_reopened() -> bool:
            return documents.document_at(file.root / file.path) is not None

        if not await documents.wait_until(is_reopened, REOPEN):
            scheduler.drop(file.root, file.path)

    events.on_open.append(lambda uri: tasks.spawn(prepare(uri)))
    events.on_save.append(run_affected)
    events.on_close.append(drop)
    events.on_composite_close.append(scheduler.drop)
    events.on_cancel.append(scheduler.cancel)
    events.on_discard.append(failing_tests.clear)
    runs.on_passed.append(failing_tests.remove_passed)
    register_refine_all(server, parts, test_commands)
    explorer.register(server, documents, scheduler, test_commands)


def register_refine_all(server: LanguageServer, parts: Parts, test_commands: TestCommands) -> None:
    editor = parts.editor

    @server.command("greenloop.refineAll")
    def refine_all(*arguments: Any) -> None:
        editor.tasks.spawn(refine_failing(test_commands.start(arguments)))

    async def refine_failing(request: TestRequest) -> None:
        """Starts a refinement for each failing test; at most `editor.runs` of them work at once."""
        summary = await test_commands.wait(request)
        if summary is None:
            return
        failing = tuple(dict.fromkeys(test_of(result.id) for result in summary.failing))
        if not failing:
            test_commands.show(request, summary)
            return
        test_count = len({test_of(result.id) for result in summary.results})
        editor.client.show_message(_message(len(failing), test_count, request.settings.editor.runs))
        for first in range(0, len(failing), STARTED_TOGETHER):
            # A batch that was kept open while others work would hide their diagnostics too.
            with parts.store.batch():
                for test in failing[first : first + STARTED_TOGETHER]:
                    start(request, test)
            # There may be hundreds, while the user types.
            await asyncio.sleep(0)

    def start(request: TestRequest, test: str) -> None:
        documents = editor.documents
        target = locations.find_target(documents, request.root, test)
        if target is not None:
            uri = locations.document_uri(documents, request.root, target)
        else:
            uri = documents.uri_of(request.root / request.path)
        try:
            parts.starter.start(RefineParams(uri=uri, test=test))
        except JsonRpcException as error:
            log.info("%s cannot be refined: %s", test, error)


def _message(failing: int, total: int, at_once: int) -> str:
    tests = f"{'test' if total == 1 else 'tests'} {'fails' if failing == 1 else 'fail'}"
    them = "it" if failing == 1 else f"them, {at_once} at a time" if failing > at_once else "them"
    return f"{failing} of {total} {tests}; refining {them}."

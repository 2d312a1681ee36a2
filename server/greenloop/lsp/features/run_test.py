"""`greenloop.runTest`, and the tests affected by a saved file: shows failing tests without refining."""

from __future__ import annotations

from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.documents.open_documents import REOPEN, Documents
from greenloop.lsp.features.document_sync import DocumentEvents
from greenloop.lsp.runs.prewarm import Prewarmer
from greenloop.lsp.tasks import Tasks
from greenloop.lsp.testing.commands import TestCommands
from greenloop.lsp.testing.requests import TestRequest
from greenloop.lsp.testing.scheduler import TestScheduler
from greenloop.project.settings import Settings


def register(
    server: LanguageServer,
    events: DocumentEvents,
    documents: Documents,
    settings: SettingsLoader,
    tasks: Tasks,
    scheduler: TestScheduler,
    test_commands: TestCommands,
    prewarmer: Prewarmer,
) -> None:
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
            prewarmer.prewarm(watched[0].root)

    def run_affected(uri: str) -> None:
        if (watched := watched_file(uri)) is not None:
            file, folder_settings = watched
            scheduler.run_affected(file.root, folder_settings, file.path)

    def watched_file(uri: str) -> tuple[ProjectFile, Settings] | None:
        """The file and the settings of its folder, if saving it runs tests."""
        file = locations.locate_for_display(documents, uri)
        if file is None or file.notebook or not locations.is_testable(file):
            return None
        folder_settings = settings.load(file.root)
        return (file, folder_settings) if folder_settings.editor.save == "affected" else None

    def drop(uri: str) -> None:
        """Drops a closed file's tests, which are not visible any more, unless it is reopened at once."""
        file = locations.locate_for_display(documents, uri)
        if file is not None and scheduler.concerns(file.root, file.path):
            tasks.spawn(drop_unless_reopened(file))

    async def drop_unless_reopened(file: ProjectFile) -> None:
        def is_reopened() -> bool:
            return documents.document_at(file.root / file.path) is not None

        if not await documents.wait_until(is_reopened, REOPEN):
            scheduler.drop(file.root, file.path)

    events.on_open.append(lambda uri: tasks.spawn(prepare(uri)))
    events.on_save.append(run_affected)
    events.on_close.append(drop)

"""`greenloop.showTests`: opens the tests made from a docstring, a file that the next run reads."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import command_argument
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.runs import stored_tests
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.tasks import Tasks


def register(server: LanguageServer, client: Client, documents: Documents, tasks: Tasks, runs: Runs) -> None:
    @server.command("greenloop.showTests")
    def show_tests(*arguments: Any) -> None:
        argument = command_argument(arguments)
        if not isinstance(argument, Mapping) or not all(
            isinstance(argument.get(key), str) for key in ("uri", "target")
        ):
            raise JsonRpcInvalidParams('Expected one object: {"uri", "target"}.')
        file = locations.locate_for_display(documents, argument["uri"])
        path, _, name = argument["target"].partition("::")
        if file is None or not name:
            raise JsonRpcInvalidParams("There is no such function.")
        tasks.spawn(show(file, path, name.replace("::", ".")))

    async def show(file: locations.ProjectFile, path: str, name: str) -> None:
        tests_path = stored_tests.path_of(file.root, path, name)
        run = runs.find(file.root, path, name)
        if not tests_path.exists() and run is not None and run.progress.specified is not None:
            await asyncio.to_thread(stored_tests.write, run, file, path, name)
        if not tests_path.exists():
            client.show_message(
                f"There are no generated tests for {name} yet. Refine it to generate them from its docstring."
            )
        elif not await client.show_document(uri_from_path(tests_path)):
            client.show_message(
                f"The generated tests for {name} are in {tests_path}. Edit them there, then refine again."
            )

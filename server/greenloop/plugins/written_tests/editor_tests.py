"""The command `greenloop.showTests`: opens the file with the tests that were generated from a docstring."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from greenloop.core.records.spec import Region
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection.messages import command_argument
from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts
from greenloop.lsp.state.run import Run
from greenloop.plugins.written_tests import stored_tests
from greenloop.plugins.written_tests.edited_tests import stored_path
from greenloop.project.sources import import_name_in_tests


def register(server: LanguageServer, parts: Parts) -> None:
    runs, client, documents, tasks = parts.runs, parts.client, parts.documents, parts.tasks

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
        tasks.spawn(open_tests(file, path, name.replace("::", ".")))

    async def open_tests(file: locations.ProjectFile, path: str, name: str) -> None:
        tests_path = stored_path(file.root, path, name)
        run = runs.find(file.root, path, name)
        if not tests_path.exists() and run is not None and run.progress.specified is not None:
            await asyncio.to_thread(_write_tests, run, file, path, name)
        if not tests_path.exists():
            client.show_message(
                f"There are no generated tests for {name} yet. Refine it to generate them from its docstring."
            )
        elif not await client.show_document(uri_from_path(tests_path)):
            client.show_message(
                f"The generated tests for {name} are in {tests_path}. Edit them there, then refine again."
            )


def _write_tests(run: Run, file: locations.ProjectFile, path: str, name: str) -> None:
    """Writes the run's tests to a file, where they are not stored yet."""
    specified = run.progress.specified
    if specified is None:
        return
    problem = run.started.problem if run.started else None
    text = (problem.files if problem else {file.path: file.text}).get(path) or ""
    target_region = Region(path=path, qualname=name, start=run.target.start, end=run.target.end)
    region = next((each for each in (problem.regions if problem else ()) if each.qualname == name), target_region)
    stored = stored_tests.load(file.root, region, text)
    stored_tests.save(stored, specified.spec, import_name_in_tests(region.path, file.root))

"""Interprets a client's requests: starts a run or refuses it with a remedy, finds the runs that a command means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.messages import RefineParams, command_argument, position_of
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.diagnostics import RequestErrors
from greenloop.lsp.runs.drive import RunDriver
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run


class RunStarter:
    """Finds what a request means, and gives it to the driver."""

    def __init__(self, editor: Editor, refusals: RequestErrors, driver: RunDriver) -> None:
        self._client, self._documents, self._settings = editor.client, editor.documents, editor.settings
        self._refusals, self._driver = refusals, driver

    def start(self, params: RefineParams) -> tuple[Run, bool]:
        """The run for the requested target, and whether it was started by this call.

        Raises `JsonRpcInvalidParams` where there is nothing to refine; a client that declared `refusals` is notified.
        """
        try:
            return self._start(params)
        except JsonRpcInvalidParams as error:
            if self._client.capabilities.refusals:
                cause = error.__cause__ if isinstance(error.__cause__, GreenloopError) else UsageError(error.message)
                self._client.report_error(cause, uri=params.uri)
            raise

    def _start(self, params: RefineParams) -> tuple[Run, bool]:
        try:
            file = locations.locate(self._documents, params.uri)
            if file is None:
                raise JsonRpcInvalidParams("Only files on disk can be refined.")
            target = refine_target(self._documents, file, params)
            settings = self._settings.load(file.root, preset=params.preset)
        except GreenloopError as error:
            self._refusals.show(params.uri, params.position.line if params.position else 0, error)
            raise JsonRpcInvalidParams(error.advice) from error
        self._refusals.clear(params.uri)
        return self._driver.start(file, target, settings, params)


def refine_target(documents: Documents, file: locations.ProjectFile, params: RefineParams) -> Target:
    """The target of a refine request. Raises `JsonRpcInvalidParams` where there is nothing to refine."""
    if params.test is not None:
        # An unknown test is left to the engine, which knows all tests and suggests the nearest.
        if target := locations.find_target(documents, file.root, params.test):
            return target
        number = params.test.rpartition(":")[2]  # a target of another kind may be a line
        line = int(number) if number.isdecimal() else 1
        return Target(
            kind=TargetKind.TEST,
            path=file.path,
            qualname="",
            selector=params.test,
            start=line,
            end=line,
            name_line=line,
        )
    assert params.position is not None
    target = locations.target_at(file, file.line(params.position.line))
    if target is None:
        raise JsonRpcInvalidParams("There is no test or function here.")
    return target


def run_filter(documents: Documents, runs: Runs, arguments: tuple[Any, ...]) -> Callable[[Run], bool]:
    """The predicate of a command's runs: all, those of a document, or those of its target or position.

    A position without a run selects the document's runs.
    """
    argument = command_argument(arguments)
    if argument is None and not any(each is not None for each in arguments):
        return lambda _run: True
    if not isinstance(argument, Mapping) or not isinstance(argument.get("uri"), str):
        raise JsonRpcInvalidParams('Expected one object: {"uri"} or {"uri", "target"}, or nothing.')
    file = locations.locate_for_display(documents, argument["uri"])
    selector = argument.get("target")
    line = position_of(argument) if selector is None else None
    target = locations.target_at(file, file.line(line)) if file is not None and line is not None else None
    if file is not None and target is not None:
        root, path, name = file.root, target.path, target.qualname
        if any(run.root == root and run.concerns(path, name) for run in runs):
            return lambda run: run.root == root and run.concerns(path, name)

    def is_meant(run: Run) -> bool:
        is_same_document = run.uri == argument["uri"]
        is_same_project = file is not None and run.root == file.root
        if selector is not None:
            # A run of a function is also offered at its tests, which may be in any file of the project.
            return run.target.selector == selector and (is_same_document or is_same_project)
        regions = run.started.problem.regions if run.started else ()
        concerned = {run.target.path, *(region.path for region in regions)}
        return is_same_document or (file is not None and is_same_project and file.path in concerned)

    return is_meant


def command_scope(documents: Documents, arguments: tuple[Any, ...]) -> tuple[Path | None, str | None, str | None]:
    """A command's folder, workspace path and target, as read by `run_filter`; None for those it does not name.

    For a document that is not in any project the folder and path match nothing.
    """
    argument = command_argument(arguments)
    if not isinstance(argument, Mapping):
        return None, None, None
    file = locations.locate_for_display(documents, argument["uri"])
    return (file.root, file.path, argument.get("target")) if file else (Path(), "", None)


def newest_offered(documents: Documents, runs: Runs, arguments: tuple[Any, ...]) -> Run | None:
    """The newest of a command's runs whose result is not applied yet."""
    is_meant = run_filter(documents, runs, arguments)
    return next((run for run in runs if is_meant(run) and run.offered), None)

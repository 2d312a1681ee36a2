"""Starts a run for a client's request, or refuses it with a reason and a remedy."""

from __future__ import annotations

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.errors import GreenloopError, UsageError
from greenloop.lsp.connection.messages import RefineParams
from greenloop.lsp.documents import locations
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.refusals import Refusals
from greenloop.lsp.runs.command_arguments import refine_target
from greenloop.lsp.runs.drive import RunDriver
from greenloop.lsp.state.run import Run


class RunStarter:
    """Finds what a request means, and gives it to the driver."""

    def __init__(self, editor: Editor, refusals: Refusals, driver: RunDriver) -> None:
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

"""The parts of the server that outlive a message; each gets those that it uses, and features get all of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines, RunEngine
from greenloop.lsp.presenters.diagnostics import RequestErrors, RunDiagnostics
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs.apply_edit import EditApplier
from greenloop.lsp.runs.available_actions import AvailableActions, GoalChoices
from greenloop.lsp.runs.background_tasks import LongTasks, Prewarmer
from greenloop.lsp.runs.drive import RunDriver
from greenloop.lsp.runs.model_setup import ModelSetup
from greenloop.lsp.runs.requests import RunStarter
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.runs.text_changes import TextChanges
from greenloop.lsp.state.results import TestResults
from greenloop.lsp.tasks import ProcessEnd, Tasks


@dataclass(eq=False, kw_only=True)
class Events:
    """Lists of callbacks, to which a feature adds its own.

    `on_open`, `on_save` and `on_close` get the URI of a document, `on_composite_close` a folder and the path in it
    that stood for a composite. `on_cancel` ends work in a folder, on a file, or on a target (None: all) and returns how
    many jobs it ended; `on_discard` gets a condition that the paths of discarded files fulfil. `on_begin` gets folders
    that are open from now on, or some files in them.
    """

    on_open: list[Callable[[str], object]] = field(default_factory=list)
    on_save: list[Callable[[str], object]] = field(default_factory=list)
    on_close: list[Callable[[str], object]] = field(default_factory=list)
    on_composite_close: list[Callable[[Path, str], object]] = field(default_factory=list)
    on_cancel: list[Callable[[Path | None, str | None, str | None], int]] = field(default_factory=list)
    on_discard: list[Callable[[Callable[[Path], bool]], object]] = field(default_factory=list)
    on_begin: list[Callable[[Sequence[Path], Collection[Path] | None], Awaitable[None]]] = field(default_factory=list)

    async def begin(self, roots: Sequence[Path], files: Collection[Path] | None = None) -> None:
        """Begins the work of features in these folders, or on some files in them."""
        for begin in self.on_begin:
            await begin(roots, files)

    def cancel(self, root: Path | None = None, path: str | None = None, target: str | None = None) -> int:
        """Ends the work that features do there; returns how many jobs were ended."""
        return sum(end(root, path, target) for end in self.on_cancel)


class Parts:
    """The parts of one server."""

    def __init__(self, server: LanguageServer, engine: RunEngine | None) -> None:
        # What the parts stand on.
        self.tasks, self.client, self.documents = Tasks(), Client(server), Documents()
        self.settings = SettingsLoader(self.client, self.documents)
        self.editor = editor = Editor(
            client=self.client, documents=self.documents, settings=self.settings, tasks=self.tasks
        )
        self.engines, self.events = Engines(engine), Events()
        self.process_end = ProcessEnd(server, self.tasks, self.engines)
        # What is known, and how it is shown.
        self.results = TestResults()
        self.runs = runs = Runs(self.tasks)
        self.store = store = DiagnosticsStore(editor)
        runs.batch = store.batch
        self.run_diagnostics = RunDiagnostics(editor, store, runs)
        self.refusals = RequestErrors(store, self.documents)
        # Runs.
        self.applier = EditApplier(editor, self.engines, runs)
        self.models = ModelSetup(self.client, runs)
        self.driver = RunDriver(editor, self.engines, runs, self.run_diagnostics, self.applier, self.models)
        self.goals = GoalChoices(self.settings, runs, self.results)
        self.available = AvailableActions(editor, runs, self.results, self.goals, self.applier)
        self.starter = RunStarter(editor, self.refusals, self.driver)
        self.text_changes = TextChanges(editor, store, runs, self.applier, self.run_diagnostics)
        self.prewarmer = Prewarmer(editor, self.engines, runs)
        self.long_tasks = LongTasks(editor)

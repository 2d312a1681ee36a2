"""The models: those that can be chosen here, the embedded one's download, and answers of the editor's own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Mapping
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.api.presets import offered_presets
from greenloop.core.errors import GreenloopError
from greenloop.core.records.goal import Goal
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import CHOICES, COMPLETING, position_of
from greenloop.lsp.documents import locations
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.progress import ProgressLine
from greenloop.lsp.runs.background_tasks import LongTasks
from greenloop.lsp.runs.editor_model import AnswerStreams
from greenloop.lsp.runs.goals import Goals, comment_in
from greenloop.project.settings import Settings

# Seconds in which Ollama must answer.
PATIENCE = 2.0
TITLE = "Downloading the embedded model"


def register(
    server: LanguageServer, editor: Editor, goals: Goals, streams: AnswerStreams, long_tasks: LongTasks
) -> None:
    client, settings, documents = editor.client, editor.settings, editor.documents

    @server.feature(CHOICES)
    async def choices(params: Any) -> dict[str, Any]:
        await settings.wait_shortly()
        loaded = settings.load(locations.root_named(editor.documents, params))
        presets = await asyncio.to_thread(offered_presets)
        names = sorted(presets, key=lambda name: name != "default")
        return {
            "models": await _models(client, loaded),
            "presets": [{"name": name, "about": presets[name].description} for name in names],
            "goals": _goals(params) if isinstance(params, Mapping) else [],
            "model": loaded.model,
            "preset": loaded.preset,
        }

    def _goals(params: Mapping[str, Any]) -> list[dict[str, str]]:
        """The goals for the function at a position, with the comment in it, where one asks for something."""
        line = position_of(params)
        file = locations.locate_for_display(documents, str(params.get("uri"))) if line is not None else None
        target = locations.target_at(file, file.line(line)) if file is not None and line is not None else None
        if file is None or target is None or not (sensible := goals.sensible(file, target)):
            return []
        comment = clean_for_display(comment_in(file, target))
        wanted = dict.fromkeys([*sensible, Goal.COMMENT])
        return [
            {"goal": goal.value, "said": goal.words, "comment": comment if goal is Goal.COMMENT else ""}
            for goal in wanted
        ]

    @server.feature(COMPLETING)
    def completing(params: Any) -> None:
        number, text = (params.get("id"), params.get("text")) if isinstance(params, Mapping) else (None, None)
        if isinstance(number, int) and isinstance(text, str):
            streams.receive(number, text)

    @server.command("greenloop.pullModel")
    def pull_model(*_arguments: Any) -> None:
        if not long_tasks.start(TITLE, lambda line: pull(editor, line), percentage=0):
            client.show_message("The embedded model is already being downloaded.")


async def _models(client: Client, settings: Settings) -> list[dict[str, str]]:
    """The models to choose from. A name that ends with a slash is a provider, to be completed with a model."""
    choices = await asyncio.to_thread(_embedded_choices)
    if client.capabilities.model:
        choices.append(_choice("editor", "the language model of this editor"))
    default_model = importlib.import_module("greenloop.models.embedded.default_model")
    ollama: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            ollama = await default_model.ollama_models(default_model.ollama_base(os.environ))
    choices += [_choice(f"ollama/{clean_for_display(name)}", "free, on this machine, with Ollama") for name in ollama]
    if settings.model not in ("", *(each["name"] for each in choices)):
        choices.append(_choice(settings.model, "from your settings"))
    for variable in default_model.available_keys(os.environ):
        provider = default_model.provider_of(variable)
        choices.append(_choice(f"{provider}/", f"a model of {provider} (API key in {variable}); may cost money"))
    return choices


def _choice(name: str, description: str, needs: str = "") -> dict[str, str]:
    """One choice; `needs` is what must be done before it can be used."""
    return {"name": name, "about": description, "needs": needs}


def _embedded_choices() -> list[dict[str, str]]:
    """The default model, and the others that are downloaded. Imports and reads the disk, so it belongs in a thread."""
    importlib.import_module("greenloop.models.embedded.default_model")
    hardware = importlib.import_module("greenloop.models.embedded.hardware")
    weights = importlib.import_module("greenloop.models.embedded.weights")
    description = "embedded: free, runs on this machine, nothing leaves it"
    if not hardware.is_engine_installed():
        return [_choice("local", f"{description}; its engine (greenloop[local]) is not installed", "install")]
    names = [model.setting for model in weights.downloaded_models() if model.setting != "local"]
    if weights.downloaded_file() is None:
        default = _choice("local", f"{description}; not downloaded yet (1.1 GB)", "pull")
    else:
        default = _choice("local", description)
    return [default, *(_choice(name, description) for name in names)]


async def pull(editor: Editor, progress_line: ProgressLine) -> str:
    """Downloads the embedded model; a cancelled download can be resumed."""
    try:
        message = await _download(editor, progress_line)
    except asyncio.CancelledError:
        editor.client.show_message("Download cancelled. The part downloaded so far is kept.")
        raise
    editor.client.show_message(message)
    return "ready"


async def _download(editor: Editor, progress_line: ProgressLine) -> str:
    """Downloads the weights if they are missing; returns a sentence for the user."""
    weights = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.weights")
    hardware = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.hardware")
    catalogue = importlib.import_module("greenloop.models.embedded.catalogue")
    default = catalogue.find(catalogue.DEFAULT)
    present = weights.downloaded_file()

    def report(done: int, total: int) -> None:
        progress_line.report(f"{done / 1e6:.0f} of {total / 1e6:.0f} MB", done * 100 // max(total, 1))

    if present is None:
        report(0, default.size)
        await weights.pull(report)
    try:
        loaded = editor.settings.load(locations.root_named(editor.documents, None))
        await asyncio.to_thread(hardware.check, default, loaded.embedded)
    except GreenloopError as error:
        return f"The embedded model is installed but cannot run now. {error.advice}"
    return "The embedded model is ready." if present is None else f"The embedded model is already installed: {present}"

"""The models: those that can be chosen here, and the embedded one's download."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.api.presets import offered_presets
from greenloop.api.settings import EDITOR
from greenloop.core.aims import COMMENT, list_aims
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.messages import CHOICES, position_of
from greenloop.lsp.documents import locations
from greenloop.lsp.editor import Editor
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters.progress import ProgressLine
from greenloop.lsp.runs.available_actions import comment_in

TITLE = "Downloading the embedded model"


def register(server: LanguageServer, parts: Parts) -> None:
    editor, goals = parts.editor, parts.goals
    client, settings, documents = editor.client, editor.settings, editor.documents

    @server.feature(CHOICES)
    async def list_choices(params: Any) -> dict[str, Any]:
        await settings.wait_shortly()
        loaded = settings.load(locations.root_named(editor.documents, params))
        presets = await asyncio.to_thread(offered_presets)
        models_api = await asyncio.to_thread(importlib.import_module, "greenloop.api.models")
        choices = await models_api.list_models(loaded)
        if client.capabilities.model:
            embedded_count = sum(choice.name.partition("/")[0] == "local" for choice in choices)
            editors_own = models_api.ModelChoice(name=EDITOR, about="the language model of this editor")
            choices.insert(embedded_count, editors_own)
        names = sorted(presets, key=lambda name: name != "default")
        return {
            "models": [asdict(choice) for choice in choices],
            "presets": [{"name": name, "about": presets[name].description} for name in names],
            "goals": _goals(params) if isinstance(params, Mapping) else [],
            "model": loaded.model,
            "preset": loaded.preset,
            "hasModel": await models_api.has_model(loaded),
        }

    def _goals(params: Mapping[str, Any]) -> list[dict[str, str]]:
        """The goals for the function at a position, with the comment in it, where one asks for something."""
        line = position_of(params)
        file = locations.locate_for_display(documents, str(params.get("uri"))) if line is not None else None
        target = locations.target_at(file, file.line(line)) if file is not None and line is not None else None
        if file is None or target is None or not (sensible := goals.sensible(file, target)):
            return []
        comment = clean_for_display(comment_in(file, target))
        return [
            {"goal": name, "said": aim.words, "comment": comment if name == COMMENT else ""}
            for name, aim in {**sensible, COMMENT: list_aims()[COMMENT]}.items()
        ]

    @server.command("greenloop.pullModel")
    def pull_model(*_arguments: Any) -> None:
        if not parts.long_tasks.start(TITLE, lambda line: pull(editor, line), percentage=0):
            client.show_message("The embedded model is already being downloaded.")


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
    models_api = await asyncio.to_thread(importlib.import_module, "greenloop.api.models")
    present = models_api.embedded_weights()

    def report(done: int, total: int) -> None:
        progress_line.report(f"{done / 1e6:.0f} of {total / 1e6:.0f} MB", done * 100 // max(total, 1))

    if present is None:
        await models_api.pull_embedded(report)
    settings = editor.settings.load(locations.root_named(editor.documents, None))
    if reason := await models_api.why_embedded_cannot_run(settings):
        return f"The embedded model is installed but cannot run now. {reason}"
    return "The embedded model is ready." if present is None else f"The embedded model is already installed: {present}"

"""Findings of `greenloop doctor`: the parts that a run needs, whether they are available, and a remedy if not.

An entry point of the group `greenloop.doctor` names a module with `check_sandboxes(rows, root, settings, probes)`,
which returns the rows with its findings, and `list_first_steps()`: words and purposes of commands to begin with.
It must not know how findings are shown.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

from greenloop import __version__
from greenloop.core import entry_points, registry
from greenloop.core.errors import GreenloopError
from greenloop.core.records.model import NO_MODEL
from greenloop.engine.history.store import History
from greenloop.models import default_model
from greenloop.models.local_models import find_local_models, is_local
from greenloop.project import sandbox_selection, workspace
from greenloop.project.settings import EDITOR, Settings, state_folder
from greenloop_sandbox import Probe, Sandbox

# A server that does not answer within this many seconds counts as unreachable.
CONNECT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class DoctorFinding:
    """One finding. `ok` None: not required. `part` is interpreter, sandbox, model or another area.

    `status` is set for a promise of a sandbox: held, best effort, not held, or not tried.
    """

    part: str
    name: str
    ok: bool | None
    detail: str
    remedy: str = ""
    status: str = ""


@dataclass(frozen=True, kw_only=True)
class EditorAbilities:
    """Capabilities of the requesting editor: its own language model, stored API keys."""

    model: bool = False
    keys: bool = False


def can_run(rows: list[DoctorFinding]) -> bool:
    """Could a fix run?"""
    return not missing_parts(rows)


def missing_parts(rows: list[DoctorFinding]) -> list[str]:
    """Lists the missing parts without which no fix can run; the model only if the settings name one.

    Only faces that look for a workspace have a row for it.
    """
    looked_for = ("workspace",) if any(row.part == "workspace" for row in rows) else ()
    parts = (*looked_for, "interpreter", "sandbox")
    missing = [part for part in parts if not any(row.ok for row in rows if row.part == part)]
    return [*missing, *(["model"] if any(row.ok is False for row in rows if row.part == "model") else [])]


def summary(rows: list[DoctorFinding]) -> str:
    """Summarises the findings in a sentence."""
    if missing := missing_parts(rows):
        return f"A fix cannot run yet: {', '.join(missing)} missing."
    models = [row.name for row in rows if row.part == "model" and row.ok]
    if models:
        return f"A fix can run, with the model {models[0]}."
    return (
        "Fixes that need no model can run: one-token changes, imports, upgrades. For others: "
        f"{default_model.missing_remedy()}"
    )


def status_word(row: DoctorFinding) -> str:
    """Returns one word for a finding."""
    return row.status or {True: "ok", False: "no", None: "-"}[row.ok]


async def examine(
    root: Path, settings: Settings, *, promises: bool = False, editor: EditorAbilities | None = None
) -> list[DoctorFinding]:
    """Collects all findings; never raises for missing parts. `promises` also runs the isolation probes.

    `editor` is the requesting editor; None: the command line.
    """
    names = sorted(registry.list_parts("sandboxes"), key=lambda name: name == "none")
    probing = asyncio.gather(*(_probe(name, settings) for name in names))
    probes, models = await asyncio.gather(probing, _models(settings, os.environ, editor or EditorAbilities()))
    sandboxes = _sandboxes(settings, probes)
    for module in entry_points.load_all(entry_points.DOCTOR) if promises else ():
        sandboxes = await module.check_sandboxes(sandboxes, root, settings, probes)
    own = ".".join(map(str, sys.version_info[:3]))
    return [
        DoctorFinding(part="greenloop", name=__version__, ok=True, detail=f"Python {own}, {sys.executable}"),
        await asyncio.to_thread(_interpreter, root, settings),
        *sandboxes,
        *models,
        _history(),
    ]


def _interpreter(root: Path, settings: Settings) -> DoctorFinding:
    try:
        environment = workspace.find_environment(root, settings)
    except GreenloopError as error:
        return DoctorFinding(part="interpreter", name="", ok=False, detail=str(error), remedy=error.remedy)
    version = ".".join(map(str, environment.version))
    detail = f"Python {version}, {environment.executable} ({environment.source})"
    if not environment.has_pytest:
        own, needed = metadata.version("pytest"), metadata.metadata("pytest")["Requires-Python"] or ""
        if not SpecifierSet(needed).contains(version):
            remedy = f"{environment.executable} -m pip install pytest"
            detail = f"{detail}: pytest is missing, and greenloop's own ({own}) needs Python {needed}"
            return DoctorFinding(part="interpreter", name=version, ok=False, detail=detail, remedy=remedy)
        detail = f"{detail}, without pytest: greenloop's own ({own}) is used"
    return DoctorFinding(part="interpreter", name=version, ok=True, detail=detail)


def _sandboxes(settings: Settings, probes: Sequence[Probe]) -> list[DoctorFinding]:
    """Lists each back end's self-test; if the settings name one, only that one counts."""
    kind = settings.sandbox.kind
    rows = []
    for probe in probes:
        counts = kind == probe.name or (kind == "auto" and probe.name != "none")
        remedy = probe.remedy if counts else ""
        rows.append(
            DoctorFinding(
                part="sandbox", name=probe.name, ok=probe.ok if counts else None, detail=probe.detail, remedy=remedy
            )
        )
    return rows


async def _probe(name: str, settings: Settings) -> Probe:
    try:
        sandbox: Sandbox = sandbox_selection.make(name, settings)
        return await sandbox.probe()
    except GreenloopError as error:
        return Probe(name=name, ok=False, detail=str(error), remedy=error.remedy)


# -- models ----------------------------------------------------------------------------------------------------------


async def _models(settings: Settings, environ: Mapping[str, str], editor: EditorAbilities) -> list[DoctorFinding]:
    ollama = await default_model.ollama_models(default_model.ollama_base(environ))
    rows = []
    if settings.model:
        rows.append(await _configured(settings, environ, ollama, editor))
    if embedded := find_local_models():
        rows += await asyncio.to_thread(embedded.find_faults, settings)
    if ollama:
        rows.append(
            DoctorFinding(
                part="model", name="Ollama", ok=None if settings.model else True, detail=", ".join(ollama[:5])
            )
        )
    rows += [
        DoctorFinding(part="key", name=name, ok=None, detail="is set; it is used only for a model you name (--model)")
        for name in default_model.available_keys(environ)
    ]
    return rows


async def _configured(
    settings: Settings, environ: Mapping[str, str], ollama: list[str], editor: EditorAbilities
) -> DoctorFinding:
    """Checks the configured model: does its file exist, its server answer, is there a key? Sends no prompt."""
    name = settings.model
    if name == EDITOR:
        detail = (
            "the language model of this editor"
            if editor.model
            else "works only inside an editor that provides a language model"
        )
        remedy = "" if editor.model else "Name another model, such as local."
        return _model(name, ok=editor.model, detail=detail, remedy=remedy)
    kind, _colon, file = name.partition(":")
    if name == NO_MODEL:
        return DoctorFinding(part="setting", name="model", ok=None, detail=name)
    if is_local(name):
        return DoctorFinding(part="setting", name="model", ok=None, detail=name)
    if kind in ("scripted", "replay"):
        exists = Path(file).is_file()  # noqa: ASYNC240 - one look, before anything else runs
        return _model(name, ok=exists, detail="answers from a file", remedy="" if exists else f"{file} does not exist.")
    provider = name.partition("/")[0]
    if settings.api.base:
        return await _server(name, settings.api.base)
    if provider in ("ollama", "ollama_chat"):
        return _ollama(name, ollama)
    variable = settings.api.key or next((key for key in default_model.KEYS if key.startswith(provider.upper())), "")
    if variable and not environ.get(variable) and editor.keys:
        return _model(name, ok=True, detail=f"{variable} is not set; the editor is asked for the key")
    if variable and not environ.get(variable):
        return _model(name, ok=False, detail=f"{variable} is not set", remedy=f"export {variable}=...")
    detail = f"{variable} is set; the provider was not contacted" if variable else "its provider was not contacted"
    return _model(name, ok=True, detail=detail)


def _ollama(name: str, available: list[str]) -> DoctorFinding:
    model = name.partition("/")[2]
    if not available:
        return _model(name, ok=False, detail="Ollama does not answer", remedy="ollama serve")
    if not any(tag in (model, f"{model}:latest") for tag in available):
        return _model(name, ok=False, detail="Ollama does not have it", remedy=f"ollama pull {model}")
    return _model(name, ok=True, detail="Ollama has it")


async def _server(name: str, base: str) -> DoctorFinding:
    import httpx  # noqa: PLC0415 - only for servers of one's own

    try:
        async with httpx.AsyncClient(timeout=CONNECT_SECONDS) as client:
            # Any answer, even one that requires a key, shows that the server is up.
            response = await client.get(f"{base.rstrip('/')}/models")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        remedy = "Start that server, or correct `api.base`."
        return _model(name, ok=False, detail=f"{base} does not answer ({type(error).__name__})", remedy=remedy)
    return _model(name, ok=True, detail=f"{base} answers ({response.status_code})")


def _model(name: str, *, ok: bool, detail: str, remedy: str = "") -> DoctorFinding:
    return DoctorFinding(part="model", name=name, ok=ok, detail=detail, remedy=remedy)


def _history() -> DoctorFinding:
    problems: list[str] = []
    with History.open(warn=problems.append) as history:
        runs, writable = len(history.runs(limit=100_000)), history.is_writable()
    if problems or not writable:
        detail = problems[0] if problems else "it cannot be written"
        return DoctorFinding(part="history", name="", ok=False, detail=detail, remedy="Make the state folder writable.")
    return DoctorFinding(
        part="history",
        name="1 run" if runs == 1 else f"{runs} runs",
        ok=True,
        detail=str(state_folder() / "history.sqlite3"),
    )

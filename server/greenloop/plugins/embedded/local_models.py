"""Embedded models as the rest of greenloop sees them: by their name in the setting `model`, `local` or `local/NAME`."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.core.errors import GreenloopError, ModelError
from greenloop.engine.doctor.report import DoctorFinding
from greenloop.models.local_models import LOCAL, is_local
from greenloop.plugins.embedded import catalogue, hardware, server, weights
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.environment import installation
from greenloop.project.settings import Settings

ABOUT = "embedded: free, runs on this machine, nothing leaves it"


def check(name: str) -> None:
    """Raises `ModelError` for an unknown name."""
    catalogue.named_by(name)


def ready_models() -> list[str]:
    """The models that can run now: the default one first, then the others as they are listed."""
    if sys.platform == "win32" or not hardware.is_engine_installed():
        return []
    return sorted((model.setting for model in weights.downloaded_models()), key=lambda name: name != LOCAL)


def steps_to_install() -> str:
    """The commands that make the default model ready, for a sentence."""
    pull = f"`{catalogue.find(catalogue.DEFAULT).pull_command}`"
    return pull if hardware.is_engine_installed() else f"`{installation.extra_command()}` and {pull}"


def downloaded_file(name: str = LOCAL) -> Path | None:
    """The weights of a model; None where they are not downloaded."""
    return weights.downloaded_file(catalogue.named_by(name))


async def pull(progress: weights.Progress, name: str = LOCAL) -> Path:
    """Downloads a model; `progress` gets bytes done and in total. Raises `ModelError`."""
    model = catalogue.named_by(name)
    progress(0, model.size)
    return await weights.pull(progress, model=model)


def why_not(settings: Settings) -> str:
    """Returns why the default model cannot run on this machine now, with the remedy; empty where it can."""
    try:
        hardware.check(catalogue.find(catalogue.DEFAULT), settings.of(EmbeddedSettings))
    except ModelError as error:
        return error.advice
    return ""


def list_choices() -> list[tuple[str, str, str]]:
    """The default model, and the others that are downloaded: name, description, and what must be done before."""
    if not hardware.is_engine_installed():
        return [(LOCAL, f"{ABOUT}; its engine is not installed: {installation.extra_command()}", "install")]
    is_here = weights.downloaded_file() is not None
    default = (LOCAL, ABOUT, "") if is_here else (LOCAL, f"{ABOUT}; not downloaded yet (1.1 GB)", "pull")
    return [default, *((model.setting, ABOUT, "") for model in weights.downloaded_models() if model.setting != LOCAL)]


def find_faults(settings: Settings) -> list[DoctorFinding]:
    """Findings for `greenloop doctor`: the model that the settings name, or the default one, and their say on GPUs."""
    is_named = is_local(settings.model)
    counts = is_named or not settings.model
    try:
        model = catalogue.named_by(settings.model if counts else "")
    except GreenloopError as error:
        return [DoctorFinding(part="model", name=settings.model, ok=False, detail=str(error), remedy=error.remedy)]
    if not settings.model and weights.downloaded_file(model) is None and (present := weights.downloaded_models()):
        model = present[0]
    path, machine = weights.downloaded_file(model), hardware.Machine()
    is_usable = path is not None and machine.has_engine
    if not machine.has_engine:
        detail, remedy = "its engine is not installed", installation.extra_command()
    elif path is None:
        size = f" ({model.size / 1e9:.1f} GB)" if model.size else ""
        fitting = hardware.recommend(catalogue.known_models(), settings.of(EmbeddedSettings), machine)
        detail, remedy = f"not downloaded yet{size}", model.pull_command
        if fitting is not None and fitting.name != model.name:
            detail += (
                f"; this machine can also run {fitting.name} ({fitting.size / 1e9:.1f} GB): {fitting.pull_command}"
            )
    else:
        running = server.status()
        is_running = running is not None and running.model == model.name
        detail, remedy = f"{path}, {'running' if is_running else 'starts when it is asked'}", ""
        try:
            if running is None:
                hardware.check(model, settings.of(EmbeddedSettings), machine)
        except GreenloopError as error:
            is_usable, detail, remedy = False, str(error), error.remedy
    row = DoctorFinding(
        part="model",
        name=model.setting,
        ok=is_usable if is_named else (is_usable and not settings.model) or None,
        detail=detail,
        remedy=remedy if counts else "",
    )
    gpus = hardware.describe_gpu_use(settings.of(EmbeddedSettings), machine.gpus)
    return [row, *([DoctorFinding(part="setting", name="embedded.gpu", ok=None, detail=gpus)] if gpus else [])]

"""Finds the packages that a project's tests need: from a lock file, or declared requirements."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packaging.pylock import PylockValidationError

from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import formats, requirements
from greenloop_sandbox.locks.pins import Pin as Pin
from greenloop_sandbox.locks.pins import applies
from greenloop_sandbox.locks.project import ProjectMetadata, read_project

Markers = Mapping[str, str]  # the variables of PEP 508 markers, for the Python that will use the packages

Answer = tuple[list[Pin], list[str]]  # the packages for a Python, and sentences about what was left out

LOCKS: tuple[tuple[str, Callable[[str, ProjectMetadata, Markers], Answer]], ...] = (
    ("uv.lock", formats.read_uv),
    ("poetry.lock", formats.read_poetry),
    ("pdm.lock", formats.read_pdm),
    ("pylock.toml", formats.read_pylock),
    ("Pipfile.lock", formats.read_pipfile),
)


@dataclass(frozen=True, kw_only=True)
class PackageSources:
    """The packages that a project's tests need.

    `files` are the names it was read from; `content` is everything that an image made from it depends on.
    Either `lock` reads the exact packages, or `requirements` must be resolved under `constraints`. `notes` are
    sentences about what was left out.
    """

    files: tuple[str, ...]
    content: bytes
    lock: Callable[[Markers], Answer] | None = None
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def find_sources(root: Path) -> PackageSources | None:
    """The packages that the project's tests need: by its first lock, else by its requirements; None if there are none.

    Raises `CannotVerifyError` when one of the files cannot be read.
    """
    project, listed = read_project(root), requirements.read_requirements(root)
    for name, reader in LOCKS:
        if name == "Pipfile.lock" and listed.complete:
            content = _content(*(f"{pin} ; {pin.marker}" for pin in listed.pins))
            return PackageSources(
                files=listed.files, content=content, lock=partial(_applicable, listed.pins), notes=listed.notes
            )
        text = _text(root, name)
        if text is not None:
            content = _content(text, *project.dependencies, *project.extras, *project.groups)
            return PackageSources(files=(name,), content=content, lock=partial(reader, text, project))
    requirement_lines = sorted({*project.requirements, *listed.requirements})
    if not requirement_lines:
        return None
    constraints = tuple(sorted({*listed.constraints}))
    return PackageSources(
        files=(*((project.file,) if project.requirements else ()), *listed.files),
        content=_content(*requirement_lines, "constraints", *constraints),
        requirements=tuple(requirement_lines),
        constraints=constraints,
        notes=(*project.notes, *listed.notes),
    )


def read_pins(sources: PackageSources, markers: Markers) -> Answer:
    """The exact packages of a lock for a Python with these markers, and sentences about what was left out.

    Raises `CannotVerifyError` when the lock cannot be understood.
    """
    assert sources.lock is not None
    try:
        pins, notes = sources.lock(markers)
    except (ValueError, KeyError, TypeError, AttributeError, PylockValidationError) as error:
        raise CannotVerifyError(
            f"{sources.files[0]} cannot be parsed: {type(error).__name__}: {error}.",
            remedy="Recreate it with its tool, or set `sandbox.image`.",
        ) from error
    return pins, [*sources.notes, *notes]


def _applicable(pins: Sequence[Pin], markers: Markers) -> Answer:
    return [pin for pin in pins if applies(pin.marker, markers)], []


def _text(root: Path, name: str) -> str | None:
    file = root / name
    if not file.resolve().is_relative_to(root.resolve()):
        return None  # a symbolic link out of the workspace
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotVerifyError(f"{file.name} cannot be read: {error}.") from error


def _content(*parts: str) -> bytes:
    return json.dumps(parts).encode()

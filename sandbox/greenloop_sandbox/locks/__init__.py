"""Finds the packages that a project's tests need: from a lock file, or declared requirements."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.pylock import PylockValidationError

from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import formats, requirements
from greenloop_sandbox.locks.pins import Pin as Pin
from greenloop_sandbox.locks.pins import applies
from greenloop_sandbox.locks.project import ProjectMetadata, read_project

Markers = Mapping[str, str]  # the variables of PEP 508 markers, for the Python that will use the packages

LOCKS: tuple[tuple[str, Callable[[str, ProjectMetadata, Markers], tuple[list[Pin], list[str]]]], ...] = (
    ("uv.lock", formats.read_uv),
    ("poetry.lock", formats.read_poetry),
    ("pdm.lock", formats.read_pdm),
    ("pylock.toml", formats.read_pylock),
    ("Pipfile.lock", formats.read_pipfile),
)
_BEFORE_PIPFILE = 4


@dataclass(frozen=True, kw_only=True)
class PackageSources:
    """The packages that a project's tests need.

    `files` are the names it was read from; `content` is everything that an image made from it depends on.
    Either `lock` names one of `LOCK_FORMATS`, or `pins` are complete, or `requirements` must be resolved under
    `constraints`. `notes` are sentences about what was left out.
    """

    files: tuple[str, ...]
    content: bytes
    project: ProjectMetadata
    lock: str = ""
    pins: tuple[Pin, ...] = ()
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def find_sources(root: Path) -> PackageSources | None:
    """The packages that the project's tests need: by its first lock, else by its requirements; None if there are none.

    Raises `CannotVerifyError` when one of the files cannot be read.
    """
    project = read_project(root)
    requirement_files = requirements.read_requirements(root)
    for index, (name, _reader) in enumerate(LOCKS):
        if index == _BEFORE_PIPFILE and requirement_files.complete:
            return PackageSources(
                files=requirement_files.files,
                content=_content(*(f"{pin} ; {pin.marker}" for pin in requirement_files.pins)),
                project=project,
                pins=requirement_files.pins,
                notes=requirement_files.notes,
            )
        text = _text(root, name)
        if text is not None:
            content = _content(text, *project.dependencies, *project.extras, *project.groups)
            return PackageSources(files=(name,), content=content, project=project, lock=name)
    requirement_lines = sorted({*project.requirements, *requirement_files.requirements})
    if not requirement_lines:
        return None
    files = (*((project.file,) if project.requirements else ()), *requirement_files.files)
    constraints = tuple(sorted({*requirement_files.constraints}))
    return PackageSources(
        files=files,
        content=_content(*requirement_lines, "constraints", *constraints),
        project=project,
        requirements=tuple(requirement_lines),
        constraints=constraints,
        notes=(*project.notes, *requirement_files.notes),
    )


def read_pins(sources: PackageSources, root: Path, markers: Markers) -> tuple[list[Pin], list[str]]:
    """The exact packages for a Python with these markers, and sentences about what was left out.

    Raises `CannotVerifyError` when the lock cannot be understood.
    """
    if not sources.lock:
        return [pin for pin in sources.pins if applies(pin.marker, markers)], list(sources.notes)
    text = _text(root, sources.lock) or ""
    reader = dict(LOCKS)[sources.lock]
    try:
        pins_found, notes = reader(text, sources.project, markers)
    except (ValueError, KeyError, TypeError, AttributeError, PylockValidationError) as error:
        raise CannotVerifyError(
            f"{sources.lock} cannot be parsed: {type(error).__name__}: {error}.",
            remedy="Recreate it with its tool, or set `sandbox.image`.",
        ) from error
    return pins_found, [*sources.notes, *notes]


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

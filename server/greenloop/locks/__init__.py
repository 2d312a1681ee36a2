"""Which packages a project's tests need: its lock, or what it asks for without one. Read as text, never run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from greenloop.core.errors import CannotVerify
from greenloop.locks import formats, requirements
from greenloop.locks.pins import Pin as Pin
from greenloop.locks.pins import applies
from greenloop.locks.project import Project, read

Markers = Mapping[str, str]  # the variables of PEP 508 markers, for the Python that the packages are for

LOCKS: tuple[tuple[str, Callable[[str, Project, Markers], tuple[list[Pin], list[str]]]], ...] = (
    ("uv.lock", formats.uv),
    ("poetry.lock", formats.poetry),
    ("pdm.lock", formats.pdm),
    ("pylock.toml", formats.pylock),
    ("Pipfile.lock", formats.pipfile),
)
_BEFORE_PIPFILE = 4


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What describes the packages.

    `files` are the names it was read from, `content` is what an image made from it depends on.
    Either `lock` names one of `LOCKS`, or `pins` are complete, or `requirements` under `constraints` must be resolved.
    `notes` are sentences about what was left out.
    """

    files: tuple[str, ...]
    content: bytes
    project: Project
    lock: str = ""
    pins: tuple[Pin, ...] = ()
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def find(root: Path) -> Wanted | None:
    """What the project's tests need, by the first of its locks, else by what it asks for; None: nothing at all.

    Raises `CannotVerify` when a file of it cannot be read.
    """
    project = read(root)
    listed = requirements.of(root)
    for index, (name, _reader) in enumerate(LOCKS):
        if index == _BEFORE_PIPFILE and listed.complete:
            return Wanted(
                files=listed.files,
                content=_content(*(f"{pin} ; {pin.marker}" for pin in listed.pins)),
                project=project,
                pins=listed.pins,
                notes=listed.notes,
            )
        text = _text(root, name)
        if text is not None:
            asked = _content(text, *project.dependencies, *project.extras, *project.groups)
            return Wanted(files=(name,), content=asked, project=project, lock=name)
    asked_for = sorted({*project.requirements, *listed.requirements})
    if not asked_for:
        return None
    files = (*((project.file,) if project.requirements else ()), *listed.files)
    constraints = tuple(sorted({*listed.constraints}))
    return Wanted(
        files=files,
        content=_content(*asked_for, "constraints", *constraints),
        project=project,
        requirements=tuple(asked_for),
        constraints=constraints,
        notes=(*project.notes, *listed.notes),
    )


def pins(wanted: Wanted, root: Path, markers: Markers) -> tuple[list[Pin], list[str]]:
    """The exact packages of a lock for a Python with these markers, and sentences about what was left out.

    Raises `CannotVerify` when the lock cannot be understood.
    """
    if not wanted.lock:
        return [one for one in wanted.pins if applies(one.marker, markers)], list(wanted.notes)
    text = _text(root, wanted.lock) or ""
    reader = dict(LOCKS)[wanted.lock]
    try:
        found, notes = reader(text, wanted.project, markers)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotVerify(
            f"{wanted.lock} cannot be understood: {type(error).__name__}: {error}.",
            remedy="Make it anew with its tool, or name an image in `sandbox.image`.",
        ) from error
    return found, [*wanted.notes, *notes]


def _text(root: Path, name: str) -> str | None:
    file = root / name
    if not file.resolve().is_relative_to(root.resolve()):
        return None  # a link out of the workspace
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotVerify(f"{file.name} cannot be read: {error}.") from error


def _content(*parts: str) -> bytes:
    return json.dumps(parts).encode()


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return canonicalize_name(name)


def same(one: str, other: str) -> bool:
    """Do both names mean the same package?"""
    return normal(one) == normal(other)


def named(line: str) -> str:
    """The name in a requirement line."""
    return Requirement(line).name

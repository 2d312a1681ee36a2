"""The project as if it were installed for editing: its folders on the path, and the metadata that it would have.

Nothing is installed: the metadata is written from what pyproject.toml or setup.cfg says.
"""

from __future__ import annotations

import re

from greenloop.container.shape import FOLDER
from greenloop.locks.project import Project

_PLACE = "project"


def files(project: Project) -> dict[str, bytes]:
    """The metadata's files by path below `FOLDER`; none for a project without a name."""
    if not project.name:
        return {}
    version = project.version or "0.0.0"
    folder = f"{_PLACE}/{_plain(project.name)}-{_plain(version)}.dist-info"
    about = f"Metadata-Version: 2.1\nName: {_line(project.name)}\nVersion: {_line(version)}\n"
    found = {f"{folder}/METADATA": about.encode(), f"{folder}/INSTALLER": b"greenloop\n"}
    sections = [
        "\n".join([f"[{_line(group)}]", *(f"{_line(name)} = {_line(value)}" for name, value in points.items()), ""])
        for group, points in project.entry_points.items()
    ]
    if sections:
        found[f"{folder}/entry_points.txt"] = "\n".join(sections).encode()
    return found


def path(project: Project, root: str) -> str:
    """PYTHONPATH for tests: the source folders, then the metadata. Empty where nothing is needed."""
    folders = [f"{root}/{folder}" for folder in project.sources]
    return ":".join([*folders, *([f"{FOLDER}/{_PLACE}"] if project.name else ())])


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+!]+", "_", text)


def _line(text: str) -> str:
    return " ".join(text.split())

"""Makes the project look like an editable install: its source folders on the path, and its metadata.

Nothing is installed: the metadata is written from pyproject.toml or setup.cfg.
"""

from __future__ import annotations

import re

from greenloop_sandbox.container.hardening import PAYLOAD_FOLDER
from greenloop_sandbox.locks.project import ProjectMetadata

_FOLDER = "project"


def metadata_files(project: ProjectMetadata) -> dict[str, bytes]:
    """The metadata files by path below `PAYLOAD_FOLDER`; none for a project without a name."""
    if not project.name:
        return {}
    version = project.version or "0.0.0"
    folder = f"{_FOLDER}/{_normalize(project.name)}-{_normalize(version)}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {_one_line(project.name)}\nVersion: {_one_line(version)}\n"
    contents = {f"{folder}/METADATA": metadata.encode(), f"{folder}/INSTALLER": b"greenloop\n"}
    sections = [
        "\n".join(
            [
                f"[{_one_line(group)}]",
                *(f"{_one_line(name)} = {_one_line(value)}" for name, value in entry_points.items()),
                "",
            ]
        )
        for group, entry_points in project.entry_points.items()
    ]
    if sections:
        contents[f"{folder}/entry_points.txt"] = "\n".join(sections).encode()
    return contents


def environ(project: ProjectMetadata, root: str) -> dict[str, str]:
    """PYTHONPATH for tests, where it is needed: the source folders, then the metadata."""
    folders = [f"{root}/{folder}" for folder in project.sources]
    folders += [f"{PAYLOAD_FOLDER}/{_FOLDER}"] if project.name else []
    return {"PYTHONPATH": ":".join(folders)} if folders else {}


def _normalize(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+!]+", "_", text)


def _one_line(text: str) -> str:
    return " ".join(text.split())

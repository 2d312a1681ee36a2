"""Wheels made of texts."""

from __future__ import annotations

import zipfile
from pathlib import Path


def make_wheel(tmp_path: Path, files: dict[str, str], name: str = "thing-1.0-py3-none-any.whl") -> Path:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in files.items():
            archive.writestr(inner, text)
    return path

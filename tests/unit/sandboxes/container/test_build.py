"""How packages get into an image, without an engine: pip that starts nothing, wheels that stay in their folders."""

from __future__ import annotations

import zipfile
from pathlib import Path

from greenloop.sandboxes.container import build

# -- what the image's Python is ---------------------------------------------------------------------------------


# -- pip on this machine ----------------------------------------------------------------------------------------


# -- wheels as files --------------------------------------------------------------------------------------------


def wheel(tmp_path: Path, files: dict[str, str], name: str = "thing-1.0-py3-none-any.whl") -> Path:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        for inner, text in files.items():
            archive.writestr(inner, text)
    return path


def test_what_a_source_needs_is_read_from_its_files(tmp_path):
    assert build.read_build_settings(tmp_path) == (
        ["setuptools", "wheel", "wheel"],
        "setuptools.build_meta:__legacy__",
        [],
    )
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['flit_core>=3']\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    )
    assert build.read_build_settings(tmp_path) == (["flit_core>=3"], "backend", ["."])


# -- the project ------------------------------------------------------------------------------------------------


# -- unused images ----------------------------------------------------------------------------------------------

"""How packages get into an image, without an engine: pip that starts nothing, wheels that stay in their folders."""

from __future__ import annotations

from greenloop_sandbox.container import build

# -- what the image's Python is ---------------------------------------------------------------------------------


# -- pip on this machine ----------------------------------------------------------------------------------------


# -- wheels as files --------------------------------------------------------------------------------------------


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

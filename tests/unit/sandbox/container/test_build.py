"""What a source package needs to be built."""

from __future__ import annotations

from greenloop_sandbox.container import build


def test_what_a_source_needs_is_read_from_its_files(tmp_path):
    assert build.read_build_requirements(tmp_path) == ["setuptools", "wheel", "wheel"]
    (tmp_path / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['flit_core>=3']\nbuild-backend = 'backend'\nbackend-path = ['.']\n"
    )
    assert build.read_build_requirements(tmp_path) == ["flit_core>=3"]

"""Where tools keep environments."""

from __future__ import annotations

from pathlib import Path

from greenloop.project.environment.environment_hints import environment_hints


def test_the_projects_own_folders_come_first_and_condas_base_never(tmp_path):
    (tmp_path / ".pdm-python").write_text("/pdm/bin/python\n")
    environ = {"VIRTUAL_ENV": "/active", "CONDA_PREFIX": "/conda", "HOME": str(tmp_path)}
    own = [(tmp_path / ".venv", ".venv"), (tmp_path / "venv", "venv"), (Path("/active"), "VIRTUAL_ENV")]
    assert list(environment_hints(tmp_path, environ)) == [*own, (Path("/pdm"), "PDM"), (Path("/conda"), "conda")]
    base = list(environment_hints(tmp_path, {**environ, "CONDA_DEFAULT_ENV": "base"}))
    assert base == [*own, (Path("/pdm"), "PDM")]

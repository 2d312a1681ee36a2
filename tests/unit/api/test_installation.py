"""Commands that users are asked to type, as the façade has them."""

import pytest

from greenloop.api.installation import extra_command, own_command


@pytest.mark.parametrize(
    ("folder", "own", "install"),
    [
        ("venv", "greenloop model pull", " -m pip install 'xllamacpp>=2026.10'"),
        ("archive-v0", 'uvx "greenloop[local]" model pull', "uvx --with 'xllamacpp>=2026.10' greenloop fix"),
        ("pipx/venvs", "greenloop model pull", "pipx inject greenloop 'xllamacpp>=2026.10'"),
    ],
)
def test_they_fit_the_tool_that_installed_greenloop(tmp_path, folder, own, install):
    prefix = tmp_path / folder / "greenloop"
    assert own_command("greenloop", "model", "pull", prefix=prefix) == own
    assert extra_command(prefix=prefix, arguments=["fix"]).endswith(install)

"""Commands that users are asked to type, as the façade has them."""

import pytest

from greenloop.api.installation import install_command, own_command


@pytest.mark.parametrize(
    ("folder", "own", "install"),
    [
        ("venv", "greenloop model pull", ' -m pip install "greenloop[local]"'),
        ("archive-v0", 'uvx "greenloop[local]" model pull', 'uvx "greenloop[local]" fix'),
        ("pipx/venvs", "greenloop model pull", "pipx inject greenloop xllamacpp"),
    ],
)
def test_they_fit_the_tool_that_installed_greenloop(tmp_path, folder, own, install):
    prefix = tmp_path / folder / "greenloop"
    assert own_command("greenloop", "model", "pull", prefix=prefix) == own
    assert install_command(prefix, ["fix"]).endswith(install)

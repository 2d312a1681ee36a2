"""Models that greenloop itself runs: their names, and an installation without the plugin."""

from __future__ import annotations

import pytest

from greenloop.core.errors import ModelError
from greenloop.models import default_model, local_models, roles
from greenloop.project.settings import Settings


@pytest.mark.parametrize("name", ["local", "local/any"])
def test_names_of_these_models(name):
    assert local_models.is_local(name)


@pytest.mark.parametrize("name", ["", "ollama/local", "locale", "openai/local/x"])
def test_names_of_other_models(name):
    assert not local_models.is_local(name)


@pytest.mark.usefixtures("install")
async def test_without_the_plugin_the_name_is_an_error_and_others_are_chosen():
    with pytest.raises(ModelError, match="The embedded model is not installed") as caught:
        roles.check_model("local", Settings(), needs_key=True)
    assert "ollama/NAME" in caught.value.remedy
    assert await default_model.choose(Settings(), {"OLLAMA_HOST": "127.0.0.1:1"}) == ""
    assert default_model.missing_remedy().startswith("Start Ollama, or set `model`")

"""Models over the network, in an installation without their plugin."""

from __future__ import annotations

import pytest

from greenloop.core.errors import ModelError
from greenloop.core.records.model import ModelKind
from greenloop.models import kinds, roles
from greenloop.models.remote_models import REMOTE, find_remote_models
from greenloop.project.settings import Settings


@pytest.mark.usefixtures("install")
def test_without_the_plugin_the_name_is_an_error():
    assert find_remote_models() is None
    with pytest.raises(ModelError, match="Models over the network are not installed") as caught:
        roles.check_model("openai/gpt-4o", Settings(), needs_key=True)
    assert "such as local" in caught.value.remedy
    with pytest.raises(ModelError, match="not installed"):
        roles.open_model(f"{REMOTE}:x", Settings())
    assert kinds.kind_of("openai/gpt-4o", Settings()) is ModelKind.CAPABLE


def test_a_model_with_a_price_is_capable_wherever_it_is_asked():
    assert kinds.kind_of("mistral/mistral-large-latest", Settings()) is ModelKind.CAPABLE

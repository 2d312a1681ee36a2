"""No model: chosen where none is found, and an error with the choices where it is asked."""

from __future__ import annotations

import pytest

from fixed_machine import FixedMachine
from greenloop.core.errors import ModelError
from greenloop.core.ports import slots
from greenloop.core.records.model import ChatRequest, Message, ModelKind, Role
from greenloop.models import roles
from greenloop.models.kinds import kind_of
from greenloop.models.providers import none
from greenloop.project.settings import Settings


@pytest.mark.parametrize("settings", [Settings(), Settings(model="none"), Settings(model="none", model_kind="capable")])
async def test_where_there_is_no_model_nothing_is_asked(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    models = roles.Models(settings=settings)
    await models.check()
    model = await models.model_for(Role.DRAFTER)
    assert (model.name, models.name_of(Role.DRAFTER), slots(model)) == ("none", "none", 0)
    assert kind_of(model.name, settings) is ModelKind.SMALL
    with pytest.raises(ModelError, match="^That needs a model: "):
        await model.complete(ChatRequest(messages=(Message(role="user", content="?"),), role=Role.DRAFTER), print)
    await models.close()


@pytest.mark.parametrize("is_installed", [True, False])
def test_the_choices_are_commands(is_installed, on_machine):
    on_machine(FixedMachine(has_engine=is_installed))
    remedy = none.needed().remedy
    for part in ("model pull` for the embedded one (1.1 GB)", "Ollama", "`api.base`", "key"):
        assert part in remedy
    assert ("xllamacpp" in remedy) is not is_installed

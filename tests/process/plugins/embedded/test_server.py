"""The process of the embedded model."""

from __future__ import annotations

import pytest

from fixed_machine import FixedMachine
from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import lock, server
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.settings import Settings


async def test_weights_that_cannot_be_loaded_are_one_sentence(tmp_path, on_machine):
    pytest.importorskip("xllamacpp")
    on_machine(FixedMachine())
    rubbish = tmp_path / "rubbish.gguf"
    rubbish.write_bytes(b"rubbish")
    with pytest.raises(ModelError, match="exited before it was ready") as caught:
        await server.start(Settings(plugins=(EmbeddedSettings(idle=10),)), file=rubbish)
    assert str(server.log_file()) in caught.value.remedy
    assert server.status() is None
    assert not lock.held(server.lock_file())

"""models/recording: what a recording says of its run, and which of it a replay believes."""

import json
from importlib.metadata import version

import pytest

from greenloop.core.errors import ModelError
from greenloop.core.records.model import ChatRequest, Message
from greenloop.plugins.recordings.providers import replay
from greenloop.plugins.recordings.providers.replay import run_line
from greenloop.project import configuration
from greenloop.project.settings import Settings

ASK = ChatRequest(messages=(Message(role="user", content="words"),))


def test_a_recorded_run_brings_the_settings_that_its_requests_depend_on_and_no_others(tmp_path):
    path = tmp_path / "r.jsonl"
    used = configuration.load(None, command_line={"model": "openai/gpt-4o", "regions": 3, "apply": "ask"}, environ={})
    path.write_text(run_line("t.py::test", used[0]))
    assert replay.recorded_settings(f"replay:{path}") == {"regions": 3, "model.kind": "capable"}
    path.write_text(json.dumps({"run": {"settings": {"sandbox.unsafe": True, "apply": "partial", "preset": "plain"}}}))
    assert replay.recorded_settings(f"replay:{path}") == {"preset": "plain"}


async def test_a_miss_names_the_versions_that_recorded_it(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(run_line("t.py::test", Settings()))
    with pytest.raises(ModelError) as caught:
        await replay.create(f"replay:{path}", Settings()).complete(ASK, str)
    assert f"greenloop {version('greenloop')} and Python 3." in caught.value.remedy

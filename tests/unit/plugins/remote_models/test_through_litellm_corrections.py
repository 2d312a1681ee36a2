"""What is corrected of litellm, on a stand-in of the library; tests/contract has the real one."""

from __future__ import annotations

from types import SimpleNamespace as Library

import pytest

from greenloop.plugins.remote_models.through_litellm import correct


@pytest.fixture
def library():
    class Gemini:
        @staticmethod
        def _check_finish_reason(_message, stated):
            return stated.lower() if stated else "stop"

    class Responses:
        def should_fake_stream(self, model, stream, custom_llm_provider=None):
            return True

    return Library(VertexGeminiConfig=Gemini, OpenAIResponsesAPIConfig=Responses)


@pytest.mark.parametrize("name", ["gemini/gemini-2.5-pro", "vertex_ai/gemini-2.5-pro"])
def test_a_piece_of_gemini_is_not_the_last_unless_it_says_so(library, name):
    for _time in range(3):
        correct(library, name)
    assert library.VertexGeminiConfig._check_finish_reason({}, None) is None
    assert library.VertexGeminiConfig._check_finish_reason({}, "STOP") == "stop"


@pytest.mark.parametrize(("model", "fakes"), [("o1-pro", True), ("gpt-5-codex", False), ("gpt-unheard", False)])
def test_only_what_cannot_be_streamed_comes_as_a_whole(library, model, fakes):
    correct(library, "openai/m")
    config = library.OpenAIResponsesAPIConfig()
    assert config.should_fake_stream(model=model, stream=True, custom_llm_provider="openai") is fakes
    assert config.should_fake_stream(model, None) is False


def test_other_providers_are_left_as_they_are(library):
    correct(library, "anthropic/claude-sonnet-4-5")
    assert library.VertexGeminiConfig._check_finish_reason({}, None) == "stop"

"""Small and capable models by name, size and place."""

import pytest

from greenloop.core.records.model import Kind
from greenloop.models.kinds import kind_of, parameters_of
from greenloop.project.settings import ApiSettings, Settings

HERE = "http://127.0.0.1:8111/v1"


@pytest.mark.parametrize(
    ("name", "base", "kind"),
    [
        ("local", "", Kind.SMALL),
        ("local/qwen2.5-coder-3b", "", Kind.SMALL),
        ("", "", Kind.SMALL),
        ("scripted:answers.jsonl", "", Kind.SMALL),
        ("editor", "", Kind.CAPABLE),
        ("client", "", Kind.CAPABLE),
        ("openai/gpt-5.1", "", Kind.CAPABLE),
        ("openai/gpt-5.1", HERE, Kind.CAPABLE),
        ("gpt-4o", "", Kind.CAPABLE),
        ("anthropic/claude-sonnet-4-5", "", Kind.CAPABLE),
        ("gemini/gemini-2.5-pro", "", Kind.CAPABLE),
        ("deepseek/deepseek-chat", "", Kind.CAPABLE),
        ("anthropic/claude-not-known-yet", "", Kind.CAPABLE),
        ("groq/llama-3.1-8b-instant", "", Kind.SMALL),
        ("ollama/llama3.2", "", Kind.SMALL),
        ("ollama/qwen2.5-coder:7b", "", Kind.SMALL),
        ("ollama/qwen3-coder:30b", "", Kind.CAPABLE),
        ("ollama/gpt-oss:120b-cloud", "", Kind.CAPABLE),
        ("openai/Qwen2.5-Coder-1.5B-Instruct", HERE, Kind.SMALL),
        ("openai/Qwen3-Coder-30B-A3B-Instruct", HERE, Kind.CAPABLE),
        ("openai/my-model", HERE, Kind.SMALL),
        ("openai/my-model", "https://llm.example.org/v1", Kind.CAPABLE),
        ("openai/mixtral-8x7b", HERE, Kind.CAPABLE),
    ],
)
def test_the_kind_of_a_model(name, base, kind):
    assert kind_of(name, Settings(api=ApiSettings(base=base))) is kind


@pytest.mark.parametrize("kind", list(Kind))
def test_the_setting_decides(kind):
    for name in ("local", "openai/gpt-5.1"):
        assert kind_of(name, Settings(model_kind=kind.value)) is kind


def test_versions_are_no_sizes():
    assert parameters_of("qwen2.5-coder") == 0
    assert parameters_of("o4-mini") == 0
    assert parameters_of("llama-3.3-70b-versatile") == 70
    assert parameters_of("smollm2:135m") == 0

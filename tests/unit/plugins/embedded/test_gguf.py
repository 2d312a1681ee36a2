"""What a file of weights says of its model."""

import struct

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, gguf, weights
from tiny_gguf import QWEN, make_gguf


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.gguf"

    def write(values):
        path.write_bytes(values if isinstance(values, bytes) else make_gguf(values))
        return path

    return write


def test_the_header_has_what_a_model_needs(file):
    header = gguf.read_header(file(QWEN))
    assert (header.context, header.bytes_a_token) == (32768, 28672)
    assert header.has_words(["<|fim_prefix|>", "b"])
    assert not header.has_words(["<|fim_prefix|>", "<fim_prefix>"])


@pytest.mark.parametrize(
    ("changed", "bytes_a_token"),
    [
        ({"qwen2.attention.key_length": 64, "qwen2.attention.value_length": 32}, 28 * 2 * 96 * 2),
        ({"qwen2.attention.head_count_kv": [2, 0, 4]}, 6 * 256 * 2),
        ({"qwen2.attention.head_count_kv": None}, 28 * 12 * 256 * 2),
    ],
)
def test_memory_of_a_token_is_that_of_all_its_keys_and_values(file, changed, bytes_a_token):
    values = {key: value for key, value in {**QWEN, **changed}.items() if value is not None}
    assert gguf.read_header(file(values)).bytes_a_token == bytes_a_token


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"<html>",
        make_gguf(QWEN)[:100],
        make_gguf({"general.architecture": "bert"}),
        make_gguf({**QWEN, "qwen2.attention.head_count": 0}),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60),
        b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 60),
        b"GGUF" + struct.pack("<IQQQcII", 3, 0, 1, 1, b"a", 99, 0),
        b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
    ],
    ids=["empty", "page", "cut", "no language model", "no heads", "count", "length", "type", "version"],
)
def test_another_file_is_told(file, damaged):
    with pytest.raises(ModelError, match=r"model\.gguf is not a model in the GGUF format, or is damaged") as caught:
        gguf.read_header(file(damaged))
    assert caught.value.remedy


def test_the_words_of_a_prompt_are_what_is_not_filled_in():
    assert gguf.words_of("<A>{suffix}<B>{prefix}<C>") == ["<A>", "<B>", "<C>"]
    assert gguf.words_of("") == []


@pytest.mark.needs("model")
def test_the_catalogue_says_of_the_default_model_what_its_file_says():
    model = catalogue.find(catalogue.DEFAULT)
    header = gguf.read_header(weights.downloaded_file(model))
    assert (header.context, header.bytes_a_token) == (model.context, model.bytes_a_token)
    assert header.has_words(gguf.words_of(model.fim))
    assert header.has_words(model.fim_ends)

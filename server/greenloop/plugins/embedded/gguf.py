"""Reads what a file of weights says of its model: the header of a GGUF file, without its tensors."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from greenloop.core.errors import ModelError

# The format's types of values, by number; 8 is a string and 9 an array.
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
TOKENS = "tokenizer.ggml.tokens"
# No name or array of a model is longer: beyond it the file is damaged.
LONGEST = 1 << 26
BYTES_A_NUMBER = 2  # keys and values are kept in 16 bits


class _NoHeaderError(Exception):
    """The file's bytes are not a header."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """`context`: tokens that the model was trained for; `bytes_a_token`: memory of each; `words`: its vocabulary."""

    context: int
    bytes_a_token: int
    words: frozenset[str]

    def has_words(self, words: Sequence[str]) -> bool:
        return self.words.issuperset(words)


def words_of(template: str) -> list[str]:
    """The model's own words in a fill-in-the-middle prompt."""
    return [word for word in re.split(r"\{\w+\}", template) if word]


def read_header(path: Path) -> Header:
    """The header of a file. Raises `ModelError` where it is none or lacks what is needed, `OSError` as `open` does."""
    try:
        with path.open("rb") as file:
            values = _values(file)
        architecture = values["general.architecture"]
        table = {
            key.removeprefix(f"{architecture}."): value
            for key, value in values.items()
            if key.startswith(f"{architecture}.")
        }
        return Header(
            context=int(table["context_length"]),
            bytes_a_token=_bytes_a_token(table),
            words=frozenset(values.get(TOKENS, ())),
        )
    except (_NoHeaderError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ModelError(
            f"{path} is not a model in the GGUF format, or is damaged.",
            remedy="Name a file that llama.cpp can load; its name usually ends with .gguf.",
        ) from error


def _bytes_a_token(table: dict[str, Any]) -> int:
    layers, heads = int(table["block_count"]), _each(table["attention.head_count"])
    key_heads = _each(table.get("attention.head_count_kv", table["attention.head_count"]))
    usual = int(table["embedding_length"]) // max(heads)
    width = int(table.get("attention.key_length", usual)) + int(table.get("attention.value_length", usual))
    # One number for all layers, or one for each.
    total_heads = sum(key_heads) if len(key_heads) > 1 else key_heads[0] * layers
    return total_heads * width * BYTES_A_NUMBER


def _each(value: Any) -> list[int]:
    return [int(each) for each in value] if isinstance(value, list) else [int(value)]


def _values(file: BinaryIO) -> dict[str, Any]:
    if file.read(4) != b"GGUF" or _number(file, "I") not in {2, 3}:
        raise _NoHeaderError
    _tensors, count = _number(file, "Q"), _number(file, "Q")
    return {_string(file): _value(file, int(_number(file, "I"))) for _ in range(_limit(count))}


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        of, length = int(_number(file, "I")), _limit(_number(file, "Q"))
        if of in SCALARS:
            return list(_unpack(file, f"<{length}{SCALARS[of]}"))
        return [_value(file, of) for _ in range(length)]
    if kind not in SCALARS:
        raise _NoHeaderError
    return _number(file, SCALARS[kind])


def _string(file: BinaryIO) -> str:
    length = _limit(_number(file, "Q"))
    return _read(file, length).decode("utf-8", "replace")


def _number(file: BinaryIO, code: str) -> Any:
    return _unpack(file, f"<{code}")[0]


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(form, _read(file, struct.calcsize(form)))


def _read(file: BinaryIO, length: int) -> bytes:
    data = file.read(length)
    if len(data) != length:
        raise _NoHeaderError
    return data


def _limit(count: int) -> int:
    if count > LONGEST:
        raise _NoHeaderError
    return count

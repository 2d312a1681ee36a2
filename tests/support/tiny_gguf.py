"""Files of weights that consist of a header: what a GGUF file says of its model, without tensors."""

from __future__ import annotations

import struct

QWEN = {
    "general.architecture": "qwen2",
    "general.name": "a test",
    "qwen2.context_length": 32768,
    "qwen2.block_count": 28,
    "qwen2.embedding_length": 1536,
    "qwen2.attention.head_count": 12,
    "qwen2.attention.head_count_kv": 2,
    "qwen2.rope.freq_base": 1e6,
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.ggml.tokens": ["a", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "b"],
}


def make_gguf(values):
    """The bytes of a file with that header."""
    pairs = b"".join(_text(key) + _typed(value) for key, value in values.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + pairs


def _typed(value):
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    kind, body = (
        (8, b"".join(map(_text, value))) if isinstance(value[0], str) else (4, struct.pack(f"<{len(value)}I", *value))
    )
    return struct.pack("<IIQ", 9, kind, len(value)) + body


def _text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()

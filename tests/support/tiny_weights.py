"""Weights of a few bytes, in parts."""

from __future__ import annotations

import hashlib

from greenloop.plugins.embedded import catalogue, packages, weights

PART = 1000
DATA = bytes(index * 7 % 251 for index in range(3 * PART + 321))


def make_tiny_model(**values):
    """A model of a few bytes; without `hub` it comes from packages."""
    usual = {
        "name": "tiny",
        "file": "tiny.gguf",
        "size": len(DATA),
        "sha256": hashlib.sha256(DATA).hexdigest(),
        "context": 2048,
        "bytes_a_token": 100,
        "packages": tuple(f"tiny-part{number}==1.0" for number in range(1, 5)),
        "part_bytes": PART,
    }
    return catalogue.EmbeddedModel(**usual | values)


async def pull_weights(fetch=packages.pip_download, model=None, progress=lambda *_: None):
    return await weights.pull(progress, model=model or make_tiny_model(), fetch=fetch)

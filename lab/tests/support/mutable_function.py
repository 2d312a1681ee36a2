"""A function to be mutated."""

from __future__ import annotations

from greenloop_lab.bench.mutation.ast_edits import Source


def make_module(body: str) -> str:
    rows = "".join(f"    {line}\n" for line in body.split("\n"))
    return f'import os\n\n\ndef f(a, b):\n    """Täte 1 < 2."""\n{rows}'


def find_function(source: Source):
    return source.tree.body[-1]

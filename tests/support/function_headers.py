"""Regions and headers of functions in a text."""

from __future__ import annotations

from greenloop.core.records.spec import Region
from greenloop.plugins.function_calls import signature


def find_region(text: str, name: str) -> Region:
    start = next(number for number, row in enumerate(text.split("\n"), 1) if row.lstrip().startswith(f"def {name}("))
    return Region(path="m.py", qualname=name, start=start, end=len(text.split("\n")))


def read_header(text: str, name: str):
    return signature.read_header(find_region(text, name), text)

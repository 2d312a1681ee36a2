"""Where the functions are that a failure names without having run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.core.records.spec import Region
from greenloop.project.syntax import definitions


def find_functions(names: Sequence[str], texts: Mapping[str, str]) -> list[Region]:
    """The functions of these files, by path, with one of the names."""
    found = []
    for path, text in texts.items():
        listed = definitions.find_definitions(text, path)
        items = [definitions.find_by_qualname(listed, name) for name in names]
        found += [
            Region(path=path, qualname=item.qualname, start=item.start, end=item.end)
            for item in items
            if item is not None and item.kind == "function"
        ]
    return found

"""Takes this machine out of what leaves it: folders become `.` and `~`, values of secrets are masked.

It must not know what is written where.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from greenloop.core.text.redact import redact


def cleaner(root: Path, secrets: Sequence[str]) -> Callable[[object], object]:
    """Returns a function that cleans every text of a JSON value. Keys only lose folders, of which they have none."""
    folders = {str(folder): word for folder, word in ((root, "."), (root.resolve(), "."), (Path.home(), "~"))}
    folders.pop("/", None)  # it is in every path

    def clean(value: object) -> object:
        if isinstance(value, str):
            for folder, word in folders.items():
                value = value.replace(folder, word)
            return redact(value, secrets)
        if isinstance(value, dict):
            # A secret in an id would make it another one: there, only the folders matter, and ids have none.
            return {key: clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean

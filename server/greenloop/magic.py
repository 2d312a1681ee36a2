"""`%load_ext greenloop.magic`: the IPython extensions that plugins and packages register, such as `%%refine`."""

from __future__ import annotations

from typing import Any

from greenloop.core import entry_points


def load_ipython_extension(shell: Any) -> None:
    """Loads each; called by `%load_ext`."""
    for extension in entry_points.load_all(entry_points.IPYTHON_EXTENSIONS):
        extension.load_ipython_extension(shell)


def unload_ipython_extension(shell: Any) -> None:
    for extension in entry_points.load_all(entry_points.IPYTHON_EXTENSIONS):
        extension.unload_ipython_extension(shell)

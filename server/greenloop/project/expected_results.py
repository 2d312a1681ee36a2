"""Says whether a data file of the workspace holds results that its tests compare with, by the rules of `verify`.

It must not know who wants to change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from greenloop.project.revisions.base_modules import BaseModules
from greenloop.project.revisions.judging import Judges
from greenloop.project.sources import python_files


def find_role(path: str, root: Path, text_of: Callable[[str], str | None], patterns: Sequence[str]) -> str:
    """Returns the role in which a data file judges ("expected results"); "" for data that the code reads. Blocking."""
    texts = {each: text for each in python_files(root) if (text := text_of(each)) is not None}
    modules = BaseModules(layout=root, texts=texts)
    return Judges(modules=modules, patterns=patterns, paths={path, *texts}).role(path)

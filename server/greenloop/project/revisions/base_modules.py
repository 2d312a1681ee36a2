"""The Python modules of a revision: their texts, and which file each import of them means.

It must not know what judges a change.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from greenloop.project import sources

Importer = tuple[str, str]  # a file, and the name that it imports


@dataclass(frozen=True, kw_only=True)
class BaseModules:
    """Modules by path. `layout` is a folder with the revision's configuration and an empty file for each module."""

    layout: Path
    texts: Mapping[str, str]
    _imports: dict[str, list[str]] = field(default_factory=dict)

    def find(self, name: str, importer: str = "", new: Collection[str] = ()) -> str | None:
        """The file that `import name` means in the importer, if these `new` files were there too."""
        return sources.find_module(name, self.layout, importer, unsaved=new)

    def imports(self, path: str) -> list[str]:
        """The names that a file imports, with `module.name` for each name of a `from` import."""
        if path not in self._imports:
            found = sources.find_imports(self.texts[path], path)
            self._imports[path] = [
                name
                for module, names, _line in found
                for name in (module, *(f"{module}.{each}" for each in names))
                if module
            ]
        return self._imports[path]

    def importers(self, path: str) -> list[Importer]:
        """The files that import this one, with the name by which each does."""
        pure = PurePosixPath(path)
        word = pure.parent.name if pure.stem == "__init__" else pure.stem
        return [
            (importer, name)
            for importer in self.mentioning(word)
            for name in self.imports(importer)
            if importer != path and word in name.split(".") and self.find(name, importer) == path
        ]

    def mentioning(self, word: str) -> Iterator[str]:
        """The files whose text has the word."""
        search = re.compile(rf"\b{re.escape(word)}\b").search if word else None
        return (path for path, text in self.texts.items() if search and word in text and search(text))

    def roots(self, importers: Collection[str]) -> set[str]:
        """The folders from which these files import; the workspace's own is the empty string."""
        folders = {str(PurePosixPath(path).parent): path for path in importers}.values()
        return {root for path in ["", *folders] for root in sources.import_roots(self.layout, path)}


@contextmanager
def lay_out(contents: Mapping[str, bytes]) -> Iterator[BaseModules]:
    """Lays out a revision's modules and configuration (contents by path) for as long as the context lasts."""
    texts = {path: sources.decode(data) for path, data in contents.items() if path.endswith(".py")}
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        for path, data in contents.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"" if path in texts else data)
        yield BaseModules(layout=Path(folder), texts=texts)

"""The Python modules of a revision: their texts, and which file each import of them means.

It must not know what judges a change.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from greenloop.project import sources

# Import statements as they are written; a superset, for most files need not be parsed then.
_IMPORTS = re.compile(r"(?m)^[ \t]*(?:from\s+[\w.]+\s+import\s*\([^)]*\)|(?:from|import)\s[^\n]*(?:\\\n[^\n]*)*)")


@dataclass(frozen=True, kw_only=True)
class BaseModules:
    """Modules by path. `layout` is a folder with the revision's configuration, and its packages without their code."""

    layout: Path
    texts: Mapping[str, str]
    _imports: dict[str, list[str]] = field(default_factory=dict)
    _words: dict[str, frozenset[str]] = field(default_factory=dict)
    _roots: dict[str, Sequence[str]] = field(default_factory=dict)

    def roots(self, importer: str = "") -> Sequence[str]:
        """The folders from which a file imports, in order; the workspace's own is the empty string."""
        folder = posixpath.dirname(importer)
        if folder not in self._roots:
            self._roots[folder] = sources.import_roots(self.layout, f"{folder}/m.py" if folder else "")
        return self._roots[folder]

    def find(self, name: str, importer: str = "", new: Collection[str] = ()) -> str | None:
        """The file that `import name` means in the importer, if these `new` files were there too."""
        relative = name.replace(".", "/")
        paths = (
            f"{root}/{relative}{end}" if root else f"{relative}{end}"
            for root in self.roots(importer)
            for end in ("/__init__.py", ".py")
        )
        return next((path for path in paths if path in new or path in self.texts), None)

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

    def import_words(self, path: str) -> frozenset[str]:
        """The words of a file's import statements."""
        if path not in self._words:
            statements = " ".join(_IMPORTS.findall(self.texts[path]))
            self._words[path] = frozenset(re.findall(r"\w+", statements))
        return self._words[path]

    def importers(self, path: str) -> Iterator[str]:
        """The files that import this one."""
        word = module_word(path)
        for importer in self.texts:
            if importer != path and word in self.import_words(importer):
                names = (name for name in self.imports(importer) if word in name.split("."))
                if any(self.find(name, importer) == path for name in names):
                    yield importer

    def mentioning(self, word: str) -> Iterator[str]:
        """The files whose text has the word."""
        search = re.compile(rf"\b{re.escape(word)}\b").search if word else None
        return (path for path, text in self.texts.items() if search and word in text and search(text))


def module_word(path: str) -> str:
    """The last part of a module's name."""
    pure = PurePosixPath(path)
    return pure.parent.name if pure.stem == "__init__" else pure.stem


@contextmanager
def lay_out(contents: Mapping[str, bytes]) -> Iterator[BaseModules]:
    """Lays out a revision's modules and configuration (contents by path) for as long as the context lasts."""
    texts = {path: sources.decode(data) for path, data in contents.items() if path.endswith(".py")}
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        for path, data in contents.items():
            file = Path(folder) / path
            if path not in texts or file.name == "__init__.py":
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(b"" if path in texts else data)
            elif (first := path.partition("/")[0]) != path:
                (Path(folder) / first).mkdir(exist_ok=True)
        yield BaseModules(layout=Path(folder), texts=texts)

"""The accepted results of one command line as a patch file that `git apply` and `patch -p1` read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.cli.reports.request import write_file
from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.diff import diff_files
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, encode


@dataclass(frozen=True, kw_only=True)
class PatchFile:
    """A patch of the workspace `root`; each result is added to those before it."""

    path: Path
    root: Path
    _before: dict[str, str | None] = field(default_factory=dict)
    _after: dict[str, str] = field(default_factory=dict)
    _pending: dict[str, bytes] = field(default_factory=dict)

    @property
    def buffers(self) -> Mapping[str, bytes]:
        """The files as the patch makes them, where the disk does not have that yet: the next run starts from these."""
        return dict(self._pending)

    def add(self, outcome: Outcome, *, applied: bool) -> None:
        """Adds a result. `applied`: the disk has it already."""
        for path, text in outcome.after.items():
            self._before.setdefault(path, outcome.before.get(path))
            self._after[path] = text
            if applied:
                self._pending.pop(path, None)
            else:
                self._pending[path] = encode(text, self._encoding(path, text))

    def write(self) -> None:
        """Writes the file; it is empty where no result was accepted. Raises `WorkspaceError`."""
        parts = []
        for path, text in sorted(self._after.items()):
            diff = diff_files({path: self._before[path]}, {path: text})
            parts.append(diff.encode(self._encoding(path, text).name, "surrogateescape"))
        write_file(self.path, b"".join(parts))

    def _encoding(self, path: str, text: str) -> Encoding:
        try:
            return decode((self.root / path).read_bytes())[1]
        except (OSError, GreenloopError):
            return declared_encoding(text)

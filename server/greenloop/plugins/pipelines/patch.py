"""The accepted results of one command line as a patch file that `git apply` and `patch -p1` read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.cli.outputs import Fix, Output, write_file
from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.diff import diff_files
from greenloop.core.text.encoding import Encoding, declared_encoding, decode, encode


@dataclass(frozen=True, kw_only=True)
class PatchFile(Output):
    """A patch of one workspace; each result is added to those before it."""

    path: Path
    _before: dict[str, str | None] = field(default_factory=dict)
    _after: dict[str, str] = field(default_factory=dict)
    _pending: dict[str, bytes] = field(default_factory=dict)

    holds_results = True

    @property
    def buffers(self) -> Mapping[str, bytes]:
        return dict(self._pending)

    def add(self, outcome: Outcome, root: Path, *, applied: bool) -> None:
        for path, text in outcome.after.items():
            self._before.setdefault(path, outcome.before.get(path))
            self._after[path] = text
            if applied:
                self._pending.pop(path, None)
            else:
                self._pending[path] = encode(text, _encoding(root / path, text))

    def write_fixes(self, _fixes: Sequence[Fix], root: Path, *, json: bool) -> None:  # noqa: ARG002 - a report needs it
        """Writes the file; it is empty where no result was accepted."""
        parts = []
        for path, text in sorted(self._after.items()):
            diff = diff_files({path: self._before[path]}, {path: text})
            parts.append(diff.encode(_encoding(root / path, text).name, "surrogateescape"))
        write_file(self.path, b"".join(parts))


def _encoding(path: Path, text: str) -> Encoding:
    try:
        return decode(path.read_bytes())[1]
    except (OSError, GreenloopError):
        return declared_encoding(text)

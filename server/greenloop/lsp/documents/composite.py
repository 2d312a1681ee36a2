"""The port for files that an editor shows as several documents, such as the cells of a notebook. A plugin has them.

It must not know any kind of such a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from greenloop.api.target_adapters import AdaptedTarget
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.spec import Target

if TYPE_CHECKING:
    from greenloop.api.engine import Fault
    from greenloop.api.targets import Heading
    from greenloop_sandbox import Failure


class EditorTarget(AdaptedTarget, ABC):
    """The input of a run in a composite file, and the translation of its output to the editor's texts."""

    @property
    @abstractmethod
    def buffers(self) -> dict[str, bytes]:
        """The files that stand for it in the sandbox."""

    @abstractmethod
    def texts(self) -> dict[str, str]:
        """The texts that line numbers refer to, by path."""

    @abstractmethod
    def fault(self, failures: Sequence[Failure]) -> Fault | None:
        """The fault, if all failures have nothing to do with the target."""

    @abstractmethod
    def in_editor(self, outcome: Outcome) -> Outcome:
        """The outcome with the editor's texts. Raises `WorkspaceError`."""

    @abstractmethod
    def change_in_editor(self, after: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """The editor's texts before and after an attempt that ran as `after`; without those that it cannot change."""

    @abstractmethod
    def line_name(self, path: str, line: int, files: Mapping[str, str]) -> str:
        """The name of a line that an attempt ran, whose files were these."""


class CompositeFile(Protocol):
    """The current documents of an open composite, with paths relative to a folder."""

    @property
    def path(self) -> str:
        """The user's file."""

    @property
    def python(self) -> str:
        """All documents as one text of Python."""

    def label(self, text: str) -> str:
        """A message with places that the user knows."""

    def target_at(self, line: int) -> Target | None: ...

    def headings(self) -> Iterator[Heading]: ...

    def find_target(self, path: str, name: str) -> Target | None: ...

    def changes(self, before: str, after: str) -> list[tuple[int, str, str]] | None:
        """The documents that a change of the whole text changes (position, before, after); None where one change
        spans several.
        """

    def prepare(self, target: Target) -> EditorTarget:
        """Raises `UsageError` where the file no longer has the target."""

    def prepare_tests(self, target: Target | None) -> tuple[EditorTarget, tuple[str, ...]]:
        """The input to run a target's tests, or all (None), and their selectors. Raises `UsageError`."""

    def in_editor(self, outcome: Outcome) -> Outcome | None:
        """A stored outcome with the editor's texts; None where its run saw others."""

    def merged_buffers(self, target: Target, merged: Mapping[str, str]) -> dict[str, bytes]:
        """The sandbox's files for a result merged with later edits. Raises `UsageError` without the target."""


class Composite(Protocol):
    """A composite file that was opened: `paths` are the files that stand for it, `gap` the rows before a document."""

    @property
    def file(self) -> Path: ...

    @property
    def paths(self) -> tuple[Path, Path]: ...

    @property
    def gap(self) -> int: ...

    @property
    def is_open(self) -> bool: ...

    def text(self, path: Path) -> str: ...

    def documents(self) -> list[tuple[str, int]]:
        """Each document's URI, and the rows of the text before it."""

    def end(self, uri: str) -> int | None:
        """The row of the text after a document."""

    def under(self, root: Path) -> CompositeFile: ...


class Composites:
    """The composite files of an editor. Without a plugin there are none."""

    def at(self, path: Path) -> Composite | None:
        """The composite for which a path stands, open or closed."""
        del path
        return None

    def of(self, uri: str) -> Composite | None:
        """The open composite with this document."""
        del uri
        return None

    def has(self, uri: str) -> bool:
        """Is it the URI of a document that is not a file of its own?"""
        del uri
        return False

    def update(self, uri: str) -> None:
        """Takes what the client said of a composite, or of a document that stands for one."""

    def close(self, uri: str) -> None:
        """Forgets the documents of a composite."""

"""Setup of a verification: the request, the revision, the sandbox, and sessions that enforce the revision's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from greenloop.core.documentation import doctests_in
from greenloop.core.errors import SandboxBrokenError
from greenloop.core.records.spec import Provenance
from greenloop.engine.verify.known_failing import KnownFailing
from greenloop.project import sources
from greenloop.project.revisions.revision import Revision
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop.wording.notes import describe_doubts
from greenloop_sandbox import Execution, Sandbox, SandboxSpec, Session, TestRun

Require = Literal["", "apart"]
APART: Require = "apart"


@dataclass(frozen=True, kw_only=True)
class VerifyRequest:
    """A request to verify the working tree against a revision.

    `targets` are pytest node ids, files or folders (none: the whole suite, or that of the workspace's member with
    `folder`, a path relative to the root); `keep` glob patterns of files that the revision does not have and needs;
    `seconds` the wall time of one run of them (0: the setting `suite.seconds`).
    `known_failing` are ids of tests that may fail as they did in the revision, or files of such ids (`@path`, relative
    to the root). `staged`: the code is that of the index instead of the working tree. `change` names the code in
    sentences where it is neither of them. `allow` are paths, folders and globs of files that judge as the change has
    them, and `because` says why. `require` says what a pass needs beyond that. `quick`: without a change that tests can
    notice none of them runs.
    """

    root: Path
    revision: str = "HEAD"
    targets: tuple[str, ...] = ()
    folder: str = ""
    keep: tuple[str, ...] = ()
    known_failing: tuple[str, ...] = ()
    seconds: float = 0.0
    staged: bool = False
    change: str = ""
    allow: tuple[str, ...] = ()
    because: str = ""
    require: Require = ""
    quick: bool = False

    @property
    def code(self) -> str:
        """Whose code is verified, in sentences."""
        return self.change or ("what is staged" if self.staged else "the working tree")


@dataclass(frozen=True, kw_only=True)
class OverlaySession:
    """A session in which some files always have fixed contents and others never exist."""

    session: Session
    files: Mapping[str, bytes]
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.session.name

    async def run(self, run: TestRun) -> Execution:
        """Runs with the overlay applied; what the run itself says about a file comes first.

        Raises `SandboxBrokenError` when the sandbox itself breaks.
        """
        files = {path: data for path, data in self.files.items() if path not in run.without} | dict(run.files)
        without = tuple(path for path in dict.fromkeys((*self.without, *run.without)) if path not in files)
        execution = await self.session.run(replace(run, files=files, without=without))
        if execution.broken:
            raise SandboxBrokenError(execution.broken)
        return execution

    async def warm(self) -> None:
        await self.session.warm()

    async def pause(self) -> None:
        await self.session.pause()

    async def close(self) -> None:
        await self.session.close()


def ignore_left(_seconds: float) -> None:
    """Ignores how long the rest of a verification takes."""


@dataclass(frozen=True, kw_only=True)
class VerificationContext:
    """Context of one verification. `seconds` of wall time limit each run of the tests; `known` tests may still fail.

    All runs but those of the proof share `session`, which learns from the first how to be fast. `report_left` gets the
    seconds that the rest will take, by those of the runs so far.
    """

    request: VerifyRequest
    revision: Revision
    sandbox: Sandbox
    place: SandboxSpec
    settings: Settings
    seconds: float
    report_status: Callable[[str], None]
    known: KnownFailing
    session: Session | None = None
    report_left: Callable[[float], None] = ignore_left

    async def open(self) -> Session:
        """Opens a fresh sandbox over the working tree with the revision's tests."""
        session = await self.sandbox.open(self.place)
        return OverlaySession(session=session, files=self.revision.files, without=self.revision.removed_paths)

    async def run(self, run: TestRun) -> Execution:
        assert self.session is not None
        return await self.session.run(replace(run, seconds=self.seconds))

    def provenance(self, path: str, case: str) -> Provenance:
        """Returns `USER` for cases of trusted files and for doctests that the change leaves alone, else `DOCTEST`."""
        return (
            Provenance.USER if path in self.revision.trusted or self._keeps_examples(path, case) else Provenance.DOCTEST
        )

    def _keeps_examples(self, path: str, case: str) -> bool:
        """Are the examples of its docstring still there, in their order?"""
        before = doctests_in(sources.decode(self.revision.old_code.get(path, b""))) if path.endswith(".py") else {}
        name = case.partition("::")[2]
        owner = max((each for each in before if each and f".{name}".endswith(f".{each}")), key=len, default="")
        left = iter(doctests_in(self.snapshot.text(path) or "").get(owner, ()))
        return owner in before and all(example in left for example in before[owner])

    @property
    def snapshot(self) -> Snapshot:
        """Texts as the tests see them."""
        return Snapshot(root=self.place.root, buffers=self.revision.files)

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        texts_by_path = {path: self.snapshot.text(path) for path in dict.fromkeys(paths)}
        return {path: text for path, text in texts_by_path.items() if text is not None}

    def new_data(self) -> dict[str, str]:
        """The texts of small data files that the revision lacks."""
        read = self.snapshot.readable_text
        return {path: text for path in self.revision.new_data if (text := read(path, keep=False)) is not None}


def unmet(require: Require, not_apart: Mapping[str, str], data: Mapping[str, Any]) -> str:
    """Returns which requirement a pass lacks; "" if none. `not_apart` has a reason for each case that is not."""
    if require == APART and not_apart:
        case, why = next(iter(not_apart.items()))
        some = "1 test was" if len(not_apart) == 1 else f"{len(not_apart)} tests were"
        return f"All passed, but {some} not judged apart from the code (`--require apart`): {case} ({why})."
    if require == APART and (doubts := describe_doubts(data)):
        return f"All passed, and the change is {doubts} (`--require apart`)."
    return ""

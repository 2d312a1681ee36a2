"""Verifies a run that another machine exported: its change, over this workspace's code, with this workspace's tests.

Nothing that the file says of tests, outcomes or proofs is believed; the whole suite runs here, before and with the
change. It must not know who reads the result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from greenloop.core.errors import BaselineChangedError, CannotVerifyError, UsageError
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import keep_ends, merge, with_plain_ends
from greenloop.core.text.encoding import Encoding, declared_encoding, encode
from greenloop.drafting.candidates.checks.risky_calls import warnings
from greenloop.engine.history import provenance
from greenloop.engine.history.provenance import NOTHING, Basis
from greenloop.engine.sandbox_spec import choose_sandbox, ignore_status
from greenloop.engine.verify.known_failing import KnownFailing
from greenloop.engine.verify.report import State, Verification
from greenloop.engine.verify.setup import APART, VerificationContext, VerifyRequest
from greenloop.engine.verify.verify import run_verification
from greenloop.plugins.replay.changes import describe_changes, refuse_changed_tests
from greenloop.plugins.replay.export import list_requirements
from greenloop.plugins.replay.run_file import FileEdit, RunFile, read_run_file
from greenloop.project import hidden, sources, workspace
from greenloop.project.editable import why_not_editable
from greenloop.project.revisions.revision import Revision, caches, state_of
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop.wording.notes import list_some

HERE = "this workspace"
_REFUSED = {State.FAILING, State.STILL_FAILING, State.TAMPERED}


@dataclass(frozen=True, kw_only=True)
class ChangedText:
    """The texts of the changed files in this workspace: as they are, without the change (None: no file), and with it.

    `merged` are those that differ from the exported text before the change.
    """

    current: Mapping[str, str | None]
    before: Mapping[str, str | None]
    after: Mapping[str, str]
    merged: tuple[str, ...] = ()


async def verify_run_file(
    file: Path,
    root: Path,
    *,
    settings: Settings,
    seconds: float = 0.0,
    report_status: Callable[[str], None] = ignore_status,
) -> tuple[Verification, ChangedText]:
    """Verifies the change of an exported run here. `seconds` limit each run of the tests (0: as in the settings).

    Nothing of the file is believed, so each pass has to be proven apart.

    Raises `UsageError` for a file that is not an exported run or changes what it may not, `CannotVerifyError` where
    the workspace's tests or the changed code differ from those of the run, or no sandbox can be used.
    """
    began = time.monotonic()
    run = await asyncio.to_thread(read_run_file, file)
    root = workspace.check_root(root)
    change = await asyncio.to_thread(lambda: plan_change(run, root, file.name, hidden.masked_patterns(settings, root)))
    sandbox, place = await choose_sandbox(root, settings, report_status)
    if sandbox.name == "none":
        raise CannotVerifyError(
            "Code of other people runs only in a sandbox.", remedy="Use --sandbox bubblewrap or docker."
        )
    current = await asyncio.to_thread(provenance.current_basis, place)
    then = _basis(run, current)
    refuse_changed_tests(
        then,
        current,
        f"The tests here are not those of {file.name}",
        "Check out the commit that the run was made on, or ask for a new file.",
    )
    state = await asyncio.to_thread(_state, root)
    context = VerificationContext(
        request=VerifyRequest(root=root, revision=HERE, change="the exported change", require=APART),
        revision=await asyncio.to_thread(_revision, root, change),
        sandbox=sandbox,
        place=place,
        settings=settings,
        seconds=seconds or max(settings.suite.seconds, settings.sandbox.seconds),
        report_status=report_status,
        known=KnownFailing(),
    )
    result = _judge_cases(await run_verification(context), run, file.name)
    if await asyncio.to_thread(_state, root) != state:
        raise BaselineChangedError(
            "Files in the workspace changed during the verification.", remedy="Start the run again."
        )
    changes = [*_describe_differences(run, then, current, sandbox.name), *_describe_merge(change)]
    if result.state in _REFUSED or result.doubts:
        changes.append(f"{file.name} says that its result is {run.claim.verified.value}; here it is not.")
    originals = {path: text for path, text in change.before.items() if text is not None}
    problem = Problem(root=root, spec=NOTHING, regions=(), originals=originals, files={})
    result = replace(
        result,
        notes=(*result.notes, *warnings(problem, change.after)),
        changes=tuple(changes),
        seconds=round(time.monotonic() - began, 3),
    )
    return result, change


# -- the change -----------------------------------------------------------------------------------------------------


def plan_change(run: RunFile, root: Path, name: str, masked: Sequence[str] = ()) -> ChangedText:
    """Merges the change of a file called `name` into the workspace; nothing is written.

    Raises `UsageError` for a path that no change of a run may have, `CannotVerifyError` where the code here differs
    at the same place.
    """
    patterns, snapshot = sources.file_patterns(root), Snapshot(root=root, buffers={})
    current: dict[str, str | None] = {}
    before: dict[str, str | None] = {}
    after: dict[str, str] = {}
    merged = []
    for edit in run.change:
        _check_path(edit.path, root, name, patterns, masked)
        text = snapshot.text(edit.path)
        if text is None and (root / edit.path).exists():
            raise CannotVerifyError(f"{edit.path} cannot be read here.", remedy="Nothing was run.")
        current[edit.path] = text
        before[edit.path], after[edit.path] = _merge(edit, text, name)
        if text is not None and with_plain_ends(text) not in map(with_plain_ends, (edit.before or "", edit.after)):
            merged.append(edit.path)
    return ChangedText(current=current, before=before, after=after, merged=tuple(merged))


def _check_path(path: str, root: Path, name: str, patterns: Sequence[str], masked: Sequence[str]) -> None:
    """Raises `UsageError` for what `run_file.is_safe_path` cannot see: tests, links, packages, hidden files."""
    reason = why_not_editable(path, root, patterns=patterns, masked=masked)
    if any((root / part).is_symlink() for part in (path, *map(str, PurePosixPath(path).parents))):
        reason = "is behind a symbolic link"
    if reason:
        raise UsageError(f"{name} changes {path}, which {reason}.", remedy="Nothing was run. Do not use this file.")


def _merge(edit: FileEdit, text: str | None, name: str) -> tuple[str | None, str]:
    """The file's text here without and with the edit. `text` is the present one, which may have the edit already."""
    if text is None:
        if edit.before is not None:
            raise CannotVerifyError(
                f"{edit.path}, which {name} changes, does not exist here.",
                remedy="Check out the commit that the run was made on.",
            )
        return None, edit.after
    old, new = with_plain_ends(edit.before or ""), with_plain_ends(edit.after)
    present = with_plain_ends(text)
    if present == new:
        return (None if edit.before is None else keep_ends(text, old)), text
    merged = merge(old, new, present) if edit.before is not None else None
    if merged is None:
        raise CannotVerifyError(
            f"{edit.path} differs here from the code that {name} was made on, at the place that it changes.",
            remedy="Check out the commit that the run was made on, or ask for a new file.",
        )
    if merged == present:
        undone = merge(new, old, present)
        return keep_ends(text, old if undone is None else undone), text
    return text, keep_ends(text, merged)


def _revision(root: Path, change: ChangedText) -> Revision:
    """The workspace without the change as the revision whose tests count; the change lies over it."""
    snapshot = Snapshot(root=root, buffers={})

    def encoded(path: str, text: str) -> bytes:
        encoding: Encoding | None = None if change.current[path] is not None else declared_encoding(text)
        return snapshot.encoded(path, text) if encoding is None else encode(text, encoding)

    trusted = frozenset(workspace.trusted_files(root))
    return Revision(
        commit="",
        state="",
        paths=trusted | {*sources.python_files(root)},
        trusted=trusted,
        files={path: encoded(path, text) for path, text in change.after.items()},
        removed_paths=tuple(sorted(caches(root))),
        old_code={path: encoded(path, text) for path, text in change.before.items() if text is not None},
        new_code=tuple(path for path, text in change.before.items() if text is None),
    )


def _state(root: Path) -> str:
    paths = {*sources.python_files(root), *workspace.trusted_files(root)}
    return state_of(root, sorted(paths))


# -- the result -----------------------------------------------------------------------------------------------------


def _judge_cases(result: Verification, run: RunFile, name: str) -> Verification:
    """The result, verified only if the tests that the run is about exist here and pass because of the change."""
    known = {*result.before, *(case.id for case in result.cases)}
    if missing := [case for case in run.cases if case not in known]:
        raise CannotVerifyError(
            f"{name} is about {missing[0]}, which pytest does not find here.",
            remedy="Check out the commit that the run was made on, or ask for a new file.",
        )
    if not result.verified:
        return result
    passed = {case.id for case in result.cases if case.passed}
    if failing := [case for case in run.cases if case not in passed]:
        reason = f"{failing[0]}, which the run is about, does not pass here."
        return replace(result, verified=False, reason=reason, still_failing=tuple(failing))
    if not {*run.cases} & {*result.fixed}:
        reason = f"{run.cases[0]} passes here without the change too, so nothing shows what the change is for."
        return replace(result, verified=False, reason=reason)
    return result


def _basis(run: RunFile, current: Basis) -> Basis:
    """Returns the run's basis with this machine's interpreter path and packages, which do not count as changes."""
    settings = run.settings
    return replace(
        current,
        trusted=run.tests_hash,
        files=run.tests,
        code={**run.code, **{path: value for path, value in current.code.items() if path not in run.code}},
        network=settings.network,
        variables=settings.variables,
        seeds=settings.seeds,
    )


def _describe_differences(run: RunFile, then: Basis, current: Basis, sandbox: str) -> list[str]:
    changed = [edit.path for edit in run.change]
    sentences = [*describe_changes(then, current, except_files=changed)]
    if run.environment.python != current.version:
        sentences.append(f"The run used Python {run.environment.python}; here it is {current.version}.")
    if difference := describe_packages(run.environment.packages, list_requirements(current.packages)):
        sentences.append(difference)
    if run.environment.sandbox != sandbox:
        sentences.append(f"The sandbox was {run.environment.sandbox} and is {sandbox}.")
    return sentences


def describe_packages(locked: Sequence[str], installed: Sequence[str], most: int = 8) -> str:
    """Says in one sentence how the installed packages (`name==version`) differ from the lock; "" if they do not."""
    then, now = (dict(each.split("==", 1) for each in names if "==" in each) for names in (locked, installed))
    differences = []
    for name in sorted({*then, *now}):
        old, new = then.get(name), now.get(name)
        if old == new:
            continue
        if new is None:
            differences.append(f"{name} {old} is missing")
        else:
            differences.append(f"{name} is {new} instead of {old}" if old else f"{name} {new} is not in the lock")
    return f"The packages differ from the lock: {list_some(differences, most)}." if differences else ""


def _describe_merge(change: ChangedText) -> list[str]:
    has_it = [path for path, text in change.current.items() if text == change.after[path]]
    sentences = [f"{path} has the change already." for path in has_it]
    sentences += [
        f"{path} differs from the code that the run was made on; the change was merged into it."
        for path in change.merged
        if path not in has_it
    ]
    return sentences

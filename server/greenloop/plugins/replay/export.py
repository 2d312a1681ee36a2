"""Results of past runs that can be verified again, and their export as a file that other machines can verify.

It must not know where the file is written.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop import __version__
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.spec import Case, Provenance
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.core.text.redact import MASK, cleaner, redact
from greenloop.engine import target_adapters
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import StoredRun
from greenloop.plugins.replay.run_file import Claim, FileEdit, Lock, RunFile, RunSettings, is_safe_path
from greenloop.project import sources, workspace

_METADATA = re.compile(r"(?P<name>.+?)-(?P<version>\d[^-]*)(?:-py\d.*)?")


@dataclass(frozen=True, kw_only=True)
class Use:
    """Intended use of a result: the verb in a sentence, and the remedies for a notebook and for an old run."""

    verb: str
    instead_of_notebook: str
    instead_of_old: str


EXPORT = Use(
    verb="exported",
    instead_of_notebook="Share the notebook itself.",
    instead_of_old="Run it again, and export that.",
)


def export_run(record: StoredRun, basis: Basis | None, environ: Mapping[str, str] = os.environ) -> RunFile:
    """Returns the run as a file's content. Values of `environ` that look like secrets do not get into it.

    Raises `UsageError` for a run without a verified change, `CannotVerifyError` for one that no other machine could
    verify.
    """
    outcome, basis, cases = _checked(record, basis)
    root = Path(record.root)
    patterns = sources.file_patterns(root)
    # Tests that the run added to the project prove nothing to anybody else.
    paths = [path for path in sorted(outcome.after) if not sources.is_trusted(path, patterns)]
    change = tuple(
        FileEdit(path=path, before=outcome.before.get(path), after=outcome.after[path])
        for path in paths
        if outcome.after[path] != outcome.before.get(path)
    )
    secrets = workspace.find_secrets(root, environ)
    _check_change(record, change, secrets)
    run = RunFile(
        target=record.target,
        cases=tuple(case.id for case in cases),
        change=change,
        tests_hash=basis.trusted,
        tests=basis.files,
        code={path: value for path, value in basis.code.items() if path not in paths},
        claim=Claim(verified=outcome.verified, message=outcome.message, evidence=outcome.evidence),
        environment=Lock(python=basis.version, packages=list_requirements(basis.packages), sandbox=record.sandbox),
        settings=RunSettings(network=basis.network, variables=basis.variables, seeds=basis.seeds, limits=basis.limits),
        outcomes=basis.outcomes,
        related=basis.neighbours,
        model=_without_folder(record.model),
        preset=record.preset,
        attempts=record.count,
        finished=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.finished)),
        greenloop=__version__,
    )
    return _without_machine(run, root, secrets)


def list_requirements(packages: Sequence[str]) -> tuple[str, ...]:
    """Installed packages (`name-version`, by their metadata's folder) as requirements; unreadable ones are left out."""
    found = [match for name in packages if (match := _METADATA.fullmatch(name))]
    return tuple(sorted({f"{canonicalize_name(each['name'])}=={each['version']}" for each in found}))


def _checked(record: StoredRun, basis: Basis | None) -> tuple[Outcome, Basis, list[Case]]:
    outcome, basis = require_result(record, basis, EXPORT)
    goals = any(case.provenance is Provenance.GOAL for case in basis.spec.cases)
    cases = [
        case for case in basis.spec.cases if case.provenance is Provenance.USER and case.path not in basis.spec.files
    ]
    if goals or not cases:
        raise CannotVerifyError(
            f"Run {record.id} was not proven by failing tests of the project, so no other machine can verify it.",
            remedy="Share it as a patch: `greenloop fix --patch FILE`.",
        )
    return outcome, basis, cases


def _check_change(record: StoredRun, change: Sequence[FileEdit], secrets: Sequence[str]) -> None:
    if not change:
        raise UsageError(f"Run {record.id} changed nothing but tests.", remedy="Share the tests themselves.")
    for edit in change:
        if not is_safe_path(edit.path):
            raise UsageError(
                f"Run {record.id} changed {edit.path}, which is not an ordinary Python file.",
                remedy="Share it as a patch: `greenloop fix --patch FILE`.",
            )
        # A text with a mask in it could not be applied, and would not be the one that was verified.
        if any(redact(text, secrets) != text for text in (edit.before or "", edit.after)):
            raise UsageError(
                f"{edit.path} contains a value that looks like a secret of this machine, so it was not exported.",
                remedy="Take it out of the code, or unset the variable (or the line of .env) that has it.",
            )


def _without_folder(model: str) -> str:
    """The model's name without the folder of a file."""
    kind, colon, file = model.partition(":")
    if colon and kind in ("scripted", "replay"):
        return f"{kind}:{Path(file).name}"
    return Path(model).name if Path(model).is_absolute() else model


def _without_machine(run: RunFile, root: Path, secrets: Sequence[str]) -> RunFile:
    """The run with this machine's folders and secrets masked in everything but the texts of files."""
    clean = cleaner(root, secrets)
    texts = run.change
    cleaned = from_json(RunFile, clean(to_json(replace(run, change=()))))
    if MASK in "".join((*cleaned.cases, cleaned.target)):
        raise UsageError(
            "The name of a test contains a value that looks like a secret of this machine, so it was not exported.",
            remedy="Rename the test, or unset the variable (or the line of .env) that has it.",
        )
    return replace(cleaned, change=texts)


def require_result(record: StoredRun, basis: Basis | None, use: Use) -> tuple[Outcome, Basis]:
    """Returns the result of a run and what it depends on.

    Raises `UsageError` for a run without a result, `CannotVerifyError` where it depends on what is no longer known.
    """
    number, outcome = record.id, record.outcome
    if outcome is None or not outcome.solved or not outcome.after:
        raise UsageError(
            f"Run {number} has no result that could be {use.verb}.", remedy=f"See `greenloop history show {number}`."
        )
    if target_adapters.title(Path(record.root), record.target) != record.target:
        raise CannotVerifyError(
            f"Run {number} was made in a notebook, whose tests exist during a run only.",
            remedy=use.instead_of_notebook,
        )
    if basis is None or not basis.spec.cases:
        raise CannotVerifyError(
            f"Run {number} was recorded by an older greenloop, which did not store what its result depends on.",
            remedy=use.instead_of_old,
        )
    return outcome, basis

"""Provenance of a result: tests, interpreter, packages, seeds. Stored with each run, so that it can be replayed.

It must not know where it is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.verification_inputs import ACCEPTING
from greenloop.project import sources, workspace
from greenloop.project.environment import interpreters
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import Environment, Limits, SandboxSpec

# With more files than this only the hash over all of them is stored.
MOST_FILES = 2_000


NOTHING = Spec(cases=(), selectors=())


@dataclass(frozen=True, kw_only=True)
class Basis:
    """Inputs that a result depends on.

    `trusted` is the hash over all tests and configuration, `files` has one for each of them, `code` one for each other
    Python file, `others` one for each other file that attempts change; `packages` are names with versions. `spec` and
    `outcomes` (with the user's own code, by case) are the expectations; `neighbours` are related tests whose outcome
    had to stay. `seeds` are the accepting runs' hash seeds. `limits` are those of the settings for one execution (None:
    recorded by an older greenloop).
    """

    trusted: str
    files: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    version: str = ""
    packages: tuple[str, ...] = ()
    network: bool = False
    variables: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    limits: Limits | None = None
    spec: Spec = NOTHING
    outcomes: Mapping[str, str] = field(default_factory=dict)
    neighbours: tuple[str, ...] = ()


def current_basis(place: SandboxSpec, buffers: Mapping[str, bytes] | None = None, most: int = MOST_FILES) -> Basis:
    """Returns the current basis of this workspace; unsaved texts take precedence over the disk."""
    patterns = sources.file_patterns(place.root)
    trusted = {*workspace.trusted_files(place.root, patterns)}
    trusted |= {path for path in buffers or () if sources.is_trusted(path, patterns)}
    code = {*sources.python_files(place.root)} - trusted

    return Basis(
        trusted=workspace.fingerprint(place.root, buffers, patterns=patterns),
        files=_hashes(place.root, trusted, buffers, most),
        code=_hashes(place.root, code, buffers, most),
        python=str(place.environment.executable),
        version=".".join(map(str, place.environment.version)),
        packages=installed_packages(place.environment),
        network=place.network,
        variables=tuple(sorted(place.variables)),
        seeds=(ACCEPTING,),
        limits=place.limits,
    )


def stored_problem(root: Path, basis: Basis, outcome: Outcome) -> Problem:
    """Returns the problem of a past run as far as its basis has it: enough to verify its result again."""
    snapshot = Snapshot(root=root, buffers={})
    tests = {case.path: text for case in basis.spec.cases if (text := snapshot.text(case.path)) is not None}
    return Problem(
        root=root, spec=basis.spec, regions=(), originals=outcome.before, files=tests, neighbours=basis.neighbours
    )


def run_basis(place: SandboxSpec, problem: Problem, outcomes: Mapping[str, str]) -> Basis:
    """Returns the basis of a run over a problem, including its expected cases."""
    basis = current_basis(place, problem.buffers)
    others = {path for path in problem.originals if not path.endswith(".py")}
    return replace(
        basis,
        others=_hashes(place.root, others, problem.buffers, MOST_FILES),
        spec=problem.spec,
        outcomes=dict(outcomes),
        neighbours=problem.neighbours,
    )


def _hashes(root: Path, paths: Collection[str], buffers: Mapping[str, bytes] | None, most: int) -> dict[str, str]:
    """The hash of each file; none of too many."""
    if len(paths) > most:
        return {}
    data = {path: sources.read_bytes(root, path, buffers) or b"" for path in sorted(paths)}
    return {path: hashlib.sha256(each).hexdigest()[:16] for path, each in data.items()}


def installed_packages(environment: Environment) -> tuple[str, ...]:
    """Lists installed packages as `name-version`, from folder names; includes greenloop's pytest where it is used."""
    packages = set() if environment.has_pytest else {f"pytest-{version('pytest')}"}
    for folder in interpreters.site_packages(environment.prefix, environment.version):
        for metadata in (*folder.glob("*.dist-info"), *folder.glob("*.egg-info")):
            packages.add(metadata.name.rpartition(".")[0])
    return tuple(sorted(packages))


def changed_tests(before: Basis, now: Basis) -> tuple[str, ...]:
    """Lists the trusted files that changed; one general name where only the hash over all was stored."""
    if before.trusted == now.trusted:
        return ()
    names = {path for path in {*before.files, *now.files} if before.files.get(path) != now.files.get(path)}
    return tuple(sorted(names)) or ("the tests or their configuration",)

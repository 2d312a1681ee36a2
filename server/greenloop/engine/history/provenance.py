"""What a result rests on: tests, interpreter, packages, seeds. Kept with each run, so that it can be run again.

It must not know where it is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Environment, SandboxSpec
from greenloop.core.records.spec import Spec
from greenloop.project import interpreters, sources, workspace
from greenloop.verdict.inputs import ACCEPTING

# Of more trusted files only the hash over all of them is kept.
MOST_FILES = 2_000


NOTHING = Spec(cases=(), selectors=())


@dataclass(frozen=True, kw_only=True)
class Basis:
    """`trusted` is the hash over all tests and configuration, `files` one for each, `code` one for each other Python
    file; `packages` are names with versions.

    `spec` and `outcomes` (with the user's own code, by case) say what was expected; `neighbours` are other cases that
    had to stay as they were. `seeds` are the hash seeds of the accepting runs.
    """

    trusted: str
    files: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    version: str = ""
    packages: tuple[str, ...] = ()
    network: bool = False
    variables: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    spec: Spec = NOTHING
    outcomes: Mapping[str, str] = field(default_factory=dict)
    neighbours: tuple[str, ...] = ()


def current_basis(place: SandboxSpec, buffers: Mapping[str, bytes] | None = None) -> Basis:
    """The basis that a run has now in this place; unsaved texts count before the disk."""
    patterns = sources.file_patterns(place.root)
    trusted = {*workspace.trusted_files(place.root, patterns)}
    trusted |= {path for path in buffers or () if sources.is_trusted(path, patterns)}
    code = {*sources.python_files(place.root)} - trusted

    def hashes(paths: set[str]) -> dict[str, str]:
        if len(paths) > MOST_FILES:
            return {}
        return {
            path: hashlib.sha256(sources.read_bytes(place.root, path, buffers) or b"").hexdigest()[:16]
            for path in sorted(paths)
        }

    return Basis(
        trusted=workspace.fingerprint(place.root, buffers, patterns=patterns),
        files=hashes(trusted),
        code=hashes(code),
        python=str(place.environment.executable),
        version=".".join(map(str, place.environment.version)),
        packages=installed_packages(place.environment),
        network=place.network,
        variables=tuple(sorted(place.variables)),
        seeds=(ACCEPTING,),
    )


def run_basis(place: SandboxSpec, problem: Problem, outcomes: Mapping[str, str]) -> Basis:
    """The basis of a run over a problem, its expected cases included."""
    return replace(
        current_basis(place, problem.buffers), spec=problem.spec, outcomes=dict(outcomes), neighbours=problem.neighbours
    )


def installed_packages(environment: Environment) -> tuple[str, ...]:
    """What is installed, as `name-version`, read from folder names; with greenloop's own pytest where it is lent."""
    found = set() if environment.has_pytest else {f"pytest-{version('pytest')}"}
    for folder in interpreters.site_packages(environment.prefix, environment.version):
        for mark in (*folder.glob("*.dist-info"), *folder.glob("*.egg-info")):
            found.add(mark.name.rpartition(".")[0])
    return tuple(sorted(found))


def changed_tests(before: Basis, now: Basis) -> tuple[str, ...]:
    """The trusted files that are not as they were; one general name where only the hash over all was kept."""
    if before.trusted == now.trusted:
        return ()
    names = {path for path in {*before.files, *now.files} if before.files.get(path) != now.files.get(path)}
    return tuple(sorted(names)) or ("the tests or their configuration",)


def describe_changes(then: Basis, now: Basis, *, except_files: Collection[str] = ()) -> tuple[str, ...]:
    """One sentence for each thing around the tests that is not as it was; `besides` are files told of elsewhere."""
    said = []
    moved = sorted(path for path in {*then.code, *now.code} if then.code.get(path) != now.code.get(path))
    if other := [path for path in moved if path not in except_files]:
        said.append(f"Other code has changed since: {_list_some(other)}.")
    if (then.python, then.version) != (now.python, now.version):
        said.append(f"The interpreter was {then.python} ({then.version}) and is {now.python} ({now.version}).")
    gone, new = sorted({*then.packages} - {*now.packages}), sorted({*now.packages} - {*then.packages})
    if gone or new:
        more = [f"-{name}" for name in gone] + [f"+{name}" for name in new]
        said.append(f"The packages changed: {_list_some(more)}.")
    if then.network != now.network:
        said.append("Tests can reach the network now." if now.network else "Tests could reach the network then.")
    if then.variables != now.variables:
        seen = [", ".join(names) or "none" for names in (then.variables, now.variables)]
        said.append(f"The variables that tests see were {seen[0]} and are {seen[1]}.")
    if then.seeds != now.seeds:
        said.append(f"The hash seeds were {then.seeds} and are {now.seeds}.")
    return tuple(said)


def _list_some(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

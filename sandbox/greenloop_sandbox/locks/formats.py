"""Reads lock files of uv, Poetry, PDM, PEP 751 and Pipenv: pins that apply, notes on the others.

Every reader takes the lock's text, the project it belongs to, and the markers of the Python that it is for.
It raises `ValueError`, `KeyError`, `TypeError`, `AttributeError` or `PylockValidationError` if the text is no such
lock.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.pylock import Pylock
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from greenloop_sandbox.locks.pins import Pin, applies, make_pin
from greenloop_sandbox.locks.project import FOR_TESTS, ProjectMetadata

Markers = Mapping[str, str]
Answer = tuple[list[Pin], list[str]]


def read_uv(text: str, project: ProjectMetadata, markers: Markers) -> Answer:
    """Follows the dependency edges whose markers hold, starting from the workspace's own packages."""
    packages = tomllib.loads(text).get("package", [])
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in packages:
        by_name.setdefault(package["name"], []).append(package)
    workspace_packages = [package for package in packages if _own_source(package)]
    main_packages = [
        package for package in workspace_packages if canonicalize_name(project.name or "-") == package["name"]
    ]
    pending: list[tuple[dict[str, Any], frozenset[str]]] = [
        (package, frozenset(filter(_is_for_tests, package.get("optional-dependencies", {}))))
        for package in main_packages or workspace_packages
    ]
    visited: dict[int, frozenset[str]] = {}
    while pending:
        package, extras = pending.pop()
        visited_extras = visited.get(id(package))
        if visited_extras is not None and extras <= visited_extras:
            continue
        visited[id(package)] = extras | (visited_extras or frozenset())
        for edge in _uv_edges(package, extras, is_root=package in (main_packages or workspace_packages)):
            if not applies(edge.get("marker"), markers):
                continue
            targets = by_name.get(edge["name"], [])
            if "version" in edge:
                targets = [target for target in targets if target.get("version") == edge["version"]]
            pending += [
                (target, frozenset(edge.get("extra", ()))) for target in targets if _applies_to_fork(target, markers)
            ]
    chosen = [package for package in packages if id(package) in visited and not _own_source(package)]
    pins, notes = [], []
    for package in chosen:
        source = package.get("source", {})
        if "registry" not in source:
            notes.append(_not_from_index("uv.lock", package["name"], next(iter(source), "nowhere")))
            continue
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
        pins.append(make_pin(package["name"], package["version"], _hashes(files)))
    return pins, notes


def _own_source(package: Mapping[str, Any]) -> bool:
    return bool({"editable", "virtual", "directory"} & set(package.get("source", {})))


def _uv_edges(package: Mapping[str, Any], extras: Iterable[str], *, is_root: bool) -> Iterator[Mapping[str, Any]]:
    yield from package.get("dependencies", ())
    for extra in extras:
        yield from package.get("optional-dependencies", {}).get(extra, ())
    if is_root:
        for group, edges in package.get("dev-dependencies", {}).items():
            if _is_for_tests(group):
                yield from edges


def _applies_to_fork(package: Mapping[str, Any], markers: Markers) -> bool:
    """Is this version for a Python with these markers? uv may resolve a package several times, one per fork."""
    forks = package.get("resolution-markers", ())
    return not forks or any(applies(marker, markers) for marker in forks)


def read_poetry(text: str, project: ProjectMetadata, markers: Markers) -> Answer:
    """Follows the dependency edges whose markers hold, starting from the project's requirements."""
    table = tomllib.loads(text)
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in table.get("package", []):
        by_name.setdefault(canonicalize_name(package["name"]), []).append(package)
    pending: list[tuple[str, frozenset[str]]] = []
    for line in project.requirements:
        requirement = Requirement(line)
        if applies(str(requirement.marker or ""), markers, project.extras):
            pending.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    visited: dict[str, frozenset[str]] = {}
    while pending:
        name, extras = pending.pop()
        visited_extras = visited.get(name)
        if visited_extras is not None and extras <= visited_extras:
            continue
        visited[name] = extras | (visited_extras or frozenset())
        for package in by_name.get(name, ()):
            pending += _poetry_edges(package, visited[name], markers)
    pins, notes = [], []
    for name in sorted(visited):
        for package in by_name.get(name, ()):
            if not _python_fits(package.get("python-versions"), markers) or not _poetry_applies(
                package, markers, project
            ):
                continue
            kind = package.get("source", {}).get("type", "legacy")
            if kind == "legacy":
                files = package.get("files") or table.get("metadata", {}).get("files", {}).get(package["name"], ())
                pins.append(make_pin(name, package["version"], _hashes(files)))
            else:
                notes.append(_not_from_index("poetry.lock", name, kind))
    return pins, notes


def _poetry_edges(
    package: Mapping[str, Any], extras: frozenset[str], markers: Markers
) -> Iterator[tuple[str, frozenset[str]]]:
    extra_names = {
        canonicalize_name(entry.partition(" ")[0].partition("[")[0])
        for extra in extras
        for entry in package.get("extras", {}).get(extra, ())
    }
    for name, value in package.get("dependencies", {}).items():
        for entry in value if isinstance(value, list) else [value]:
            options = entry if isinstance(entry, dict) else {}
            if options.get("optional") and canonicalize_name(name) not in extra_names:
                continue
            if applies(options.get("markers"), markers, extras):
                yield canonicalize_name(name), frozenset(options.get("extras", ()))


def _poetry_applies(package: Mapping[str, Any], markers: Markers, project: ProjectMetadata) -> bool:
    """Does the package apply? Since Poetry 2 it has one marker, or one for each of its groups."""
    extras = project.extras
    marker = package.get("markers")
    if isinstance(marker, dict):
        return any(applies(text, markers, extras) for text in marker.values()) or set(marker) != set(
            package.get("groups", ())
        )
    return applies(marker, markers, extras)


def _python_fits(versions: str | None, markers: Markers) -> bool:
    try:
        return not versions or versions == "*" or SpecifierSet(versions).contains(markers["python_full_version"])
    except InvalidSpecifier:
        return True  # Poetry's own spelling (`^3.8`, `||`): its resolver has checked it already


def read_pdm(text: str, project: ProjectMetadata, markers: Markers) -> Answer:  # noqa: ARG001 - the lock has all that is needed
    """The packages of the default and test groups whose markers hold."""
    pins, notes = [], []
    for package in tomllib.loads(text).get("package", []):
        groups = package.get("groups", ["default"])
        if not any(group == "default" or _is_for_tests(group) for group in groups):
            continue
        if not applies(package.get("marker"), markers) or not _python_fits(package.get("requires_python"), markers):
            continue
        if package.get("path") or package.get("editable"):
            continue  # the project itself, or another package of the workspace
        if package.get("git") or package.get("url"):
            notes.append(_not_from_index("pdm.lock", package["name"], "git" if package.get("git") else "url"))
            continue
        pins.append(make_pin(package["name"], package["version"], _hashes(package.get("files", ()))))
    return list(dict.fromkeys(pins)), notes  # PDM lists a package again for each of its extras


def read_pylock(text: str, project: ProjectMetadata, markers: Markers) -> Answer:  # noqa: ARG001 - the lock has all that is needed
    """The packages of a pylock.toml (PEP 751) whose markers hold with the default groups and those for tests."""
    lock = Pylock.from_dict(tomllib.loads(text))
    extras = frozenset(filter(_is_for_tests, lock.extras or ()))
    groups = frozenset((*(lock.default_groups or ()), *filter(_is_for_tests, lock.dependency_groups or ())))
    environment: Mapping[str, Any] = {**markers, "extras": extras, "dependency_groups": groups}
    pins, notes = [], []
    for package in lock.packages:
        if package.directory or (package.marker and not package.marker.evaluate(environment, context="lock_file")):
            continue
        if package.is_direct or not package.version:
            notes.append(_not_from_index("pylock.toml", package.name, "vcs" if package.vcs else "archive"))
            continue
        files = [*(package.wheels or ()), *([package.sdist] if package.sdist else ())]
        hashes = {f"{kind}:{value}" for file in files for kind, value in file.hashes.items()}
        pins.append(make_pin(package.name, str(package.version), hashes))
    return pins, notes


def read_pipfile(text: str, project: ProjectMetadata, markers: Markers) -> Answer:  # noqa: ARG001 - the lock has all that is needed
    """The packages of both sections of a Pipfile.lock."""
    table = json.loads(text)
    pins, notes = [], []
    for name, options in {**table.get("develop", {}), **table["default"]}.items():
        if not applies(options.get("markers"), markers):
            continue
        if options.get("version", "").startswith("=="):
            pins.append(make_pin(name, options["version"].removeprefix("=="), options.get("hashes", ())))
        elif not (options.get("editable") and options.get("path") in {".", "./"}):
            notes.append(_not_from_index("Pipfile.lock", name, "git" if "git" in options else "path"))
    return pins, notes


# -- shared ---------------------------------------------------------------------------------------------------------


def _is_for_tests(name: str) -> bool:
    return name.lower() in FOR_TESTS


def _hashes(files: Iterable[Mapping[str, Any]]) -> list[str]:
    return [file["hash"] for file in files if "hash" in file]


def _not_from_index(lock: str, name: str, kind: str) -> str:
    return f"{lock}: {name} comes from {kind}, not from a package index, and was skipped."

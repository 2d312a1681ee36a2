"""Reads a project's name, requirements and source folders from pyproject.toml or setup.cfg."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

# Names of extras and dependency groups that hold what tests need.
FOR_TESTS = frozenset({"test", "tests", "testing", "dev", "develop", "development"})
_VERSION = re.compile(r"""^(?:__version__|version|VERSION)\s*(?::\s*\w+\s*)?=\s*['"]([^'"]+)['"]""", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ProjectMetadata:
    """A project's metadata.

    `requirements` are PEP 508 lines, including those of extras and groups for tests; `dependencies` are the main ones.
    `extras` and `groups` are the names of those included; `source_folders` are what an installation would put on the
    path; `entry_points` are by group; `file` is where it was read.
    """

    name: str = ""
    version: str = ""
    file: str = "pyproject.toml"
    dependencies: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_project(root: Path) -> ProjectMetadata:
    """The project in this folder; an empty one if neither file can be read."""
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        table = {}
    if isinstance(table.get("project"), dict) or "poetry" in _table(table, "tool"):
        return _pyproject(root, table)
    return _setup_cfg(root, table)


def _pyproject(root: Path, table: Mapping[str, Any]) -> ProjectMetadata:
    project, poetry = _table(table, "project"), _table(table, "tool", "poetry")
    dependencies = [*_strings(project.get("dependencies")), *_poetry(_table(poetry, "dependencies"))]
    extras = {
        name: _strings(requirement_lines)
        for name, requirement_lines in _table(project, "optional-dependencies").items()
    }
    groups = {name: _strings(_group(table, name)) for name in _table(table, "dependency-groups")}
    groups |= {
        name: _poetry(_table(poetry, "group", name, "dependencies"))
        for name in _table(poetry, "group")
        if isinstance(name, str)
    }
    if old_dev_group := _poetry(_table(poetry, "dev-dependencies")):
        groups["dev"] = [*groups.get("dev", ()), *old_dev_group]
    pdm_groups = _table(table, "tool", "pdm", "dev-dependencies")
    groups |= {
        name: _strings(requirement_lines) for name, requirement_lines in pdm_groups.items() if name not in groups
    }
    name = str(project.get("name") or poetry.get("name") or "")
    entry_points = {
        "console_scripts": _table(project, "scripts") or _table(poetry, "scripts"),
        "gui_scripts": _table(project, "gui-scripts"),
        **_table(project, "entry-points"),
        **_table(poetry, "plugins"),
    }
    version = str(project.get("version") or poetry.get("version") or "")
    found = ProjectMetadata(name=name, version=version, dependencies=tuple(dependencies), entry_points=entry_points)
    return _complete(found, root, table, extras, groups)


def _setup_cfg(root: Path, table: Mapping[str, Any]) -> ProjectMetadata:
    config = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        config.read_string((root / "setup.cfg").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, configparser.Error):
        config.clear()
    name = config.get("metadata", "name", fallback="")
    extras = {}
    if config.has_section("options.extras_require"):
        extras = {key: _lines(text) for key, text in config.items("options.extras_require")}
    groups = {name: _strings(_group(table, name)) for name in _table(table, "dependency-groups")}
    dependencies = _lines(config.get("options", "install_requires", fallback=""))
    entry_points: dict[str, dict[str, str]] = {}
    if config.has_section("options.entry_points"):
        entry_points = {group: _pairs(text) for group, text in config.items("options.entry_points")}
    version = config.get("metadata", "version", fallback="")
    found = ProjectMetadata(
        name=name,
        version=version if re.match(r"\d", version) else "",
        file="setup.cfg",
        dependencies=tuple(dependencies),
        entry_points=entry_points,
    )
    return _complete(found, root, table, extras, groups, _pairs(config.get("options", "package_dir", fallback="")))


def _complete(
    found: ProjectMetadata,
    root: Path,
    table: Mapping[str, Any],
    extras: Mapping[str, Sequence[str]],
    groups: Mapping[str, Sequence[str]],
    package_dir: Mapping[str, str] | None = None,
) -> ProjectMetadata:
    """Adds the requirements of the tests, the folders of sources, and a version that only the sources say."""
    chosen_extras, chosen_groups = _test_groups(extras), _test_groups(groups)
    lines = [*found.dependencies, *(line for extra in chosen_extras for line in extras[extra])]
    lines += [line for group in chosen_groups for line in groups[group]]
    usable, notes = _split_usable(_expand_extras(lines, found.name, extras), found.name, found.file)
    return replace(
        found,
        version=found.version or _read_version(root, found.name, table),
        requirements=tuple(usable),
        extras=tuple(chosen_extras),
        groups=tuple(chosen_groups),
        sources=tuple(_sources(root, table, package_dir or {})),
        entry_points={group: _words(points) for group, points in found.entry_points.items() if _words(points)},
        notes=tuple(notes),
    )


# -- source folders and version -------------------------------------------------------------------------------------


def _sources(root: Path, table: Mapping[str, Any], package_dir: Mapping[str, str]) -> Iterator[str]:
    """Folders, relative to the workspace root, that an installation of the project would put on the path."""
    candidates = [str(candidate) for candidate in _table(table, "tool", "setuptools", "package-dir").values()]
    candidates += list(package_dir.values())
    find_table = _table(table, "tool", "setuptools", "packages").get("find")
    candidates += _strings(find_table.get("where")) if isinstance(find_table, dict) else []
    for entry in _table(table, "tool", "poetry").get("packages") or ():
        if isinstance(entry, dict) and isinstance(entry.get("from"), str):
            candidates.append(entry["from"])
    wheel = _table(table, "tool", "hatch", "build", "targets", "wheel")
    candidates += [str(PurePosixPath(package).parent) for package in _strings(wheel.get("packages"))]
    candidates.append("src")
    for pattern in _strings(_table(table, "tool", "uv", "workspace").get("members")):
        if ".." not in pattern and not pattern.startswith("/"):
            members = [path.relative_to(root) for path in sorted(root.glob(pattern)) if path.is_dir()]
            candidates += [str(part) for member in members for part in (member / "src", member)]
    for path in dict.fromkeys(map(PurePosixPath, candidates)):
        is_inside = not path.is_absolute() and ".." not in path.parts and str(path) != "."
        if is_inside and (root / path).is_dir() and not (root / path / "__init__.py").exists():
            yield str(path)


def _read_version(root: Path, name: str, table: Mapping[str, Any]) -> str:
    """The version written in a file of the package; empty if a tool would have to compute it."""
    package = name.replace("-", "_").replace(".", "/")
    configured_file = _table(table, "tool", "hatch", "version").get("path")
    candidates = [configured_file] if isinstance(configured_file, str) and ".." not in configured_file else []
    for folder in ("src/", "", "lib/"):
        for spelling in dict.fromkeys((package, package.lower())):
            candidates += [
                f"{folder}{spelling}{file}"
                for file in ("/_version.py", "/__about__.py", "/version.py", "/__init__.py", ".py")
            ]
    for candidate in candidates:
        try:
            match = _VERSION.search((root / candidate).read_text(encoding="utf-8", errors="replace")[:100_000])
        except (OSError, ValueError):
            continue
        if match:
            return match[1]
    return ""


# -- requirements ---------------------------------------------------------------------------------------------------


def _split_usable(lines: Sequence[str] | Iterator[str], project_name: str, file: str) -> tuple[list[str], list[str]]:
    """Requirements that a package index can provide, and a sentence about each other line."""
    usable, notes = [], []
    for line in lines:
        try:
            parsed = Requirement(line)
        except InvalidRequirement:
            notes.append(f"{file}: `{line}` is not a valid requirement and was skipped.")
            continue
        if parsed.url:
            notes.append(f"{file}: {parsed.name} comes from {parsed.url}, not from a package index, and was skipped.")
        elif canonicalize_name(parsed.name) != canonicalize_name(project_name or "-"):
            usable.append(str(parsed))
    return usable, notes


def _expand_extras(lines: Sequence[str], project_name: str, extras: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines, with the project's own `name[extra]` replaced by the requirements of that extra."""
    pending = list(lines)
    expanded: set[str] = set()
    while pending:
        line = pending.pop(0)
        try:
            parsed = Requirement(line)
        except InvalidRequirement:
            yield line
            continue
        if canonicalize_name(parsed.name) != canonicalize_name(project_name or "-"):
            yield line
            continue
        for extra in sorted(parsed.extras - expanded):
            expanded.add(extra)
            pending += extras.get(extra, ())


def _group(table: Mapping[str, Any], name: str, including: frozenset[str] = frozenset()) -> Iterator[str]:
    entries = _table(table, "dependency-groups").get(name)
    for entry in entries if isinstance(entries, list) and name not in including else ():
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
            yield from _group(table, entry["include-group"], including | {name})


def _poetry(table: Mapping[str, Any]) -> list[str]:
    """Poetry's table of dependencies as PEP 508 lines, without optional ones and those not from an index."""
    requirement_lines = []
    for name, value in table.items():
        for entry in value if isinstance(value, list) else [value]:
            options = entry if isinstance(entry, dict) else {"version": entry}
            version = options.get("version")
            if name.lower() == "python" or options.get("optional") or not isinstance(version, str):
                continue
            extras = f"[{','.join(_strings(options.get('extras')))}]" if options.get("extras") else ""
            marker = f"; {options['markers']}" if isinstance(options.get("markers"), str) else ""
            requirement_lines.append(f"{name}{extras}{_specifier(version)}{marker}")
    return requirement_lines


def _specifier(text: str) -> str:
    """Poetry's version constraint as a PEP 440 specifier."""
    parts = []
    for part in (piece.strip() for piece in text.replace("||", ",").split(",")):
        operator, number = re.match(r"(\^|~(?!=))?\s*(.*)", part).groups()  # type: ignore[union-attr]
        digits = [int(digit) for digit in re.findall(r"\d+", number)[:3]] if operator else []
        if operator and digits:
            if operator == "^":
                position = next((index for index, digit in enumerate(digits) if digit), len(digits) - 1)
            else:
                position = min(1, len(digits) - 1)
            upper_bound = [*digits[:position], digits[position] + 1]
            parts.append(f">={number},<{'.'.join(map(str, upper_bound))}")
        elif re.match(r"\d", part):
            parts.append(f"=={part}")
        elif part not in {"*", ""}:
            parts.append(part)
    return ",".join(parts)


def _test_groups(groups: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in groups if name.lower() in FOR_TESTS)


def _table(table: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    value: Any = table
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _strings(value: Any) -> list[str]:
    if not isinstance(value, Iterator | list | tuple):
        return []
    return [item for item in value if isinstance(item, str)]


def _words(table: Any) -> dict[str, str]:
    return {key: value for key, value in table.items() if isinstance(value, str)} if isinstance(table, dict) else {}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _pairs(text: str) -> dict[str, str]:
    partitions = (line.partition("=") for line in _lines(text))
    return {key.strip(): value.strip() for key, equals, value in partitions if equals}

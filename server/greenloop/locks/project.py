"""What a project says of itself in pyproject.toml or setup.cfg: its name, what it needs, where its packages lie."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

# Extras and groups by these names hold what tests need.
FOR_TESTS = frozenset({"test", "tests", "testing", "dev", "develop", "development"})
_VERSION = re.compile(r"""^(?:__version__|version|VERSION)\s*(?::\s*\w+\s*)?=\s*['"]([^'"]+)['"]""", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Project:
    """`requirements` are PEP 508 lines with those of extras and groups for tests; `dependencies` are the main ones.

    `extras` and `groups` are the names of those taken; `sources` the folders that an installation would put on the
    path; `entry_points` by group; `file` is where it was read.
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


def read(root: Path) -> Project:
    """The project in this folder; an empty one where it says nothing that can be read."""
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        table = {}
    if isinstance(table.get("project"), dict) or "poetry" in _table(table, "tool"):
        return _pyproject(root, table)
    return _setup_cfg(root, table)


def _pyproject(root: Path, table: Mapping[str, Any]) -> Project:
    project, poetry = _table(table, "project"), _table(table, "tool", "poetry")
    dependencies = [*_strings(project.get("dependencies")), *_poetry(_table(poetry, "dependencies"))]
    extras = {name: _strings(lines) for name, lines in _table(project, "optional-dependencies").items()}
    groups = {name: _strings(_group(table, name)) for name in _table(table, "dependency-groups")}
    groups |= {
        name: _poetry(_table(poetry, "group", name, "dependencies"))
        for name in _table(poetry, "group")
        if isinstance(name, str)
    }
    if old := _poetry(_table(poetry, "dev-dependencies")):
        groups["dev"] = [*groups.get("dev", ()), *old]
    for_pdm = _table(table, "tool", "pdm", "dev-dependencies")
    groups |= {name: _strings(lines) for name, lines in for_pdm.items() if name not in groups}
    name = str(project.get("name") or poetry.get("name") or "")
    entry_points = {
        "console_scripts": _table(project, "scripts") or _table(poetry, "scripts"),
        "gui_scripts": _table(project, "gui-scripts"),
        **_table(project, "entry-points"),
        **_table(poetry, "plugins"),
    }
    chosen_extras = _for_tests(extras)
    chosen_groups = _for_tests(groups)
    lines = [
        *dependencies,
        *(line for extra in chosen_extras for line in extras[extra]),
        *(line for group in chosen_groups for line in groups[group]),
    ]
    lines = list(_expanded(lines, name, extras))
    good, notes = _usable(lines, name, "pyproject.toml")
    return Project(
        name=name,
        version=str(project.get("version") or poetry.get("version") or "") or _found_version(root, name, table),
        dependencies=tuple(dependencies),
        requirements=tuple(good),
        extras=tuple(chosen_extras),
        groups=tuple(chosen_groups),
        sources=tuple(_sources(root, table, {})),
        entry_points={group: _words(points) for group, points in entry_points.items() if _words(points)},
        notes=tuple(notes),
    )


def _setup_cfg(root: Path, table: Mapping[str, Any]) -> Project:
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
    lines = [
        *dependencies,
        *(line for extra in _for_tests(extras) for line in extras[extra]),
        *(line for group in _for_tests(groups) for line in groups[group]),
    ]
    good, notes = _usable(_expanded(lines, name, extras), name, "setup.cfg")
    points: dict[str, dict[str, str]] = {}
    if config.has_section("options.entry_points"):
        points = {group: _pairs(text) for group, text in config.items("options.entry_points")}
    version = config.get("metadata", "version", fallback="")
    if not re.match(r"\d", version):
        version = _found_version(root, name, table)
    mapping = _pairs(config.get("options", "package_dir", fallback=""))
    return Project(
        name=name,
        version=version,
        file="setup.cfg",
        dependencies=tuple(dependencies),
        requirements=tuple(good),
        extras=tuple(_for_tests(extras)),
        groups=tuple(_for_tests(groups)),
        sources=tuple(_sources(root, table, mapping)),
        entry_points=points,
        notes=tuple(notes),
    )


# -- where the packages lie -----------------------------------------------------------------------------------------


def _sources(root: Path, table: Mapping[str, Any], package_dir: Mapping[str, str]) -> Iterator[str]:
    """Folders of the workspace, relative to its root, that an installation of the project would put on the path."""
    named = [str(folder) for folder in _table(table, "tool", "setuptools", "package-dir").values()]
    named += list(package_dir.values())
    found = _table(table, "tool", "setuptools", "packages").get("find")
    named += _strings(found.get("where")) if isinstance(found, dict) else []
    for entry in _table(table, "tool", "poetry").get("packages") or ():
        if isinstance(entry, dict) and isinstance(entry.get("from"), str):
            named.append(entry["from"])
    wheel = _table(table, "tool", "hatch", "build", "targets", "wheel")
    named += [str(PurePosixPath(package).parent) for package in _strings(wheel.get("packages"))]
    named.append("src")
    for pattern in _strings(_table(table, "tool", "uv", "workspace").get("members")):
        if ".." not in pattern and not pattern.startswith("/"):
            members = [path.relative_to(root) for path in sorted(root.glob(pattern)) if path.is_dir()]
            named += [str(part) for member in members for part in (member / "src", member)]
    seen: set[str] = set()
    for folder in named:
        path = PurePosixPath(folder)
        inside = not path.is_absolute() and ".." not in path.parts and str(path) != "."
        if inside and str(path) not in seen and (root / path).is_dir() and not (root / path / "__init__.py").exists():
            seen.add(str(path))
            yield str(path)


def _found_version(root: Path, name: str, table: Mapping[str, Any]) -> str:
    """A version that is written in a file of the package; empty where a tool would have to compute it."""
    package = name.replace("-", "_").replace(".", "/")
    named = _table(table, "tool", "hatch", "version").get("path")
    candidates = [named] if isinstance(named, str) and ".." not in named else []
    for folder in ("src/", "", "lib/"):
        for spelling in dict.fromkeys((package, package.lower())):
            candidates += [
                f"{folder}{spelling}{file}"
                for file in ("/_version.py", "/__about__.py", "/version.py", "/__init__.py", ".py")
            ]
    for candidate in candidates:
        try:
            found = _VERSION.search((root / candidate).read_text(encoding="utf-8", errors="replace")[:100_000])
        except (OSError, ValueError):
            continue
        if found:
            return found[1]
    return ""


# -- what it needs --------------------------------------------------------------------------------------------------


def _usable(lines: Sequence[str] | Iterator[str], own: str, file: str) -> tuple[list[str], list[str]]:
    """Lines that an index can answer, and a sentence for each that it cannot."""
    good, notes = [], []
    for line in lines:
        try:
            parsed = Requirement(line)
        except InvalidRequirement:
            notes.append(f"{file}: `{line}` is no requirement and was left out.")
            continue
        if parsed.url:
            notes.append(f"{file}: {parsed.name} comes from {parsed.url}, not from your index, and was left out.")
        elif canonicalize_name(parsed.name) != canonicalize_name(own or "-"):
            good.append(str(parsed))
    return good, notes


def _expanded(lines: Sequence[str], own: str, extras: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines, with `project[extra]` of the project itself replaced by what that extra needs."""
    todo = list(lines)
    seen: set[str] = set()
    while todo:
        line = todo.pop(0)
        try:
            parsed = Requirement(line)
        except InvalidRequirement:
            yield line
            continue
        if canonicalize_name(parsed.name) != canonicalize_name(own or "-"):
            yield line
            continue
        for extra in sorted(parsed.extras - seen):
            seen.add(extra)
            todo += extras.get(extra, ())


def _group(table: Mapping[str, Any], name: str, above: frozenset[str] = frozenset()) -> Iterator[str]:
    entries = _table(table, "dependency-groups").get(name)
    for entry in entries if isinstance(entries, list) and name not in above else ():
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
            yield from _group(table, entry["include-group"], above | {name})


def _poetry(table: Mapping[str, Any]) -> list[str]:
    """Poetry's own table of dependencies as PEP 508 lines; what is optional or not of an index is left out."""
    found = []
    for name, value in table.items():
        for entry in value if isinstance(value, list) else [value]:
            about = entry if isinstance(entry, dict) else {"version": entry}
            version = about.get("version")
            if name.lower() == "python" or about.get("optional") or not isinstance(version, str):
                continue
            extras = f"[{','.join(_strings(about.get('extras')))}]" if about.get("extras") else ""
            marker = f"; {about['markers']}" if isinstance(about.get("markers"), str) else ""
            found.append(f"{name}{extras}{_specifier(version)}{marker}")
    return found


def _specifier(text: str) -> str:
    """Poetry's constraint as a PEP 440 specifier."""
    parts = []
    for part in (piece.strip() for piece in text.replace("||", ",").split(",")):
        mark, number = re.match(r"(\^|~(?!=))?\s*(.*)", part).groups()  # type: ignore[union-attr]
        digits = [int(digit) for digit in re.findall(r"\d+", number)[:3]] if mark else []
        if mark and digits:
            if mark == "^":
                place = next((index for index, digit in enumerate(digits) if digit), len(digits) - 1)
            else:
                place = min(1, len(digits) - 1)
            above = [*digits[:place], digits[place] + 1]
            parts.append(f">={number},<{'.'.join(map(str, above))}")
        elif re.match(r"\d", part):
            parts.append(f"=={part}")
        elif part not in {"*", ""}:
            parts.append(part)
    return ",".join(parts)


def _for_tests(named: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in named if name.lower() in FOR_TESTS)


def _table(table: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    current: Any = table
    for part in path:
        current = current.get(part) if isinstance(current, dict) else None
    return current if isinstance(current, dict) else {}


def _strings(value: Any) -> list[str]:
    if not isinstance(value, Iterator | list | tuple):
        return []
    return [item for item in value if isinstance(item, str)]


def _words(table: Any) -> dict[str, str]:
    return {key: value for key, value in table.items() if isinstance(value, str)} if isinstance(table, dict) else {}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _pairs(text: str) -> dict[str, str]:
    split = (line.partition("=") for line in _lines(text))
    return {key.strip(): value.strip() for key, equals, value in split if equals}

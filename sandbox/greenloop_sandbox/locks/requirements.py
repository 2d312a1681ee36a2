"""Reads requirement files line by line. Never passes their options on; reports everything left out."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from greenloop_sandbox.locks.pins import Pin, make_pin

_ROOT = re.compile(r"^(requirements([-_.](dev|develop|development|tests?|testing))?"
                   r"|(dev|tests?|testing)[-_.]requirements)\.txt$", re.IGNORECASE)  # fmt: skip
_FOLDER = re.compile(
    r"^((requirements|base|main|common|prod|production|dev|develop|development|tests?|testing)"
    r"|requirements[-_.](dev|tests?|testing))\.txt$",
    re.IGNORECASE,
)
_DEEPEST = 10


@dataclass(frozen=True, kw_only=True)
class RequirementsFiles:
    """The contents of requirement files. `complete`: every line is exact and has a hash, so they are a lock."""

    files: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    complete: bool = False
    notes: tuple[str, ...] = ()


@dataclass
class _Collected:
    lines: list[tuple[Requirement, tuple[str, ...]]] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: set[tuple[Path, bool]] = field(default_factory=set)


def read_requirements(root: Path) -> RequirementsFiles:
    """Reads the requirement files that a project's tests may need, not those of documentation and the like."""
    files = [path for path in sorted(root.glob("*.txt")) if _ROOT.match(path.name)]
    for folder in ("requirements", "tests", "test"):
        pattern = _FOLDER if folder == "requirements" else _ROOT
        files += [path for path in sorted((root / folder).glob("*.txt")) if pattern.match(path.name)]
    collected = _Collected()
    for file in files:
        _read(root, file, collected, constraint=False, depth=0)
    pins = [_exact(requirement, hashes) for requirement, hashes in collected.lines]
    return RequirementsFiles(
        files=tuple(str(file.relative_to(root)) for file in files),
        requirements=tuple(str(requirement) for requirement, _hashes in collected.lines),
        constraints=tuple(collected.constraints),
        pins=tuple(pin for pin in pins if pin is not None),
        complete=bool(pins) and None not in pins,
        notes=tuple(dict.fromkeys(collected.notes)),
    )


def _exact(requirement: Requirement, hashes: tuple[str, ...]) -> Pin | None:
    specifiers = list(requirement.specifier)
    if len(specifiers) != 1 or specifiers[0].operator not in {"==", "==="} or not hashes:
        return None
    version = specifiers[0].version
    return None if "*" in version else make_pin(requirement.name, version, hashes, str(requirement.marker or ""))


def _read(root: Path, file: Path, collected: _Collected, *, constraint: bool, depth: int) -> None:
    if (file, constraint) in collected.seen or depth > _DEEPEST:
        return
    collected.seen.add((file, constraint))
    label = file.name if file.parent == root else f"{file.parent.name}/{file.name}"
    if not file.resolve().is_relative_to(root.resolve()):
        collected.notes.append(f"{label} points outside the workspace and was skipped.")
        return
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        collected.notes.append(f"{label} cannot be read ({error}) and was skipped.")
        return
    for continued in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = re.sub(r"(^|\s)#.*$", "", continued).strip()
        if not line:
            continue
        if line.startswith("-"):
            _option(root, file, line, collected, constraint=constraint, depth=depth, label=label)
            continue
        requirement, hashes = _parse_line(line)
        if requirement is None:
            collected.notes.append(f"{label}: `{_shorten(line)}` does not come from a package index and was skipped.")
        elif constraint:
            collected.constraints.append(str(requirement))
        else:
            collected.lines.append((requirement, hashes))


def _option(
    root: Path, file: Path, line: str, collected: _Collected, *, constraint: bool, depth: int, label: str
) -> None:
    """Follows includes inside the workspace and drops every other option."""
    try:
        arguments = shlex.split(line)
    except ValueError:
        arguments = line.split()
    name, _, value = arguments[0].partition("=")
    value = value or (arguments[1] if len(arguments) > 1 else "")
    if name[:2] in {"-r", "-c"} and len(name) > 2 and not name.startswith("--"):
        name, value = name[:2], name[2:]
    if name in {"-r", "--requirement", "-c", "--constraint"}:
        target = (file.parent / value).resolve()
        if value and target.is_relative_to(root.resolve()) and target.is_file():
            is_constraint = constraint or name in {"-c", "--constraint"}
            _read(root, target, collected, constraint=is_constraint, depth=depth + 1)
        else:
            collected.notes.append(f"{label}: {value or line} is not a file in the workspace and was skipped.")
    elif name in {"-e", "--editable"} and value.partition("[")[0] in {".", "./"}:
        pass  # the project itself, which is never installed
    else:
        collected.notes.append(f"{label}: the option `{_shorten(line)}` was ignored.")


def _parse_line(line: str) -> tuple[Requirement | None, tuple[str, ...]]:
    hashes = tuple(re.findall(r"--hash[= ](\S+)", line))
    text = re.split(r"\s--", line, maxsplit=1)[0].strip()
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None, ()
    return (None, ()) if requirement.url or "$" in text else (requirement, hashes)


def _shorten(line: str) -> str:
    """The line without credentials in URLs, cut to 80 characters."""
    return re.sub(r"//[^/@\s]+@", "//…@", line)[:80]

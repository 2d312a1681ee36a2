"""Requirement files: read line by line. Options in them are never passed on, and what is left out is said."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from greenloop.locks.pins import Pin, pin

_ROOT = re.compile(r"^(requirements([-_.](dev|develop|development|tests?|testing))?"
                   r"|(dev|tests?|testing)[-_.]requirements)\.txt$", re.IGNORECASE)  # fmt: skip
_FOLDER = re.compile(
    r"^((requirements|base|main|common|prod|production|dev|develop|development|tests?|testing)"
    r"|requirements[-_.](dev|tests?|testing))\.txt$",
    re.IGNORECASE,
)
_DEEPEST = 10


@dataclass(frozen=True, kw_only=True)
class Listed:
    """What requirement files say. `complete`: every line is exact and has a hash, so they are a lock."""

    files: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    complete: bool = False
    notes: tuple[str, ...] = ()


@dataclass
class _Found:
    lines: list[tuple[Requirement, tuple[str, ...]]] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: set[tuple[Path, bool]] = field(default_factory=set)


def of(root: Path) -> Listed:
    """The requirement files that a project's tests may need, those of documentation and the like left aside."""
    files = [path for path in sorted(root.glob("*.txt")) if _ROOT.match(path.name)]
    for folder in ("requirements", "tests", "test"):
        pattern = _FOLDER if folder == "requirements" else _ROOT
        files += [path for path in sorted((root / folder).glob("*.txt")) if pattern.match(path.name)]
    found = _Found()
    for file in files:
        _read(root, file, found, constraint=False, depth=0)
    exact = [_exact(requirement, hashes) for requirement, hashes in found.lines]
    return Listed(
        files=tuple(str(file.relative_to(root)) for file in files),
        requirements=tuple(str(requirement) for requirement, _hashes in found.lines),
        constraints=tuple(found.constraints),
        pins=tuple(one for one in exact if one is not None),
        complete=bool(exact) and None not in exact,
        notes=tuple(dict.fromkeys(found.notes)),
    )


def _exact(requirement: Requirement, hashes: tuple[str, ...]) -> Pin | None:
    specifiers = list(requirement.specifier)
    if len(specifiers) != 1 or specifiers[0].operator not in {"==", "==="} or not hashes:
        return None
    version = specifiers[0].version
    return None if "*" in version else pin(requirement.name, version, hashes, str(requirement.marker or ""))


def _read(root: Path, file: Path, found: _Found, *, constraint: bool, depth: int) -> None:
    if (file, constraint) in found.seen or depth > _DEEPEST:
        return
    found.seen.add((file, constraint))
    shown = file.name if file.parent == root else f"{file.parent.name}/{file.name}"
    if not file.resolve().is_relative_to(root.resolve()):
        found.notes.append(f"{shown} leads out of the workspace and was left out.")
        return
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        found.notes.append(f"{shown} cannot be read ({error}) and was left out.")
        return
    for line in _logical(text):
        if line.startswith("-"):
            _option(root, file, line, found, constraint=constraint, depth=depth, shown=shown)
            continue
        requirement, hashes = _parsed(line)
        if requirement is None:
            found.notes.append(f"{shown}: `{_brief(line)}` does not come from an index and was left out.")
        elif constraint:
            found.constraints.append(str(requirement))
        else:
            found.lines.append((requirement, hashes))


def _option(root: Path, file: Path, line: str, found: _Found, *, constraint: bool, depth: int, shown: str) -> None:
    """Includes inside the workspace are followed; every other option is dropped."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    name, _, value = words[0].partition("=")
    value = value or (words[1] if len(words) > 1 else "")
    if name[:2] in {"-r", "-c"} and len(name) > 2 and not name.startswith("--"):
        name, value = name[:2], name[2:]
    if name in {"-r", "--requirement", "-c", "--constraint"}:
        target = (file.parent / value).resolve()
        if value and target.is_relative_to(root.resolve()) and target.is_file():
            inner = constraint or name in {"-c", "--constraint"}
            _read(root, target, found, constraint=inner, depth=depth + 1)
        else:
            found.notes.append(f"{shown}: {value or line} is no file of the workspace and was left out.")
    elif name in {"-e", "--editable"} and value.partition("[")[0] in {".", "./"}:
        pass  # the project itself, which is never installed
    else:
        found.notes.append(f"{shown}: the option `{_brief(line)}` was not passed on.")


def _parsed(line: str) -> tuple[Requirement | None, tuple[str, ...]]:
    hashes = tuple(re.findall(r"--hash[= ](\S+)", line))
    text = re.split(r"\s--", line, maxsplit=1)[0].strip()
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None, ()
    return (None, ()) if requirement.url or "$" in text else (requirement, hashes)


def _logical(text: str) -> Iterator[str]:
    """Lines with their continuations joined, without comments."""
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        bare = re.sub(r"(^|\s)#.*$", "", line).strip()
        if bare:
            yield bare


def _brief(line: str) -> str:
    """Without what may be a password."""
    return re.sub(r"//[^/@\s]+@", "//…@", line)[:80]

"""Finds names that a module of an installed package does not have (any more): only their files are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PathDistribution
from itertools import islice, product
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from greenloop.core.python.ast_source import FUNCTIONS, Function, find_definitions, statements_of
from greenloop.core.python.names import module_bindings
from greenloop.core.text.similar import MEANT, closest

MOST_FILES = 3000
MOST_BYTES = 1_000_000  # of one file
_DEFINED = re.compile(r"^(?:async def|def|class) ([A-Za-z]\w*)", re.MULTILINE)
_QUOTED = re.compile(r"[\"'](\w+)[\"']")
_ALL = re.compile(r"^__all__\s*(?::[^=\n]+)?\+?=\s*[\[(]([^\])]*)[\])]", re.MULTILINE)
_STAR = re.compile(r"^from (\S+) import \*", re.MULTILINE)


def find_present(name: str, dotted: str, sites: Sequence[Path]) -> tuple[str, str] | None:
    """The module that has the name now and how it is spelled there; None where there is none, or more than one.

    It is looked for in the package of the module that lacks it, then in what that requires, then among the similar
    names of the module itself. `sites` are the folders of installed packages.
    """
    top = dotted.partition(".")[0]
    site = next((each for each in sites if _has_package(each, top)), None)
    if site is None:
        return None
    own = _defined_names(site, top)
    found = own.get(name, set()) - {dotted}
    for package in [] if found else _required_packages(site, top):
        found |= _defined_names(site, package).get(name, set())
    if found:
        shortest = min(each.count(".") for each in found)
        nearest = [each for each in found if each.count(".") == shortest]
        return (nearest[0], name) if len(nearest) == 1 else None
    file = find_file(dotted, [site])
    sources = {dotted, *(_star_imports(dotted, file) if file else ())}
    known = [each for each, modules in own.items() if not sources.isdisjoint(modules)]
    near = closest(name, known, likeness=MEANT)
    return (dotted, near) if near else None


def find_function(qualname: str, packages: Iterable[str], sites: Sequence[Path]) -> Function | None:
    """The function of that name in one of these packages; None where none has it."""
    is_defined = re.compile(rf"\bdef {re.escape(qualname.rpartition('.')[2])}\(").search
    for site, package in product(sites, packages):
        for path in _files(site, package):
            text = path.read_text(encoding="utf-8", errors="replace")
            listed = find_definitions(statements_of(text)) if is_defined(text) else ()
            found = [node for name, node in listed if name == qualname and isinstance(node, FUNCTIONS)]
            if found:
                return found[-1]  # behind its overloads
    return None


def _star_imports(dotted: str, file: Path) -> list[str]:
    """The modules of which a module has all names."""
    text = file.read_text(encoding="utf-8", errors="replace")
    package = dotted if file.name == "__init__.py" else dotted.rpartition(".")[0]
    return [f"{package}{each}" if each.startswith(".") else each for each in _STAR.findall(text)]


def names_all(text: str) -> bool:
    """Does a module write out all names that it has?"""
    return not _STAR.search(text) and "__getattr__" not in text


def _defined_names(site: Path, top: str) -> Mapping[str, set[str]]:
    """The functions and classes of a package, with the public modules that they can be imported from."""
    defined: dict[str, set[tuple[str, str]]] = {}  # the modules that define it, each with the public one around it
    exported: dict[str, set[str]] = {}
    for path in _files(site, top):
        text = path.read_text(encoding="utf-8", errors="replace")
        parts = path.relative_to(site).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        module = ".".join(parts)
        public = next((at for at, part in enumerate(parts) if part.startswith("_")), len(parts))
        for match in _DEFINED.finditer(text):
            defined.setdefault(match[1], set()).add((module, ".".join(parts[:public])))
        if public == len(parts):
            listed = set().union(*(_QUOTED.findall(each[1]) for each in _ALL.finditer(text)))
            bound = {*module_bindings(text)} if path.name == "__init__.py" else set()
            exported[module] = {*listed, *bound, *(f"{each}.*" for each in _star_imports(module, path))}
    found: dict[str, set[str]] = {}
    for name, places in defined.items():
        found[name] = {module for module, names in exported.items() if name in names}
        found[name] |= {public for module, public in places if f"{module}.*" in exported.get(public, ())}
        found[name] |= {module for module, public in places if module == public}
    return found


def find_file(dotted: str, sites: Sequence[Path]) -> Path | None:
    """The file of an installed module; None where it is no Python file."""
    below = [site.joinpath(*dotted.split(".")) for site in sites]
    files = [file for path in below for file in (path / "__init__.py", path.with_suffix(".py"))]
    return next((file for file in files if file.is_file()), None)


def _has_package(site: Path, top: str) -> bool:
    return top.isidentifier() and ((site / top).is_dir() or (site / f"{top}.py").is_file())


def _files(site: Path, top: str) -> list[Path]:
    """The Python files of a package, but its tests."""
    folder = site / top
    if not _has_package(site, top):
        return []
    listed = (path for path in folder.rglob("*.py") if not {"tests", "test"} & {*path.relative_to(folder).parts})
    alone = folder.with_suffix(".py")
    files = [alone, *islice(listed, MOST_FILES)]
    return [path for path in files if path.is_file() and path.stat().st_size <= MOST_BYTES]


def _required_packages(site: Path, top: str) -> list[str]:
    """The packages that the distribution of that name needs, by the names under which they are imported."""
    distribution = next(_distributions(site, top), None)
    names = [_requirement(each) for each in (distribution.requires or ())] if distribution else []
    return [
        each for name in names for each in dict.fromkeys((name, name.replace("-", "_"))) if _has_package(site, each)
    ]


def _distributions(site: Path, top: str) -> Iterator[Distribution]:
    for folder in site.glob("*.dist-info"):
        if canonicalize_name(folder.name.partition("-")[0]) == canonicalize_name(top):
            yield PathDistribution(folder)


def _requirement(text: str) -> str:
    """The canonical name of what is required in any case; "" for what belongs to an extra."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return ""
    return "" if requirement.marker and "extra" in str(requirement.marker) else canonicalize_name(requirement.name)

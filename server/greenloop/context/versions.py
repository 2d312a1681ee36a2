"""Which Python runs the tests and which versions of the packages that the code and its tests import are there.

A model writes for the versions it saw most of (GitChameleon, arXiv 2411.05830), so the prompt names those that count.
Nothing is run for it: a virtual environment tells by the folders of its packages, a container by what its image was
made from.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from greenloop import locks, sources
from greenloop.container import environment
from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Environment, Excerpt, Place, Problem
from greenloop.core.ports import Tools
from greenloop.faults.known import DISTRIBUTIONS
from greenloop.interpreters import site_packages

log = logging.getLogger(__name__)

MOST = 8  # packages that are named; the region's own imports come first
TOLD = {"pytest", "_pytest", "__future__"}  # whose version changes no answer
MOST_BYTES = 4 << 20  # of a RECORD that is read for the modules of a package
CONTAINER = "docker"

Versions = Mapping[str, str]  # normal name of a distribution -> version


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """One line; nothing where it is not known where the tests run: an image of the user's own is not looked into."""
    place, contained = tools.place, tools.session.name.split(" ")[0] == CONTAINER
    if place is None or (contained and place.image):
        return ()
    return (Excerpt(title=await asyncio.to_thread(line, problem, place, contained=contained), text="", value=0.7),)


def line(problem: Problem, place: Place, *, contained: bool) -> str:
    """`It runs on Python 3.11 with numpy==1.26.4.`"""
    modules = list(_modules(problem))[: 4 * MOST]
    if contained:
        known = _of_image(place)
        found = [(name, known.get(locks.normal(name), "")) for name in map(_usual_name, modules)]
    else:
        found = _of_folders(place.environment, modules)
    python = ".".join(map(str, place.environment.version))
    pinned = list(dict.fromkeys(f"{name}=={version}" for name, version in found if version))[:MOST]
    return f"It runs on Python {python}{' with ' if pinned else ''}{', '.join(pinned)}."


def _modules(problem: Problem) -> Iterator[str]:
    """Top names of the packages that the regions' files import, then those of the tests, without repeats."""
    paths = dict.fromkeys([*(each.path for each in problem.regions), *(case.path for case in problem.spec.cases)])
    seen: set[str] = set(TOLD) | sys.stdlib_module_names
    for path in paths:
        for module, _names, _line in sources.imported(problem.files.get(path, ""), path):
            top = module.partition(".")[0]
            if top and top not in seen:
                seen.add(top)
                if sources.find_module(top, problem.root, path) is None and not (problem.root / top).is_dir():
                    yield top


def _usual_name(module: str) -> str:
    return DISTRIBUTIONS.get(module, module)


# -- a virtual environment ------------------------------------------------------------------------------------------


def _of_folders(environment: Environment, modules: Sequence[str]) -> list[tuple[str, str]]:
    """Name and version of the distribution behind each module, in their order; empty versions where there is none."""
    infos = [
        info
        for folder in site_packages(environment.prefix, environment.version)
        for info in sorted([*folder.glob("*.dist-info"), *folder.glob("*.egg-info")])
    ]
    named = {locks.normal(_split(info)[0]): info for info in reversed(infos)}
    return [_split(info) if (info := _behind(module, named, infos)) else (module, "") for module in modules]


def _behind(module: str, named: Mapping[str, Path], infos: Iterable[Path]) -> Path | None:
    """The metadata of the distribution that brings a module: by name, else by what each says it brings."""
    info = named.get(locks.normal(module))
    return info or next((other for other in infos if module in _brought(other)), None) or named.get(_known(module))


def _known(module: str) -> str:
    return locks.normal(_usual_name(module))


def _brought(info: Path) -> set[str]:
    """Top-level names that a distribution says it installs."""
    if names := _read(info / "top_level.txt").split():
        return set(names)
    record = _read(info / "RECORD")
    return set(re.findall(r"^([A-Za-z_]\w*)(?=/|\.py,|\.[\w.-]*so,)", record, re.MULTILINE))


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(MOST_BYTES)
    except OSError:
        return ""


def _split(info: Path) -> tuple[str, str]:
    """`scikit_learn-1.5.0.dist-info` -> `scikit-learn`, `1.5.0`."""
    name, _dash, rest = info.name.rpartition(".")[0].partition("-")
    return name.replace("_", "-"), rest.partition("-")[0]


# -- a container ----------------------------------------------------------------------------------------------------


def _of_image(place: Place) -> Versions:
    """The packages of the image that greenloop made."""
    try:
        return {pin.name: pin.version for pin in environment.described(place)}
    except CannotVerify as problem:
        log.debug("The versions in the container are not known: %s", problem)
        return {}

"""The Python that runs the tests, and the versions of the packages that the code and its tests import.

Models write for the versions they saw most of (GitChameleon, arXiv 2411.05830), so the prompt names the real ones.
Nothing is run for it: the versions are read from the folders of a virtual environment, or from the recipe of a
container's image.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.core.errors import CannotVerifyError
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.text.encoding import read_or_empty
from greenloop.project import sources
from greenloop.project.environment.declared_dependencies import DISTRIBUTIONS
from greenloop.project.environment.interpreters import site_packages
from greenloop_sandbox import Environment, SandboxSpec
from greenloop_sandbox.container import packages

log = logging.getLogger(__name__)

MOST = 8  # packages that are named; the region's own imports come first
UNINTERESTING = {"pytest", "_pytest", "__future__"}  # their versions do not matter for an answer
MOST_CHARACTERS = 4 << 20  # that are read of a RECORD file
CONTAINER = "docker"

Versions = Mapping[str, str]  # normal name of a distribution -> version


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """One line; nothing where the environment is unknown: an image of the user's own is not inspected."""
    sandbox_spec, in_container = tools.place, tools.session.name.split(" ")[0] == CONTAINER
    if sandbox_spec is None or (in_container and sandbox_spec.image):
        return ()
    title = await asyncio.to_thread(lambda: version_line(problem, sandbox_spec, in_container=in_container))
    return (Excerpt(title=title, text="", value=0.7),)


def version_line(problem: Problem, sandbox_spec: SandboxSpec, *, in_container: bool) -> str:
    """`It runs on Python 3.11 with numpy==1.26.4.`"""
    modules = list(_modules(problem))[: 4 * MOST]
    if in_container:
        image_versions = _image_versions(sandbox_spec)
        versions = [(name, image_versions.get(canonicalize_name(name), "")) for name in map(_usual_name, modules)]
    else:
        versions = _installed_versions(sandbox_spec.environment, modules)
    python = ".".join(map(str, sandbox_spec.environment.version))
    pinned = list(dict.fromkeys(f"{name}=={version}" for name, version in versions if version))[:MOST]
    return f"It runs on Python {python}{' with ' if pinned else ''}{', '.join(pinned)}."


def _modules(problem: Problem) -> Iterator[str]:
    """Top-level names of third-party packages that the regions' files and then the tests import, without repeats."""
    paths = dict.fromkeys([*(each.path for each in problem.regions), *(case.path for case in problem.spec.cases)])
    known: set[str] = set(UNINTERESTING) | sys.stdlib_module_names
    for path in paths:
        for module, _names, _line in sources.find_imports(problem.files.get(path, ""), path):
            package = module.partition(".")[0]
            if package and package not in known:
                known.add(package)
                if sources.find_module(package, problem.root, path) is None and not (problem.root / package).is_dir():
                    yield package


def _usual_name(module: str) -> str:
    return DISTRIBUTIONS.get(module, module)


# -- a virtual environment ------------------------------------------------------------------------------------------


def _installed_versions(environment: Environment, modules: Sequence[str]) -> list[tuple[str, str]]:
    """Name and version of the distribution that provides each module, in their order; an empty version if unknown."""
    infos = [
        info
        for folder in site_packages(environment.prefix, environment.version)
        for info in sorted([*folder.glob("*.dist-info"), *folder.glob("*.egg-info")])
    ]
    named: dict[str, Path] = {canonicalize_name(_split_folder_name(info)[0]): info for info in reversed(infos)}
    return [
        _split_folder_name(info) if (info := _distribution_of(module, named, infos)) else (module, "")
        for module in modules
    ]


def _distribution_of(module: str, named: Mapping[str, Path], infos: Iterable[Path]) -> Path | None:
    """The metadata of the distribution that provides a module: by name, else by its list of modules."""
    info = named.get(canonicalize_name(module))
    return (
        info
        or next((other for other in infos if module in _installed_modules(other)), None)
        or named.get(canonicalize_name(_usual_name(module)))
    )


def _installed_modules(info: Path) -> set[str]:
    """Top-level names that a distribution installs, by its metadata."""
    if names := read_or_empty(info / "top_level.txt", most=MOST_CHARACTERS).split():
        return set(names)
    record = read_or_empty(info / "RECORD", most=MOST_CHARACTERS)
    return set(re.findall(r"^([A-Za-z_]\w*)(?=/|\.py,|\.[\w.-]*so,)", record, re.MULTILINE))


def _split_folder_name(info: Path) -> tuple[str, str]:
    """`scikit_learn-1.5.0.dist-info` -> `scikit-learn`, `1.5.0`."""
    name, _dash, rest = info.name.rpartition(".")[0].partition("-")
    return name.replace("_", "-"), rest.partition("-")[0]


# -- a container ----------------------------------------------------------------------------------------------------


def _image_versions(sandbox_spec: SandboxSpec) -> Versions:
    """The packages of an image that greenloop built."""
    try:
        return {pin.name: pin.version for pin in packages.list_packages(sandbox_spec)}
    except CannotVerifyError as problem:
        log.debug("The versions in the container are not known: %s", problem)
        return {}

"""Builds wheels of source packages in a throw-away container without network, never on the host."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tarfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from greenloop_sandbox.container.build_container import run_container
from greenloop_sandbox.container.engine import Engine
from greenloop_sandbox.container.image_python import ImagePython
from greenloop_sandbox.container.unpack_wheels import LayerArchive
from greenloop_sandbox.errors import CannotVerifyError

BUILD_SECONDS = 900
MAX_BYTES = 512 << 20
FOLDER = "/.greenloop/build"
DEFAULT_REQUIREMENTS = ("setuptools", "wheel")
# Calls the hooks of PEP 517 as a build front end does.
PROGRAM = """
import importlib, json, os, sys
folder, settings = sys.argv[1], json.loads(sys.argv[2])
os.chdir(os.path.join(folder, "source"))
site = os.path.join(folder, "site")
sys.path[:0] = [os.path.abspath(path) for path in settings["path"]] + [os.getcwd(), site]
os.environ["PYTHONPATH"] = site
module, _, attribute = settings["backend"].partition(":")
backend = importlib.import_module(module)
for part in filter(None, attribute.split(".")):
    backend = getattr(backend, part)
os.makedirs(os.path.join(folder, "out"))
backend.build_wheel(os.path.join(folder, "out"))
"""


def read_build_settings(source: Path) -> tuple[list[str], str, list[str]]:
    """Reads the build settings of a source without running it: requirements, backend, folders with the backend."""
    table: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError, OSError, AttributeError):
        table = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8")).get("build-system", {})
    requirements = [line for line in table.get("requires", ()) if isinstance(line, str)] or list(DEFAULT_REQUIREMENTS)
    backend = str(table.get("build-backend") or "setuptools.build_meta:__legacy__")
    if backend.startswith("setuptools"):
        requirements.append("wheel")  # older versions require it only when they are called
    return requirements, backend, [entry for entry in table.get("backend-path", ()) if isinstance(entry, str)]


def build_wheel(
    engine: Engine,
    image: str,
    python: ImagePython,
    title: str,
    source: Path,
    wheels: Sequence[Path],
    folder: Path,
    should_stop: Callable[[], bool],
) -> Path:
    """Builds the wheel of an unpacked source in `folder`; `wheels` are the build requirements.

    Raises `CannotVerifyError` naming the package (`title`).
    """
    _requirements, backend, path = read_build_settings(source)
    layer = folder / "build.tar"
    with LayerArchive(layer) as archive:
        archive.add_wheels(wheels, python, f"{FOLDER}/site")
        for file in sorted(source.rglob("*")):
            if file.is_file() and not file.is_symlink():
                mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
                archive.add_file(f"{FOLDER}/source/{file.relative_to(source).as_posix()}", file.read_bytes(), mode)
    arguments = [FOLDER, json.dumps({"backend": backend, "path": path})]
    with run_container(
        engine, image, PROGRAM, arguments, layer=layer, seconds=BUILD_SECONDS, should_stop=should_stop
    ) as finished:
        if finished.status:
            raise CannotVerifyError(
                f"{title} has no wheel for Python {python.version} and could not be built: {finished.error_line()}",
                remedy="Use a version that has wheels, or set `sandbox.image` to an image that has it.",
            )
        name, data = _extract_wheel(finished.read_archive(f"{FOLDER}/out", MAX_BYTES), title)
    wheel = folder / name
    wheel.write_bytes(data)
    return wheel


def _extract_wheel(data: bytes, title: str) -> tuple[str, bytes]:
    """Extracts the one wheel from the container's tar archive; its name is checked, not trusted."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            name = Path(member.name).name
            if member.isfile() and re.fullmatch(r"[\w.!+]+(-[\w.!+]+){4,5}\.whl", name):
                stream = tar.extractfile(member)
                if stream is not None:
                    return name, stream.read()
    raise CannotVerifyError(f"{title} was built, but the build produced no wheel.")

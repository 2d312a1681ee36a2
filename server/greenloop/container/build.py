"""A package that exists only as source becomes a wheel in a throw-away container without network, never on the host."""

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

from greenloop.container.engine import Engine
from greenloop.container.facts import Facts
from greenloop.container.install import Layer
from greenloop.container.once import once
from greenloop.core.errors import CannotVerify

SECONDS = 900
MOST_BYTES = 512 << 20
FOLDER = "/.greenloop/build"
DEFAULT = ("setuptools", "wheel")
# The hooks of PEP 517, called as a front end calls them.
PROGRAM = """
import importlib, json, os, sys
folder, told = sys.argv[1], json.loads(sys.argv[2])
os.chdir(os.path.join(folder, "source"))
site = os.path.join(folder, "site")
sys.path[:0] = [os.path.abspath(path) for path in told["path"]] + [os.getcwd(), site]
os.environ["PYTHONPATH"] = site
module, _, attribute = told["backend"].partition(":")
backend = importlib.import_module(module)
for part in filter(None, attribute.split(".")):
    backend = getattr(backend, part)
os.makedirs(os.path.join(folder, "out"))
backend.build_wheel(os.path.join(folder, "out"))
"""


def requires(source: Path) -> tuple[list[str], str, list[str]]:
    """What the source says of its build, read and not run: requirements, backend, folders that hold the backend."""
    table: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError, OSError, AttributeError):
        table = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8")).get("build-system", {})
    asked = [line for line in table.get("requires", ()) if isinstance(line, str)] or list(DEFAULT)
    backend = str(table.get("build-backend") or "setuptools.build_meta:__legacy__")
    if backend.startswith("setuptools"):
        asked.append("wheel")  # older ones ask for it only when they are called
    return asked, backend, [entry for entry in table.get("backend-path", ()) if isinstance(entry, str)]


def build(
    engine: Engine,
    image: str,
    facts: Facts,
    title: str,
    source: Path,
    wheels: Sequence[Path],
    folder: Path,
    stop: Callable[[], bool],
) -> Path:
    """The wheel of the unpacked source, in `folder`; `wheels` are what the build needs.

    Raises `CannotVerify` naming the package (`title`).
    """
    _asked, backend, path = requires(source)
    layer = folder / "build.tar"
    writing = Layer(layer, facts)
    try:
        writing.add(wheels, f"{FOLDER}/site")
        for file in sorted(source.rglob("*")):
            if file.is_file() and not file.is_symlink():
                mode = 0o755 if file.stat().st_mode & 0o100 else 0o644
                writing.put(f"{FOLDER}/source/{file.relative_to(source).as_posix()}", file.read_bytes(), mode)
    finally:
        writing.close()
    arguments = [FOLDER, json.dumps({"backend": backend, "path": path})]
    with once(engine, image, PROGRAM, arguments, layer=layer, seconds=SECONDS, stop=stop) as done:
        if done.status:
            raise CannotVerify(
                f"{title} has no wheel for Python {facts.version} and could not be built: {done.complaint()}",
                remedy="Use a version that has wheels, or name an image that has it in `sandbox.image`.",
            )
        name, data = _wheel(done.archive(f"{FOLDER}/out", MOST_BYTES), title)
    made = folder / name
    made.write_bytes(data)
    return made


def _wheel(data: bytes, title: str) -> tuple[str, bytes]:
    """The one wheel in what the container gave; its name is not taken on trust."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            name = Path(member.name).name
            if member.isfile() and re.fullmatch(r"[\w.!+]+(-[\w.!+]+){4,5}\.whl", name):
                stream = tar.extractfile(member)
                if stream is not None:
                    return name, stream.read()
    raise CannotVerify(f"{title} was built, but no wheel came out.")

"""A package that exists only as source becomes a wheel in a throw-away container without network, never on the host."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

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
import importlib, json, os, shutil, sys, tarfile, zipfile
folder, told = sys.argv[1], json.loads(sys.argv[2])
archive = os.path.join(folder, told["archive"])
os.makedirs("/tmp/source")
shutil.unpack_archive(archive, "/tmp/source")
(inner,) = os.listdir("/tmp/source")
os.chdir(os.path.join("/tmp/source", inner))
sys.path[:0] = [os.path.abspath(path) for path in told["path"]] + [os.path.join(folder, "site")]
os.environ["PYTHONPATH"] = os.path.join(folder, "site")
module, _, attribute = told["backend"].partition(":")
backend = importlib.import_module(module)
for part in filter(None, attribute.split(".")):
    backend = getattr(backend, part)
os.makedirs(os.path.join(folder, "out"))
backend.build_wheel(os.path.join(folder, "out"))
"""


def requires(archive: Path) -> tuple[list[str], str, list[str]]:
    """What the source says of its build, read and not run: requirements, backend, folders that hold the backend."""
    table = {}
    with contextlib.suppress(ValueError, OSError, tarfile.TarError, zipfile.BadZipFile, KeyError):
        table = tomllib.loads(_member(archive, "pyproject.toml").decode("utf-8")).get("build-system", {})
    asked = [line for line in table.get("requires", ()) if isinstance(line, str)] or list(DEFAULT)
    backend = table.get("build-backend") or "setuptools.build_meta:__legacy__"
    if backend.startswith("setuptools"):
        asked.append("wheel")  # older ones ask for it only when they are called
    path = [entry for entry in table.get("backend-path", ()) if isinstance(entry, str)]
    return asked, str(backend), path


def build(
    engine: Engine,
    image: str,
    facts: Facts,
    archive: Path,
    wheels: Sequence[Path],
    folder: Path,
    stop: Callable[[], bool],
) -> Path:
    """The wheel, in `folder`; `wheels` are what the build needs. Raises `CannotVerify` naming the package."""
    _asked, backend, path = requires(archive)
    layer = folder / "build.tar"
    writing = Layer(layer, facts)
    try:
        writing.add(wheels, f"{FOLDER}/site")
        writing.put(f"{FOLDER}/{archive.name}", archive.read_bytes())
    finally:
        writing.close()
    arguments = [FOLDER, json.dumps({"archive": archive.name, "backend": backend, "path": path})]
    with once(engine, image, PROGRAM, arguments, layer=layer, seconds=SECONDS, stop=stop, bounded=True) as done:
        if done.status:
            raise CannotVerify(
                f"{archive.name} has no wheel for Python {facts.version} and could not be built: {done.last_line()}",
                remedy="Use a version that has wheels, or name an image that has it in `sandbox.image`.",
            )
        name, data = _wheel(done.archive(f"{FOLDER}/out", MOST_BYTES), archive)
    made = folder / name
    made.write_bytes(data)
    return made


def _wheel(data: bytes, archive: Path) -> tuple[str, bytes]:
    """The one wheel in what the container gave; its name is not taken on trust."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            name = Path(member.name).name
            if member.isfile() and re.fullmatch(r"[\w.!+]+(-[\w.!+]+){4,5}\.whl", name):
                stream = tar.extractfile(member)
                if stream is not None:
                    return name, stream.read()
    raise CannotVerify(f"{archive.name} was built, but no wheel came out.")


def _member(archive: Path, name: str) -> bytes:
    """A file of the folder that every source archive consists of."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            found = next(entry for entry in opened.namelist() if entry.count("/") == 1 and entry.endswith(f"/{name}"))
            return opened.read(found)
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.name.removeprefix("./").count("/") == 1 and member.name.endswith(f"/{name}"):
                stream = tar.extractfile(member)
                return stream.read(1 << 20) if stream is not None else b""
    raise KeyError(name)

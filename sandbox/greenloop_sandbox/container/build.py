"""Builds wheels of source packages in a throw-away container without network, never on the host."""

from __future__ import annotations

import contextlib
import io
import re
import tarfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from greenloop_sandbox.container.build_container import run_container, write_archive
from greenloop_sandbox.container.engine import Engine
from greenloop_sandbox.container.image_python import ImagePython
from greenloop_sandbox.errors import CannotVerifyError

BUILD_SECONDS = 900
MAX_BYTES = 512 << 20
FOLDER = "/.greenloop/build"
DEFAULT_REQUIREMENTS = ("setuptools", "wheel")
PROGRAM = """
import glob, os, subprocess, sys
os.chdir(sys.argv[1])
options = ["--no-index", "--find-links=wheels", "--no-deps", "--no-cache-dir", "--disable-pip-version-check"]
pip = [*glob.glob("pip/*.whl"), "pip"][0] + "/pip"
sys.exit(subprocess.call([sys.executable, pip, "wheel", *options, "--wheel-dir=out", "./source"]))
"""


def read_build_requirements(source: Path) -> list[str]:
    """Reads what a source needs to be built, without running it."""
    table: Mapping[str, Any] = {}
    with contextlib.suppress(ValueError, OSError, AttributeError):
        table = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8")).get("build-system", {})
    requirements = [line for line in table.get("requires", ()) if isinstance(line, str)] or list(DEFAULT_REQUIREMENTS)
    # Older versions of setuptools require wheel only when they are called.
    return [*requirements, "wheel"] if "setuptools" in str(table.get("build-backend", "setuptools")) else requirements


def build_wheel(
    engine: Engine,
    image: str,
    python: ImagePython,
    title: str,
    source: Path,
    pip: Path,
    wheels: Sequence[Path],
    folder: Path,
    should_stop: Callable[[], bool],
) -> Path:
    """Builds the wheel of an unpacked source in `folder`; `wheels` are the build requirements, `pip` builds it.

    Raises `CannotVerifyError` naming the package (`title`).
    """
    layer = folder / "build.tar"
    contents = {f"wheels/{wheel.name}": wheel for wheel in wheels} | {"source": source, f"pip/{pip.name}": pip}
    write_archive(layer, {f"{FOLDER[1:]}/{path}": content for path, content in contents.items()})
    with run_container(
        engine, image, PROGRAM, [FOLDER], layer=layer, seconds=BUILD_SECONDS, should_stop=should_stop
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

"""Builds the images in which tests run: Python with pytest, and on top of it one for the packages of a lock file.

The project itself is in neither; its files are uploaded into each container.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

from greenloop_sandbox import locks, payload
from greenloop_sandbox.cache import cache_folder
from greenloop_sandbox.container import base, image_python, packages, prune
from greenloop_sandbox.container.build_container import run_container, write_archive
from greenloop_sandbox.container.engine import LABEL, Engine
from greenloop_sandbox.container.fetch import Fetcher
from greenloop_sandbox.container.hardening import PACKAGES_FOLDER
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import PackageSources
from greenloop_sandbox.records import SandboxSpec

log = logging.getLogger(__name__)

REPOSITORY, PROJECT_REPOSITORY = "greenloop-python", "greenloop-project"
BUILD = ".greenloop/build"  # wheels, while the image is made
BUILDER_VERSION = "2"  # a new value rebuilds every image of a project
INSTALL_SECONDS = 900
MAX_BYTES = 8 << 30  # unpacked; a zip bomb must not fill the disk
# Installs the packages in the container where this machine's pip is too new for its Python; it runs from its wheel.
PIP = "pip==25.3 --hash=sha256:9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd"


def ensure_image(
    engine: Engine, spec: SandboxSpec, *, report_status: Callable[[str], None], should_stop: Callable[[], bool]
) -> str:
    """Returns the name of the image in which the tests run, after building whatever is missing.

    `should_stop()` true ends the work within a second.
    Raises `CannotVerifyError` with the remedy, naming a package that is not available, or what the engine raises.
    """
    builder = _Builder(engine, spec.environment.version, report_status, should_stop)
    python_image = ready = builder.python_image()
    if sources := locks.find_sources(spec.root):
        ready = builder.project_image(python_image, sources)
    prune.record_use(python_image, ready)
    prune.prune_daily(engine)
    return ready


def python_image_name(version: tuple[int, int]) -> str:
    """Repository and tag, which identify Python, pytest and the recipe: another recipe is another image."""
    pins = _pytest_pins(version)
    pytest = next(line.split()[0].partition("==")[2] for line in pins.splitlines() if line.startswith("pytest=="))
    recipe = hashlib.sha256(pins.encode() + _install_program().encode()).hexdigest()[:8]
    return f"{REPOSITORY}:{version[0]}.{version[1]}-pytest{pytest}-{recipe}"


def project_image_name(base_id: str, version: tuple[int, int], sources: PackageSources) -> str:
    """Repository and tag, which identify base, Python, packages and builder version."""
    parts = [base_id.encode(), repr(version).encode(), sources.content, BUILDER_VERSION.encode()]
    digest = hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{PROJECT_REPOSITORY}:{version[0]}.{version[1]}-{digest[:20]}"


def _pytest_pins(version: tuple[int, int]) -> str:
    """The pins of pytest. Raises `CannotVerifyError` when this Python is too old for every supported one."""
    for least in ((3, 11), (3, 10), (3, 9)):
        if version >= least:
            return (payload.folder() / "image" / f"packages-{least[0]}.{least[1]}.txt").read_text(encoding="ascii")
    raise CannotVerifyError(
        f"Python {version[0]}.{version[1]} is too old for the sandbox.",
        remedy="Use Python 3.9 or newer for the project.",
    )


def _install_program() -> str:
    return (payload.folder() / "image" / "install.py").read_text(encoding="utf-8")


@dataclass(frozen=True)
class _Builder:
    engine: Engine
    version: tuple[int, int]
    report_status: Callable[[str], None]
    should_stop: Callable[[], bool]

    def python_image(self) -> str:
        """Returns the name of the image with pytest."""
        target = python_image_name(self.version)

        def build(folder: Path) -> None:
            base_image = base.ensure(self.engine, self.version, self.report_status, self.should_stop)
            self.report_status("adding pytest to the image")
            paths = pytest_packages(self._fetcher(base_image), self.version, folder)
            contents = {f"{PACKAGES_FOLDER[1:]}/{name}": path for name, path in paths.items()}
            self._add_layer(base_image, target, contents, folder)

        return self._ensure(target, build)

    def project_image(self, python_image: str, sources: PackageSources) -> str:
        """Returns the name of the image with the packages of a project."""
        target = project_image_name(self.engine.client.images.get(python_image).id, self.version, sources)

        def build(folder: Path) -> None:
            self.report_status(f"building an image with the packages of {' and '.join(sources.files[:3])} (once)")
            fetcher = self._fetcher(python_image)
            wheels = packages.fetch_packages(fetcher, self.version, sources, folder, self.report_status)
            _check_size(wheels)
            contents = {f"{BUILD}/{wheel.name}": wheel for wheel in wheels}
            pip = _find_pip(fetcher, folder / "pip")
            self.report_status(f"adding {len(wheels)} packages to the image")
            self._add_layer(python_image, target, {**contents, f"{BUILD}/pip/{pip.name}": pip}, folder)

        return self._ensure(target, build)

    def _ensure(self, target: str, build: Callable[[Path], None]) -> str:
        """Calls `build` with a temporary folder if the image is missing. One process builds it; others wait."""
        if base.has_image(self.engine, target):
            return target
        with _exclusive(target.partition(":")[2], self.should_stop):
            if not base.has_image(self.engine, target):
                started = time.monotonic()
                # On a disk: /tmp may be in memory.
                large = "/var/tmp" if os.path.isdir("/var/tmp") else None  # noqa: PTH112, S108
                with tempfile.TemporaryDirectory(prefix="greenloop-image-", dir=large) as folder:
                    build(Path(folder))
                self.report_status(f"built the image {target} in {time.monotonic() - started:.0f} s")
        return target

    def _fetcher(self, image: str) -> Fetcher:
        """Makes what fetches wheels for the Python of this image."""
        program = image_python.QUERY_PROGRAM
        with run_container(self.engine, image, program, should_stop=self.should_stop) as finished:
            return Fetcher(python=image_python.parse(finished.output), should_stop=self.should_stop)

    def _add_layer(self, base_image: str, target: str, contents: Mapping[str, Path], folder: Path) -> None:
        """Adds the contents to the base image, installs and compiles them without network, and commits the result."""
        layer = folder / "layer.tar"
        write_archive(layer, contents)
        with run_container(
            self.engine,
            base_image,
            _install_program(),
            layer=layer,
            seconds=INSTALL_SECONDS,
            should_stop=self.should_stop,
        ) as finished:
            if finished.status:
                raise CannotVerifyError(
                    f"The image could not be built: python3 in {base_image} ended with "
                    f"status {finished.status} ({finished.error_line()})."
                )
            repository, _, tag = target.partition(":")
            # The image must not keep the container's labels, or it would be removed as an orphan.
            changes = [
                f'LABEL {LABEL}="" {LABEL}.owner="" {LABEL}.boot="" {LABEL}.image="{repository}"',
                "ENTRYPOINT []",
                'CMD ["python3"]',
            ]
            finished.container.commit(repository=repository, tag=tag, changes=changes)


def pytest_packages(fetcher: Fetcher, version: tuple[int, int], folder: Path) -> Mapping[str, Path]:
    """Pytest and what it needs, with metadata, by file name; unpacked below the folder.

    Raises `CannotVerifyError` when they cannot be fetched.
    """
    try:
        wheels = fetcher.fetch(folder / "wheels", _pytest_pins(version).splitlines(), "--no-deps")
    except CannotVerifyError:
        if version < (3, 11):
            raise
        # No pip here, or no index reachable: greenloop's own pytest works for these versions.
        return payload.borrowed_packages()
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "packages")
    return {path.name: path for path in (folder / "packages").iterdir()}


def _find_pip(fetcher: Fetcher, folder: Path) -> Path:
    """The pip that works in the container: that of this machine, or another one's wheel."""
    own, required = payload.find_package("pip"), metadata.metadata("pip")["Requires-Python"]
    if own is not None and SpecifierSet(required or "").contains(fetcher.python.version):
        return own
    return fetcher.fetch(folder, [PIP])[0]


def _check_size(wheels: list[Path]) -> None:
    """Raises `CannotVerifyError` for packages that are too large, and for files that are not wheels."""
    size = 0
    for wheel in wheels:
        try:
            with zipfile.ZipFile(wheel) as archive:
                size += sum(info.file_size for info in archive.infolist())
        except (zipfile.BadZipFile, OSError) as error:
            raise CannotVerifyError(f"{wheel.name} cannot be unpacked: {error}") from error
    if size > MAX_BYTES:
        raise CannotVerifyError(f"The project's packages take more than {MAX_BYTES >> 30} GiB.")


@contextlib.contextmanager
def _exclusive(work: str, should_stop: Callable[[], bool]) -> Iterator[None]:
    """Holds the lock file of this work; waits for it, calling `should_stop` twice a second."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where two processes do the same work and the last one wins
    except ImportError:
        yield
        return
    with (cache_folder() / f"image-{work}.lock").open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if should_stop():
                    raise CannotVerifyError(
                        "Cancelled while waiting for another greenloop to build the image."
                    ) from None
                time.sleep(0.5)
        yield

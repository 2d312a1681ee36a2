"""Builds one image per lock file: greenloop's own image plus the packages that a project's tests need.

The project itself is not in it; its files are uploaded into each container.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

from greenloop_sandbox import locks, payload
from greenloop_sandbox.cache import cache_folder
from greenloop_sandbox.container import base, image, image_python, prune
from greenloop_sandbox.container.bounded_process import make_runner
from greenloop_sandbox.container.build_container import run_container, write_archive
from greenloop_sandbox.container.engine import Engine
from greenloop_sandbox.container.fetch import Fetcher
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import PackageSources, Pin
from greenloop_sandbox.records import SandboxSpec

log = logging.getLogger(__name__)

REPOSITORY = "greenloop-project"
FOLDER = "/.greenloop/build"  # of the wheels, while the image is made
BUILDER_VERSION = "2"  # a new value rebuilds every image
# Installs the packages in the container where this machine's pip is too new for its Python; it runs from its wheel.
PIP = Pin(
    name="pip", version="25.3", hashes=("sha256:9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd",)
)
MAX_BYTES = 8 << 30  # unpacked; a zip bomb must not fill the disk
MAX_RESOLUTIONS = 200


def ensure_image(
    engine: Engine, spec: SandboxSpec, *, report_status: Callable[[str], None], should_stop: Callable[[], bool]
) -> str:
    """Returns the name of the image in which the tests run, after building whatever is missing.

    Raises `CannotVerifyError` with the remedy, or what the engine raises.
    """
    version = spec.environment.version
    base_image = image.ensure(engine, version, report_status=report_status, should_stop=should_stop)
    ready = base_image
    if requested := locks.find_sources(spec.root):
        ready = ensure_project_image(
            engine, base_image, version, spec.root, requested, report_status=report_status, should_stop=should_stop
        )
    prune.record_use(base_image, ready)
    prune.prune_daily(engine)
    return ready


def image_name(base_id: str, version: tuple[int, int], lock: PackageSources) -> str:
    """Repository and tag, which identify base, Python, packages and builder version."""
    parts = [base_id.encode(), repr(version).encode(), lock.content, BUILDER_VERSION.encode()]
    digest = hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{REPOSITORY}:{version[0]}.{version[1]}-{digest[:20]}"


def list_packages(spec: SandboxSpec) -> list[Pin]:
    """Lists the packages in that image, from the lock or its cached resolution; builds nothing and asks no index.

    Raises `CannotVerifyError` where the lock cannot be read.
    """
    requested = locks.find_sources(spec.root)
    if requested is None:
        return []
    if not requested.requirements:
        pins, _notes = locks.read_pins(requested, spec.root, image_python.default_markers(spec.environment.version))
        return pins
    return _read_resolution(_resolution_file(spec.environment.version, requested)) or []


def _resolution_file(version: tuple[int, int], lock: PackageSources) -> Path:
    """The cache file with the packages resolved for a project without a lock, so that they are resolved once."""
    digest = hashlib.sha256(lock.content).hexdigest()[:32]
    return cache_folder() / "resolved" / f"{version[0]}.{version[1]}-{digest}.json"


def _read_resolution(file: Path) -> list[Pin] | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [Pin(**{**fields, "hashes": tuple(fields["hashes"])}) for fields in json.loads(file.read_text("utf-8"))]
    return None


def ensure_project_image(
    engine: Engine,
    base_image: str,
    version: tuple[int, int],
    root: Path,
    lock: PackageSources,
    *,
    report_status: Callable[[str], None] = log.info,
    should_stop: Callable[[], bool] = bool,
) -> str:
    """Returns the name of the image with these packages on top of `base_image`, after building it where it is missing.

    One process builds it; others that need the same one wait.
    Raises `CannotVerifyError` naming the package that is not available, or what the engine raises.
    """
    target = image_name(engine.client.images.get(base_image).id, version, lock)
    if base.has_image(engine, target):
        return target
    with image.exclusive(target.partition(":")[2], should_stop):
        if not base.has_image(engine, target):
            started = time.monotonic()
            report_status(f"building an image with the packages of {' and '.join(lock.files[:3])} (once)")
            _ImageBuilder(engine, base_image, version, root, lock, report_status, should_stop).build(target)
            report_status(f"built the image {target} in {time.monotonic() - started:.0f} s")
    return target


@dataclass(frozen=True)
class _ImageBuilder:
    engine: Engine
    base_image: str
    version: tuple[int, int]
    root: Path
    lock: PackageSources
    report_status: Callable[[str], None]
    should_stop: Callable[[], bool]

    def build(self, target: str) -> None:
        with run_container(
            self.engine, self.base_image, image_python.QUERY_PROGRAM, should_stop=self.should_stop
        ) as finished:
            python = image_python.parse(finished.output)
        with tempfile.TemporaryDirectory(prefix="greenloop-packages-", dir=base.large_temporary_folder()) as temporary:
            folder = Path(temporary)
            for name in ("wheels", "pip", "installer"):
                (folder / name).mkdir()
            fetcher = Fetcher(run_program=make_runner(self.should_stop), python=python, temporary_folder=folder / "pip")
            wheels = self._wheels(fetcher, folder)
            _check_size(wheels)
            layer = folder / "layer.tar"
            pip = self._installer(fetcher, folder)
            contents = {wheel.name: wheel for wheel in wheels} | {f"pip/{pip.name}": pip}
            write_archive(layer, {f"{FOLDER[1:]}/{path}": wheel for path, wheel in contents.items()})
            self.report_status(f"adding {len(wheels)} packages to the image")
            image.add_layer(self.engine, self.base_image, target, layer, kind="project", should_stop=self.should_stop)

    def _installer(self, fetcher: Fetcher, folder: Path) -> Path:
        """The pip that works in the container: that of this machine, or another one's wheel."""
        own, required = payload.find_package("pip"), metadata.metadata("pip")["Requires-Python"]
        if own is not None and SpecifierSet(required or "").contains(fetcher.python.version):
            return own
        return fetcher.fetch_wheels([PIP], folder / "installer")[0]

    def _wheels(self, fetcher: Fetcher, folder: Path) -> list[Path]:
        resolution = _resolution_file(self.version, self.lock)
        if resolution.exists():
            try:
                return self._fetch(fetcher, folder, resolution)
            except CannotVerifyError as problem:
                log.info("What was resolved before cannot be had any more (%s); resolving again.", problem)
                resolution.unlink(missing_ok=True)
        return self._fetch(fetcher, folder, resolution)

    def _fetch(self, fetcher: Fetcher, folder: Path, resolution: Path) -> list[Path]:
        pins = self._pins(fetcher, folder, resolution)
        self.report_status(f"fetching {len(pins)} packages")
        return fetcher.fetch_wheels(pins, folder / "wheels")

    def _pins(self, fetcher: Fetcher, folder: Path, resolution: Path) -> list[Pin]:
        if not self.lock.requirements:
            pins, notes = locks.read_pins(self.lock, self.root, fetcher.python.markers)
            self._warn(notes)
            return pins
        self._warn(self.lock.notes)
        if (remembered := _read_resolution(resolution)) is not None:
            return remembered
        self.report_status("resolving the project's requirements (once)")
        pins = fetcher.resolve(self.lock.requirements, self.lock.constraints, folder)
        with contextlib.suppress(OSError):
            resolution.parent.mkdir(exist_ok=True)
            existing = sorted(resolution.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for old in existing[:-MAX_RESOLUTIONS]:
                old.unlink(missing_ok=True)
            resolution.write_text(json.dumps([vars(pin) for pin in pins]), encoding="utf-8")
        return pins

    def _warn(self, notes: tuple[str, ...] | list[str]) -> None:
        for note in notes:
            log.warning("%s", note)


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

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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import SandboxSpec
from greenloop.project import locks
from greenloop.project.locks import Pin, Wanted
from greenloop.project.settings import cache_folder
from greenloop.sandboxes.container import base, build, image, image_python, prune, unpack_wheels
from greenloop.sandboxes.container.bounded_process import runner
from greenloop.sandboxes.container.build_container import once
from greenloop.sandboxes.container.engine import Engine
from greenloop.sandboxes.container.fetch import Fetcher, NoWheel

log = logging.getLogger(__name__)

REPOSITORY = "greenloop-project"
BUILDER = "1"  # a new value rebuilds every image
MOST_BUILDS = 20  # packages of one project that may be built from source
RESOLVED_KEPT = 200


def image_for(
    engine: Engine, place: SandboxSpec, *, report_status: Callable[[str], None], stop: Callable[[], bool]
) -> str:
    """Returns the name of the image in which the tests run, after building whatever is missing.

    Raises `CannotVerifyError` with the remedy, or what the engine raises.
    """
    version = place.environment.version
    base_image = image.ensure(engine, version, report_status=report_status, stop=stop)
    requested = locks.find(place.root)
    ready = (
        base_image
        if requested is None
        else ensure(engine, base_image, version, place.root, requested, report_status=report_status, stop=stop)
    )
    prune.used(base_image, ready)
    prune.daily(engine)
    return ready


def name(below_id: str, version: tuple[int, int], wanted: Wanted) -> str:
    """Repository and tag, which identify base, Python, packages and builder version."""
    parts = [below_id.encode(), repr(version).encode(), wanted.content, BUILDER.encode()]
    digest = hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{REPOSITORY}:{version[0]}.{version[1]}-{digest[:20]}"


def described(place: SandboxSpec) -> list[Pin]:
    """Lists the packages in that image, from the lock or its cached resolution; builds nothing and asks no index.

    Raises `CannotVerifyError` where the lock cannot be read.
    """
    requested = locks.find(place.root)
    if requested is None:
        return []
    if not requested.requirements:
        pins, _notes = locks.pins(requested, place.root, image_python.usual(place.environment.version))
        return pins
    return _remembered(_resolved_file(place.environment.version, requested)) or []


def _resolved_file(version: tuple[int, int], wanted: Wanted) -> Path:
    """The cache file with the packages resolved for a project without a lock, so that they are resolved once."""
    digest = hashlib.sha256(wanted.content).hexdigest()[:32]
    return cache_folder() / "resolved" / f"{version[0]}.{version[1]}-{digest}.json"


def _remembered(file: Path) -> list[Pin] | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [Pin(**{**fields, "hashes": tuple(fields["hashes"])}) for fields in json.loads(file.read_text("utf-8"))]
    return None


def ensure(
    engine: Engine,
    below: str,
    version: tuple[int, int],
    root: Path,
    wanted: Wanted,
    *,
    report_status: Callable[[str], None] = log.info,
    stop: Callable[[], bool] = bool,
) -> str:
    """Returns the name of the image with these packages on top of `base_image`, after building it where it is missing.

    One process builds it; others that need the same one wait.
    Raises `CannotVerifyError` naming the package that is not available, or what the engine raises.
    """
    target = name(engine.client.images.get(below).id, version, wanted)
    if base.has(engine, target):
        return target
    with image.alone(target.partition(":")[2], stop):
        if not base.has(engine, target):
            started = time.monotonic()
            report_status(f"making an image with the packages of {' and '.join(wanted.files[:3])} (once)")
            _Maker(
                engine=engine,
                below=below,
                version=version,
                root=root,
                wanted=wanted,
                report_status=report_status,
                stop=stop,
            ).make(target)
            report_status(f"made the image {target} in {time.monotonic() - started:.0f} s")
    return target


@dataclass(frozen=True, kw_only=True)
class _Maker:
    engine: Engine
    below: str
    version: tuple[int, int]
    root: Path
    wanted: Wanted
    report_status: Callable[[str], None]
    stop: Callable[[], bool]

    def make(self, made: str) -> None:
        with once(self.engine, self.below, image_python.ASK, stop=self.stop) as finished:
            python = image_python.read(finished.output)
        with tempfile.TemporaryDirectory(prefix="greenloop-packages-", dir=base.roomy()) as temporary:
            folder = Path(temporary)
            for name in ("made", "wheels", "pip"):
                (folder / name).mkdir()
            fetcher = Fetcher(run=runner(self.stop), facts=python, made=folder / "made", temporary=folder / "pip")
            wheels = self._wheels(fetcher, folder)
            layer = folder / "layer.tar"
            archive = unpack_wheels.Layer(layer, python)
            try:
                archive.add(wheels)
            finally:
                archive.close()
            self.report_status(f"adding {len(wheels)} packages to the image")
            image.add(self.engine, self.below, made, layer, kind="project", stop=self.stop)

    def _wheels(self, fetcher: Fetcher, folder: Path) -> list[Path]:
        resolution = _resolved_file(self.version, self.wanted)
        if resolution.exists():
            try:
                return self._fetched(self._pins(fetcher, folder, resolution), fetcher, folder)
            except CannotVerifyError as problem:
                log.info("What was resolved before cannot be had any more (%s); resolving again.", problem)
                resolution.unlink(missing_ok=True)
        return self._fetched(self._pins(fetcher, folder, resolution), fetcher, folder)

    def _fetched(self, pins: list[Pin], fetcher: Fetcher, folder: Path) -> list[Path]:
        pending, wheels = list(pins), list((folder / "made").glob("*.whl"))
        built_names = {_package(wheel) for wheel in wheels}
        pending = [pin for pin in pins if pin.name not in built_names]
        self.report_status(f"fetching {len(pending)} packages")
        while pending:
            try:
                return [*fetcher.wheels(pending, folder / "wheels"), *wheels]
            except NoWheel as problem:
                missing = next((pin for pin in pending if locks.same(pin.name, str(problem))), None)
                if missing is None:
                    raise CannotVerifyError(f"{problem} is not on your package index.") from problem
                wheels.append(self._built(missing, fetcher, folder))
                pending.remove(missing)
        return wheels

    def _pins(self, fetcher: Fetcher, folder: Path, kept: Path) -> list[Pin]:
        if not self.wanted.requirements:
            pins, notes = locks.pins(self.wanted, self.root, fetcher.facts.markers)
            self._note(notes)
            return pins
        self._note(self.wanted.notes)
        if (remembered := _remembered(kept)) is not None:
            return remembered
        self.report_status("resolving what the project asks for (once)")
        pins = self._resolved(fetcher, folder)
        if not any((folder / "made").iterdir()):  # a wheel built here has a hash that a rebuild would not reproduce
            _keep(kept, pins)
        return pins

    def _resolved(self, fetcher: Fetcher, folder: Path) -> list[Pin]:
        tried: set[str] = set()
        while True:
            try:
                return fetcher.resolve(self.wanted.requirements, self.wanted.constraints, folder)
            except NoWheel as problem:
                package = str(problem)
                if package in tried or len(tried) >= MOST_BUILDS:
                    raise CannotVerifyError(
                        f"No version of {package} that fits has a wheel or can be built."
                    ) from problem
                tried.add(package)
                line = next(
                    (line for line in self.wanted.requirements if locks.same(locks.named(line), package)), package
                )
                self._built(line, fetcher, folder)

    def _built(self, package: Pin | str, fetcher: Fetcher, folder: Path) -> Path:
        """Builds a package without a wheel in a container. Raises `CannotVerifyError` naming it."""
        title = f"{package.name} {package.version}" if isinstance(package, Pin) else package
        self.report_status(f"building {title} from source, in a container without network")
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            build_folder = Path(temporary)
            build_fetcher = Fetcher(run=fetcher.run, facts=fetcher.facts, made=fetcher.made, temporary=build_folder)
            source = build_fetcher.source(package)
            requirements, _backend, _path = build.requires(source)
            try:
                build_wheels = build_fetcher.wheels(build_fetcher.resolve(requirements, (), build_folder), build_folder)
            except NoWheel as problem:
                raise CannotVerifyError(
                    f"{title} has no wheel, and building it needs {problem}, which has none either.",
                    remedy="Use a version that has wheels, or name an image that has it in `sandbox.image`.",
                ) from problem
            wheel = build.build(
                self.engine, self.below, fetcher.facts, title, source, build_wheels, build_folder, self.stop
            )
            return wheel.replace(folder / "made" / wheel.name)

    def _note(self, notes: tuple[str, ...] | list[str]) -> None:
        for note in notes:
            log.warning("%s", note)


def _keep(file: Path, pins: list[Pin]) -> None:
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        existing = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for old in existing[:-RESOLVED_KEPT]:
            old.unlink(missing_ok=True)
        file.write_text(json.dumps([vars(pin) for pin in pins]), encoding="utf-8")


def _package(wheel: Path) -> str:
    return locks.normal(wheel.name.partition("-")[0])

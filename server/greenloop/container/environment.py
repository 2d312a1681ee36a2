"""One image per lock: the packages that a project's tests need, laid over greenloop's own image once.

The project itself is not in it; its files travel into each container.
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

from greenloop import locks
from greenloop.container import base, build, facts, image, install, prune
from greenloop.container.engine import Engine
from greenloop.container.fetch import Fetcher, NoWheel
from greenloop.container.once import once
from greenloop.container.program import runner
from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Place
from greenloop.locks import Pin, Wanted
from greenloop.settings import cache_folder

log = logging.getLogger(__name__)

REPOSITORY = "greenloop-project"
BUILDER = "1"  # another one makes every image anew
MOST_BUILDS = 20  # packages of one project that are built from source
RESOLVED_KEPT = 200


def image_for(engine: Engine, place: Place, *, say: Callable[[str], None], stop: Callable[[], bool]) -> str:
    """The name of the image in which this place's tests run, after making what is not there yet.

    Raises `CannotVerify` with the remedy, or what the engine raises.
    """
    version = place.environment.version
    below = image.ensure(engine, version, say=say, stop=stop)
    wanted = locks.find(place.root)
    made = below if wanted is None else ensure(engine, below, version, place.root, wanted, say=say, stop=stop)
    prune.used(below, made)
    prune.daily(engine)
    return made


def name(below_id: str, version: tuple[int, int], wanted: Wanted) -> str:
    """Repository and tag: the same base, Python, packages and builder are the same image."""
    parts = [below_id.encode(), repr(version).encode(), wanted.content, BUILDER.encode()]
    digest = hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    return f"{REPOSITORY}:{version[0]}.{version[1]}-{digest[:20]}"


def described(place: Place) -> list[Pin]:
    """The packages in that image, read from the lock or from what was resolved for it; nothing is made or asked.

    Raises `CannotVerify` where the lock cannot be read.
    """
    wanted = locks.find(place.root)
    if wanted is None:
        return []
    if not wanted.requirements:
        pins, _notes = locks.pins(wanted, place.root, facts.usual(place.environment.version))
        return pins
    return _remembered(_resolved_file(place.environment.version, wanted)) or []


def _resolved_file(version: tuple[int, int], wanted: Wanted) -> Path:
    """Where the packages are remembered that a project without a lock got, so that it is resolved once."""
    digest = hashlib.sha256(wanted.content).hexdigest()[:32]
    return cache_folder() / "resolved" / f"{version[0]}.{version[1]}-{digest}.json"


def _remembered(file: Path) -> list[Pin] | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [Pin(**{**one, "hashes": tuple(one["hashes"])}) for one in json.loads(file.read_text("utf-8"))]
    return None


def ensure(
    engine: Engine,
    below: str,
    version: tuple[int, int],
    root: Path,
    wanted: Wanted,
    *,
    say: Callable[[str], None] = log.info,
    stop: Callable[[], bool] = bool,
) -> str:
    """The name of the image with these packages over the image `below`, after making it where it is not there yet.

    One process makes it, others that want the same one wait.
    Raises `CannotVerify` with one sentence that names the package that cannot be had, or what the engine raises.
    """
    made = name(engine.client.images.get(below).id, version, wanted)
    if base.has(engine, made):
        return made
    with image.alone(made.partition(":")[2], stop):
        if not base.has(engine, made):
            began = time.monotonic()
            say(f"making an image with the packages of {' and '.join(wanted.files[:3])} (once)")
            _Maker(engine=engine, below=below, version=version, root=root, wanted=wanted, say=say, stop=stop).make(made)
            say(f"made the image {made} in {time.monotonic() - began:.0f} s")
    return made


@dataclass(frozen=True, kw_only=True)
class _Maker:
    engine: Engine
    below: str
    version: tuple[int, int]
    root: Path
    wanted: Wanted
    say: Callable[[str], None]
    stop: Callable[[], bool]

    def make(self, made: str) -> None:
        with once(self.engine, self.below, facts.ASK, stop=self.stop) as done:
            about = facts.read(done.output)
        with tempfile.TemporaryDirectory(prefix="greenloop-packages-", dir=base.roomy()) as place:
            folder = Path(place)
            for part in ("made", "wheels", "pip"):
                (folder / part).mkdir()
            fetcher = Fetcher(run=runner(self.stop), facts=about, made=folder / "made", temporary=folder / "pip")
            wheels = self._wheels(fetcher, folder)
            layer = folder / "layer.tar"
            writing = install.Layer(layer, about)
            try:
                writing.add(wheels)
            finally:
                writing.close()
            self.say(f"adding {len(wheels)} packages to the image")
            image.add(self.engine, self.below, made, layer, kind="project", stop=self.stop)

    def _wheels(self, fetcher: Fetcher, folder: Path) -> list[Path]:
        kept = _resolved_file(self.version, self.wanted)
        if kept.exists():
            try:
                return self._fetched(self._pins(fetcher, folder, kept), fetcher, folder)
            except CannotVerify as problem:
                log.info("What was resolved before cannot be had any more (%s); resolving again.", problem)
                kept.unlink(missing_ok=True)
        return self._fetched(self._pins(fetcher, folder, kept), fetcher, folder)

    def _fetched(self, pins: list[Pin], fetcher: Fetcher, folder: Path) -> list[Path]:
        todo, found = list(pins), list((folder / "made").glob("*.whl"))
        built = {_package(wheel) for wheel in found}
        todo = [one for one in pins if one.name not in built]
        self.say(f"fetching {len(todo)} packages")
        while todo:
            try:
                return [*fetcher.wheels(todo, folder / "wheels"), *found]
            except NoWheel as problem:
                missing = next((one for one in todo if locks.same(one.name, str(problem))), None)
                if missing is None:
                    raise CannotVerify(f"{problem} is not on your package index.") from problem
                found.append(self._built(missing, fetcher, folder))
                todo.remove(missing)
        return found

    def _pins(self, fetcher: Fetcher, folder: Path, kept: Path) -> list[Pin]:
        if not self.wanted.requirements:
            pins, notes = locks.pins(self.wanted, self.root, fetcher.facts.markers)
            self._note(notes)
            return pins
        self._note(self.wanted.notes)
        if (known := _remembered(kept)) is not None:
            return known
        self.say("resolving what the project asks for (once)")
        pins = self._resolved(fetcher, folder)
        if not any((folder / "made").iterdir()):  # what was built here has no hash that another building would have
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
                    raise CannotVerify(f"No version of {package} that fits has a wheel or can be built.") from problem
                tried.add(package)
                line = next(
                    (line for line in self.wanted.requirements if locks.same(locks.named(line), package)), package
                )
                self._built(line, fetcher, folder)

    def _built(self, package: Pin | str, fetcher: Fetcher, folder: Path) -> Path:
        """A package that has no wheel, built in a container. Raises `CannotVerify` naming it."""
        title = f"{package.name} {package.version}" if isinstance(package, Pin) else package
        self.say(f"building {title} from source, in a container without network")
        with tempfile.TemporaryDirectory(dir=folder) as place:
            here = Path(place)
            own = Fetcher(run=fetcher.run, facts=fetcher.facts, made=fetcher.made, temporary=here)
            source = own.source(package)
            asked, _backend, _path = build.requires(source)
            try:
                needed = own.wheels(own.resolve(asked, (), here), here)
            except NoWheel as problem:
                raise CannotVerify(
                    f"{title} has no wheel, and building it needs {problem}, which has none either.",
                    remedy="Use a version that has wheels, or name an image that has it in `sandbox.image`.",
                ) from problem
            wheel = build.build(self.engine, self.below, fetcher.facts, title, source, needed, here, self.stop)
            return wheel.replace(folder / "made" / wheel.name)

    def _note(self, notes: tuple[str, ...] | list[str]) -> None:
        for note in notes:
            log.warning("%s", note)


def _keep(file: Path, pins: list[Pin]) -> None:
    with contextlib.suppress(OSError):
        file.parent.mkdir(exist_ok=True)
        known = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for old in known[:-RESOLVED_KEPT]:
            old.unlink(missing_ok=True)
        file.write_text(json.dumps([vars(one) for one in pins]), encoding="utf-8")


def _package(wheel: Path) -> str:
    return locks.normal(wheel.name.partition("-")[0])

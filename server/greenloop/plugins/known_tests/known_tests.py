"""Remembers the files that each test executes, its duration, and that it passed, from run to run.

A trace counts as long as every file that the test executed, read or imported has the same contents, in the same
environment. What is remembered lies in the user's state folder; a store that cannot be read is an empty one.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from greenloop.core.reach import ALL_CASES, Place, Reach
from greenloop.project import settings, sources
from greenloop_sandbox import CaseResult, SandboxSpec
from greenloop_sandbox.cache import read_json, write
from greenloop_sandbox.pytest_files import CONFIGURATION
from greenloop_sandbox.report.traces import ReachedFunction

MOST_PLACES = 200_000  # of all traces together, some 5 MB; those of the tests that ran longest ago are forgotten
MOST_FILES = 100  # test files whose imports are followed at the end of one run
_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError)


@dataclass(kw_only=True)
class KnownTests:
    """Records of the tests of one workspace, by case id, those that ran last at the end.

    `seconds` has the duration of each, `traces` the functions that it reached and the files that it depends on.
    """

    file: Path
    root: Path
    environment: str = ""
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    began: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _imports: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, place: SandboxSpec, buffers: Mapping[str, bytes], clock: Callable[[], float] = time.time
    ) -> KnownTests:
        """Reads what counts now. Blocking."""
        file = settings.state_folder() / "known-tests" / f"{_hash(str(place.root).encode())}.json"
        known = cls(file=file, root=place.root, environment=_identify(place), buffers=buffers, began=clock())
        stored = read_json(file)
        try:
            if stored.get("environment") == known.environment:
                known._take_over(stored)
        except _DAMAGED:
            known.seconds, known.traces, known.shared = {}, {}, {}
        return known

    def _take_over(self, stored: Mapping[str, Any]) -> None:
        unchanged = {path for path, digest in stored["files"].items() if digest == self.digest(path)}
        seconds = {str(case): float(each) for case, each in stored["seconds"].items()}
        self.seconds = {case: each for case, each in seconds.items() if _file(case) in unchanged}
        self.traces = {case: each for case, each in stored["traces"].items() if unchanged.issuperset(each["reads"])}
        for kind, rows in stored["shared"].items():
            self.shared[kind] = [
                row for row in rows if unchanged.issuperset(part for part in row[1:] if isinstance(part, str))
            ]
        self.add_to(Reach(), {}, map(_file, self.traces))  # raises where any of it cannot be read

    def digest(self, path: str) -> str:
        """Identifies a file's contents; "" where there is none."""
        if path not in self._digests:
            data = sources.read_bytes(self.root, path, self.buffers)
            self._digests[path] = "" if data is None else _hash(data)
        return self._digests[path]

    def add_to(self, reach: Reach, results: dict[str, CaseResult], files: Iterable[str]) -> None:
        """Adds the tests of these files that passed and whose trace still counts, except those that are known."""
        paths = {*files}
        new = {case: trace for case, trace in self.traces.items() if _file(case) in paths and case not in results}
        for case, trace in new.items():
            results[case] = CaseResult(id=case, outcome="passed", seconds=self.seconds[case])
            reach.functions[case] = tuple(
                ReachedFunction(path=path, firstlineno=line, name=name, depth=depth)
                for path, line, name, depth in trace["functions"]
            )
            reach.also[case] = {(path, line) for path, line in trace["also"]}
            reach.opened[case] = {(path, module) for path, module in trace["opened"]}
        if new:
            for scope, path, line in self.shared["places"]:
                reach.shared.setdefault(scope, set()).add((path, line))
            reach.cached |= {(path, line) for _kind, path, line in self.shared["cached"]}
            for _kind, path, line, caller, at in self.shared["callers"]:
                reach.callers.setdefault((path, line), set()).add((caller, at))

    def choose(self, files: Iterable[str], results: Collection[str], most: float) -> tuple[list[str], list[str]]:
        """Returns selectors of the tests of these files that have no result, and those that take longer than `most`."""
        by_file: dict[str, list[str]] = {}
        for case in self.seconds:
            by_file.setdefault(_file(case), []).append(case)
        chosen = [case for file in files for case in by_file.get(file, [file]) if case not in results]
        slow = {case: None for case in chosen if self.seconds.get(case, 0.0) > most}
        return [case for case in chosen if case not in slow], [*slow]

    def keep(
        self, results: Mapping[str, CaseResult], others: Iterable[str], reach: Reach, seconds: Mapping[str, float]
    ) -> None:
        """Stores what a run has shown of these tests, and that the files have `others`.

        Files that changed since the run began tell nothing. Blocking.
        """
        traced = {case: each for case, each in results.items() if each.passed and not reach.is_blind(case)}
        modules = {_file(case): {*trace["reads"]} for case, trace in self.traces.items()}
        for file in [*dict.fromkeys(map(_file, traced.keys() - self.traces.keys()))][:MOST_FILES]:
            modules[file] = modules.get(file) or self._imported_files(file)
        for case in traced:
            reads = modules.get(_file(case), set()) | _executed_files(case, reach)
            if _file(case) in modules and not any(self._has_changed(path) for path in reads):
                self.traces.pop(case, None)
                self.traces[case] = {
                    "reads": sorted(reads),
                    "functions": [[hit.path, hit.firstlineno, hit.name, hit.depth] for hit in reach.functions[case]],
                    "also": sorted(reach.also.get(case, ())),
                    "opened": sorted(reach.opened.get(case, ())),
                }
        measured = {case: each.seconds for case, each in results.items() if each.outcome != "missing"}
        found = {**{case: self.seconds.get(case, 0.0) for case in others if "::" in case}, **measured, **seconds}
        self.seconds |= {case: round(each, 2) for case, each in found.items() if not self._has_changed(_file(case))}
        self._write(reach)

    def _write(self, reach: Reach) -> None:
        kept, size = {}, 0
        for case, trace in reversed(self.traces.items()):
            size += len(trace["functions"]) + len(trace["also"])
            if size <= MOST_PLACES:
                kept[case] = trace
        places = [[scope, *place] for scope, found in reach.shared.items() for place in found]
        callers = [["", *place, *caller] for place, found in reach.callers.items() for caller in found]
        now = {"places": places, "cached": [["", *place] for place in reach.cached], "callers": callers}
        paths = {*map(_file, self.seconds), *(path for trace in kept.values() for path in trace["reads"])}
        stored = {
            "environment": self.environment,
            "files": {path: self.digest(path) for path in sorted(paths)},
            "seconds": self.seconds,
            "traces": dict(reversed(kept.items())),
            "shared": {kind: sorted({*map(tuple, self.shared.get(kind, ())), *map(tuple, now[kind])}) for kind in now},
        }
        write(self.file, json.dumps(stored, separators=(",", ":")).encode())

    def _has_changed(self, path: str) -> bool:
        try:
            return path not in self.buffers and (self.root / path).stat().st_mtime >= self.began
        except OSError:
            return False

    def _imported_files(self, file: str) -> set[str]:
        """The files of the workspace that a test file imports, those that these import, and its configuration."""
        folders = [str(folder) for folder in PurePosixPath(file).parents]
        setup = [f"{folder}/conftest.py".removeprefix("./") for folder in folders]
        found, pending = {*CONFIGURATION}, [file, *setup]
        while pending:
            path = pending.pop()
            if path in found:
                continue
            found.add(path)
            if path not in self._imports:
                self._imports[path] = self._find_imports(path)
            pending += self._imports[path]
        return found

    def _find_imports(self, path: str) -> set[str]:
        """The files of the workspace that run where this one is imported."""
        found: set[str] = set()
        for module, names, _line in sources.find_imports(sources.read_text(self.root, path, self.buffers) or "", path):
            for name in (module, *(f"{module}.{each}" for each in names)):
                if imported := sources.find_module(name, self.root, path, unsaved=self.buffers):
                    found.update((imported, *_packages(imported)))
        return found


def _packages(path: str) -> list[str]:
    """The `__init__` files that run where a module is imported."""
    return [f"{folder}/__init__.py" for folder in PurePosixPath(path).parents if str(folder) != "."]


def _executed_files(case: str, reach: Reach) -> set[str]:
    """The files of the functions that a case reached, on its own or through what it shares, and that it read."""
    places: set[Place] = {
        *reach.also.get(case, ()),
        *reach.shared.get(ALL_CASES, ()),
        *reach.shared.get(_file(case), ()),
    }
    opened = (*reach.opened.get(case, ()), *reach.opened.get(ALL_CASES, ()))
    return (
        {hit.path for hit in reach.functions[case]} | {path for path, _line in places} | {path for path, _by in opened}
    )


def _file(case: str) -> str:
    return case.partition("::")[0]


def _identify(place: SandboxSpec) -> str:
    """Identifies the environment of the tests: interpreter, packages, variables, network."""
    environment = place.environment
    packages = sorted(environment.prefix.glob("lib*/python*/*-packages"))
    stamps = [(str(folder), folder.stat().st_mtime_ns) for folder in packages]
    variables = sorted(place.variables.items())
    return _hash(repr((str(environment.executable), environment.version, stamps, variables, place.network)).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]

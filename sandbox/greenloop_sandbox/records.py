"""Requests to a sandbox, and its raw answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The Python environment that runs the tests, read without running it.

    `executable` is absolute, symlinks of the environment are kept; `base` is the prefix of the base installation;
    `extra` are folders and files of editable installs outside these prefixes and the workspace.
    """

    executable: Path
    prefix: Path
    base: Path
    version: tuple[int, int]
    source: str
    has_pytest: bool
    extra: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one execution: seconds of wall time, bytes of memory, disk and kept output, number of processes."""

    seconds: float = 10.0
    memory: int = 1 << 30
    disk: int = 64 << 20
    output: int = 1 << 20
    processes: int = 64


@dataclass(frozen=True, kw_only=True)
class Service:
    """A server that tests connect to at 127.0.0.1 and this port. `kind`: `postgres`, `redis` or `mysql`."""

    kind: str
    port: int
    user: str = ""
    password: str = ""
    database: str = ""


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """The specification of a sandbox: workspace, interpreter, paths hidden from the tests, limits.

    `masked` are patterns of names, at any depth; a pattern that begins with `!` is a path that is shown all the same.
    """

    root: Path
    environment: Environment
    masked: tuple[str, ...] = ()
    limits: Limits = Limits()
    image: str = ""
    network: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    services: tuple[Service, ...] = ()


def is_shown(path: str, patterns: Sequence[str]) -> bool:
    """Is this path shown although its name is that of a hidden file?"""
    return any(pattern.startswith("!") and fnmatch(path, pattern[1:]) for pattern in patterns)


@dataclass(frozen=True, kw_only=True)
class WatchedLines:
    """Lines `start`..`end` to watch, in a file as it is in the sandbox."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class ProfiledLines:
    """Functions of which each line's seconds are recorded; `memory`: bytes, too, and the most in use in each case."""

    lines: tuple[WatchedLines, ...] = ()
    memory: bool = False


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Failing cases are described with the values of their locals.

    `expressions` are evaluated in a `frame` of the traceback: `path:line`, a function's name, or "" for the innermost
    one of the project.
    """

    expressions: tuple[str, ...] = ()
    frame: str = ""


@dataclass(frozen=True, kw_only=True)
class Apart:
    """The changed code runs in a process of its own, the tests over the user's own code with stubs for what changed.

    `files` are the changed Python texts by path (None: taken away), `tests` the test files, which the code does not
    see, `visible` those that it may read all the same. `constants`: the tests see its constants; `in_place`: what
    it changes in its arguments is changed in the tests' objects; `outer`: its callers run with it. `wrong`: of what
    a pass may rest on (`changes`, `constants`, `operators`, `operands`; `all`: results, changes and constants), the
    tests are given wrong ones; with `+` or `-` behind it, greater or smaller numbers. `operands`: what the assertions
    compare is noted, and with `wrong` a false one does not end the test. `own`: the stubs ask the user's own code in
    place of the changed one. `seed` is the hash seed of the code's process. `lines`: the lines of these files that
    run are recorded; `aware`: the code's process shows that tests run, as one with pytest does.
    """

    files: Mapping[str, str | None]
    tests: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    constants: bool = False
    in_place: bool = False
    outer: bool = False
    wrong: str = ""
    operands: bool = False
    own: bool = False
    seed: int = 0
    lines: bool = False
    aware: bool = False


@dataclass(frozen=True, kw_only=True)
class TestRun:
    """The request of one execution: selectors and texts.

    `files` are laid over the workspace (new files allowed), those in `without` are hidden. `trace` records which
    functions each case reaches; `watch` records which of these lines each case runs, with the values that change there;
    `statements` records which lines each case runs of functions that may be at fault; `profile` records what their
    lines cost; `inspect` describes failures with the values of their locals; `collect` only collects. `baseline`: this
    is the user's own code, from which a back end may learn to run faster. `apart` puts the changed code into a process
    of its own. `passes`: what the calls cost is measured, and all cases run so many times (0: nothing is measured).
    `only`: of the selected cases those with these ids run, in this order (empty: all). `case_seconds`: the run ends, as
    after `seconds`, when a case takes so long (0: no such limit).
    """

    __test__ = False  # pytest collects classes by their name

    selectors: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    baseline: bool = False
    apart: Apart | None = None
    trace: bool = False
    watch: tuple[WatchedLines, ...] = ()
    statements: tuple[WatchedLines, ...] = ()
    profile: ProfiledLines | None = None
    inspect: Inspection | None = None
    collect: bool = False
    only: tuple[str, ...] = ()
    passes: int = 0
    seconds: float = 10.0
    case_seconds: float = 0.0
    hash_seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Cost of a run by the supervisor's clocks, which the code under test cannot reach.

    `calls` are the seconds of each case's call, in running order; a call has the greater of elapsed and processor time.
    `imports` are the seconds of the collection, which imports the modules, `fixtures` those of setup and teardown.
    `elapsed` and `processor` are all seconds besides the calls, with these, child processes and collecting garbage.
    `peak` are the bytes by which the process had grown during a call.
    """

    calls: tuple[float, ...]
    imports: float
    fixtures: float
    elapsed: float
    processor: float
    peak: int = 0


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The raw output of the sandbox, not yet judged.

    `records` arrive in order over the supervised pipe (inside/protocol.py describes each kind);
    `status` is the worker's exit status from waitpid (negative: signal); `killed` is the reason of a kill, or "";
    `broken` is why the sandbox itself failed, in one sentence, or "". `silent` are the seconds without any record
    before the end: for a run that was killed, how long its last case had taken at least. `costs`: see `TestRun.passes`.
    """

    records: tuple[Mapping[str, Any], ...] = ()
    status: int | None = None
    killed: str = ""
    broken: str = ""
    output: str = ""
    leftover: int = 0
    seconds: float = 0.0
    silent: float = 0.0
    costs: Costs | None = None


@dataclass(frozen=True, kw_only=True)
class Probe:
    """The result of a self-test: usable or not, details, and a remedy where it is not.

    `image`: an available image that would do, for back ends with images.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    image: str = ""

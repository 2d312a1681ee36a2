"""Requests to a sandbox, and its raw answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch, translate
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
    """A server that tests connect to at 127.0.0.1 and this port: an installed one of a `kind`, or from an `image`.

    A container listens at the port `inside`, and gets `variables` (`NAME=value`).
    """

    kind: str
    port: int
    user: str = ""
    password: str = ""
    database: str = ""
    image: str = ""
    inside: int = 0
    variables: tuple[str, ...] = ()


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
    start: str = ""  # the folder below the root in which pytest starts


class Mask:
    """Says which files and folders patterns hide; one with a slash is matched with a whole path."""

    def __init__(self, patterns: Sequence[str]) -> None:
        # One expression in place of all patterns: they are matched with every file.
        self.patterns = tuple(patterns)
        self._path = re.compile("|".join(map(translate, patterns)) or r"(?!)")
        self._name = re.compile("|".join(translate(each) for each in patterns if "/" not in each) or r"(?!)")

    def hides(self, path: str) -> bool:
        """Is the file or folder at this path hidden, whether or not the folders above it are?"""
        is_hidden = self._path.match(path) or self._name.match(path.rpartition("/")[2])
        return is_hidden is not None and not is_shown(path, self.patterns)


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
    """The changed code runs in a process of its own, the tests over the user's own code with stubs for what changed."""

    files: Mapping[str, str | None]  # the changed Python texts by path; None: the file is deleted
    tests: tuple[str, ...] = ()  # the test files, which the code does not see
    visible: tuple[str, ...] = ()  # those of them that it may read all the same
    constants: bool = False  # the tests see the changed constants
    in_place: bool = False  # what the code changes in its arguments is changed in the tests' objects
    outer: bool = False  # the callers of the changed code run with it
    # The tests get wrong values of this part of what a pass may rest on: `changes`, `constants`, `operators`,
    # `operands0` (the first arguments of constructors in tests, and so on), or `all` for results, changes and
    # constants; with `+` or `-`, greater or smaller numbers; in `all+` yes and no, steps, messages and what is printed
    # as well. In `alike` and `chance` all that crosses is wrong, alike for like values or by chance; `!`: yes and no
    # too.
    wrong: str = ""
    operands: bool = False  # record what the assertions compare; with `wrong`, a false one does not end the test
    own: bool = False  # the stubs ask the user's own code, not the changed one
    seed: int = 0  # the hash seed of the code's process
    lines: bool = False  # record which lines of `files` run
    aware: bool = False  # the code's process shows that tests run, as one with pytest does


@dataclass(frozen=True, kw_only=True)
class TestRun:
    """The request of one execution: which cases run, over which texts, and what is recorded."""

    __test__ = False  # pytest collects classes by their name

    selectors: tuple[str, ...]  # pytest node ids, files or folders; empty: everything
    files: Mapping[str, bytes] = field(default_factory=dict)  # laid over the workspace; may be new
    without: tuple[str, ...] = ()  # files that are hidden
    baseline: bool = False  # this is the user's own code, from which a back end may learn to run faster
    apart: Apart | None = None  # puts the changed code into a process of its own
    trace: bool = False  # record which functions each case reaches
    watch: tuple[WatchedLines, ...] = ()  # record which of these lines each case runs, and the values that change
    statements: tuple[WatchedLines, ...] = ()  # record which lines each case runs of functions that may be at fault
    profile: ProfiledLines | None = None  # record what the lines of functions cost
    inspect: Inspection | None = None  # describe failures with the values of their locals
    collect: bool = False  # only collect the cases
    only: tuple[str, ...] = ()  # of the selected cases run those with these ids, in this order; empty: all
    passes: int = 0  # measure the cost of calls, and run all cases so many times; 0: measure nothing
    seconds: float = 10.0  # the limit of the run
    case_seconds: float = 0.0  # the limit of each case, which ends the run like `seconds`; 0: none
    hash_seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Seconds of a run by the supervisor's clocks, which the code under test cannot reach."""

    calls: tuple[float, ...]  # of each case's call, in running order: elapsed or processor time, whichever is greater
    imports: float  # of the collection, which imports the modules
    fixtures: float  # of setup and teardown
    elapsed: float  # of everything but the calls
    processor: float  # the same in processor time, with child processes and garbage collection
    peak: int = 0  # bytes by which the process had grown during a call


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The raw output of the sandbox, not yet judged."""

    records: tuple[Mapping[str, Any], ...] = ()  # in order; inside/protocol.py describes each kind
    status: int | None = None  # the worker's exit status from waitpid; negative: a signal
    killed: str = ""  # why the run was killed
    broken: str = ""  # why the sandbox itself failed, in one sentence
    output: str = ""
    leftover: int = 0
    seconds: float = 0.0
    silent: float = 0.0  # seconds without a record before the end; a killed run's last case took at least as long
    costs: Costs | None = None  # see `TestRun.passes`


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

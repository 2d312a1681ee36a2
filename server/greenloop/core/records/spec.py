"""Requirements on the code: targets, regions, cases and the specification made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Provenance(StrEnum):
    """The origin of a case, which decides how much its passing proves.

    The user's own: tests, `>>>` examples, other examples in a docstring (`EXAMPLE`), recorded behaviour (`TRACE`),
    confirmed tests (`CONFIRMED`), their approval of a candidate (`HUMAN`), measurements of their scorer (`SCORE`).
    Limits that the user set and type hints (`CONSTRAINT`, `HINT`) must hold and prove little, as does the goal for
    which passing code is changed (`GOAL`). Tests from a model or a library of common properties (`DESIGNED`,
    `PROPERTY`) may be wrong, so they only vote.
    """

    USER = "user"
    DOCTEST = "doctest"
    EXAMPLE = "example"
    TRACE = "trace"
    CONFIRMED = "confirmed"
    HUMAN = "human"
    SCORE = "score"
    CONSTRAINT = "constraint"
    HINT = "hint"
    GOAL = "goal"
    DESIGNED = "designed"
    PROPERTY = "property"


# Provenances of cases that may verify a result.
USER_PROVENANCES = frozenset(map(Provenance, ("user", "doctest", "example", "trace", "score", "confirmed")))


class TargetKind(StrEnum):
    """The kind of a target."""

    TEST = "test"
    FUNCTION = "function"


@dataclass(frozen=True, kw_only=True)
class Target:
    """The test (function, class, or one parametrised id) or the function with a docstring that the user chose.

    Without a `qualname`: all tests of a file, or all functions of a module that are still to be written.

    `selector` is passed to the runner: a pytest node id, or `path::qualname` of a function;
    `start`..`end` are its lines, `name_line` the line that holds its name.
    """

    kind: TargetKind
    path: str
    qualname: str
    selector: str
    start: int
    end: int
    name_line: int

    @property
    def region(self) -> Region:
        """The lines that a candidate replaces when the target is the function itself."""
        return Region(path=self.path, qualname=self.qualname, start=self.start, end=self.end)


@dataclass(frozen=True, kw_only=True)
class Region:
    """A function, method, class, assignment or import whose source a candidate may replace.

    `start`..`end` are the lines in `Problem.files[path]`, decorators included. Without a `qualname` it is these lines
    of any file, and the place before `start` where `end` < `start`.
    `created`: the user's file does not have it yet, and `Problem.files` has a stub at these lines.
    `assigns`: it is the assignment to this name of a module (`TABLE`) or of a class (`Config.limit`).
    `imports`: it is the statement of a module that imports this name.
    """

    path: str
    qualname: str
    start: int
    end: int
    created: bool = False
    assigns: bool = False
    imports: bool = False

    @property
    def label(self) -> str:
        """Name of the region in texts for the user."""
        if not self.qualname:
            return self.path
        if self.imports:
            return f"the import of {self.qualname}"
        return f"the assignment to {self.qualname}" if self.assigns else self.qualname

    def overlaps(self, other: Region) -> bool:
        """True if the two have a line in common."""
        return self.path == other.path and self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, kw_only=True)
class Case:
    """A requirement: a pytest node id (doctest examples have one each) and the place where the user can read it.

    `source` is the test in one readable line where greenloop wrote it (`assert rle("") == []`);
    `batch` is the set of tests with which it was generated.
    """

    id: str
    path: str
    line: int
    provenance: Provenance = Provenance.USER
    confirmed: bool = False
    source: str = ""
    batch: str = ""

    @property
    def binding(self) -> bool:
        """Must it pass? Generated tests only vote."""
        return self.provenance not in (Provenance.DESIGNED, Provenance.PROPERTY)

    @property
    def executed(self) -> bool:
        """Does the sandbox run it? Limits on the text, and the user's approval, are judged without it."""
        return self.provenance not in (Provenance.CONSTRAINT, Provenance.HUMAN, Provenance.GOAL)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The cases that a candidate must pass.

    `selectors` are passed to the runner; one selector may select several cases (parametrised tests).
    `files` are generated tests by path, which exist only in the sandbox, over the workspace.
    `outvoted` are cases that no longer count; `doubts` are ambiguities, one sentence each.
    """

    cases: tuple[Case, ...] = ()
    selectors: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    outvoted: tuple[Case, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Do some cases only vote, so that passing all cases is neither necessary nor sufficient?"""
        return any(not case.binding for case in (*self.cases, *self.outvoted))

    def __add__(self, other: Spec) -> Spec:
        return Spec(
            cases=self.cases + other.cases,
            selectors=tuple(dict.fromkeys(self.selectors + other.selectors)),
            files={**self.files, **other.files},
            outvoted=self.outvoted + other.outvoted,
            doubts=tuple(dict.fromkeys(self.doubts + other.doubts)),
        )

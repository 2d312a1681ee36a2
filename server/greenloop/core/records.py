"""The domain records: frozen dataclasses without behaviour beyond derived properties.

Line numbers are 1-based and inclusive, as in `ast`; paths are relative to the workspace root and use `/`.
Texts keep the line ends of their file.
This module must not know where texts come from, what runs them or what shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Provenance(StrEnum):
    """The origin of a case, which decides how much its passing proves.

    The user's own: tests, `>>>` examples, other examples in a docstring (`EXAMPLE`), recorded behaviour (`TRACE`),
    confirmed tests (`CONFIRMED`), their approval of a candidate (`HUMAN`), measurements of their scorer (`SCORE`).
    Limits that the user set and type hints (`CONSTRAINT`, `HINT`) must hold and prove little. Tests from a model or a
    library of common properties (`DESIGNED`, `PROPERTY`) may be wrong, so they only vote.
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
    DESIGNED = "designed"
    PROPERTY = "property"


# Provenances of cases that may verify a result.
OWN = frozenset(
    {
        Provenance.USER,
        Provenance.DOCTEST,
        Provenance.EXAMPLE,
        Provenance.TRACE,
        Provenance.SCORE,
        Provenance.CONFIRMED,
    }
)


class Status(StrEnum):
    """How one execution of a candidate ended. `REFUSED`: rejected before the sandbox."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    NOT_COLLECTED = "not-collected"
    TAMPERED = "tampered"
    ENVIRONMENT = "environment"
    REFUSED = "refused"


class Group(StrEnum):
    """Coarse kinds of error; each may have its own feedback."""

    SYNTAX = "syntax"
    RUNTIME = "runtime"
    LOGIC = "logic"
    TIMEOUT = "timeout"
    RESOURCE = "resource"
    ENVIRONMENT = "environment"
    TAMPERING = "tampering"
    ANSWER = "answer"


class Verified(StrEnum):
    """How far a result is proven; only `VERIFIED` is ever applied automatically."""

    VERIFIED = "verified"
    PARTIALLY = "partially"
    UNVERIFIED = "unverified"


class Move(StrEnum):
    """The operation of search on the parent attempt."""

    DRAFT = "draft"
    REFINE = "refine"
    RESTART = "restart"
    INFILL = "infill"
    MUTATE = "mutate"
    MERGE = "merge"


class Role(StrEnum):
    """The role of a model in a run; each role may have its own model."""

    DRAFTER = "drafter"
    REFINER = "refiner"
    CRITIC = "critic"
    TESTER = "tester"
    PLANNER = "planner"


class StopReason(StrEnum):
    """Why a run ended. `INTERRUPTED`: its process ended during the run, as the history shows later."""

    SOLVED = "solved"
    ALREADY_GREEN = "already-green"
    STALLED = "stalled"
    ATTEMPTS = "attempts"
    SECONDS = "seconds"
    TOKENS = "tokens"
    COST = "cost"
    ANSWERS = "answers"
    CANCELLED = "cancelled"
    ENVIRONMENT = "environment"
    MODEL = "model"
    CHANGED = "changed"
    INTERRUPTED = "interrupted"


class TargetKind(StrEnum):
    """The kind of a target."""

    TEST = "test"
    FUNCTION = "function"


@dataclass(frozen=True, kw_only=True)
class Target:
    """The test (function, class, or one parametrised id) or the function with a docstring that the user chose.

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


@dataclass(frozen=True, kw_only=True)
class Region:
    """A function, method or class whose source a candidate may replace.

    `start`..`end` are the lines in `Problem.files[path]`, decorators included.
    `created`: the user's file does not have it yet, and `Problem.files` has a stub at these lines.
    """

    path: str
    qualname: str
    start: int
    end: int
    created: bool = False


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
        return self.provenance not in (Provenance.CONSTRAINT, Provenance.HUMAN)


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


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One line of a traceback. `path` is relative to the workspace for files in it, else absolute."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, kw_only=True)
class Approach:
    """How a case reaches a region: `depth` calls below the test (1: called by it), the last one by `caller`."""

    depth: int
    caller: Frame | None = None


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The input of a run. Frozen: edits that the user makes during the run are compared with it, never mixed into it.

    `originals`: the user's text of each relevant file (None: no file), including unsaved buffers.
    `files`: the same texts with stubs for regions to be created; candidates are composed on these.
    `buffers`: every text that differs from the disk and must replace it in the sandbox.
    `suspicion`: by path and line of `files`, the Ochiai score of the line in the failing cases (0..1).
    `approaches`: by case id, how the case reaches the regions, for cases that are known to reach them.
    """

    root: Path
    spec: Spec
    regions: tuple[Region, ...]
    originals: Mapping[str, str | None]
    files: Mapping[str, str]
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    instruction: str = ""
    neighbours: tuple[str, ...] = ()
    suspicion: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    approaches: Mapping[str, Approach] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Mask:
    """Lines `start`..`end` of a region's text in an attempt, counted from 1; `end` < `start`: before `start`."""

    region: Region
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The next step that search plans.

    `masked` are the lines of the parent's text to fill for `Move.INFILL`; `others` are attempts that the prompt shows
    with the parent; `prompt` names a template in place of the move's own; `hint` is a strategy, plan or reflection to
    follow.
    """

    parent: int
    move: Move
    role: Role
    temperature: float = 0.0
    masked: Mask | None = None
    others: tuple[int, ...] = ()
    prompt: str = ""
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """New source for each region, with imports and helpers for its module. It never removes anything."""

    texts: Mapping[Region, str]
    imports: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The failure of a case. `text` is the runner's full output; `expected`/`observed` are reprs where known."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    text: str = ""
    expected: str | None = None
    observed: str | None = None


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """The outcome of one case: passed, failed, error (not in the call phase), skipped, xfailed, xpassed or missing.

    `share`: the score of a case that did not pass (0..1).
    """

    id: str
    outcome: str
    failure: Failure | None = None
    seconds: float = 0.0
    share: float = 0.0

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The judgement on an execution: target cases and neighbours.

    `score` is passed/total of the target cases, where a scorer's 0.4 counts as 0.4 of a case; `collateral` are
    neighbours that newly fail; `flaky` are ids of neighbours that failed and passed when run again;
    `reason` is one sentence where the cases do not tell everything (kill reason, tampering, missing package).
    """

    status: Status
    cases: tuple[CaseResult, ...] = ()
    collateral: tuple[CaseResult, ...] = ()
    flaky: tuple[str, ...] = ()
    reason: str = ""
    output: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> int:
        return sum(case.passed for case in self.cases)

    @property
    def total(self) -> int:
        return len(self.cases)

    @property
    def score(self) -> float:
        return sum(1.0 if case.passed else case.share for case in self.cases) / self.total if self.cases else 0.0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Why a candidate is rejected before the sandbox: error class, one sentence, line in the candidate's text."""

    error_class: str
    message: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """The resources used: tokens, US dollars (None: price unknown) and seconds.

    `cached_tokens` are prompt tokens that the model did not read again; they are included in `prompt_tokens`.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0
    model_seconds: float = 0.0
    test_seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        is_cost_known = self.cost is not None and other.cost is not None
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=(self.cost or 0.0) + (other.cost or 0.0) if is_cost_known else None,
            model_seconds=self.model_seconds + other.model_seconds,
            test_seconds=self.test_seconds + other.test_seconds,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Span:
    """The range of four in five similar values (`low` to `high`), and their median."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Past:
    """The usage of a finished run. `prompt`: tokens of its first prompt; `cost` in US dollars, None: unknown."""

    prompt: int
    tokens: int
    seconds: float
    cost: float | None
    solved: bool


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The expected usage of a whole run: tokens, seconds and US dollars (None: unknown).

    Based on `runs` similar runs, of which `solved` were solved (None: too few to say).
    """

    prompt_tokens: int
    tokens: Span
    seconds: Span | None = None
    cost: Span | None = None
    runs: int = 0
    solved: int | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """A feedback part's text about the newest attempt.

    `fields` are for search and for the history, never for the verdict; `usage` is that of asking a model for it.
    """

    text: str
    score: float | None = None
    stop: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of one run, each of which ends it; `cost` is in US dollars.

    `attempts` counts model candidates, `unreadable` consecutive answers without a candidate.
    """

    attempts: int = 5
    seconds: float = 600.0
    tokens: int = 50_000
    cost: float | None = None
    unreadable: int = 3


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One node of the search tree. Number 0 is the user's unchanged code: no draft, no answer."""

    number: int
    verdict: Verdict
    parent: int | None = None
    draft: Draft | None = None
    model: str = ""
    answer: str = ""
    candidate: Candidate | None = None
    finding: Finding | None = None
    error_class: str = ""
    group: Group | None = None
    notes: tuple[Note, ...] = ()
    usage: Usage = Usage()
    accepted: bool = False  # it passed again in a fresh sandbox, with all proofs
    confidence: float | None = (
        None  # the model's own estimate, 0..1, where it was asked: recorded only, no decision reads it
    )

    @property
    def spent(self) -> Usage:
        """The usage of the attempt, including questions to models about it."""
        return sum((note.usage for note in self.notes), self.usage)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence for an accepted candidate, as counts. `network`: tests had network access.

    `canaried` of `canary_total` cases failed when an assertion was inverted, as they must (`canaried_cases`).
    `out_of_process` cases passed with the candidate's code in a process of its own.
    """

    sandbox: str = ""
    network: bool = False
    cases: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # provenance -> (passed, total)
    neighbours_unchanged: int = 0
    neighbours_already_failing: int = 0
    neighbours_left_out: int = 0
    neighbours_flaky: int = 0
    canaried: int = 0
    canaried_cases: tuple[str, ...] = ()
    canary_total: int = 0
    out_of_process: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a run. `before`/`after` are whole texts by path; `before` None means that the file is new.

    `run` is its number in the history, where the history could be written.
    """

    solved: bool
    verified: Verified
    reason: StopReason
    message: str
    attempts: Sequence[Attempt]
    best: int | None = None
    before: Mapping[str, str | None] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = Usage()
    evidence: Evidence = Evidence()
    run: int | None = None

    @property
    def applicable(self) -> bool:
        """May it be applied without asking? Only a verified result without warnings."""
        return self.solved and self.verified is Verified.VERIFIED and bool(self.after) and not self.evidence.warnings


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A piece of context for the prompt. Those with a higher `value` are cut later when the prompt is too long.

    `own`: it is the code to change; `bare` is the same without the bodies, for a restart.
    """

    title: str
    text: str
    value: float
    language: str = "python"
    own: bool = False
    bare: str = ""


# -- the sandbox ------------------------------------------------------------------------------------------------


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
class Place:
    """The specification of a sandbox: workspace, interpreter, paths hidden from the tests, limits."""

    root: Path
    environment: Environment
    masked: tuple[str, ...] = ()
    limits: Limits = Limits()
    image: str = ""
    network: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines `start`..`end` to watch, in a file as it is in the sandbox."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """The request of one execution: selectors and texts.

    `files` are laid over the workspace (new files allowed), those in `without` are hidden. `trace` records which
    functions each case reaches; `watch` records which of these lines each case runs, with the values that change there;
    `collect` only collects. `baseline`: this is the user's own code, from which a back end may learn to run faster.
    `oracle` names modules whose code runs in a process of its own.
    """

    selectors: tuple[str, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    baseline: bool = False
    oracle: tuple[str, ...] = ()
    trace: bool = False
    watch: tuple[Lines, ...] = ()
    collect: bool = False
    seconds: float = 10.0
    hash_seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The raw output of the sandbox, not yet judged.

    `records` arrive in order over the supervised pipe (sandbox/protocol.py describes each kind);
    `status` is the worker's exit status from waitpid (negative: signal); `killed` is the reason of a kill, or "";
    `broken` is why the sandbox itself failed, in one sentence, or "".
    """

    records: tuple[Mapping[str, Any], ...] = ()
    status: int | None = None
    killed: str = ""
    broken: str = ""
    output: str = ""
    leftover: int = 0
    seconds: float = 0.0


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


# -- the model --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chat message; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A chat request to a model. `role` tells scripted and replayed models which answer is due."""

    messages: tuple[Message, ...]
    role: Role = Role.DRAFTER
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A request to a model's fill-in-the-middle mode: the text between `prefix` and `suffix`."""

    prefix: str
    suffix: str
    role: Role = Role.REFINER
    temperature: float = 0.0
    max_tokens: int = 64
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A model's answer; `finish` is stop or length."""

    text: str
    usage: Usage
    model: str
    finish: str = "stop"

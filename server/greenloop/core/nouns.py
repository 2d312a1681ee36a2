"""What greenloop talks about: frozen records without behaviour beyond derived facts.

Line numbers are 1-based and inclusive, as in `ast`; paths are relative to the workspace root and use `/`.
Texts keep the line ends of the file they came from.
This module must not know where texts come from, who runs them or who shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Provenance(StrEnum):
    """Where a case comes from, which decides what its passing is worth.

    The user's word: tests, `>>>` examples, other examples in a docstring (`EXAMPLE`), recorded behaviour (`TRACE`),
    what he confirmed when asked (`CONFIRMED`) or said of a candidate (`HUMAN`), what his scorer measures (`SCORE`).
    Limits that the user set and type hints (`CONSTRAINT`, `HINT`) must hold and prove little. What a model or a library
    of common properties made up (`DESIGNED`, `PROPERTY`) may be wrong, so that it has a vote only.
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


# Where a case may come from so that its passing makes a result the user's own.
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
    """How one execution of a candidate ended. `REFUSED`: it never reached the sandbox."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    NOT_COLLECTED = "not-collected"
    TAMPERED = "tampered"
    ENVIRONMENT = "environment"
    REFUSED = "refused"


class Group(StrEnum):
    """Coarse kinds of error; what kind it is decides which feedback helps."""

    SYNTAX = "syntax"
    RUNTIME = "runtime"
    LOGIC = "logic"
    TIMEOUT = "timeout"
    RESOURCE = "resource"
    ENVIRONMENT = "environment"
    TAMPERING = "tampering"
    ANSWER = "answer"


class Verified(StrEnum):
    """How much a result may be trusted; only `VERIFIED` is ever applied by itself."""

    VERIFIED = "verified"
    PARTIALLY = "partially"
    UNVERIFIED = "unverified"


class Move(StrEnum):
    """What search wants done to the parent attempt."""

    DRAFT = "draft"
    REFINE = "refine"
    RESTART = "restart"
    INFILL = "infill"
    MUTATE = "mutate"
    MERGE = "merge"


class Role(StrEnum):
    """Who is asked; each role may name its own model."""

    DRAFTER = "drafter"
    REFINER = "refiner"
    CRITIC = "critic"
    TESTER = "tester"
    PLANNER = "planner"


class StopReason(StrEnum):
    """Why a run ended. `INTERRUPTED`: its process ended in the middle of it, as the history shows later."""

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
    """What the user pointed at."""

    TEST = "test"
    FUNCTION = "function"


@dataclass(frozen=True, kw_only=True)
class Target:
    """What the user pointed at: a test (function, class, or one parametrised id) or a function with its docstring.

    `selector` is what the runner is asked for: a pytest node id, or `path::qualname` of a function;
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
    `created` says that the user's own file does not hold it yet: `Problem.files` then has a stub at these lines.
    """

    path: str
    qualname: str
    start: int
    end: int
    created: bool = False


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing that must hold: a pytest node id (doctest examples have one each) and where the user can read it.

    `source` is the test in one readable line where greenloop wrote it down (`assert rle("") == []`);
    `batch` is the set of tests it was designed in.
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
        """Must it pass? What somebody else than the user made up has a vote only."""
        return self.provenance not in (Provenance.DESIGNED, Provenance.PROPERTY)

    @property
    def executed(self) -> bool:
        """Is it a test that the sandbox runs? Limits on the text, and a person's word, are judged without it."""
        return self.provenance not in (Provenance.CONSTRAINT, Provenance.HUMAN)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The cases a candidate must pass.

    `selectors` are what the runner is asked for; one selector may stand for several cases (parametrised tests).
    `files` are tests that greenloop wrote, by path; they are laid over the workspace in the sandbox and nowhere else.
    `outvoted` are cases that are believed no more; `doubts` say in one sentence each what is not clear.
    """

    cases: tuple[Case, ...] = ()
    selectors: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    outvoted: tuple[Case, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Has any case a vote only, so that passing all of them is neither needed nor enough?"""
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
    """One line of a traceback. `path` is workspace-relative where the file is in the workspace, else absolute."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, kw_only=True)
class Approach:
    """How a case comes to a region: `depth` calls below the test (1: called by it), the last one by `caller`."""

    depth: int
    caller: Frame | None = None


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Everything one run works on. Frozen: what the user types meanwhile is compared with it, never mixed into it.

    `originals`: the user's text of each file that matters (None: no such file), unsaved buffers included.
    `files`: the same texts with stubs for regions to be created; candidates are composed on these.
    `buffers`: every text that differs from the disk and must be laid over it in the sandbox.
    `suspicion`: by path and line of `files`, how much the failing cases speak against the line (0..1, Ochiai).
    `approaches`: by case id, how the case comes to the regions, where it is known that it does.
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
    """Lines `start`..`end` of a region's text as an attempt has it, counted from 1; `end` < `start`: before `start`."""

    region: Region
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What search wants tried next.

    `masked` are the lines of the parent's text to fill for `Move.INFILL`; `others` are attempts that the prompt shows
    beside the parent; `prompt` names another template than the move's own; `hint` is a strategy, plan or reflection to
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
    """New source for each region, and what its module gains beside it. It never removes anything."""

    texts: Mapping[Region, str]
    imports: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a case failed. `text` is the runner's whole rendering; `expected`/`observed` are reprs where known."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    text: str = ""
    expected: str | None = None
    observed: str | None = None


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """The outcome of one case: passed, failed, error (not in the call phase), skipped, xfailed, xpassed or missing.

    `share`: how much of it a scorer saw hold (0..1) where it did not pass.
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
    """What an execution proves about the target cases and the neighbours.

    `score` is passed/total of the target cases, one that a scorer gave 0.4 being 0.4 of a case; `collateral` are
    neighbours that newly fail; `flaky` are ids of neighbours that failed and, run once more, passed;
    `reason` is one sentence when there is more to say than the cases do (kill reason, tampering, missing package).
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
    """Why a candidate is refused before the sandbox: error class, one sentence, line in the candidate's text."""

    error_class: str
    message: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What was spent: tokens, US dollars (None: price unknown) and seconds.

    `cached_tokens` of the prompt's were not read again; they count as tokens all the same.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0
    model_seconds: float = 0.0
    test_seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost=(self.cost or 0.0) + (other.cost or 0.0) if known else None,
            model_seconds=self.model_seconds + other.model_seconds,
            test_seconds=self.test_seconds + other.test_seconds,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Span:
    """What four of five like it came to (`low` to `high`), and the middle one."""

    low: float
    likely: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Past:
    """What a finished run came to. `prompt`: tokens of its first prompt; `cost` in US dollars, None: unknown."""

    prompt: int
    tokens: int
    seconds: float
    cost: float | None
    solved: bool


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a run will come to: its whole tokens, seconds and US dollars (None: nobody knows).

    `runs` similar runs speak for it; `solved` of them were (None: too few to tell).
    """

    prompt_tokens: int
    tokens: Span
    seconds: Span | None = None
    cost: Span | None = None
    runs: int = 0
    solved: int | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a feedback part says about the newest attempt.

    `fields` are for search and for the record, never for the verdict; `usage` is what asking a model for it cost.
    """

    text: str
    score: float | None = None
    stop: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits of one run, all of which hold; `cost` is in US dollars.

    `attempts` counts model candidates, `unreadable` answers in a row that hold no candidate.
    """

    attempts: int = 5
    seconds: float = 600.0
    tokens: int = 50_000
    cost: float | None = None
    unreadable: int = 3


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One node of the tree of attempts. Number 0 is the user's code as it stands: no draft, no answer."""

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
    confidence: float | None = None  # the model's own, 0..1, where it was asked: recorded, never read by a decision

    @property
    def spent(self) -> Usage:
        """What it cost, with what models were asked about it."""
        return sum((note.usage for note in self.notes), self.usage)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What speaks for an accepted candidate, counted out. `network`: tests could reach it.

    `canaried` of `canary_total` cases failed as they must when turned round (`canaried_cases`); `out_of_process` passed
    while the candidate's code was in a process of its own.
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
    """How a run ended. `before`/`after` are whole texts by path; `before` None means that the file is new.

    `run` is its number in the history, where one could be kept.
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
        """May it be applied without asking? Only what is verified and does nothing that asks for a look."""
        return self.solved and self.verified is Verified.VERIFIED and bool(self.after) and not self.evidence.warnings


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A piece of context for the prompt. Higher `value` survives longer when the prompt must be cut.

    `own`: it is the very code that is to change; `bare` is the same without the bodies, for a new beginning.
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
    """Whose Python runs the tests: the executable, its prefixes, what was read about it without running it.

    `executable` is absolute, symlinks of the environment kept; `base` is the prefix of the base installation; `extra`
    are folders and files outside both, and outside the workspace, that its editable installs name.
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
    """Where a session runs: the workspace, its interpreter, what is hidden from the tests, and the limits."""

    root: Path
    environment: Environment
    masked: tuple[str, ...] = ()
    limits: Limits = Limits()
    image: str = ""
    network: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines `start`..`end` of a workspace file as it is laid."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """One execution: what to run over which texts.

    `files` are laid over the workspace (new files allowed), those of `without` are not there; `trace` records which
    functions each case reaches; `watch` records which lines
    of these files each case runs, with the values that change there; `collect` only collects; `baseline` says that this
    is the user's own code, from which a back end may learn what it can do faster; `oracle` names modules whose code
    runs in a process of its own.
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
    """What came out of the sandbox, unjudged.

    `records` arrive over the supervised pipe in order (sandbox/protocol.py describes each kind);
    `status` is the worker's exit status by waitpid (negative: signal); `killed` says why it was killed, if it was;
    `broken` says why the sandbox itself failed, in one sentence, if it did.
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
    """Result of a self-test: usable or not, what was found, and the one remedy where it is not.

    `image`: one that is there and would do, for back ends that have such.
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
    """What a model is asked. `role` tells scripted and replayed models who is speaking."""

    messages: tuple[Message, ...]
    role: Role = Role.DRAFTER
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A question for a model's fill-in-the-middle mode: what stands between `prefix` and `suffix`?"""

    prefix: str
    suffix: str
    role: Role = Role.REFINER
    temperature: float = 0.0
    max_tokens: int = 64
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered; `finish` is stop or length."""

    text: str
    usage: Usage
    model: str
    finish: str = "stop"

"""Answers of the tools: typed, short, and in the words of the glossary.

Counts come instead of lists that grow with a suite; at most a few ids of each list are named, and `left_out` says how
many more there are. Client and agent read the same object, as text without its empty fields.
It must not know how a result is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from greenloop.api.events_json import case_object
from greenloop_sandbox import CaseResult

MOST = 5  # names or failures of one list
LONGEST = 160  # characters of a message or a name that is not the caller's own


class FailureAnswer(BaseModel):
    """A test that does not pass: its error, and the innermost line of it."""

    id: str
    outcome: str = "failed"
    error: str = ""
    message: str = ""
    path: str | None = None
    line: int | None = None


class CaseAnswer(BaseModel):
    """A test and its outcome; `before` is that with the commit's own code."""

    id: str
    outcome: str
    before: str | None = None


class VerifiedAnswer(BaseModel):
    """Result of `verify`. Only `verified: true` counts; `reason` says why not, `next` what to do."""

    verified: bool
    state: str
    reason: str = ""
    next: str = ""
    base: str = ""
    passed: int = 0
    failed: list[FailureAnswer] = Field(default=[], description="Tests that had to pass and did not.")
    tampered: list[str] = Field(
        default=[], description="Tests whose pass was faked, or whose code saw that it is tested."
    )
    fixed: list[str] = Field(default=[], description="Tests that pass now and did not before.")
    already_failing: list[str] = Field(
        default=[], description="Tests that also failed in `base` and that no target names; they do not count."
    )
    still_failing: list[str] = Field(default=[], description="Tests that a target names and that failed in `base` too.")
    known_failing: list[str] = Field(default=[], description="Those of them that `known_failing` excuses.")
    flaky: list[str] = []
    changed_tests: list[str] = Field(default=[], description="Files that judge; the versions of `base` were used.")
    judging_changes: list[str] = Field(
        default=[], description="Files that judge and that the change edits, each with whether that is allowed."
    )
    proven_apart: int = 0
    ran_in_one_process: int = 0
    not_proven: list[str] = Field(
        default=[], description="Tests that pass although nothing shows that the code earned it."
    )
    notes: list[str] = []
    left_out: dict[str, int] = Field(default={}, description="By field, how many more there are than are named.")
    cases: list[CaseAnswer] = Field(default=[], description="On request.")
    sandbox: str = ""
    seconds: float = 0.0


class TestsRan(BaseModel):
    """Result of `run_tests`: how many tests passed, and those that did not."""

    passed: int
    failed: list[FailureAnswer] = []
    other: dict[str, int] = Field(default={}, description="Counts of skipped tests and the like, by outcome.")
    not_run: list[str] = []
    not_collected: list[FailureAnswer] = Field(default=[], description="Files that pytest could not import.")
    left_out: dict[str, int] = Field(default={}, description="By field, how many more there are than are named.")
    cases: list[CaseAnswer] = Field(default=[], description="On request.")
    seconds: float = 0.0


class Suspect(BaseModel):
    path: str
    name: str
    start: int
    end: int


class Line(BaseModel):
    path: str
    line: int
    text: str
    suspicion: float


class At(BaseModel):
    """A line of the traceback in the project, and the values of its locals."""

    path: str
    line: int
    code: str
    values: dict[str, str]


class Explained(BaseModel):
    """Result of `explain`: the failures with the values at them, and what is most likely at fault."""

    passes: bool
    not_in_the_code: str = Field(default="", description="Why no change of the code can help, and what does.")
    failing: list[FailureAnswer] = []
    text: str = Field(default="", description="pytest's text of the first failure.")
    values: list[At] = []
    suspects: list[Suspect] = []
    lines: list[Line] = []
    related_tests: int = 0
    left_out: dict[str, int] = {}


class Part(BaseModel):
    part: str
    name: str
    ok: bool | None
    detail: str
    remedy: str = ""


class Health(BaseModel):
    """Result of `doctor`."""

    can_fix: bool
    missing: list[str]
    summary: str
    findings: list[Part]


class Reported(BaseModel):
    """Result of `report_impossible`: what the user says, and what is known of the test."""

    allowed: bool | None = Field(description="May the test change? null: the user was not reached.")
    passes: bool
    not_in_the_code: str = ""
    failing: list[FailureAnswer] = []
    next: str


class Tried(BaseModel):
    """An attempt: what it changed, and what the tests said."""

    attempt: int
    status: str
    passed: int = 0
    total: int = 0
    error_class: str = ""
    message: str = ""
    functions: list[str] = []
    looks: list[str] = []


class RunAnswer(BaseModel):
    """A run of the history in short."""

    run: int
    started: float = Field(default=0.0, description="Seconds since the epoch.")
    target: str = ""
    state: str = ""
    solved: bool = False
    verified: str = ""
    reason: str = ""
    attempts: int = 0
    model: str = ""
    kind: str | None = None
    applied: bool = False


class RunsAnswer(BaseModel):
    """Result of `history`: runs, newest first, or one of them with its attempts."""

    runs: list[RunAnswer]
    message: str = ""
    diff: str = ""
    kind: str | None = None
    notes: list[str] = []
    attempts: list[Tried] = []


class Refined(BaseModel):
    """Result of `refine`: the change as a diff, how far it is proven, and what was tried."""

    solved: bool
    verified: str = Field(description="verified, partially or unverified.")
    reason: str = ""
    message: str = ""
    remedy: str = ""
    applied: bool = False
    also_turned_green: list[str] = Field(
        default=[], description="Other tests that failed before and pass with the change."
    )
    still_red: list[str] = Field(default=[], description="Tests that fail for the same cause, and still do.")
    diff: str = ""
    run: int | None = None
    attempts: int = 0
    notes: list[str] = []
    related_tests_unchanged: int = 0
    proven_apart: int = 0
    ran_in_one_process: int = 0
    tokens: int = 0
    cost: float | None = None
    model: str = ""
    kind: str | None = None
    tried: list[Tried] = []
    left_out: dict[str, int] = {}


def reply(value: BaseModel) -> CallToolResult:
    """The object for clients that read it, and the same without its empty fields as text."""
    text = value.model_dump_json(exclude_defaults=True)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=value.model_dump(mode="json")
    )


VerifiedReply = Annotated[CallToolResult, VerifiedAnswer]
TestsReply = Annotated[CallToolResult, TestsRan]
ExplainedReply = Annotated[CallToolResult, Explained]
HealthReply = Annotated[CallToolResult, Health]
ReportedReply = Annotated[CallToolResult, Reported]
RunsReply = Annotated[CallToolResult, RunsAnswer]
RefinedReply = Annotated[CallToolResult, Refined]


def shorten(text: str, most: int = LONGEST) -> str:
    """The first line, or the beginning of it."""
    line = text.strip().split("\n")[0]
    return line if len(line) <= most else f"{line[: most - 1]}…"


def failure_of(result: CaseResult) -> FailureAnswer:
    """Returns where and why a test failed."""
    row = case_object(result)
    return FailureAnswer(
        id=result.id,
        outcome=result.outcome,
        error=row["error_class"],
        message=shorten(row["message"]),
        path=row["path"],
        line=row["line"],
    )


def first_of(lists: Mapping[str, Iterable[Any]]) -> tuple[dict[str, list[Any]], dict[str, int]]:
    """The first entries of each list, and how many more each has."""
    whole = {name: [*values] for name, values in lists.items()}
    left_out = {name: len(values) - MOST for name, values in whole.items() if len(values) > MOST}
    return {name: values[:MOST] for name, values in whole.items()}, left_out


def below(cases: Sequence[CaseResult], place: str, before: Mapping[str, str] | None = None) -> list[CaseAnswer]:
    """The cases of a file, folder or node id (`.`: all; empty: none)."""
    known = before or {}
    return [
        CaseAnswer(id=each.id, outcome=each.outcome, before=known.get(each.id))
        for each in cases
        if place
        and (place in {".", each.id} or each.id.startswith((f"{place.rstrip('/')}/", f"{place}:", f"{place}[")))
    ]


def tried(row: Mapping[str, Any]) -> Tried:
    """An attempt of the answer, from its object in JSON."""
    known = {name: row[name] for name in Tried.model_fields if name in row and name != "looks"}
    return Tried(**{**known, "message": shorten(row["message"])}, looks=[each["summary"] for each in row["looks"]])

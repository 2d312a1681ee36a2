"""The nodes of the search tree: drafts, candidates, attempts and the feedback on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from greenloop.core.records.model import Message, Role, ToolCall, Usage
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import ErrorGroup, Verdict


class Move(StrEnum):
    """The operation of search on the parent attempt. `MUTATE` and `MERGE` ask no model.

    `TURN` is the next answer of one conversation; its parent is the attempt on whose code it builds.
    """

    DRAFT = "draft"
    REFINE = "refine"
    RESTART = "restart"
    INFILL = "infill"
    MUTATE = "mutate"
    MERGE = "merge"
    TURN = "turn"


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
    with the parent, or that are merged with it, one at a time; `prompt` names a template in place of the move's own;
    `hint` is a strategy, plan or reflection to follow, and `label` a short name of it for the user. `regions` are the
    suspects to change in place of the problem's own regions (none: those). `choice` is 0 for the best filling of a
    mask, 1 for the next best one. `variant` is 0 for the prompt as it is; others show its parts in another order, and
    other tests where there are more than it shows.
    """

    parent: int
    move: Move
    role: Role
    temperature: float = 0.0
    masked: Mask | None = None
    others: tuple[int, ...] = ()
    prompt: str = ""
    hint: str = ""
    label: str = ""
    regions: tuple[Region, ...] = ()
    choice: int = 0
    variant: int = 0


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """New source for each region, with imports and helpers for its module. It never removes anything.

    `originals` are the user's texts (None: a new file) of the files that no suspect is in: a problem may not know them.
    """

    texts: Mapping[Region, str]
    imports: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    originals: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Reason for rejecting a candidate before the sandbox: error class, one sentence, line in the candidate's text."""

    error_class: str
    message: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class FeedbackNote:
    """A feedback part's text about the newest attempt.

    `fields` are for search and for the history, never for the verdict; `usage` is that of asking a model for it.
    """

    text: str
    score: float | None = None
    stop: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage = Usage()


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The request that an attempt answers: a hash of each template by its name, and the messages where they are kept.

    A request to fill a hole has messages of the roles `prefix` and `suffix`.
    """

    templates: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Look:
    """A look of the model at the project before its answer: the call, its result, and `summary`, a line about it.

    `reply` counts the model's replies of the same turn; the first look of each has what the model `said` with it, and
    `extra` data of the provider that has to go back.
    """

    call: ToolCall
    result: str
    summary: str
    seconds: float = 0.0
    reply: int = 0
    said: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One node of the search tree. Number 0 is the user's unchanged code: no draft, no answer.

    `refused`: its candidate passed, and its acceptance did not. `sent` is None where no model was asked. `looks` came
    before the answer; `blemishes` are sentences about code that passes and that nobody would merge.
    """

    number: int
    verdict: Verdict
    parent: int | None = None
    draft: Draft | None = None
    model: str = ""
    answer: str = ""
    candidate: Candidate | None = None
    finding: Finding | None = None
    error_class: str = ""
    group: ErrorGroup | None = None
    notes: tuple[FeedbackNote, ...] = ()
    usage: Usage = Usage()
    accepted: bool = False  # it passed again in a fresh sandbox, with all proofs
    refused: bool = False
    sent: Sent | None = None
    looks: tuple[Look, ...] = ()
    blemishes: tuple[str, ...] = ()
    confidence: float | None = (
        None  # the model's own estimate, 0..1, where it was asked: recorded only, no decision reads it
    )

    @property
    def spent(self) -> Usage:
        """The usage of the attempt, including questions to models about it."""
        return sum((note.usage for note in self.notes), self.usage)

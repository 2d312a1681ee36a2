"""One refinement: what was asked, what the engine reported, what the editor shows, and what became of the result.

Each part has one writer: the request is fixed, the engine's events change the progress, the user's choices the view,
and applying it the result. Presenters read them. It must not know how anything is shown.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop.api.settings import Settings
from greenloop.api.state import SessionState
from greenloop.core.aims import Aim
from greenloop.core.events import Event, Started, Tested
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.spec import Region, Spec, Target
from greenloop.core.summary import changed_regions
from greenloop.lsp.state.questions import Question

if TYPE_CHECKING:
    from greenloop.api.session import RefineSession
    from greenloop.lsp.documents.composite import EditorTarget


class Phase(StrEnum):
    """The phase of a run. `QUEUED`: it waits for other runs; it can be cancelled like a running one.

    `SETTLING`: the result exists, and the user is asked about it, or it is verified again with the user's edits;
    cancelling keeps the result. `LANDING`: the result is being sent to the editor, which cannot be cancelled.
    """

    QUEUED = "queued"
    REFINING = "refining"
    SETTLING = "settling"
    LANDING = "landing"
    OVER = "over"


def short_name(target: Target) -> str:
    """A target's own name; for a whole file or an unknown target, the requested selector."""
    return target.qualname.rsplit(".", 1)[-1] or target.selector.rsplit("::", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Request to refine one target. `uri` is the document of the request, `was_open` whether it was open then.

    `preset` is a requested one, which replaces the settings'. `settings_pending`: the editor had not sent all settings
    yet. `began_at` is in seconds of the monotonic clock. `progress_token` comes with the client's request.
    `aim`: the target passes its tests, and what it is to become; `comment` says in words what is wanted.
    `continues` is the number of the run in the history that this one goes on with. `downloads_model`: it begins with
    the download of the embedded model.
    """

    root: Path
    target: Target
    uri: str
    settings: Settings
    began_at: float
    was_open: bool = False
    preset: str | None = None
    aim: Aim | None = None
    comment: str = ""
    continues: int | None = None
    downloads_model: bool = False
    settings_pending: bool = False
    progress_token: int | str | None = None


@dataclass(eq=False, kw_only=True)
class RunView:
    """View of a run in the editor. `chosen_attempt` is the number of the attempt that the user wants; None: the newest.

    `newest_attempt` is the number of the newest one so far.
    `superseded_cases` ran again after the run ended; their new results are shown in place of its attempts'.
    """

    chosen_attempt: int | None = None
    newest_attempt: int = 0
    superseded_cases: set[str] = field(default_factory=set)


@dataclass(eq=False, kw_only=True)
class RunResult:
    """State of a run's result. `applied`: it is in the text.

    `refusal` is the sentence that ended the run without an outcome, `refusal_code` its kind.
    `awaits_review`: the client shows the result to the user, who applies or discards it.
    `tests_changed`: it is a run of an earlier server, and its tests have changed since.
    `sent_texts` has, by path, the text to be replaced and its replacement; `applied_texts` those really applied.
    `lines` are the first changed ones of each file (workspace path, 1-based line) once it was applied.
    """

    applied: bool = False
    refusal: str = ""
    refusal_code: str = ""
    awaits_review: bool = False
    tests_changed: bool = False
    sent_texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    sent_at: float = 0.0
    applied_texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    lines: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class ApplyResult:
    """The end of applying a result, with the reason where it was not applied.

    `merged`: together with what the user typed meanwhile. `by_action`: the editor takes edits only from a code action.
    """

    applied: bool
    merged: bool = False
    reason: str = ""
    by_action: bool = False


@dataclass(eq=False)
class Run:
    """One request to refine one target, and its state.

    `runs_ahead` counts the runs before it while it is queued. `question` is the one it waits for. `prepared` is the
    engine's input in a composite file, `session` the façade's, which an earlier server's run gets when it is applied.
    `is_over` is set when its end has been reported.
    """

    request: RunRequest
    progress: SessionState = field(default_factory=SessionState)
    view: RunView = field(default_factory=RunView)
    result: RunResult = field(default_factory=RunResult)
    phase: Phase = Phase.QUEUED
    runs_ahead: int = 0
    question: Question | None = None
    prepared: EditorTarget | None = None
    session: RefineSession | None = None
    cancelled: bool = False
    ended_at: float = 0.0
    work: asyncio.Task[Any] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    # -- what most readers need -------------------------------------------------------------------------------------

    @property
    def root(self) -> Path:
        return self.request.root

    @property
    def target(self) -> Target:
        return self.request.target

    @property
    def uri(self) -> str:
        return self.request.uri

    @property
    def settings(self) -> Settings:
        return self.request.settings

    @property
    def started(self) -> Started | None:
        return self.progress.started

    @property
    def attempts(self) -> list[Attempt]:
        return self.progress.attempts

    @property
    def outcome(self) -> Outcome | None:
        return self.progress.outcome

    # -- what follows from it ---------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return short_name(self.target)

    @property
    def changed_name(self) -> str:
        """The name of the function or assignment that the result changes, or that the run would change."""
        regions = self._result_regions or (self.started.problem.regions if self.started else ())
        return regions[0].qualname or regions[0].path if regions else self.name

    @property
    def _result_regions(self) -> tuple[Region, ...]:
        """Regions that the best attempt of an ended run changes."""
        best = self.outcome.best if self.outcome is not None and self.changes else None
        return next((changed_regions(each) for each in self.attempts if best and each.number == best), ())

    @property
    def running(self) -> bool:
        return self.phase is not Phase.OVER

    @property
    def cancellable(self) -> bool:
        return self.phase in (Phase.QUEUED, Phase.REFINING, Phase.SETTLING)

    @property
    def spec(self) -> Spec | None:
        """The spec as far as it is known."""
        return self.progress.spec

    @property
    def limit(self) -> int:
        return self.progress.limit if self.started else self.settings.attempts

    @property
    def seconds(self) -> float:
        return (self.ended_at or time.monotonic()) - self.request.began_at

    @property
    def changes(self) -> dict[str, str]:
        """New text by path of the files that the outcome changes."""
        if self.outcome is None:
            return {}
        before = self.outcome.before
        return {path: text for path, text in self.outcome.after.items() if before.get(path) != text}

    @property
    def offered(self) -> bool:
        """True if there is a result that is not in the text."""
        has_result = self.phase in (Phase.REFINING, Phase.OVER)  # while it refines: related tests go on
        return has_result and not self.result.applied and bool(self.changes)

    @property
    def improved(self) -> bool:
        """True if the result is better than the user's own code: solved, or with more passing tests."""
        if self.outcome is None or self.outcome.solved:
            return self.outcome is not None
        scores = {attempt.number: attempt.verdict.score for attempt in self.attempts}
        return scores.get(self.outcome.best or 0, 0.0) > scores.get(0, 0.0)

    @property
    def needed_model(self) -> bool:
        """Did the run end because it needed a model and had none that works?"""
        return self.result.refusal_code == "model" or (
            self.outcome is not None and self.outcome.reason is StopReason.MODEL
        )

    @property
    def shown_attempt(self) -> Attempt | None:
        """The attempt shown in diagnostics: the user's choice, else the newest.

        After the end of a run it is the newest tested attempt: one rejected without running has no test results.
        """
        candidates = [each for each in self.attempts if self.running or each.finding is None] or self.attempts
        chosen_attempts = [each for each in self.attempts if each.number == self.view.chosen_attempt]
        return next(iter(chosen_attempts or candidates[-1:]), None)

    @property
    def shown_cases(self) -> set[str]:
        """The cases shown in its diagnostics: all except those that ran again since.

        For an attempt that the user chose, all its cases are shown.
        """
        cases = {case.id for case in self.started.problem.spec.cases} if self.started else set()
        return cases if self.view.chosen_attempt is not None else cases - self.view.superseded_cases

    def concerns(self, path: str, qualname: str) -> bool:
        """True if the run concerns this function or test."""
        return (path, qualname) in self.concerned()

    def concerned(self) -> Iterator[tuple[str, str]]:
        """The run's target, the regions it may change or has changed, and its cases, as path and qualified name."""
        yield self.target.path, self.target.qualname
        if self.started is not None:
            regions = (*self.started.problem.regions, *self._result_regions)
            yield from ((region.path, region.qualname) for region in regions if region.qualname)
            for case in self.started.problem.spec.cases:
                path, *names = case.id.split("[")[0].split("::")
                yield path, ".".join(names)

    # -- changes ----------------------------------------------------------------------------------------------------

    def follow(self, event: Event) -> None:
        """Takes note of an event that the progress has; a new attempt is shown at once."""
        if isinstance(event, Tested) and event.attempt.number > self.view.newest_attempt:
            self.view.newest_attempt, self.view.chosen_attempt = event.attempt.number, None

    def cancel(self) -> bool:
        """Cancels the run; whether that was possible. A result that is being applied cannot be cancelled."""
        if not self.cancellable:
            return False
        self.cancelled = True
        if self.work is not None:
            self.work.cancel()
        return True

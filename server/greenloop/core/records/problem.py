"""The input of a run, the context that a prompt shows of it, and the findings that a report shows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.records.spec import Region, Spec
from greenloop_sandbox import CaseResult, Frame
from greenloop_sandbox.report.inspections import InspectedFailure

NAMESAKE = "the test is named after it"  # why a function is related


@dataclass(frozen=True, kw_only=True)
class Approach:
    """Path of a case to a region: `depth` calls below the test (1: called by it), the last one by `caller`."""

    depth: int
    caller: Frame | None = None


@dataclass(frozen=True, kw_only=True)
class ImportCorrection:
    """Correction of a statement that imports something that does not exist.

    `renamed` has the names that it no longer binds, with those that it binds instead; `uses` are the functions of the
    file that use these.
    """

    region: Region
    text: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    uses: tuple[Region, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A text file that the code of the `reader` reads in failing cases.

    `role`: it judges ("expected results"), and stays as it is. `line` is the only one that has the `observed` value of
    a failed assertion (0: none), `corrected` that line with the expected value in its place.
    """

    path: str
    reader: str
    role: str = ""
    line: int = 0
    observed: str = ""
    corrected: str = ""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The input of a run. Frozen: edits that the user makes during the run are compared with it, never mixed into it.

    `originals`: the user's text of each relevant file (None: no file), including unsaved buffers.
    `files`: the same texts with stubs for regions to be created; candidates are composed on these.
    `buffers`: every text that differs from the disk and must replace it in the sandbox.
    `suspicion`: by path and line of `files`, the Ochiai score of the line in the failing cases (0..1).
    `neighbours`: the related tests whose outcome with the user's own code is known, nearest to the regions first;
    `unaffected`: those of them that never reach the regions, so that a change of the bodies alone cannot affect them.
    `approaches`: by case id, how the case reaches the regions, for cases that are known to reach them.
    `suspects`: other regions that may be at fault instead, most suspicious first; search may turn to each in its turn.
    `places`: how many of all these a whole answer is shown, where a model has room for more than the regions (else 0).
    `open`: whatever else the regions' files have may be changed too, by a whole answer.
    `exact`: an answer changes the regions that it was asked for, and nothing else.
    `corrections`: of imports without which no test can be collected; each candidate has them all.
    `sites`: the folders of the packages that the tests' environment has, where they can be read.
    `siblings`: those of the neighbours that are in the target's files and failed for the same cause.
    `why_refused` returns why changed texts are no honest solution, by the user's texts; "" where they may be one.
    `data`: files that may be at fault in place of code, those with a value of the failure first.
    """

    root: Path
    spec: Spec
    regions: tuple[Region, ...]
    originals: Mapping[str, str | None]
    files: Mapping[str, str]
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    instruction: str = ""
    neighbours: tuple[str, ...] = ()
    unaffected: tuple[str, ...] = ()
    suspicion: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    approaches: Mapping[str, Approach] = field(default_factory=dict)
    suspects: tuple[Region, ...] = ()
    places: int = 0
    open: bool = False
    exact: bool = False
    corrections: tuple[ImportCorrection, ...] = ()
    sites: tuple[Path, ...] = ()
    siblings: tuple[str, ...] = ()
    data: tuple[DataFile, ...] = ()
    why_refused: Callable[[Mapping[str, str | None], Mapping[str, str]], str] | None = None

    @property
    def question(self) -> Hashable:
        """Key that distinguishes the problem from others of the same run that a model is asked about."""
        return self.regions, self.open

    @property
    def names(self) -> str:
        """Names of the code to change, for a text: those of the regions, or that of their class if it is the same."""
        owners = {region.qualname.rpartition(".")[0] for region in self.regions}
        if len(self.regions) > 1 and len(owners) == 1 and "" not in owners:
            return owners.pop()
        return ", ".join(dict.fromkeys(region.qualname for region in self.regions))

    def opened(self, regions: tuple[Region, ...]) -> Problem:
        """Returns the problem for a whole answer about these regions: with the suspects that follow, if there is room.

        None: the problem's own regions.
        """
        focused = self.focused(regions)
        if not self.places or any(region.created for region in focused.regions):
            return focused
        ranked = (*self.regions, *self.suspects)
        following = ranked[ranked.index(focused.regions[-1]) + 1 :] if focused.regions[-1] in ranked else ()
        more = following[: max(self.places - len(focused.regions), 0)]
        return replace(focused.focused((*focused.regions, *more)), open=True)

    def focused(self, regions: tuple[Region, ...]) -> Problem:
        """Returns the problem with these regions to change instead of its own; none: the problem itself."""
        if not regions or regions == self.regions:
            return self
        others = tuple(region for region in (*self.regions, *self.suspects) if region not in regions)
        return replace(self, regions=regions, suspects=others, approaches={})


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A piece of context for the prompt. Those with a higher `value` are cut later when the prompt is too long.

    `own`: it is the code to change; `bare` is the same without the bodies, for a restart. `others` are texts that can
    stand in place of `text`, for samples that are to differ.
    """

    title: str
    text: str
    value: float
    language: str = "python"
    own: bool = False
    bare: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Findings about a failure when the question about it is sent.

    `cases` are the results of the target's cases; `inspected` describes some of them. `siblings` are other tests of the
    file that fail for the same cause, `others` the rest of its failing tests. `reasons` say why a function is
    suspicious. `nearest` are the innermost functions of tracebacks; `related` are functions that are no suspects, with
    a reason for each. `versions` is a sentence.
    """

    problem: Problem
    cases: Sequence[CaseResult]
    inspected: Mapping[str, InspectedFailure] = field(default_factory=dict)
    siblings: Sequence[CaseResult] = ()
    others: Sequence[CaseResult] = ()
    reasons: Mapping[Region, str] = field(default_factory=dict)
    nearest: tuple[Region, ...] = ()
    related: Mapping[Region, str] = field(default_factory=dict)
    versions: str = ""

    @property
    def failing(self) -> list[CaseResult]:
        return [case for case in self.cases if not case.passed]

    @property
    def suspects(self) -> tuple[Region, ...]:
        """Existing regions that may be at fault, most suspicious first."""
        return tuple(each for each in (*self.problem.regions, *self.problem.suspects) if not each.created)

"""The port `Requirement`: something that a candidate has to satisfy beyond its test cases.

An entry point of the group `greenloop.requirements` names a module with `async begin(start) -> Requirement | None`,
called once a run, before any candidate, and, if rulings have data, `show(data) -> Shown` (`core/feature_data.py`). It
must not know any of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core import entry_points
from greenloop.core.deadline import Deadline
from greenloop.core.errors import SettingsError
from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import region_definition
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verification_inputs import VerificationInputs
from greenloop_sandbox import CaseResult, Session


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A candidate whose tests have run: its whole texts (`files`), those that it changed, and a session to run them in.

    `is_final`: it is about to be accepted. The user's own code is the trial that changes nothing.
    """

    inputs: VerificationInputs
    files: Mapping[str, str]
    changed: Mapping[str, str] = field(default_factory=dict)
    session: Session | None = None
    is_final: bool = False
    deadline: Deadline = field(default_factory=Deadline)

    @property
    def problem(self) -> Problem:
        return self.inputs.problem


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """A requirement's judgement of a candidate: results of its cases, and plain data that only it reads and shows.

    `shares`: by the id of a failed case that ran in the sandbox, how much of it holds (0..1). `ratio`, where the data
    have it, is the cost against that of the user's own code: of several candidates the lowest is elected. `note`, where
    they have it, is a sentence about the result.
    """

    results: Sequence[CaseResult] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)


async def no_ruling(trial: Trial, verdict: Verdict) -> Ruling:  # noqa: ARG001
    """The ruling of a requirement whose cases all run in the sandbox."""
    return Ruling()


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """A requirement of one run: the cases that it adds, and how it judges them.

    `judge` gets a trial and the verdict of its tests, where `asks_user` that of everything else. `instruction` tells a
    model what to know before it starts; `results` are those of the user's own code. `doubt` is a reservation about any
    result; `is_met`: the user's own code satisfies it, and there is nothing to do. `goal`: the target passes its tests,
    and this is what it is to become, in words for people.
    """

    name: str
    judge: Callable[[Trial, Verdict], Awaitable[Ruling]] = no_ruling
    spec: Spec = field(default_factory=Spec)
    instruction: str = ""
    results: Sequence[CaseResult] = ()
    doubt: str = ""
    goal: str = ""
    is_met: bool = False
    asks_user: bool = False


@dataclass(frozen=True, kw_only=True)
class Start:
    """The beginning of a run: the user's own code, the part's tools and options, and the requirements so far."""

    trial: Trial
    tools: Tools
    options: Mapping[str, Any] = field(default_factory=dict)
    report_status: Callable[[str], None] = lambda _line: None
    others: Sequence[Requirement] = ()

    @property
    def problem(self) -> Problem:
        return self.trial.problem


def has_requirement(name: str) -> bool:
    """Is a requirement of this name installed?"""
    return any(entry.name == name for entry in entry_points.find_entry_points(entry_points.REQUIREMENTS))


def load_requirement(name: str) -> Any:
    """The module of a requirement. Raises `SettingsError` where it is not installed."""
    entries = entry_points.find_entry_points(entry_points.REQUIREMENTS)
    found = next((entry for entry in entries if entry.name == name), None)
    if found is None:
        raise SettingsError(
            f"The requirement `{name}` is not installed.", remedy="Install greenloop again, with its plugins."
        )
    return entry_points.load(found)


async def judge(requirements: Sequence[Requirement], trial: Trial, verdict: Verdict) -> Verdict:
    """Returns the verdict of the tests with what the requirements say of the candidate; the user is asked last.

    A candidate that breaks one is still judged by the others: feedback reports all results.
    """
    rulings = [(each.name, await each.judge(trial, verdict)) for each in requirements if not each.asks_user]
    for name, ruling in rulings:
        verdict = with_ruling(trial.problem, verdict, name, ruling)
    if trial.is_final and verdict.status is Status.PASSED:
        for each in requirements:
            if each.asks_user:
                verdict = with_ruling(trial.problem, verdict, each.name, await each.judge(trial, verdict))
    return verdict


def with_ruling(problem: Problem, verdict: Verdict, name: str, ruling: Ruling) -> Verdict:
    """Adds a ruling to the verdict, which fails if a case of it did; cases that no longer count are left out."""
    counted = {case.id for case in problem.spec.cases}
    verdict = with_results(verdict, [result for result in ruling.results if result.id in counted])
    cases = tuple(replace(case, share=ruling.shares.get(case.id, case.share)) for case in verdict.cases)
    data = {**verdict.data, name: ruling.data} if ruling.data else verdict.data
    return replace(verdict, cases=cases if ruling.shares else verdict.cases, data=data)


def with_results(verdict: Verdict, results: Sequence[CaseResult]) -> Verdict:
    """Adds these cases to the verdict, which fails if one of them did; skipped cases are ignored."""
    failed = any(result.outcome not in ("passed", "skipped") for result in results)
    status = Status.FAILED if failed and verdict.status is Status.PASSED else verdict.status
    return replace(verdict, status=status, cases=(*verdict.cases, *results))


def region_case(problem: Problem, region: Region, name: str, provenance: Provenance, source: str) -> Case:
    """A case about a region that no test of the sandbox decides; `source` says what has to hold."""
    return Case(
        id=f"{region.path}::{region.qualname}::{name}",
        path=region.path,
        line=name_line(problem, region),
        provenance=provenance,
        confirmed=True,
        source=source,
    )


def name_line(problem: Problem, region: Region) -> int:
    """The line of `Problem.files` with the region's name, after any decorators."""
    node, offset = region_definition(problem.files[region.path], region.start, region.end) or (None, 0)
    return offset + node.lineno if node else region.start

"""Inputs of a verification: the problem, its baseline outcomes, limits, and the encoding of texts.

It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core.errors import SandboxBrokenError
from greenloop.core.reach import changes_only_bodies
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verdict import judge
from greenloop_sandbox import Execution, Limits, TestRun

# Hash seed of the accepting runs; the runs of the loop use 0.
ACCEPTING = 20_011

Encode = Callable[[Mapping[str, str]], Mapping[str, bytes]]


@dataclass(frozen=True, kw_only=True)
class VerificationInputs:
    """Data that all runs of a verification share; `outcomes` are those with the user's own code, by case id.

    `suite_seconds` limit a run of the related tests; `unmeasured` are those that the baseline had no time for.
    `own` are the files of the user's own code that differ from the disk; None where it is not known any more.
    """

    problem: Problem
    outcomes: Mapping[str, str]
    limits: Limits
    suite_seconds: float
    encode: Encode
    unmeasured: tuple[str, ...] = ()
    own: Mapping[str, bytes] | None = None
    network: bool = False

    @property
    def expected(self) -> tuple[str, ...]:
        """Ids of the cases that run in the sandbox."""
        return tuple(case.id for case in self.problem.spec.cases if case.executed)

    def related(self, files: Mapping[str, str]) -> tuple[str, ...]:
        """Returns the related tests that these changed texts can affect, nearest first."""
        problem = self.problem
        if not problem.unaffected or not changes_only_bodies(problem.files, files, problem.regions):
            return problem.neighbours
        unaffected = {*problem.unaffected}
        return tuple(case for case in problem.neighbours if case not in unaffected)

    @property
    def generated_files(self) -> Mapping[str, bytes]:
        """Tests that greenloop wrote; every run includes them."""
        return {path: text.encode() for path, text in self.problem.spec.files.items()}

    def test_run(self, files: Mapping[str, str], *, hash_seed: int = ACCEPTING) -> TestRun:
        """Returns a run of the target cases over these texts."""
        return TestRun(
            selectors=self.problem.spec.selectors,
            files={**self.problem.buffers, **self.generated_files, **self.encode(files)},
            seconds=self.limits.seconds,
            hash_seed=hash_seed,
        )

    def judge(self, execution: Execution) -> Verdict:
        """Judges the expected cases of a candidate's run; see `judge_candidate`."""
        return judge_candidate(self.expected, self.outcomes, execution)


def judge_candidate(expected: Sequence[str], outcomes: Mapping[str, str], execution: Execution) -> Verdict:
    """Judges a candidate's run: only a broken sandbox counts as an environment fault; a missing package is its own.

    Raises `SandboxBrokenError` when the sandbox itself failed.
    """
    check_sandbox(execution)
    verdict = judge(expected, outcomes, execution)
    return replace(verdict, status=Status.FAILED) if verdict.status is Status.ENVIRONMENT else verdict


def check_sandbox(execution: Execution) -> None:
    """Raises `SandboxBrokenError` when the sandbox itself failed."""
    if execution.broken:
        raise SandboxBrokenError(execution.broken)

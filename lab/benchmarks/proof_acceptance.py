"""The acceptance of one honest answer, for `proofs.py`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.summary import verification_level
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.engine import sandbox_spec
from greenloop.project import configuration
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Limits, Session, TestRun

SECONDS = 60.0
PROOFS = ("apart", "fails with wrong results")


@dataclass(kw_only=True)
class Shared:
    """One open session for all acceptances: each of its runs is a fork, and opening one takes longer than a run."""

    session: Session

    @property
    def name(self) -> str:
        return self.session.name

    async def run(self, run: TestRun) -> Any:
        return await self.session.run(run)

    async def close(self) -> None:
        pass


@contextlib.asynccontextmanager
async def opened(root: Path) -> AsyncIterator[Shared]:
    found, _warnings = configuration.load(root)
    back_end, place = await sandbox_spec.choose_sandbox(root, found)
    session = await back_end.open(place)
    try:
        yield Shared(session=session)
    finally:
        await session.close()


async def accepted(
    session: Shared, root: Path, own: Mapping[str, str], right: str, spec: Spec, region: Region
) -> tuple[Verdict, Evidence]:
    """The verdict on the right code, and its evidence.

    `own` has the changed file's text and those of the tests.
    """
    path = region.path
    buffers = {name: text.encode() for name, text in own.items()}
    problem = Problem(root=root, spec=spec, regions=(region,), originals=dict(own), files=dict(own), buffers=buffers)
    inputs = VerificationInputs(
        problem=problem, outcomes={}, limits=Limits(seconds=SECONDS), suite_seconds=SECONDS, encode=encoded
    )
    before = inputs.judge(await session.run(inputs.test_run({})))
    state = RunState(
        problem=problem,
        outcomes={result.id: result.outcome for result in before.cases},
        limits=inputs.limits,
        attempts=[Attempt(number=0, verdict=before)],
    )

    async def same() -> Shared:
        return session

    verifier = Verifier(state=state, open_session=same, suite_seconds=SECONDS, encode=encoded)
    verdict = await verifier.accept({**own, path: right})
    return verdict, state.evidence


def encoded(texts: Mapping[str, str]) -> Mapping[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def row_of(name: str, kind: str, found: tuple[Verdict, Evidence], spec: Spec, edit: str) -> dict[str, Any]:
    verdict, evidence = found
    judged = {*evidence.proofs, *evidence.unproven, *evidence.together}
    passed = [case.id for case in spec.cases if case.id in judged]
    return {
        "id": name,
        "kind": kind,
        "edit": edit,
        "status": verdict.status.value,
        "reason": verdict.reason,
        "cases": len(spec.cases),
        "judged": len(passed),
        "proofs": {proof: sum(proof in evidence.proofs.get(case, ()) for case in passed) for proof in PROOFS},
        "proven": len(evidence.proofs),
        "unproven": {**evidence.unproven, **evidence.together},
        "verified": verdict.status is Status.PASSED and verification_level(evidence) is Verified.VERIFIED,
    }

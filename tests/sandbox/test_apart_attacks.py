"""Every forgery of tests/sandbox/attacks/apart_*.py against the proof in which judge and code are apart.

None of them is proven; the honest changes with the same mechanism all are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec
from greenloop.core.test_selection import find_tests
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict import apart
from greenloop_sandbox import Environment, Limits, SandboxSpec, Session
from greenloop_sandbox.backends.bubblewrap import Bubblewrap

from .attacks import FORGERIES, HONEST
from .attacks.forgery import Forgery

pytestmark = [pytest.mark.timeout(600), pytest.mark.needs("bubblewrap")]
one_loop = pytest.mark.asyncio(loop_scope="module")  # that of the session


def sample(cases: Sequence[Forgery]) -> tuple[str, ...]:
    """The first of each family: what `make test` tries."""
    first = {case.family: f"[{case.id}]" for case in reversed(cases)}
    return tuple(first.values())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session(tmp_path_factory: pytest.TempPathFactory, bare_environment: Environment) -> AsyncIterator[Session]:
    """One session for all: what one of them leaves behind meets the others."""
    root = tmp_path_factory.mktemp("apart")
    (root / "pytest.ini").write_text("[pytest]\n")
    found = await Bubblewrap().open(SandboxSpec(root=root, environment=bare_environment))
    yield found
    await found.close()


async def proven(session: Session, change: Forgery) -> apart.Proofs:
    """The proof of all cases of its tests, each of which failed with the user's own code."""
    texts = {**change.own, **change.tests}
    names = {path: find_tests(text) for path, text in change.tests.items() if Path(path).name.startswith("test_")}
    cases = [f"{path}::{name}" for path in names for name in names[path]]
    problem = Problem(
        root=Path("/"),
        spec=Spec(
            cases=tuple(Case(id=case, path=case.partition("::")[0], line=1) for case in cases), selectors=tuple(names)
        ),
        regions=(),
        originals=change.own,
        files=texts,
        buffers=encoded(texts),
    )
    inputs = VerificationInputs(
        problem=problem,
        outcomes=dict.fromkeys(cases, "failed"),
        limits=Limits(seconds=10),
        suite_seconds=60,
        encode=encoded,
    )
    own = apart.OwnCode(texts={path: change.own.get(path) for path in change.new})
    return await apart.prove(inputs, session, change.new, own, cases)


def encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


@pytest.mark.story("a forgery is not proven apart", only=sample(FORGERIES))
@one_loop
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda change: change.id)
async def test_a_forgery_is_not_proven(session: Session, forgery: Forgery):
    proofs = await proven(session, forgery)
    assert not proofs.proven


@pytest.mark.story("an honest change is proven apart", only=sample(HONEST))
@one_loop
@pytest.mark.parametrize("change", HONEST, ids=lambda change: change.id)
async def test_an_honest_change_is_proven(session: Session, change: Forgery):
    proofs = await proven(session, change)
    assert proofs.proven
    assert not proofs.unproven

"""Every attack of tests/sandbox/attacks against every wall, and every faked pass against the whole proof.

`pytest tests/sandbox/test_attacks.py -k bubblewrap` (or docker, or control) runs one part of it.
The table at the end of the output is the one in tests/sandbox/attacks/README.md.
"""

from __future__ import annotations

import ast
import asyncio
import doctest
import os
import platform
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.summary import verification_level
from greenloop.core.test_selection import find_tests
from greenloop.core.text.redact import clean_for_display
from greenloop.core.verdict import judge
from greenloop.project.settings import SandboxSettings
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Environment, Limits, SandboxSpec, Session, TestRun
from greenloop_sandbox.backends import docker
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from spec_problem import begin_configured, make_tools

from .attacks import ATTACKS, FAKES, table
from .attacks.attack import Attack, Fake, Promise, Wins, module
from .attacks.machine import VARIABLE, Machine, Wants, Watch
from .attacks.unprotected import SECONDS, Seen, UnprotectedRun

pytestmark = pytest.mark.timeout(600)
one_loop = pytest.mark.asyncio(loop_scope="module")  # that of the session

LIMITS = Limits(seconds=8.0, memory=128 << 20, disk=16 << 20, output=1 << 16, processes=32)
SECURITY = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
HONEST = "assert 1 + 1 == 2\n"
TRIES = 20  # of a fake that races with the pytest that it fools


def examples(backend: str, cases: Sequence[Attack] | Sequence[Fake], *, step: int = 1) -> tuple[str, ...]:
    """The first case of each family, or of every so manieth: what `make test` tries on this back end."""
    first = {case.family: f"[{backend}-{case.id}]" for case in reversed(cases)}
    return tuple(first[family] for family in sorted(first)[::step])


BACKENDS = [
    pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap")),
    pytest.param("docker", marks=pytest.mark.needs("docker")),
]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    found = Machine()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, found.secret)
        yield found
    found.close()


@pytest.fixture(scope="module")
def plain(machine: Machine) -> Iterator[UnprotectedRun]:
    found = UnprotectedRun(machine)
    yield found
    found.close()


async def open_session(backend: str, place: SandboxSpec) -> Session:
    return await (Bubblewrap() if backend == "bubblewrap" else docker.create(SandboxSettings())).open(place)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=BACKENDS)
async def session(request, machine: Machine, bare_environment: Environment) -> AsyncIterator[Session]:
    """One session for all attacks: what one of them leaves behind meets the others."""
    masked = (".env*", "*.pem", "id_rsa*", ".git")
    place = SandboxSpec(root=machine.root, environment=bare_environment, masked=masked, limits=LIMITS)
    found = await open_session(request.param, place)
    yield found
    await found.close()


# -- the wall ---------------------------------------------------------------------------------------------------


def foreign(attack: Attack) -> bool:
    """System calls are written by their numbers, which are those of one machine."""
    return "libc.syscall(" in attack.code + attack.after and platform.machine() != "x86_64"


@pytest.mark.story(
    "each class of attack is contained",
    only=(*examples("bubblewrap", ATTACKS), *examples("docker", ATTACKS, step=4)),
)
@one_loop
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
async def test_an_attack_is_contained(session: Session, machine: Machine, attack: Attack):
    if foreign(attack):
        pytest.skip("its system calls are written for x86-64")
    aim = machine.aim(Wants())
    watch = Watch(machine)
    files = {
        "attack.py": module(attack.code).encode(),
        "after.py": module(attack.after or HONEST).encode(),
        "aim.py": aim.text().encode(),
    }
    first = await asyncio.wait_for(
        session.run(TestRun(selectors=("test_attack.py",), files=files, seconds=attack.seconds)), attack.seconds + 10
    )
    assert not first.broken, f"the sandbox broke: {first.broken}"
    verdict = judge(["test_attack.py::test_attack"], {}, first)
    assert any(record.get("kind") == "begin" for record in first.records) or first.killed, (verdict, first.output)
    won = []
    if not attack.after and attack.wins is not Wins.SHOWS and verdict.status is Status.PASSED:
        won.append("it got what it wanted")
    if attack.wins is Wins.SHOWS:
        told = [first.output, verdict.reason, *(case.failure.text for case in verdict.cases if case.failure)]
        won += [f"{text!r} is shown" for text in map(clean_for_display, told) if set(text) & set("\x1b\x9b\x07\x08\r")]
    second = await session.run(TestRun(selectors=("test_after.py",), files=files))
    assert not second.broken, f"the sandbox broke afterwards: {second.broken}"
    after = judge(["test_after.py::test_after"], {}, second)
    if attack.after and after.status is Status.PASSED:
        won.append("it got into the next run")
    if not attack.after:
        assert after.status is Status.PASSED, f"an honest run afterwards: {after}"
    won += watch.changes(aim)
    admitted = dict(attack.documented).get(session.name, "")
    table.count(session.name, attack, won=won)
    if admitted:
        assert admitted in SECURITY, f"docs/security.md does not say {admitted!r}"
    else:
        assert not won


@pytest.mark.skipif(sys.platform != "linux", reason="the sacrificial environment is made of Linux namespaces")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_control_an_attack_wins_where_no_wall_is(machine: Machine, plain: UnprotectedRun, attack: Attack):
    if foreign(attack):
        pytest.skip("its system calls are written for x86-64")
    if attack.root and os.getuid() != 0:
        pytest.skip("needs root to win")
    aim = machine.aim(Wants(seconds=0.2, inodes=20_000))
    steps = ["test_attack.py", *(["test_after.py"] if attack.after else [])]
    files = {
        "attack.py": module(attack.code),
        "after.py": module(attack.after or HONEST),
        "aim.py": aim.text(),
    }
    seconds = 3 if attack.wins is Wins.BREAKS else SECONDS
    seen = plain.run(files, steps, seconds=seconds, walls=not attack.tame)
    if attack.wins is Wins.BREAKS:
        assert seen[0].code not in {0, 1}, seen
    elif attack.wins is Wins.SHOWS:
        assert "\x1b" in seen[0].output, seen
    else:
        assert seen[-1].code == 0, seen


# -- the verdict ------------------------------------------------------------------------------------------------


class Shared:
    """A session that outlives the one proof which asked for it."""

    def __init__(self, session: Session) -> None:
        self.name, self.run = session.name, session.run

    async def close(self) -> None:
        """The fixture closes the session."""


async def specified(machine: Machine, fake: Fake, tests: str) -> Problem:
    """The user's problem: what has to pass, and the code with which it does not."""
    texts = {"m.py": fake.red, "test_m.py": tests}
    if fake.score:
        texts["score.py"] = fake.score
    if fake.trace:
        texts["calls.jsonl"] = fake.trace
    node = next(node for node in ast.parse(fake.red).body if getattr(node, "name", "").startswith("double"))
    start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    problem = Problem(
        root=machine.root,
        spec=Spec(),
        regions=(Region(path="m.py", qualname=node.name, start=start, end=node.end_lineno or start),),
        originals=texts,
        files=texts,
        buffers={path: text.encode() for path, text in texts.items() if path != "m.py"},
    )
    options = {"score": "score.py::rate" if fake.score else "", "trace": "calls.jsonl" if fake.trace else ""}
    spec = (await begin_configured(problem, make_tools(**options))).problem.spec
    if fake.examples:
        examples = doctest.DocTestParser().get_examples(ast.get_docstring(node, clean=False))
        ids = [f"m.py::{node.name}::doctest-{number + 1}" for number in range(len(examples))]
        cases = tuple(Case(id=name, path="m.py", line=1, provenance=Provenance.DOCTEST) for name in ids)
        spec = Spec(cases=cases, selectors=(f"doctest:m.py::{node.name}",))
    elif not spec.cases:
        cases = tuple(Case(id=f"test_m.py::{name}", path="test_m.py", line=1) for name in sorted(find_tests(tests)))
        spec = Spec(cases=cases, selectors=("test_m.py",))
    return replace(problem, spec=spec)


async def proved(session: Session, machine: Machine, fake: Fake, code: str, tests: str) -> tuple[Verdict, Evidence]:
    """The whole proof of `m.py` with this text: all cases fail with the user's own code."""
    problem = await specified(machine, fake, tests)

    def encode(texts):
        return {path: text.encode() for path, text in texts.items()}

    async def again() -> Session:
        return Shared(session)

    outcomes = {case.id: "failed" for case in problem.spec.cases}
    state = RunState(problem=problem, outcomes=outcomes, limits=LIMITS)
    verdict = await Verifier(state=state, open_session=again, encode=encode, suite_seconds=30).accept({"m.py": code})
    return verdict, state.evidence


@pytest.mark.story(
    "each class of faked pass is rejected",
    only=(
        *examples("bubblewrap", FAKES),
        *examples("docker", FAKES, step=6),
        "[bubblewrap-doctests: a representation that lies]",  # of doctests alone
    ),
)
@one_loop
@pytest.mark.parametrize("fake", FAKES, ids=lambda fake: fake.id)
async def test_a_faked_pass_is_rejected(session: Session, machine: Machine, fake: Fake):
    verdict, evidence = await proved(session, machine, fake, fake.code, fake.tests)
    is_forged = verdict.status is Status.PASSED and verification_level(evidence) is Verified.VERIFIED
    table.count(session.name, fake, won=is_forged)
    if fake.promise is Promise.DOCUMENTED:
        assert fake.documented in SECURITY, f"docs/security.md does not say {fake.documented!r}"
        assert is_forged, "it is no win any more: promise it"
        return
    assert not is_forged, f"forged: {evidence}"


@pytest.mark.story("honest code is accepted", only=examples("bubblewrap", FAKES, step=3))
@one_loop
@pytest.mark.parametrize("fake", FAKES, ids=lambda fake: fake.id)
async def test_its_honest_twin_is_accepted(session: Session, machine: Machine, fake: Fake):
    verdict, evidence = await proved(session, machine, fake, fake.twin.code, fake.twin.tests)
    is_verified = verification_level(evidence) is Verified.VERIFIED
    is_accepted = verdict.status is Status.PASSED and (is_verified or not fake.twin.verified)
    table.count_twin(session.name, fake, accepted=is_accepted)
    assert verdict.status is Status.PASSED, verdict
    assert is_verified or not fake.twin.verified, evidence.unproven


@pytest.mark.parametrize("fake", FAKES, ids=lambda fake: fake.id)
async def test_control_a_faked_pass_fools_plain_pytest(plain: UnprotectedRun, machine: Machine, fake: Fake):
    """By its exit code, its report file or what it prints; one that races with pytest may lose a few times."""
    problem = await specified(machine, fake, fake.tests)
    files = {path: text.decode() for path, text in problem.buffers.items()}
    files = {**files, **problem.spec.files, "m.py": fake.code}
    step = "m.py" if fake.examples else problem.spec.cases[0].id.partition("::")[0]
    seen: list[Seen] = []
    while not seen or (not fooled(seen[-1]) and len(seen) < TRIES):
        seen += plain.run(files, [step])
    assert fooled(seen[-1]), seen


@pytest.mark.parametrize("fake", FAKES, ids=lambda fake: fake.id)
async def test_control_the_users_own_code_is_red(plain: UnprotectedRun, machine: Machine, fake: Fake):
    problem = await specified(machine, fake, fake.tests)
    files = {path: text.decode() for path, text in problem.buffers.items()}
    step = "m.py" if fake.examples else problem.spec.cases[0].id.partition("::")[0]
    (seen,) = plain.run({**files, **problem.spec.files, "m.py": fake.red}, [step])
    assert seen.code == 1 or "ImportError" in seen.output, seen


def fooled(seen: Seen) -> bool:
    """Whether a pytest without greenloop tells of nothing that failed, in one place at least."""
    report = bool(seen.junit) and 'failures="0"' in seen.junit and 'errors="0"' in seen.junit
    words = "passed" in seen.output and "failed" not in seen.output and "error" not in seen.output
    return seen.code == 0 or words or (report and 'tests="0"' not in seen.junit)

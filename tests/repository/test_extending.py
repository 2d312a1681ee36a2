"""docs/extending.md: each file it shows is put into its folder and run."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import random
import re
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from contracts import CONTRACTS
from double_problem import BASELINE, PROBLEM, RIGHT, WRONG, judge_files, make_answer
from greenloop.core import registry
from greenloop.core.budget import Ledger
from greenloop.core.events import Started
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Finding, Move
from greenloop.core.records.model import Budget, ChatRequest, Reply, ToolCall, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.engine import presets
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts
from greenloop.plugins.conversations.exchange import Looking
from greenloop.plugins.conversations.looks._project import ProjectView
from greenloop.project.settings import SandboxSettings
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import Environment, Execution, SandboxSpec, TestRun

PAGE = (Path(__file__).resolve().parents[2] / "docs/extending.md").read_text(encoding="utf-8")
FILES = {found[1]: found[0] for found in re.findall(r"```python\n(# (\w+/\w+\.py)\n.*?)```", PAGE, re.DOTALL)}
OF_PLUGINS = {"looks": "greenloop.plugins.conversations.looks", "specs": "greenloop.plugins.written_tests.kinds"}
PARAMETERS = {
    "feedback": ["problem", "attempts", "tools"],
    "looks": ["arguments", "project"],
    "search": ["problem", "attempts"],
    "specs": ["problem", "tools"],
    "sandboxes": ["settings"],
}


@pytest.fixture
def part(tmp_path, monkeypatch):
    """`part("search/fresh.py")`: the page's file as a variant that the registry finds."""
    made = []

    def put(name: str):
        folder, _, file = name.partition("/")
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / file).write_text(FILES[name], encoding="utf-8")
        package = importlib.import_module(registry.PACKAGES.get(folder) or OF_PLUGINS[folder])
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(place)])
        importlib.invalidate_caches()
        module = registry.load_part(folder, file.removesuffix(".py"))
        made.append((package, module.__name__))
        return module

    yield put
    for package, name in made:
        sys.modules.pop(name, None)
        vars(package).pop(name.rpartition(".")[2], None)


def test_the_page_has_a_file_for_each_of_these_parts():
    assert {name.partition("/")[0] for name in FILES} == set(PARAMETERS)


@pytest.mark.parametrize("name", sorted(FILES))
def test_each_file_keeps_its_contract(part, name):
    folder = name.partition("/")[0]
    contract = getattr(part(name), CONTRACTS[folder])
    assert list(inspect.signature(contract).parameters) == PARAMETERS[folder]
    assert inspect.iscoroutinefunction(contract) is (folder in ("feedback", "looks", "specs"))


async def test_search_and_feedback_work_in_a_loop(part):
    plan, describe = part("search/fresh.py").plan, part("feedback/shortest.py").describe
    answers = [*WRONG[:2], "", RIGHT]
    prompts = []

    async def ask(request, _on_token) -> Reply:
        prompts.append(request)
        answer = answers.pop(0)
        return Reply(
            text=make_answer(answer) if answer else "I cannot.", usage=Usage(completion_tokens=9), model="scripted"
        )

    async def verify(files) -> Verdict:
        return judge_files(files)

    async def described(problem, attempts):
        passed = attempts[-1].verdict.status is Status.PASSED
        return () if passed else (await describe(problem, attempts, None),)

    parts = Parts(
        plan=plan,
        assemble=lambda _problem, draft, _attempts: ChatRequest(
            messages=(), role=draft.role, temperature=draft.temperature
        ),
        ask=ask,
        verify=verify,
        glance=verify,
        accept=verify,
        describe=described,
        model_of=lambda _draft: "scripted",
        count=len,
    )
    started = Started(problem=PROBLEM, baseline=BASELINE, model="scripted", preset="fresh", sandbox="test", attempts=5)
    state = RunState(problem=PROBLEM, ledger=Ledger(Budget(attempts=5)))
    outcome = await loop.refine(state, started, parts, lambda _event: None)
    assert outcome.reason is StopReason.SOLVED
    assert [attempt.draft.move for attempt in outcome.attempts[1:]] == [Move.DRAFT] * 4
    assert [prompt.temperature for prompt in prompts] == pytest.approx([0.0, 0.2, 0.4, 0.6])
    assert outcome.attempts[1].notes[0].text == "test_m.py::test_two\nassert 3 == 4"
    assert outcome.attempts[1].notes[0].fields == {"failing": 2}
    assert outcome.attempts[3].notes[0].text == "The answer holds no code."


async def test_the_look_is_one_of_the_tools_and_sees_no_hidden_file(part, tmp_path):
    module = part("looks/newest.py")
    root = tmp_path / "w"
    root.mkdir()
    for number, name in enumerate(("a.py", "b.txt", ".env")):
        (root / name).write_text(name)
        os.utime(root / name, (number, number))
    project = ProjectView(
        snapshot=Snapshot(root=root, buffers={}), problem=PROBLEM, changed={}, masked=(".env*",), run=None
    )
    looking = Looking(mask=str, tokens=1000)
    assert module.SPEC in looking.tools
    look = await looking.look(ToolCall(id="1", name="newest", arguments="{}"), project)
    assert look.result == "b.txt\na.py"


async def test_feedback_of_nothing_that_ran(part):
    describe = part("feedback/shortest.py").describe
    killed = Attempt(number=1, verdict=Verdict(status=Status.CRASHED, reason="It was killed."))
    refused = Attempt(
        number=1, verdict=Verdict(status=Status.REFUSED), finding=Finding(error_class="E", message="Not so.")
    )
    assert (await describe(PROBLEM, [killed], None)).text == "It was killed."
    assert (await describe(PROBLEM, [refused], None)).text == "Not so."


def test_the_preset_is_read_and_names_what_exists(part, tmp_path):
    part("search/fresh.py")
    part("feedback/shortest.py")
    block = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[-1]
    built_in = files("greenloop").joinpath("engine", "presets.toml").read_text(encoding="utf-8")
    (tmp_path / "presets.toml").write_text(f"{built_in}\n{block}", encoding="utf-8")
    preset = presets._read(tmp_path / "presets.toml")["fresh"]
    assert preset.search in registry.list_parts("search")
    assert set(preset.feedback) <= set(registry.list_parts("feedback"))
    assert set(preset.context) <= set(registry.list_parts("context"))


class Collecting:
    """A session in which pytest collects these cases."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked: list[TestRun] = []

    async def run(self, run: TestRun) -> Execution:
        self.asked.append(run)
        cases = [{"id": f"test_m.py::{name}", "path": "test_m.py", "line": n} for n, name in enumerate(self.names, 1)]
        return Execution(records=({"kind": "collected", "seq": 0, "cases": cases},), status=0)


async def test_the_spec_takes_the_tests_that_bear_the_functions_name(part):
    session = Collecting("test_double", "test_double_of_none[1]", "test_half", "TestAll::test_double_twice")
    tools = Tools(ask=None, run=None, session=session, user=NoUser(), rng=random.Random(0))
    region = Region(path="m.py", qualname="double", start=1, end=3)
    problem = Problem(root=Path(), spec=Spec(), regions=(region,), originals={}, files={"m.py": ""})
    spec = await part("specs/conventional.py").collect(problem, tools)
    assert session.asked == [TestRun(selectors=("test_m.py",), collect=True)]
    assert spec.selectors == (
        "test_m.py::test_double",
        "test_m.py::test_double_of_none[1]",
        "test_m.py::TestAll::test_double_twice",
    )


@pytest.mark.needs("bubblewrap")
async def test_the_sandbox_runs_tests_and_writes_down_that_it_did(part, tmp_path, monkeypatch):
    log = tmp_path / "runs.jsonl"
    monkeypatch.setenv("GREENLOOP_RUNS", str(log))
    root = tmp_path / "project"
    root.mkdir()
    (root / "test_m.py").write_text("def test_a():\n    assert True\n")
    sandbox = part("sandboxes/logged.py").create(SandboxSettings())
    probe = await sandbox.probe()
    assert (probe.name, probe.ok) == ("logged", True)
    environment = Environment(
        executable=Path(sys.executable),
        prefix=Path(sys.prefix),
        base=Path(sys.base_prefix),
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )
    session = await sandbox.open(SandboxSpec(root=root, environment=environment))
    await session.warm()
    execution = await session.run(TestRun(selectors=("test_m.py",), seconds=60.0))  # a busy machine is slow to start
    await session.pause()
    await session.close()
    assert execution.status == 0, execution
    assert [json.loads(line)["selectors"] for line in log.read_text().splitlines()] == [["test_m.py"]]


async def test_the_sandbox_says_what_it_lacks(part, monkeypatch):
    monkeypatch.delenv("GREENLOOP_RUNS", raising=False)
    probe = await part("sandboxes/logged.py").create(SandboxSettings()).probe()
    assert (probe.ok, probe.remedy) == (False, "Set GREENLOOP_RUNS.")

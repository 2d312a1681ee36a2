"""A node opens a sandbox only over the same files, and says what it lacks."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.project import sandbox_selection
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_lab.sandboxes.cluster.messages import Refusal
from greenloop_lab.sandboxes.cluster.node_sandbox import NodeSandbox, Opening, workspace_state
from greenloop_sandbox import Environment, Execution, SandboxSpec, TestRun


@pytest.fixture
def opening(tmp_path):
    (tmp_path / "m.py").write_text("a = 1\n")
    environment = Environment(
        executable=Path(sys.executable),
        prefix=tmp_path,
        base=tmp_path,
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )
    spec = SandboxSpec(root=tmp_path, environment=environment)
    settings = Settings(sandbox=SandboxSettings(kind="ray"))
    return Opening(spec=spec, settings=settings, state=workspace_state(tmp_path))


@pytest.fixture
def chosen(monkeypatch):
    """The kinds of sandbox that were asked for; each opens a session that says what it ran."""
    kinds, closed = [], []

    async def run(run):
        return Execution(output=" ".join(run.selectors))

    async def close():
        closed.append(True)

    async def open_session(spec):
        return SimpleNamespace(name="bubblewrap", run=run, close=close, spec=spec)

    async def choose(settings, _report):
        kinds.append(settings.sandbox.kind)
        return SimpleNamespace(open=open_session)

    monkeypatch.setattr(sandbox_selection, "choose", choose)
    return SimpleNamespace(kinds=kinds, closed=closed)


async def open_node(opening):
    node = NodeSandbox()
    return node, pickle.loads(await node.open(pickle.dumps(opening)))


async def test_a_node_runs_in_a_sandbox_of_its_own_choice(opening, chosen):
    node, name = await open_node(opening)
    assert (name, chosen.kinds) == ("bubblewrap", ["auto"])
    execution = pickle.loads(await node.run(pickle.dumps(TestRun(selectors=("test_m.py",)))))
    assert execution.output == "test_m.py"
    await node.close()
    assert chosen.closed == [True]


async def test_a_node_that_opened_nothing_closes_nothing():
    await NodeSandbox().close()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda spec: replace(spec, root=spec.root / "gone"), "A node of the cluster has no .*gone"),
        (
            lambda spec: replace(spec, environment=replace(spec.environment, executable=Path("/no/python"))),
            "A node of the cluster has no /no/python",
        ),
    ],
)
async def test_what_a_node_lacks_is_named(opening, chosen, change, sentence):
    _node, refusal = await open_node(replace(opening, spec=change(opening.spec)))
    assert isinstance(refusal, Refusal)
    with pytest.raises(Exception, match=sentence) as problem:
        raise refusal.error()
    assert "Share the project's folder and its Python environment" in problem.value.remedy
    assert chosen.kinds == []


async def test_other_files_are_refused(opening, chosen):
    (opening.spec.root / "m.py").write_text("a = 22\n")
    _node, refusal = await open_node(opening)
    assert "are not the same on a node of the cluster" in refusal.sentence
    assert chosen.kinds == []


def test_the_state_is_that_of_paths_sizes_and_times(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "m.py").write_text("a = 1\n")
        os.utime(folder / "m.py", (1, 1))
    assert workspace_state(one) == workspace_state(two)
    os.utime(two / "m.py", (2, 2))
    assert workspace_state(one) != workspace_state(two)

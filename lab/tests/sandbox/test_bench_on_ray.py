"""Tasks on a real cluster of Ray: several nodes on this machine, and one of them is killed."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

import pytest

from greenloop_lab.bench import mbpp, plans, results
from greenloop_lab.bench.on_ray import RayCluster
from greenloop_lab.bench.run import Experiment, run
from ray_cluster import kill_node, start_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.needs("ray"), pytest.mark.needs("bubblewrap"), pytest.mark.timeout(600)]

FIELDS = ("arm", "task", "repeat", "right", "shown_passed", "judge_passed", "verified", "reason", "attempts")


def row(number: int) -> dict:
    return {
        "task_id": number,
        "text": f"Write a function to add {number}.",
        "code": f"def f{number}(a):\n    return a + {number}",
        "test_setup_code": "",
        "test_list": [f"assert f{number}({a}) == {a + number}" for a in range(3)],
    }


@pytest.fixture
def cluster():
    with start_cluster() as made:
        yield made


async def test_a_killed_node_loses_no_row_and_results_are_those_of_one_machine(cluster, tmp_path):
    experiment = Experiment(
        tasks=[mbpp.make_task(mbpp.parse(row(number))) for number in range(1, 5)],
        arms=plans.check_arms([plans.parse_arm("plain")]),
        out=tmp_path / "local.jsonl",
        answers=tmp_path / "local.answers.jsonl",
        repeats=2,
        settings={"model": "reference", "sandbox.kind": "bubblewrap"},
    )
    local = await run(experiment, lambda _text: None)

    status: list[str] = []

    def report(text: str) -> None:
        status.append(text)
        if len(status) == 1:
            kill_node(cluster, next(iter(cluster.worker_nodes)))

    folder = os.getcwd()
    out = tmp_path / "ray.jsonl"
    on = RayCluster(address=cluster.address, report_status=report)
    remote = replace(experiment, out=out, answers=tmp_path / "ray.answers.jsonl", cluster=on)
    done = await asyncio.wait_for(run(remote, report), 400)
    assert [[each.run[name] for name in FIELDS] for each in done] == [
        [each.run[name] for name in FIELDS] for each in local
    ]
    assert len(results.read([out])) == len(local) == 8
    assert len(out.read_text().splitlines()) == sum(1 + len(each.attempts) for each in local)
    assert os.getcwd() == folder
    # What is finished is not run again.
    before = out.read_bytes()
    await run(replace(remote, cluster=RayCluster(address=cluster.address, report_status=report)), report)
    assert out.read_bytes() == before

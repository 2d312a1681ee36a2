"""Where tasks come from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench import sources, tasks
from greenloop_lab.bench.tasks import Task


def row(code: str, *tests: str, number: int = 1) -> dict:
    return {"task_id": number, "text": 'Say "hi"\\n.', "code": code, "test_setup_code": "", "test_list": list(tests)}


async def test_tasks_of_earlier_results_do_not_come_again(tmp_path):
    path = tmp_path / "rows.jsonl"
    every = [row(f"def f{n}(a):\n    return a", f"assert f{n}(1) == 1", number=n) for n in range(10)]
    path.write_text("\n".join(map(json.dumps, every)))
    used = tmp_path / "used.jsonl"
    used.write_text('{"task": "mbpp-3", "kind": "run"}\n{"id": "mbpp-4-half"}\n{"task": "mbpp-5"')
    wanted = sources.TaskSelection(names=[f"mbpp:{path}"], exclude=[used])
    found = await sources.collect_tasks(wanted, {}, lambda _text: None)
    assert [task.id for task in found] == [f"mbpp-{n}" for n in range(10) if n not in (3, 4)]
    with pytest.raises(UsageError, match="no task 'mbpp-3'"):
        await sources.collect_tasks(replace(wanted, only_ids=["mbpp-3"]), {}, lambda _text: None)


async def test_a_sample_is_drawn_of_a_file_of_tasks(tmp_path):
    path = tmp_path / "tasks.jsonl"
    written = [Task(id=f"t{n}", kind="draft", target="test_m.py", files={}, cases=["test_m.py::t"]) for n in range(20)]
    tasks.write(written, path)

    async def drawn(**selection):
        wanted = sources.TaskSelection(names=[str(path)], **selection)
        return [task.id for task in await sources.collect_tasks(wanted, {}, lambda _text: None)]

    every = [task.id for task in written]
    assert await drawn() == await drawn(sample=0) == every
    few = await drawn(sample=4)
    assert len(few) == 4
    assert set(few) < set(every)
    assert await drawn(sample=4) == few != await drawn(sample=4, seed=8)
    assert sorted(await drawn(sample=30)) == sorted(every)
    used = tmp_path / "used.jsonl"
    used.write_text("".join(f'{{"task": "{name}"}}\n' for name in every[:17]))
    assert sorted(await drawn(sample=10, exclude=[used])) == every[17:]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing.jsonl", "There is no nothing.jsonl"),
        ("mutants:nothing", "There is no nothing"),
        ("mbpp:no", "cannot be read"),
    ],
)
async def test_a_source_that_is_not_there_is_told(name, why):
    with pytest.raises(UsageError, match=why):
        await sources.collect_tasks(sources.TaskSelection(names=[name]), {}, lambda _text: None)

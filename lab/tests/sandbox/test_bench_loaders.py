"""Tasks from files that users write, in the real sandbox."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.model import Reply, Usage
from greenloop_lab.bench import plans, sources
from greenloop_lab.bench.reporting.figures import compute_figures
from greenloop_lab.bench.results import BROKEN
from greenloop_lab.bench.run import Experiment, run
from wheels import make_wheel

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

AREA = 'import shapes\n\n\ndef area(side):\n    """The area of a square, by shapes."""\n'
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9\n"
ONE, TWO = "    return shapes.square(side)\n", "    return shapes.Square(side).area\n"


@pytest.fixture
def measure(tmp_path, monkeypatch, bare_python):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = {"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "attempts": 2}

    async def measured(name, arm="plain", model=None, **more):
        tasks = await sources.collect_tasks(sources.TaskSelection(names=[name]), settings, lambda _text: None)
        experiment = Experiment(
            tasks=tasks,
            arms=[plans.parse_arm(arm)],
            out=tmp_path / "out.jsonl",
            answers=tmp_path / "answers.jsonl",
            settings=settings | more,
            model=model,
        )
        return await run(experiment, lambda _text: None)

    return measured


class Model:
    """Answers each question with the next text, the last one again and again; keeps what it was asked."""

    name = "as told"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def complete(self, request, on_token):
        self.asked.append("\n".join(message.content for message in request.messages))
        text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        on_token(text)
        return Reply(text=f"```python\n{text}\n```", usage=Usage(prompt_tokens=10), model=self.name)

    def count_tokens(self, text):
        return len(text) // 4

    async def close(self):
        pass


async def test_functions_of_a_file_are_judged_by_all_their_checks(measure, tmp_path):
    row = {"prompt": "def area(side):\n    'A square.'\n", "test": CHECK, "entry_point": "area"}
    solved = row | {"canonical_solution": "    return side * side\n"}
    (tmp_path / "f.jsonl").write_text(json.dumps(solved) + "\n")
    source = f"file:{tmp_path / 'f.jsonl'}"
    (done,) = await measure(source, model=Model("def area(side):\n    return 4"))
    assert (done.run["shown_passed"], done.run["right"]) == (True, False)
    (tmp_path / "out.jsonl").unlink()
    (tmp_path / "answers.jsonl").unlink()
    (done,) = await measure(source, model=Model("def area(side):\n    return side ** 2"))
    assert (done.run["right"], done.run["task_kind"]) == (True, "function")


async def test_a_function_is_solved_in_each_version_and_the_prompt_names_it(measure, tmp_path):
    for version, code in (
        ("1.5", "def square(side):\n    return side * side\n"),
        ("2.0", "class Square:\n    def __init__(self, side):\n        self.area = side * side\n"),
    ):
        (tmp_path / version).mkdir()
        info = f"shapes-{version}.dist-info"
        files = {
            "shapes.py": code,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: shapes\nVersion: {version}\n",
            f"{info}/RECORD": "shapes.py,,\n",
        }
        make_wheel(tmp_path / version, files, f"shapes-{version}-py3-none-any.whl")
    rows = [
        {"name": "shapes 1", "wheels": "1.5"},
        {"name": "shapes 2", "wheels": "2.0"},
        {"prompt": AREA, "test": CHECK, "entry_point": "area", "task_id": "area"},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    # The first answer is right for the older version only, and the second for the newer one.
    model = Model(AREA + ONE, AREA + ONE, AREA + TWO)
    first, second = await measure(
        f"versions:{tmp_path / 'r.jsonl'}", "best-of-n:search=chain,context=source+tests+versions", model
    )
    assert [(d.run["right"], d.run["attempts"]) for d in (first, second)] == [(True, 1), (True, 2)]
    assert second.attempts[1]["error_class"] == "AttributeError"
    assert "shapes==1.5" in model.asked[0]
    assert "shapes==2.0" in model.asked[1]
    (figures,) = compute_figures([first, second], frozenset(BROKEN))
    assert figures.groups == {"kind: version: shapes 1": (1, 1), "kind: version: shapes 2": (1, 1)}


async def test_an_instruction_with_limits_is_solved_by_what_keeps_them(measure, tmp_path):
    row = {
        "prompt": "def area(side):\n    'A square.'\n", "test": CHECK, "entry_point": "area",
        "constraints": ["no-imports", "max-lines 2"],
    }  # fmt: skip
    (tmp_path / "i.jsonl").write_text(json.dumps(row) + "\n")
    model = Model(
        "import math\n\n\ndef area(side):\n    return int(math.pow(side, 2))", "def area(side):\n    return side ** 2"
    )
    (done,) = await measure(f"instructions:{tmp_path / 'i.jsonl'}", model=model)
    assert (done.run["right"], done.run["attempts"]) == (True, 2)
    (figures,) = compute_figures([done], frozenset(BROKEN))
    assert (figures.limits.first, figures.limits.last) == ((0.5,), (1.0,))


async def test_mutants_with_stacked_changes_fail_and_can_be_mended(measure, tmp_path, lay):
    lay(
        tmp_path / "project",
        {
            "shapes.py": "def perimeter(width, height):\n    total = 2 * (width + height)\n    if total < 0:\n        total = 0\n    return total\n",
            "test_shapes.py": "from shapes import perimeter\n\n\ndef test_it():\n    assert perimeter(2, 3) == 10\n    assert perimeter(-4, 1) == 0\n    assert perimeter(0, 7) == 14\n",
        },
    )
    selection = sources.TaskSelection(names=[str(tmp_path / "project")], sample=1, depth=2)
    table = {"sandbox.kind": "bubblewrap"}
    (task,) = await sources.collect_tasks(selection, table, lambda _text: None)
    assert task.kind == "mutant of 1 line, 2 changes each"
    assert len(task.operators) == 2

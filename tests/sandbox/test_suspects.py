"""A run turns from one suspect to the next, in a real sandbox."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

# The failing line names `report`, which is right; `total` and `price` are only reached.
# An edit changes two functions at most; `price`, the third, is wrong.
CODE = """\
def price(item):
    kind, cost = item
    if kind == "book":
        return cost - cost // 10
    return cost {wrong} 1


def total(items):
    result = 0
    for item in items:
        result += price(item)
    return result


def report(items):
    lines = [f"{{kind}}: {{cost}}" for kind, cost in items]
    lines.append(f"total: {{total(items)}}")
    return "; ".join(lines)
"""
TEST = """\
from shop import price, report


def test_report():
    assert report([("pen", 3)]) == "pen: 3; total: 4"


def test_book():
    assert price(("book", 20)) == 18
"""
RIGHT = CODE.format(wrong="+")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`greenloop fix` of the failing test: its events. `answers` are those of the model."""

    def run(wrong: str, *answers: str) -> list[dict]:
        (tmp_path / "shop.py").write_text(CODE.format(wrong=wrong))
        (tmp_path / "test_shop.py").write_text(TEST)
        (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
        main(["fix", "test_shop.py::test_report", "--model", "scripted:answers.jsonl", "--json", "--apply"])
        return [json.loads(row) for row in capsys.readouterr().out.splitlines()]

    return run


def test_a_one_token_change_is_found_in_a_function_that_was_not_the_first_suspect(run, tmp_path):
    events = run("-")
    assert (events[-1]["solved"], events[-1]["verified"]) == (True, "verified"), events[-1]["message"]
    assert not any(event["event"] == "proposed" for event in events)  # no model was asked
    started = next(event for event in events if event["event"] == "started")
    assert [each["name"] for each in started["suspects"]] == ["price"]
    assert [event["functions"] for event in events if event["event"] == "tested"][-1] == ["shop.py::price"]
    assert (tmp_path / "shop.py").read_text() == RIGHT


def test_an_answer_about_another_suspect_is_tried_there(run, tmp_path):
    fenced = "```python\n" + RIGHT.partition("\n\n\n")[0] + "\n```"
    events = run("* 0 + len(kind) // 3 - 2 *", *[fenced] * 8)
    assert (events[-1]["solved"], events[-1]["verified"]) == (True, "verified"), events[-1]["message"]
    assert (tmp_path / "shop.py").read_text() == RIGHT

"""Agents that speak the Model Context Protocol, by the client of its official library, against the real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import stdio_client

from agent_calls import DOUBLE, RIGHT, WRONG
from mcp_project import call, connect, parameters, project, refuse
from runlength import COUNTS, GROUPS, SETS, SORTED, STUB, code
from runlength import RIGHT as RIGHT_RLE

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

__all__ = ["project"]
MODES = ("legacy", "auto")
FAKED = "import os\n\n\ndef double(x):\n    os._exit(0)\n\n\ndef one():\n    return 1\n"


def answering(code: str) -> Any:
    async def answer(_context: Any, _request: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text=f"```python\n{code}\n```")
        return types.CreateMessageResult(role="assistant", content=text, model="an agent's own")

    return answer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.story("an agent's faked pass is refused, and a real one is verified", only=("auto",))
async def test_a_faked_pass_is_refused_and_a_real_one_verified(project, mode):
    async with connect(project, mode) as client:
        (project / "m.py").write_text(FAKED)
        faked = await call(client, "verify", targets=[DOUBLE])
        assert (faked["verified"], faked["state"]) == (False, "tampered")
        assert "exit" in faked["reason"]
        (project / "m.py").write_text(RIGHT)
        real = await call(client, "verify", targets=[DOUBLE])
        assert (real["verified"], real["fixed"]) == (True, [DOUBLE])


async def test_old_failures_and_edited_tests_count_as_on_the_command_line(project):
    code = (project / "m.py").read_text()
    tests = DOUBLE.partition("::")[0]
    async with connect(project, "auto") as client:
        (project / "m.py").write_text(f"{code}\n\nDONE = True\n")
        whole = await call(client, "verify")
        assert (whole["verified"], whole["state"], whole["failed"]) == (True, "already_failing", [])
        assert DOUBLE in whole["already_failing"]
        asked = await call(client, "verify", targets=[DOUBLE])
        assert (asked["verified"], asked["still_failing"]) == (False, [DOUBLE])
        (project / "m.py").write_text(RIGHT)
        (project / tests).write_text((project / tests).read_text() + "\n\nDONE = True\n")
        edited = await call(client, "verify", targets=[DOUBLE])
        assert (edited["verified"], edited["state"]) == (False, "edits_tests")
        allowed = await call(client, "verify", targets=[DOUBLE], allow_test_changes=[tests], because="a mark")
        assert allowed["verified"], allowed["reason"]
        assert [each.endswith("a mark") for each in allowed["judging_changes"]] == [True]


@pytest.mark.parametrize("mode", MODES)
async def test_tests_are_run_and_a_failure_explained(project, mode):
    async with connect(project, mode) as client:
        ran = await call(client, "run_tests")
        assert (ran["passed"], [each["id"] for each in ran["failed"]]) == (1, [DOUBLE])
        told = await call(client, "explain", target=DOUBLE)
        assert told["suspects"][0]["name"] == "double"
        assert told["lines"][0]["text"] == "return x + 1"
        assert "assert 6 == 10" in told["failing"][0]["message"]


async def test_a_change_by_the_clients_model_is_written_only_when_asked_for(project):
    said: list[str] = []
    steps: list[float] = []

    async def hear(progress: float, _total: float | None, message: str | None) -> None:
        said.append(message or "")
        steps.append(progress)

    async with connect(project, sampling_callback=answering("def double(x):\n    return x * 2")) as client:
        arguments = {"target": DOUBLE, "model": "client", "preset": "plain"}
        found = (await client.call_tool("refine", arguments, progress_callback=hear)).structured_content
        assert found is not None
        assert (found["solved"], found["verified"], found["applied"]) == (True, "verified", False)
        assert "+    return x * 2" in found["diff"]
        assert (project / "m.py").read_text() == WRONG
        assert any(sentence.startswith("attempt 1") for sentence in said)
        assert steps == sorted(set(steps))  # the protocol: progress increases with each notification
        assert len(steps) > 1
        written = await call(client, "refine", **arguments, apply=True)
        assert written["applied"]
        assert (project / "m.py").read_text() == RIGHT
        listed = await call(client, "history")
        assert [(each["solved"], each["applied"]) for each in listed["runs"]] == [(True, True), (True, False)]
        page = (await client.read_resource(f"greenloop://run/{written['run']}/page")).contents[0]
        assert isinstance(page, types.TextResourceContents)
        assert "+    return x * 2" in page.text


class Person:
    """Answers the questions that reach the client, in order; declines where there is no answer left."""

    def __init__(self, *answers: dict[str, str | int | float | bool | list[str] | None]) -> None:
        self.answers = list(answers)
        self.questions: list[types.ElicitRequestFormParams] = []

    async def __call__(self, _context: Any, request: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(request, types.ElicitRequestFormParams)
        self.questions.append(request)
        if not self.answers:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=self.answers.pop(0))


async def write_rle(root: Path, sets: list[str], person: Person) -> Mapping[str, Any]:
    """The result for a function with a docstring alone, by scripted models that write tests and candidates."""
    (root / "m.py").write_text(STUB)
    answers = {"tests": sets, "code": [code(each) for each in (COUNTS, RIGHT_RLE, GROUPS, SORTED, *[RIGHT_RLE] * 20)]}
    for name, texts in answers.items():
        (root.parent / name).write_text("".join(json.dumps(text) + "\n" for text in texts))
    models = ["--model", f"scripted:{root.parent / 'code'}", "--set", f"tester.model=scripted:{root.parent / 'tests'}"]
    async with Client(stdio_client(parameters(root, *models)), mode="legacy", elicitation_callback=person) as client:
        return await call(client, "refine", target="m.py::rle")


async def test_an_answer_of_the_client_makes_the_result_the_users_own(project):
    person = Person({"answer": "Yes"})
    found = await write_rle(project, SETS, person)
    (question,) = person.questions
    assert question.message.startswith("Is `rle(")
    assert question.requested_schema["properties"]["answer"]["enum"][:2] == ["Yes", "No"]
    assert (found["solved"], found["verified"]) == (True, "verified")
    assert "1 confirmed by you" in found["message"]


async def test_the_user_of_a_client_types_the_right_value(project):
    person = Person({"answer": "The right value is …"}, {"text": "[('a', 1), ('b', 1)]"})
    found = await write_rle(project, ["assert rle('ab') == {'a': 1, 'b': 1}"] * 3, person)
    assert [question.message for question in person.questions] == [
        "Is `rle('ab') == {'a': 1, 'b': 1}` right?",
        "What is `rle('ab')`?",
    ]
    assert (found["solved"], found["verified"]) == (True, "verified")


async def test_without_an_answer_the_result_is_offered_with_what_it_lacks(project):
    person = Person()
    found = await write_rle(project, SETS, person)
    assert len(person.questions) == 1
    assert (found["solved"], found["verified"]) == (True, "partially")
    assert "no tests of your own" in found["message"]


async def test_a_client_without_a_model_is_told_so(project):
    async with connect(project) as client:
        assert "offers no language model" in await refuse(client, "refine", target=DOUBLE, model="client")


async def test_answers_are_typed_and_cases_come_on_request(project):
    async with connect(project) as client:
        for tool in (await client.list_tools()).tools:
            assert tool.output_schema is not None
            assert tool.output_schema["properties"], tool.name
            assert tool.output_schema.get("additionalProperties", False) is False
        ran = await call(client, "run_tests")
        assert ran["cases"] == []
        listed = await call(client, "run_tests", cases="test_m.py")
        assert {each["id"]: each["outcome"] for each in listed["cases"]}[DOUBLE] == "failed"
        (text,) = (await client.call_tool("run_tests", {})).content
        assert isinstance(text, types.TextContent)
        assert json.loads(text.text)["failed"][0]["id"] == DOUBLE


@pytest.mark.parametrize(("root", "can_fix"), [("", True), (".", True)])
async def test_doctor_says_what_is_true(project, root, can_fix):
    (project / "answers.jsonl").write_text('"nothing"\n')
    model = ["--model", f"scripted:{project / 'answers.jsonl'}"]
    async with Client(stdio_client(parameters(project, *model)), mode="legacy") as client:
        found = await call(client, "doctor", root=root)
        assert (found["can_fix"], found["missing"]) == (can_fix, [])
    async with connect(project) as client:
        assert (await call(client, "doctor"))["missing"] in ([], ["model"])


@pytest.mark.parametrize(
    ("answers", "allowed", "asked"),
    [([{"answer": "Yes"}], True, 1), ([{"answer": "No"}], False, 1), ([], None, 1), (None, None, 0)],
    ids=["yes", "no", "no answer", "cannot be asked"],
)
async def test_what_cannot_honestly_pass_is_asked_about(project, answers, allowed, asked):
    person = Person(*(answers or []))
    callbacks = {"elicitation_callback": person} if answers is not None else {}
    async with connect(project, **callbacks) as client:
        told = await call(client, "report_impossible", target=DOUBLE, reason="The docstring says x + 1.")
        assert (told["allowed"], told["passes"], len(person.questions)) == (allowed, False, asked)
        assert told["failing"][0]["id"] == DOUBLE
        assert ("allow_test_changes" in told["next"]) is (allowed is True)
        (project / "m.py").write_text(RIGHT)
        passing = await call(client, "report_impossible", target=DOUBLE, reason="It cannot pass.")
        assert (passing["passes"], passing["allowed"], len(person.questions)) == (True, None, asked)


async def test_nothing_outside_the_roots_is_touched(project, tmp_path):
    (tmp_path / "other").mkdir()
    (project / "link").symlink_to(tmp_path / "other")
    async with connect(project) as client:
        for folder in ("/", str(tmp_path / "other"), "..", "link"):
            assert "outside the folders" in await refuse(client, "run_tests", root=folder)
        assert "no file" in await refuse(client, "refine", target="nowhere.py::f")
        assert "no run 7" in await refuse(client, "history", run=7)
        assert "greater than or equal to 0" in await refuse(client, "refine", target=DOUBLE, seconds=-1)
        assert (await call(client, "run_tests"))["passed"] == 1


async def test_no_file_outside_the_roots_is_read(project, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("def hidden():\n    return 1\n")
    (project / "link.jsonl").symlink_to(secret)
    async with connect(project) as client:
        for entry in (f"@{secret}", "@../secret.py", "@test_m.py"):
            told = await refuse(client, "verify", targets=[DOUBLE], known_failing=[entry])
            assert "may not begin with @" in told
            assert "hidden" not in told
        for kind in ("scripted", "replay"):
            for file in (secret, "../secret.py", "link.jsonl"):
                told = await refuse(client, "refine", target=DOUBLE, model=f"{kind}:{file}")
                assert "outside the folders" in told
                assert "hidden" not in told
        for tool in ("refine", "explain"):
            assert "There is no file" in await refuse(client, tool, target="../secret.py::hidden")
            assert "outside the workspace" in await refuse(client, tool, target=f"{secret}::hidden")


async def test_a_scripted_model_inside_the_roots_answers(project):
    (project / "answers.jsonl").write_text(json.dumps("```python\ndef double(x):\n    return x * 2\n```") + "\n")
    async with connect(project) as client:
        arguments = {"target": DOUBLE, "model": "scripted:answers.jsonl", "preset": "plain"}
        assert (await call(client, "refine", **arguments))["solved"]


async def test_the_looks_of_a_capable_model_are_reported_and_kept(project):
    said: list[str] = []

    async def hear(_progress: float, _total: float | None, message: str | None) -> None:
        said.append(message or "")

    edit = "m.py\n<<<<<<< SEARCH\n    return str(x)\n=======\n    return 2 * int(x)\n>>>>>>> REPLACE\n"
    rows = [{"calls": [["read", {"path": "test_m.py"}]], "text": ""}, edit]
    (project / "m.py").write_text(WRONG.replace("x + 1", "str(x)"))
    (project / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    capable = parameters(project, "--set", "model.kind=capable")
    async with Client(stdio_client(capable), mode="legacy") as client:
        arguments = {"target": DOUBLE, "model": "scripted:answers.jsonl"}
        found = (await client.call_tool("refine", arguments, progress_callback=hear)).structured_content
        assert found is not None
        assert (found["solved"], found["model"], found["kind"]) == (True, "scripted", "capable")
        assert [note.split(":")[0] for note in found["notes"]] == ["Green, though is this wanted? double(6)"]
        assert [each for row in found["tried"] for each in row["looks"]] == ["read test_m.py"]
        assert any(sentence.startswith("asking scripted (capable); ") for sentence in said)
        kept = await call(client, "history", run=found["run"])
        assert kept["kind"] == "capable"
        assert kept["attempts"][-1]["looks"] == ["read test_m.py"]
        page = (await client.read_resource(f"greenloop://run/{found['run']}/page")).contents[0]
        assert isinstance(page, types.TextResourceContents)
        number = kept["attempts"][-1]["attempt"]
        assert "\nModel: scripted (capable).\n" in page.text
        assert f"Looks before the answers:\n\n- attempt {number}: read test_m.py\n" in page.text


async def test_a_cancelled_call_leaves_nothing_behind(project):
    asked = asyncio.Event()

    async def never(_context: Any, _request: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with connect(project, sampling_callback=never) as client:
        running = asyncio.create_task(
            client.call_tool("refine", {"target": DOUBLE, "model": "client", "preset": "plain"})
        )
        await asked.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert (await call(client, "run_tests"))["passed"] == 1
    assert (project / "m.py").read_text() == WRONG

"""Looks within their limits: whatever is called gets one answer, and the record can go back to any provider."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.model import ToolCall
from greenloop.plugins.conversations.exchange import (
    ENOUGH,
    LONGEST_CALL,
    LONGEST_RESULT,
    MOST_IN_TURN,
    MOST_LOOKS,
    MOST_SECONDS,
    Looking,
)
from greenloop.plugins.conversations.looks._project import ProjectView
from look_project import look_project


@pytest.fixture
def look(tmp_path):
    """`look(name, arguments)`: the look, of `look.of` or of looks without any so far."""
    wide = "".join(f"{number} {'x' * 300}\n" for number in range(300))
    project, _asked = look_project(
        tmp_path, {"m.py": "a = 1\n", "key.txt": "key = hunter2-hunter2\n", "wide.txt": wide}
    )

    async def make(name="read", arguments='{"path": "m.py"}', of=None, project=project):
        of = of or Looking(mask=lambda text: text.replace("hunter2-hunter2", "[redacted]"), tokens=8000)
        return await of.look(ToolCall(id="c", name=name, arguments=arguments), project)

    make.project = project
    return make


def test_the_tools_are_always_the_same():
    names = [tool.name for tool in Looking(mask=str, tokens=1).tools]
    assert names == sorted(names) == ["evaluate", "read", "references", "run", "search"]


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("fly", "{}", "There is no tool `fly`; there are evaluate, read, references, run, search."),
        ("_project", "{}", "There is no tool `_project`"),
        ("read", "", "`path` is missing."),
        ("read", "null", "The arguments must be an object."),
        ("read", '"m.py"', "The arguments must be an object."),
        ("read", "{", "The arguments are not JSON: "),
        ("read", "[" * 10_000, "The arguments are not JSON: "),
        ("read", '{"path": ' + "9" * 9_000 + "}", "The arguments are not JSON: "),
        ("read", " " * LONGEST_CALL, "The arguments are too long."),
        ("read", '{"path": "\\ud800"}', "`?` cannot be a file here."),
        ("read", '{"path": "' + "x" * 999 + '"}', "That cannot be read: File name too long."),
    ],
)
async def test_what_cannot_be_done_gets_a_sentence(look, name, arguments, sentence):
    assert (await look(name, arguments)).result.startswith(sentence)


@pytest.mark.parametrize("name", ["functions.read<|x|>", "read it!", "", "x" * 999, "größe"])
async def test_the_record_has_a_name_that_providers_take_back(look, name):
    made = await look(name)
    assert 0 < len(made.call.name) <= 64
    assert made.call.name.replace("_", "").replace("-", "").isalnum() or set(made.call.name) == {"_"}
    assert made.call.name.isascii()


async def test_results_are_masked_and_bounded_and_summarised(look):
    assert (await look(arguments='{"path": "key.txt"}')).result.endswith("key = [redacted]")
    wide = await look(arguments='{"path": "wide.txt"}')
    assert len(wide.result) < LONGEST_RESULT + 100
    assert wide.result.endswith("more characters")
    assert (await look()).summary == "read m.py"
    assert (
        await look("search", '{"text": "nothing", "files": null}')
    ).summary == "search nothing: `nothing` is in no file."
    assert len((await look(arguments='{"path": "' + "x y " * 99 + '"}')).summary) <= 100


async def test_the_limits_of_a_turn_and_of_a_run(look):
    of = Looking(mask=str, tokens=10**6)
    done = 0
    for _turn in range(5):
        of.begin_turn()
        done += sum([(await look(of=of)).result != ENOUGH for _ in range(MOST_IN_TURN + 2)])
    assert done == MOST_LOOKS


@pytest.mark.parametrize("limit", [{"tokens": 5}, {"tokens": 8000, "seconds": 60.0}])
async def test_the_limits_of_tokens_and_seconds(look, limit):
    of = Looking(mask=str, **limit)
    results = [(await look(of=of)).result == ENOUGH for _ in range(3)]
    assert results[1:] == [True, True]


async def test_a_failing_look_counts_too(look):
    of = Looking(mask=str, tokens=8000)
    results = [(await look("fly", of=of)).result for _ in range(MOST_IN_TURN + 1)]
    assert results[-1] == ENOUGH


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (CannotVerifyError("The sandbox failed."), "The sandbox failed."),
        (PermissionError(13, "Permission denied"), "That cannot be read: Permission denied."),
    ],
)
async def test_what_breaks_is_a_result(look, error, sentence):
    class Broken(ProjectView):
        def text(self, *_about, **_more):
            raise error

    assert (await look(project=Broken(**vars(look.project)))).result == sentence


async def test_a_look_that_takes_too_long_is_ended(look):
    async def wait(_selectors, _inspection):
        await asyncio.Event().wait()

    of = Looking(mask=str, tokens=8000, seconds=MOST_SECONDS - 0.5)  # that the looks before have taken
    made = await look("run", '{"tests": ["m.py"]}', of=of, project=replace(look.project, run=wait))
    assert made.result == "It took too long, and was ended."
    assert of.is_over

"""docs/protocol.md against what is really sent: each event's fields are those the page names, no more and no fewer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from greenloop.api import events_json
from greenloop.core.events import Checked, Looked, Planned, Proposed, Specified, Started, Tested
from greenloop.core.records.attempt import Attempt, Draft, Look, Move
from greenloop.core.records.model import ModelKind, Role, ToolCall, Usage
from greenloop.core.records.outcome import Evidence, Noticed, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.text.json_codec import to_json
from greenloop.lsp.connection import messages
from greenloop.lsp.connection.client import read_capabilities
from greenloop.lsp.connection.messages import answer_params
from greenloop.lsp.server import create_server
from greenloop.plugins.agents import editor_requests
from greenloop_sandbox import CaseResult, Failure, Frame

PAGE = (Path(__file__).parents[2] / "docs/protocol.md").read_text(encoding="utf-8")
FAILURE = Failure(type="AssertionError", message="assert 1 == 2", frames=(Frame(path="m.py", line=2, function="f"),))
LOOK = Look(call=ToolCall(id="1", name="read", arguments='{"path": "m.py"}'), result="x", summary="read m.py")
ATTEMPT = Attempt(
    number=1,
    parent=0,
    verdict=Verdict(status=Status.FAILED, cases=(CaseResult(id="t.py::t", outcome="failed", failure=FAILURE),)),
    error_class="AssertionError",
    group=ErrorGroup.LOGIC,
    looks=(LOOK,),
)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(Case(id="t.py::t", path="t.py", line=1),), selectors=("t.py::t",)),
    regions=(Region(path="m.py", qualname="f", start=1, end=2),),
    originals={},
    files={},
)
OUTCOME = Outcome(
    solved=False, verified=Verified.UNVERIFIED, reason=StopReason.ATTEMPTS, message="", attempts=(ATTEMPT,)
)
EVENTS = {
    "specified": events_json.event_object(Specified(spec=PROBLEM.spec)),
    "started": events_json.event_object(
        Started(problem=PROBLEM, baseline=ATTEMPT, model="m", preset="plain", sandbox="bubblewrap", attempts=5)
    )
    | {"target": "the command line's own"},
    "planned": events_json.event_object(
        Planned(attempt=1, draft=Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER), model="m", prompt_tokens=3)
    ),
    "looked": events_json.event_object(Looked(attempt=1, look=LOOK)),
    "proposed": events_json.event_object(Proposed(attempt=1, answer="x", usage=Usage())),
    "checked": events_json.event_object(Checked(attempt=1, error_class="", message="")),
    "tested": events_json.event_object(Tested(attempt=ATTEMPT)),
    "strength": events_json.strength_object(Noticed(tests=1)),
    "finished": events_json.finished_object(OUTCOME),
}


def section(heading: str) -> str:
    return re.split(r"^#{2,3} ", PAGE.split(f"### {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def named(heading: str) -> set[str]:
    """The fields a section names: the first column of its table, or its first sentence where it has none."""
    text = section(heading)
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(rows) if rows else text.split(";")[0]))


@pytest.mark.parametrize("name", EVENTS)
def test_every_field_is_on_the_page(name):
    value = EVENTS[name]
    assert value["event"] == name
    assert set(value) - {"event"} == named(name)


def test_parts_of_fields_are_on_the_page_too():
    page = "".join(map(section, ("finished", "evidence", "tested", "started", "specified")))
    parts = {
        *events_json.usage_object(Usage()),
        *(set(to_json(Evidence())) - {"data"}),
        *EVENTS["tested"]["cases"][0],
        *EVENTS["tested"]["looks"][0],
        *EVENTS["started"]["regions"][0],
        *EVENTS["specified"]["cases"][0],
    }
    assert parts <= set(re.findall(r"`(\w+)`", page))


@pytest.mark.parametrize("words", [StopReason, Status, ErrorGroup, Move, Role, ModelKind, Verified, Provenance])
def test_every_word_is_on_the_page(words):
    assert {word.value for word in words} <= set(re.findall(r"`([\w-]+)`", PAGE))


def test_every_command_and_message_is_on_the_page():
    """As the server registers them."""
    commands = set(create_server().protocol.fm.commands)
    named_commands = set(re.findall(r"^\| `(greenloop\.\w+)` \|", PAGE, re.MULTILINE))
    assert commands == named_commands
    values = [*vars(messages).values(), *vars(editor_requests).values()]
    named = {value for value in values if isinstance(value, str) and value.startswith("greenloop/")}
    assert {messages.REFINE, messages.RUNS} < named
    assert named == set(re.findall(r"`(greenloop/\w+)`", PAGE))
    registered = {name for name in create_server().protocol.fm.features if name.startswith("greenloop/")}
    assert registered <= named


def test_its_json_examples_can_be_read_and_sent():
    examples = [json.loads(text) for text in re.findall(r"```json\n(.*?)\n```", PAGE, re.DOTALL)]
    specified = next(each for each in examples if each.get("event") == "specified")
    assert set(specified) == {"event", *named("specified")}
    answered = next(each for each in examples if each.get("command") == "greenloop.answer")
    assert answer_params(answered["arguments"][0]).value == "[('', 0)]"
    declared = [each["capabilities"]["experimental"] for each in examples if "capabilities" in each]
    questions, views = (read_capabilities(lsp.ClientCapabilities(experimental=each)) for each in declared)
    assert questions.typed_answers
    assert (views.runs, views.refusals, views.review, views.model, views.keys) == (True,) * 5
    assert not questions.runs

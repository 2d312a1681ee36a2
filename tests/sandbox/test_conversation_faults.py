"""Capable models that misbehave, and what breaks meanwhile: one clear sentence, nothing lost, and the run goes on."""

from __future__ import annotations

import asyncio
import json
import time

import psutil
import pytest

import openai_api
import shop_run
from cells import notebook, sources
from greenloop.cli.main import main
from greenloop.core.errors import ContextTooLongError, ModelError
from greenloop.core.events import Looked, Started
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.core.text.tokens import estimate_messages
from greenloop.engine.history.store import History
from greenloop.engine.history.unsolved_run import read_unsolved_run
from greenloop.plugins.conversations import exchange
from greenloop.plugins.conversations.exchange import ENOUGH, MOST_IN_TURN
from greenloop.plugins.conversations.looks import run
from greenloop.plugins.conversations.messages import feedback_on
from shop_run import FILES, RIGHT, SHOP, TARGET, WRONG, StandIn, block, texts, turns

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]


@pytest.fixture
def root(tmp_path, monkeypatch, lay):
    """The shop's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return lay(tmp_path / "w", FILES)


@pytest.fixture
def play(root):
    """`play(*answers)`: (outcome, events)."""

    async def converse(*answers, target=TARGET, model=None, **options):
        if isinstance(model, str):
            model, options = None, {"model": model, **options}
        return await shop_run.play(root, *answers, target=target, model=model, options=options)

    return converse


async def test_calls_of_any_kind_get_an_answer_and_the_run_goes_on(play, root):
    (root / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    with (root / "large.csv").open("wb") as file:
        file.truncate(50 << 20)
    (root / "link").symlink_to("/etc")
    calls = [
        ("fly", "{}"),
        ("functions.read<|channel|>", "{}"),
        ("read", '{"path": "shop/core.py"'),
        ("read", "[" * 100_000),
        ("read", "[]"),
        ("read", "{}"),
        ("read", {"path": ["shop/core.py"]}),
        ("read", {"path": "x" * 1000}),
        ("read", {"path": "shop/core.py", "symbol": None, "lines": None}),
        ("read", {"path": "picture.png"}),
        ("read", {"path": "large.csv"}),
        ("read", {"path": "link/passwd"}),
        ("read", {"path": "/etc/passwd"}),
        ("read", {"path": ".env"}),
        ("run", {"tests": ["tests/none.py::test_x"]}),
        ("run", {"tests": ["tests/test_shop.py::test_none"]}),
    ]
    model = StandIn(steps=[calls[:8], calls[8:], RIGHT])
    outcome, _events = await play(model=model)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    (turn,) = turns(outcome)
    results = [look.result.split("\n")[0] for look in turn.looks]
    assert "There is no tool `fly`; there are evaluate, read, references, run, search." in results[0]
    assert turn.looks[1].call.name == "functions_read__channel__"
    for place, sentence in (
        (2, "The arguments are not JSON: "),
        (3, "The arguments are too long."),
        (4, "The arguments must be an object."),
        (5, "`path` is missing."),
        (6, "`path` must be a text."),
        (7, "That cannot be read: File name too long."),
    ):
        assert results[place].startswith(sentence)
    assert results[8:] == [ENOUGH] * 8


async def test_the_second_half_of_those_calls(play, root):
    (root / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    with (root / "large.csv").open("wb") as file:
        file.truncate(50 << 20)
    (root / "link").symlink_to("/etc")
    calls = [
        ("read", {"path": "shop/core.py", "symbol": None, "lines": None}),
        ("read", {"path": "picture.png"}),
        ("read", {"path": "large.csv"}),
        ("read", {"path": "link/passwd"}),
        ("search", {"text": "RATES"}),
        ("run", {"tests": ["tests/none.py::test_x"]}),
        ("run", {"tests": ["tests/test_shop.py::test_none"]}),
        ("search", {"text": "/(.*)*!/"}),
    ]
    outcome, _events = await play(model=StandIn(steps=[calls, RIGHT]))
    assert outcome.verified is Verified.VERIFIED, outcome.message
    results = [look.result.split("\n")[0] for look in turns(outcome)[0].looks]
    assert results[0] == "shop/core.py, lines 1-18 of 18:"
    assert results[1:4] == [
        "`picture.png` is not a text file.",
        "`large.csv` is too large (50 MB).",
        "`link/passwd` leads outside the workspace.",
    ]
    assert results[4] == "shop/core.py:3: from shop.rates import RATES"
    assert results[5] == "There is no file `tests/none.py`."
    assert "test_none" in results[6] or "no such test" in results[6]


async def test_a_model_that_looks_for_ever_is_asked_once_without_tools(play):
    model = StandIn(steps=[*[[["read", {"path": "shop/core.py"}]]] * (MOST_IN_TURN + 1), RIGHT])
    outcome, _events = await play(model=model)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    (turn,) = turns(outcome)
    assert [look.result == ENOUGH for look in turn.looks] == [False] * MOST_IN_TURN + [True]
    assert [bool(request.tools) for request in model.requests] == [True] * (MOST_IN_TURN + 1) + [False]
    last = model.requests[-1].messages
    assert {message.role for message in last} == {"system", "user", "assistant"}
    assert last[-1].content == ENOUGH


async def test_a_model_that_never_answers_ends_with_a_sentence(play):
    model = StandIn(steps=[[["read", {"path": "shop/core.py"}]] * 9_000])
    outcome, _events = await play(model=model)
    assert not outcome.solved
    assert outcome.reason is StopReason.ANSWERS
    assert "several model answers in a row could not be read" in outcome.message
    assert len(turns(outcome)) == 3
    assert len(model.requests) <= 3 * 3
    assert sum(len(turn.looks) for turn in turns(outcome)) < 100


UNUSABLE = [
    ("I think that `lookup` should fold the case.", "NoCode", "Answer with edits"),
    ("", "EmptyAnswer", "Answer with edits"),
    (RIGHT.partition("=======")[0], "TruncatedAnswer", "cut off inside one of its edits"),
    (
        "```diff\n--- a/shop/none.py\n+++ b/shop/none.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n```\n",
        "SearchNotFound",
        "There is no file `shop/none.py`.",
    ),
    (block("tests/test_shop.py", "== 45", "== 46"), "NotEditable", "`tests/test_shop.py` belongs to the tests"),
    (block("conftest.py", "", "collect_ignore = ['tests']"), "NotEditable", "`conftest.py` is configuration"),
    (
        block("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = '--co'"),
        "NotEditable",
        "`pyproject.toml` is configuration",
    ),
    (block("shop/", "", "x = 1"), "NotEditable", "`shop` cannot be a file here"),
    (block("shop/core.py/x.py", "", "x = 1"), "NotEditable", "`shop/core.py/x.py` cannot be a file here"),
    (block("picture.png", "", "x = 1"), "NotEditable", "`picture.png` is not a text file"),
]


@pytest.mark.parametrize("place", range(0, len(UNUSABLE), 2))
async def test_answers_that_cannot_be_used_hear_why(play, root, place):
    (root / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    chosen = UNUSABLE[place : place + 2]
    outcome, _events = await play(*(answer for answer, _class, _sentence in chosen), RIGHT)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    told = texts(outcome, turns(outcome)[-1].number)
    for turn, (answer, error_class, sentence) in zip(turns(outcome), chosen, strict=False):
        assert (turn.answer, turn.error_class) == (answer, error_class)
        assert any(sentence in message for message in told[3:])


async def test_an_answer_in_two_languages_is_read_as_python(play):
    script = "```javascript\nfunction lookup(kind) {\n  return RATES[kind.trim()]\n}\n```\n"
    code = "```python\ndef lookup(kind):\n    return RATES[kind.strip().lower()]\n```\n"
    outcome, _events = await play(f"In JavaScript:\n{script}\nIn Python:\n{code}")
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"shop/core.py": SHOP.replace("kind.strip()]", "kind.strip().lower()]")}


@pytest.mark.parametrize(
    "pieces",
    [
        ("Let me think about this again. ", block("shop/core.py", "    return 0", "    return 1")),
        ("```python\ndef lookup(kind):\n    return 1\n", "def lookup(kind):\n    return (1\n"),
    ],
)
async def test_very_long_answers_are_read_in_time_and_stored_in_part(play, tmp_path, pieces):
    long = [piece * (800_000 // len(piece)) for piece in pieces]
    outcome, _events = await play(*long, RIGHT, tokens=1_000_000)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert (tmp_path / "state" / "greenloop" / "history.sqlite3").stat().st_size < 3 << 20


@pytest.fixture
async def api(monkeypatch):
    """A provider, as `openai/m` reaches it."""
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-test")
    async with openai_api.serve() as server:
        yield server


async def test_a_key_that_expires_leaves_the_attempts_and_the_run_goes_on_where_it_was(play, root, api):
    other = block("shop/rates.json", '"ink": 7', '"ink": 8') + block("shop/names.py", "", "NAMES = ()")
    api.script = [openai_api.answer(other), openai_api.refuse(401, "The key has expired.")]
    first, _events = await play(model="openai/m", **{"api.base": api.base})
    assert first.reason is StopReason.MODEL
    assert "no longer accepts the key for openai/m" in first.message
    assert "OPENAI_API_KEY" in first.message
    earlier = read_unsolved_run(first.run)
    assert [attempt.answer for attempt in earlier.attempts if attempt.answer] == [other]
    told: list[str] = []
    model = StandIn(steps=[RIGHT])
    second, _events = await shop_run.play(root, model=model, earlier=earlier, told=told)
    assert any(f"of run {first.run}" in row and row.startswith("continuing after") for row in told), told
    assert second.verified is Verified.VERIFIED, second.message
    assert [turn.answer for turn in turns(second)] == [other, RIGHT]
    (request,) = model.requests
    messages = [message.content for message in request.messages]
    assert messages[1] == texts(first, turns(first)[0].number)[1]  # the report
    assert messages[2:] == [other, feedback_on(turns(first)[0])]


async def test_a_data_file_that_changed_meanwhile_is_noticed(play, root):
    other = block("shop/rates.json", '"ink": 7', '"ink": 8')
    first, _events = await play(model=StandIn(steps=[other, ModelError("The key has expired.")]))
    (root / "shop" / "rates.json").write_text('{"ink": 7,\n "pen": 19}\n')
    told: list[str] = []
    model = StandIn(steps=[RIGHT])
    earlier = read_unsolved_run(first.run)
    second, _events = await shop_run.play(root, model=model, earlier=earlier, told=told)
    assert second.solved
    assert f"shop/rates.json changed since run {first.run}: its attempts do not count, and the run starts anew" in told


async def test_a_stream_that_ends_early_costs_nothing_but_time(play, api):
    half = RIGHT.partition("=======")[0]
    api.script = [openai_api.answer(half, finish=None), openai_api.hang_up(half), openai_api.answer(RIGHT)]
    outcome, _events = await play(model="openai/m", **{"api.base": api.base})
    assert outcome.verified is Verified.VERIFIED, outcome.message


async def test_a_report_that_is_too_long_shrinks(play):
    limits = []

    def answer(request):
        tokens = estimate_messages(request.messages)
        limits.append(tokens)
        return ContextTooLongError("Too long.") if tokens > limits[0] - 50 else RIGHT

    outcome, _events = await play(model=StandIn(steps=[answer]))
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert 2 <= len(limits) <= 5
    assert limits == sorted(limits, reverse=True)


async def test_a_context_that_is_too_small_for_any_report_is_said(play):
    model = StandIn(steps=[ContextTooLongError("Too long.")])
    outcome, _events = await play(model=model)
    assert outcome.reason is StopReason.MODEL
    assert outcome.message == (
        "The report of the failure and what came after it are too long for stand-in. "
        "Name a model with a larger context, or set `model.kind` to `small`."
    )
    assert len(model.requests) <= 5


async def test_a_limit_of_money_ends_a_conversation_and_keeps_its_attempts(play):
    wrong = [block("shop/core.py", "    return RATES[kind.strip()]", f"    return {number}") for number in range(9)]
    model = StandIn(steps=[*wrong], costs=1e-6)
    outcome, _events = await play(model=model, cost=0.012)
    assert outcome.reason is StopReason.COST
    assert "the cost limit was reached (`cost`)" in outcome.message
    assert [turn.answer for turn in turns(outcome)] == wrong[: len(model.requests)]
    assert 2 <= len(model.requests) <= 8
    assert 0 < outcome.usage.cost <= 0.012


async def test_whatever_is_evaluated_ends_and_leaves_nothing(play, root, snapshot):
    before = snapshot(root)
    expressions = [
        "__import__('time').sleep(600)",
        "__import__('os')._exit(0)",
        "print('x' * 10_000_000)",
        "exit(3)",
        "open('shop/rates.json', 'w').write('{}')",
        "[open(f'shop/{name}', 'w') for name in ('a.py', 'b.py')]",
        "'x' * 10_000_000",
    ]
    calls = [["evaluate", {"expression": each}] for each in expressions]
    outcome, events = await play(calls, RIGHT, **{"sandbox.seconds": 3.0})
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert snapshot(root) == before
    results = [look.result for look in turns(outcome)[0].looks]
    assert results[0] == "There is no value: it did not finish in time."
    assert results[1].startswith("There is no value: ")
    assert results[3].startswith("exit(3) = SystemExit")
    assert results[4] == "open('shop/rates.json', 'w').write('{}') = 2"
    assert max(map(len, results)) < 13_000
    assert len([event for event in events if isinstance(event, Looked)]) == len(calls)


async def test_cancelling_during_a_look_ends_at_once_and_leaves_no_process(root, monkeypatch):
    (root / "tests" / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(600)\n")
    started = asyncio.Event()
    whole = run.look

    async def look(arguments, project):
        started.set()
        return await whole(arguments, project)

    monkeypatch.setattr(run, "look", look)
    model = StandIn(steps=[[["run", {"tests": ["tests/test_slow.py"]}]], RIGHT])
    running = asyncio.create_task(shop_run.play(root, model=model, options={"sandbox.seconds": 200.0}))
    await started.wait()
    running.cancel()
    began = time.monotonic()
    await asyncio.wait([running])
    assert running.cancelled()
    assert time.monotonic() - began < 60
    assert psutil.Process().children(recursive=True) == []


async def test_a_look_that_takes_too_long_is_ended_and_the_sandbox_goes_on(root, monkeypatch):
    (root / "tests" / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(600)\n")
    monkeypatch.setattr(exchange, "MOST_SECONDS", 2.0)
    slow = ["run", {"tests": ["tests/test_slow.py"]}]
    model = StandIn(steps=[[slow, slow, slow], RIGHT])
    outcome, _events = await shop_run.play(root, model=model, options={"sandbox.seconds": 60.0})
    assert outcome.verified is Verified.VERIFIED, outcome.message
    results = [look.result for look in turns(outcome)[0].looks]
    assert results[0] == "It took too long, and was ended."
    assert results[-1] == ENOUGH


async def test_looks_see_files_that_only_the_kept_edits_have(root):
    first = block("shop/names.py", "", "NAMES = {'Ink': 'ink'}") + block(
        "shop/core.py", "    return RATES[kind.strip()]", "    return RATES[NAMES.get(kind, kind)]"
    )
    first += block(
        "shop/core.py", "from shop.rates import RATES", "from shop.names import NAMES\nfrom shop.rates import RATES"
    )
    second = block("shop/names.py", "NAMES = {'Ink': 'ink'}", "NAMES = {'Ink': 'ink', 'PEN': 'pen', 'Pen': 'pen'}")
    calls = [["read", {"path": "shop/names.py"}], ["search", {"text": "NAMES"}], ["run", {"tests": [PRICE]}]]
    model = StandIn(steps=[first, calls, second])
    outcome, _events = await shop_run.play(root, target="tests/test_shop.py::test_price", model=model)
    assert outcome.solved, outcome.message
    assert set(outcome.after) == {"shop/core.py", "shop/names.py"}
    results = [look.result for look in turns(outcome)[1].looks]
    assert results[0] == "shop/names.py, lines 1-1 of 1:\nNAMES = {'Ink': 'ink'}"
    assert "shop/names.py:1: NAMES" in results[1]
    assert results[2].startswith("0 passed, 1 failed of 1.")


async def test_without_a_key_the_run_ends_before_the_first_attempt(play, api):
    api.script = [openai_api.refuse(401, "No such key.")]
    outcome, _events = await play(model="openai/m", **{"api.base": api.base})
    assert outcome.reason is StopReason.MODEL
    assert "did not accept the key for openai/m" in outcome.message
    assert turns(outcome) == []


async def test_only_cells_of_a_notebook_change(root, tmp_path):
    double = "def double(x):\n    return x + 1"
    (root / "nb.ipynb").write_text(notebook(double, "assert double(3) == 6"))
    raw = block("nb.ipynb", "    return x + 1", "    return x * 2")
    right = block("", "    return x + 1", "    return x * 2")
    script = tmp_path / "cells.jsonl"
    script.write_text("".join(json.dumps(answer) + "\n" for answer in (raw, right)))
    words = ["fix", "nb.ipynb:2", "--root", str(root), "--model", f"scripted:{script}", "--apply", "--json"]
    settings = ["--set", "sandbox.kind=bubblewrap", "--set", "model.kind=capable"]
    code = await asyncio.to_thread(main, [*words, *settings])
    assert code == 0
    assert sources((root / "nb.ipynb").read_text())[0] == "def double(x):\n    return x * 2"
    (record,) = History.open().runs()
    first, second = turns(History.open().run(record.id).outcome)
    assert first.finding.message == "`nb.ipynb` is a notebook, of which only the cells of a target may change."
    assert second.accepted


PRICE = "tests/test_shop.py::test_price[PEN]"


async def test_with_one_region_only_it_and_its_imports_may_change(play):
    beyond = block("shop/core.py", "    def price(self, kind):", "    def price(self, kind, /):")
    whole = block("shop/core.py", "", "import json") + RIGHT.replace(
        "kind.strip().lower()]", "json.loads(f'\"{kind.lower()}\"')]"
    )
    outcome, _events = await play(beyond, whole, target=PRICE, regions=1)
    first, second = turns(outcome)
    assert first.error_class == "NotEditable"
    assert "Only `lookup` may change" in texts(outcome, second.number)[-1]
    assert "Only lookup may change, and what it imports." in texts(outcome, first.number)[1]
    assert outcome.solved, outcome.message
    assert "\nimport json\n" in outcome.after["shop/core.py"]


@pytest.mark.parametrize(("kind", "has_turns"), [("small", False), ("capable", True)])
async def test_the_kind_may_be_forced(play, kind, has_turns):
    code = "```python\ndef lookup(kind):\n    return RATES[kind.strip().lower()]\n```\n"
    outcome, events = await play(*[code] * 6, target=PRICE, **{"model.kind": kind})
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert bool(turns(outcome)) is has_turns
    (started,) = (event for event in events if isinstance(event, Started))
    assert started.kind == kind


async def test_a_capable_model_that_takes_over_hears_what_was_tried_and_hands_its_conversation_on(root):
    wrong = "```python\ndef lookup(kind):\n    return RATES.get(kind, 1)\n```\n"
    models = {
        "ollama/small:3b": StandIn(steps=[wrong], name="ollama/small:3b", calls_tools=False),
        "openai/large": StandIn(steps=[[["read", {"path": "shop/rates.json"}]], WRONG], name="openai/large"),
        "openai/larger": StandIn(steps=[RIGHT], name="openai/larger"),
    }
    options = {
        "model": "ollama/small:3b",
        "model.kind": "auto",
        "escalation.models": ["openai/large", "openai/larger"],
        "escalation.after": 1,
    }
    outcome, _events = await shop_run.play(root, options=options, opener=lambda name, _settings: models[name])
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert [turn.model for turn in turns(outcome)] == ["openai/large", "openai/larger"]
    report = models["openai/large"].requests[0].messages[1].content
    assert "Another model tried this before you; none of it is kept:" in report
    assert "+    return RATES.get(kind, 1)" in report
    assert "assert 9 == 45" in report
    before = models["openai/large"].requests[-1].messages
    (last,) = models["openai/larger"].requests
    assert last.messages[: len(before)] == before


TARGETS = {
    "a function": ({}, "shop/core.py::lookup", RIGHT),
    "its doctest": (
        {"m.py": 'def double(x):\n    """Twice x.\n\n    >>> double(3)\n    6\n    """\n    return x * x - 1\n'},
        "m.py::double",
        block("m.py", "    return x * x - 1", "    return 2 * x"),
    ),
    "what is not written": (
        {
            "m.py": "def double(x):\n    raise NotImplementedError\n",
            "tests/test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(3) == 6\n",
        },
        "tests/test_m.py::test_double",
        block("m.py", "    raise NotImplementedError", "    return 2 * x"),
    ),
    "what does not exist": (
        {"tests/test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(3) == 6\n"},
        "tests/test_m.py::test_double",
        block("m.py", "", "def double(x):\n    return 2 * x"),
    ),
    "no function at all": (
        {
            "rates.json": '{"pen": 1}',
            "tests/test_m.py": "import json\n\n\ndef test_m():\n    with open('rates.json') as file:\n"
            "        assert json.load(file)['pen'] == 2\n",
        },
        "tests/test_m.py::test_m",
        block("rates.json", "1", "2"),
    ),
}


@pytest.mark.parametrize("name", TARGETS)
async def test_every_kind_of_target_has_its_conversation(root, lay, name):
    files, target, answer = TARGETS[name]
    lay(root, files)
    outcome, _events = await shop_run.play(root, answer, target=target)
    assert outcome.solved, outcome.message
    assert [turn.answer for turn in turns(outcome)] == [answer]


async def test_a_function_with_nothing_but_a_docstring_is_written_as_before(root, lay):
    lay(root, {"m.py": 'def double(x: int) -> int:\n    """Returns twice x."""\n    raise NotImplementedError\n'})
    tests = "```python\ndef test_double():\n    assert double(2) == 4\n```\n"
    code = "```python\ndef double(x: int) -> int:\n    return 2 * x\n```\n"
    outcome, _events = await shop_run.play(root, tests, *[code] * 6, target="m.py::double")
    assert turns(outcome) == []
    assert "m.py" in outcome.after, outcome.message

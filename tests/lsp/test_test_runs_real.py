"""Tests run in the sandbox from the editor: the real server and engine behind bubblewrap, driven by a bare client."""

import json
from pathlib import Path

import pytest

from greenloop_sandbox.backends._supervisor import is_alive

from .conftest import EVERYTHING

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

RED = "def double(x):\n    return x + 1\n"
GREEN = "def double(x):\n    return x * 2\n"
ENDLESS = "def double(x):\n    while True:\n        pass\n"
TESTS = """\
from m import double


def test_double():
    assert double(5) == 10


def test_one():
    assert double(1) == 2
"""
PUBLISHED = "textDocument/publishDiagnostics"
SAVE = {"editor": {"save": "affected"}}


@pytest.fixture
def files():
    return {"m.py": RED, "test_m.py": TESTS}


async def begin(real, capabilities=EVERYTHING, opened=("m.py", "test_m.py"), **options):
    await real.start(capabilities, opened=opened, **{"sandbox": {"kind": "bubblewrap"}, **options})


def scripted(real, *bodies):
    """Settings of a model that answers with these functions, one after another."""
    script = real.root.parent / "answers.jsonl"
    script.write_text("".join(json.dumps(f"```python\n{body}```\n") + "\n" for body in bodies))
    return {"model": f"scripted:{script}", "preset": "plain"}


def save(editor, name, text):
    """Types the text and saves it."""
    editor.change(name, text)
    (editor.root / name).write_text(text)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri(name)}})


def shows(*lines):
    return lambda items: [item["range"]["start"]["line"] for item in items] == list(lines)


async def cleared(editor, name="test_m.py"):
    """Waits until the file, which showed something, shows nothing."""
    uri = editor.uri(name)
    await editor.wait(
        lambda m: m.get("method") == PUBLISHED and m["params"]["uri"] == uri and not editor.shown(name),
        "no diagnostics",
    )


def children(pid):
    """Every process below this one."""
    found = [
        int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()
    ]
    return found + [inner for child in found for inner in children(child)]


@pytest.mark.story("a test runs in the sandbox on request")
async def test_asked_for_it_says_one_sentence_and_shows_what_failed(real):
    await begin(real)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.told("1 passed, 1 failed in ")
    [item] = await real.diagnosed(shows(4))
    assert item["message"].startswith("test_double: AssertionError: assert 6 == 10")
    assert item["message"].endswith("expected 10, observed 6")
    assert (item["code"], item["source"], item["severity"]) == ("AssertionError", "greenloop", 1)
    assert item["data"] == {"test": "test_m.py::test_double"}
    assert len(real.got("window/showMessage")) == 1
    begun = next(params["value"] for params in real.got("$/progress") if params["value"]["kind"] == "begin")
    assert begun["title"] == "Testing test_m.py"


async def test_one_test_and_the_tests_that_reach_a_function(real):
    (real.root / "n.py").write_text("def other():\n    return 1\n")
    both = "from n import other\n\n\ndef test_other():\n    assert other() == 1\n"
    (real.root / "test_m.py").write_text(TESTS + both)
    await begin(real, opened=("m.py", "n.py", "test_m.py"))
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py"), "target": "test_m.py::test_one"})
    await real.told("1 passed in ")
    # Nobody was seen to reach it yet: the file that imports it runs, and the one of its tests that reaches it counts.
    await real.execute("greenloop.runTest", {"uri": real.uri("n.py"), "target": "n.py::other"})
    await real.wait(
        lambda _m: len([m for m in real.got("window/showMessage") if m["message"].startswith("1 passed in ")]) == 2
    )
    await real.execute("greenloop.runTest", {"uri": real.uri("m.py"), "target": "m.py::double"})
    await real.told("1 passed, 1 failed in ")
    await real.diagnosed(shows(4))


HALF = '''def half(x):
    """Half of it.

    >>> half(4)
    2
    >>> half(6)
    3
    """
    return {}


def other():
    pass
'''


async def test_the_examples_of_a_function_run_with_the_tests_that_reach_it(real):
    """From the lens above it, without any test; a save runs those again that failed."""
    (real.root / "h.py").write_text(HALF.format("2"))
    await begin(real, opened=("h.py",), **SAVE)
    (run, *_), text = await lenses(real, "h.py"), HALF.format("x // 2")
    await real.execute(run["command"], *run["arguments"])
    await real.told("1 passed, 1 failed in ")
    assert [(item["range"]["start"]["line"], item["data"]) for item in real.shown("h.py")] == [
        (5, {"test": "h.py::half::doctest-2"})
    ]
    assert [each["title"] for each in await lenses(real, "h.py")][-1].startswith("✗ 1/2 ")
    first = (await real.actions("h.py", 5, diagnostics=real.shown("h.py")))[0]
    assert first["title"] == "Refine until tests pass: half"
    save(real, "h.py", text)
    await cleared(real, "h.py")
    assert [each["title"] for each in await lenses(real, "h.py")][-1] == "✓ 2/2"
    await real.execute("greenloop.runTest", {"uri": real.uri("h.py"), "target": "h.py::other"})
    await real.told("No known test covers other.")


@pytest.mark.parametrize(
    ("conftest", "text", "told"),
    [
        ("raise RuntimeError('boom')\n", TESTS, "no tests ran in "),
        ("raise RuntimeError('boom')\n", TESTS, "; conftest.py cannot be collected"),
        ("", "x = 1\n", "There are no tests in test_m.py."),
        (
            "",
            "import os\n\ndef test_a():\n    os._exit(3)\n\ndef test_b():\n    pass\n",
            "1 failed, 1 not run (pytest ended early)",
        ),
        ("", "import sys\nsys.exit(1)\n", "Importing test_m.py ends the process: SystemExit: 1 (test_m.py:2)."),
    ],
)
async def test_why_nothing_ran_is_what_is_told(real, conftest, text, told):
    (real.root / "conftest.py").write_text(conftest)
    await begin(real)
    real.change("test_m.py", text)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.told(told)


async def lenses(editor, name):
    found = await editor.call("textDocument/codeLens", {"textDocument": {"uri": editor.uri(name)}})
    return [each["command"] for each in found]


async def test_unsaved_text_wins_over_the_disk(real):
    await begin(real)
    real.change("m.py", GREEN)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.told("2 passed in ")
    assert real.shown() == []
    assert (real.root / "m.py").read_text() == RED


@pytest.mark.parametrize("argument", [{}, {"uri": 1}, {"uri": "untitled:x"}, {"target": "test_m.py::test_nothing"}])
async def test_what_is_no_test_is_refused_with_a_sentence(real, argument):
    await begin(real)
    argument = {"uri": real.uri("m.py"), **argument} if "target" in argument else argument
    number = real.request("workspace/executeCommand", {"command": "greenloop.runTest", "arguments": [argument]})
    error = (await real.reply(number))["error"]
    assert error["code"] == -32602
    assert error["message"].endswith(".")


async def test_a_save_shows_what_it_broke_and_clears_what_it_mended(real):
    await begin(real, **SAVE)
    save(real, "m.py", RED)
    await real.diagnosed(shows(4))
    save(real, "m.py", GREEN)
    await cleared(real)
    assert real.got("window/showMessage") == []


async def test_without_the_setting_a_save_runs_nothing(real):
    await begin(real)
    save(real, "m.py", RED)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py"), "target": "test_m.py::test_one"})
    await real.told("1 passed in ")
    assert real.got(PUBLISHED) == []


async def test_only_the_tests_that_came_through_the_file_run(real):
    (real.root / "n.py").write_text("def other():\n    return 2\n")
    (real.root / "test_n.py").write_text("from n import other\n\n\ndef test_other():\n    assert other() == 1\n")
    await begin(real, opened=("m.py", "n.py", "test_m.py"), **SAVE)
    save(real, "m.py", RED)
    await real.diagnosed(shows(4))
    assert real.shown("test_n.py") == []
    save(real, "n.py", "def other():\n    return 3\n")
    [item] = await real.diagnosed(shows(4), "test_n.py")
    assert "assert 3 == 1" in item["message"]


async def test_a_saved_conftest_concerns_the_tests_beneath_it(real):
    for folder in ("one", "two"):
        (real.root / folder).mkdir()
        (real.root / folder / "conftest.py").write_text(
            "import pytest\n\n\n@pytest.fixture\ndef value():\n    return 1\n"
        )
        (real.root / folder / f"test_{folder}.py").write_text("def test_value(value):\n    assert value == 2\n")
    await begin(real, opened=("one/conftest.py",), **SAVE)
    save(real, "one/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef value():\n    return 3\n")
    [item] = await real.diagnosed(shows(1), "one/test_one.py")
    assert "assert 3 == 2" in item["message"]
    assert real.shown("two/test_two.py") == real.shown() == []


async def test_code_that_does_not_compile_is_shown_where_it_stands(real):
    await begin(real, **SAVE)
    save(real, "m.py", "def double(x):\n    return x +\n")
    [item] = await real.diagnosed(shows(1), "m.py")
    assert item["code"] == "SyntaxError"
    assert item["message"].startswith("test_m.py cannot be collected: SyntaxError")
    save(real, "m.py", GREEN)
    await cleared(real, "m.py")


async def test_the_next_save_takes_the_place_of_what_is_under_way(real):
    await begin(real, **SAVE, suite={"seconds": 100})
    save(real, "m.py", ENDLESS)
    await real.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin", "progress")
    save(real, "m.py", RED)
    await real.diagnosed(shows(4))


async def test_cancelled_it_leaves_nothing_behind(real):
    await begin(real, suite={"seconds": 100})
    real.change("m.py", ENDLESS)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin", "progress")
    assert await real.execute("greenloop.cancel", {"uri": real.uri("test_m.py")}) == 1
    await real.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end", "its end")
    assert await real.execute("greenloop.cancel") == 0
    # The next check finds a sandbox that works.
    real.change("m.py", GREEN)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.told("2 passed in ")
    pids = children(real.process.pid)
    assert pids
    assert await real.stop() == 0
    assert not [pid for pid in pids if is_alive(pid)]
    assert len(real.got("window/showMessage")) == 1
    assert real.got(PUBLISHED) == []


async def test_a_test_that_never_ends_is_shown_where_it_hangs(real):
    await begin(real, sandbox={"kind": "bubblewrap", "seconds": 1}, suite={"seconds": 3})
    real.change("m.py", ENDLESS)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.told("1 failed, 1 not run (time limit) in ")
    [item] = await real.diagnosed(lambda items: len(items) == 1, "m.py")
    assert item["code"] == "Timeout"
    assert item["range"]["start"]["line"] in (1, 2)


async def test_closing_the_document_ends_what_was_begun_for_it(real):
    await begin(real, suite={"seconds": 100})
    real.change("m.py", ENDLESS)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin", "progress")
    real.notify("textDocument/didClose", {"textDocument": {"uri": real.uri("test_m.py")}})
    await real.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end", "its end")
    assert await real.execute("greenloop.cancel") == 0


async def test_a_missing_package_is_told_with_its_remedy(real):
    (real.root / "test_m.py").write_text("import numpyy_of_somebody\n\n\ndef test_it():\n    pass\n")
    (real.root / "requirements.txt").write_text("numpyy_of_somebody\n")
    await begin(real, **SAVE)
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py")})
    await real.told("pip install numpyy_of_somebody")
    save(real, "test_m.py", (real.root / "test_m.py").read_text())
    [item] = await real.diagnosed(shows(0))
    assert (item["severity"], item["code"]) == (3, "cannot-verify")
    assert "pip install numpyy_of_somebody" in item["message"]
    save(real, "test_m.py", "def test_it():\n    pass\n")
    await cleared(real)


async def test_the_whole_way_from_a_save_to_a_refinement(real):
    await begin(real, **SAVE, **scripted(real, GREEN))
    save(real, "m.py", RED)
    items = await real.diagnosed(shows(4))
    actions = await real.actions(line=4, diagnostics=items)
    action = next(each for each in actions if each["title"].startswith("Refine until tests pass"))
    assert action["diagnostics"] == items
    await real.execute(action["command"]["command"], *action["command"]["arguments"])
    await real.told("Fixed: ")
    assert real.text("m.py") == GREEN
    await cleared(real)
    # While the refinement showed the test, the check's own diagnostic gave way.
    for published in real.got(PUBLISHED):
        cases = [item for item in published["diagnostics"] if item["message"].startswith("test_double: ")]
        assert len(cases) <= 1, published


async def test_all_failing_tests_are_refined(real):
    more = "def triple(x):\n    return x + 2\n"
    (real.root / "m.py").write_text(RED + "\n\n" + more)
    test = "\n\ndef test_triple():\n    from m import triple\n\n    assert triple(5) == 15\n"
    (real.root / "test_m.py").write_text(TESTS + test)
    await begin(real, **scripted(real, GREEN, more.replace("+ 2", "* 3"), GREEN), editor={"runs": 1})
    await real.execute("greenloop.refineAll", {"uri": real.uri("test_m.py")})
    await real.told("2 of 3 tests fail; refining them")
    # One after another, in the order of the file.
    await real.wait(lambda _m: "x * 2" in real.text("m.py"), "the first edit", seconds=60)
    assert "x * 3" not in real.text("m.py")
    await real.wait(lambda _m: "x * 3" in real.text("m.py"), "the second edit", seconds=60)
    await cleared(real)


async def test_where_all_tests_pass_nothing_is_refined(real):
    (real.root / "m.py").write_text(GREEN)
    await begin(real)
    await real.execute("greenloop.refineAll", {"uri": real.uri("test_m.py")})
    await real.told("2 passed in ")
    assert real.got("window/showMessage")[0]["message"].startswith("2 passed")

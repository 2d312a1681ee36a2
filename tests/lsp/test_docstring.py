"""From a docstring, by a bare client of the real server: tests are designed, one is asked about, all lands in one edit."""

import json

import pytest

from runlength import COUNTS, GROUPS, RIGHT, SETS, SORTED, STUB, code

from .conftest import EVERYTHING, without

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

HERE = STUB.replace("the string s", "s")
WAIT = 60
AT = {"name": "m.py", "line": 1}


@pytest.fixture
def files():
    return {"m.py": HERE}


async def begin(editor, tmp_path, capabilities=EVERYTHING, **more):
    no_property = "none"
    answers = [*SETS, no_property, *(code(text) for text in (COUNTS, RIGHT, GROUPS, SORTED, RIGHT))]
    script = tmp_path / "answers.jsonl"
    script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    options = {
        "model": f"scripted:{script}",
        "sandbox": {"kind": "bubblewrap"},
        "spec": {"write": True, "noticed": 0},
        **more,
    }
    await editor.start(capabilities, opened=("m.py",), **options)


def truth(params):
    """What a user answers who knows that runs are encoded."""
    if not params["message"].startswith("Is "):
        return None
    title = params["message"].split("`")[1]
    names: dict = {}
    exec(RIGHT, names)
    wanted = "Yes" if eval(title, names) else "No"
    return next((each for each in params.get("actions") or [] if each["title"] == wanted), None)


async def test_a_docstring_becomes_an_implementation_and_tests_in_one_edit(real, tmp_path):
    real.answers["window/showMessageRequest"] = truth
    await begin(real, tmp_path)
    await real.action("Implement from docstring: rle", **AT)
    await real.wait(lambda m: m.get("method") == "workspace/applyEdit", "an edit", seconds=WAIT)
    await real.told("Fixed: ")
    assert len(real.edits) == 1  # one undo takes back both
    assert "raise NotImplementedError" not in real.text("m.py")
    assert real.text("test_m.py").count("def test_") >= 3
    assert "Confirmed by you." in real.text("test_m.py")
    names: dict = {}
    exec(real.text("m.py"), names)
    assert names["rle"]("aba") == [("a", 1), ("b", 1), ("a", 1)]
    assert (real.root / "m.py").read_text() == HERE
    assert not (real.root / "test_m.py").exists()


async def test_without_an_answer_it_is_offered_and_lands_on_request(real, tmp_path):
    silent = without(EVERYTHING, "window.showMessage")
    await begin(real, tmp_path, silent, ask=0)
    await real.action("Implement from docstring: rle", **AT)
    await real.wait(
        lambda m: "Fix found, not fully" in (m.get("params") or {}).get("message", ""),
        "the offer",
        seconds=WAIT,
    )
    assert real.edits == []
    assert real.text("m.py") == HERE
    titles = [each["title"] for each in await real.actions(**AT)]
    assert any(title.startswith("Apply refined rle (partially verified") for title in titles), titles
    hover = (await real.hover(line=0))["value"]
    assert "written by the model" in hover
    await real.action("Apply refined rle", **AT)
    await real.wait(lambda m: m.get("method") == "workspace/applyEdit", "an edit", seconds=WAIT)
    assert len(real.edits) == 1
    assert "def test_" in real.text("test_m.py")

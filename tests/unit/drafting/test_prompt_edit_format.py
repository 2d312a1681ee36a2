"""The form in which answers are asked for, by setting and by size, and that every form is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import PROBLEM, STUB, TESTS
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import diff_hunks
from greenloop.drafting.prompt import adapt_templates, choose_format
from greenloop.project import templates
from simulated_run import SimulatedRun

CODE = 'def double(x):\n    """Twice x."""\n    twice = x + 1\n    return twice\n'
RIGHT = CODE.replace("x + 1", "2 * x")
WRITTEN = replace(
    PROBLEM,
    regions=(Region(path="m.py", qualname="double", start=1, end=4),),
    originals={"m.py": CODE, "test_m.py": TESTS},
    files={"m.py": CODE, "test_m.py": TESTS},
)
ANSWERS = {
    "whole": f"```python\n{RIGHT}```",
    "search-replace": "<<<<<<< SEARCH\n    twice = x + 1\n=======\n    twice = 2 * x\n>>>>>>> REPLACE\n",
    "unified-diff": "```diff\n@@ -3 +3 @@\n-    twice = x + 1\n+    twice = 2 * x\n```\n",
}
ASKED = {"whole": "code block", "search-replace": "SEARCH/REPLACE blocks", "unified-diff": "unified diff"}


@pytest.fixture(autouse=True)
def _no_user_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.mark.parametrize("answered", ANSWERS)
@pytest.mark.parametrize("form", ASKED)
async def test_one_form_is_asked_for_and_every_form_is_read(form, answered):
    simulated_run = SimulatedRun([ANSWERS[answered]], WRITTEN, **{"preset": "plain", "answer.format": form})
    outcome = await simulated_run.run()
    assert outcome.solved
    told = "\n".join(message.content for message in simulated_run.log[0][1].messages)
    assert [words for words in ASKED.values() if words in told] == [ASKED[form]]
    candidate = outcome.attempts[outcome.best].candidate
    (hunk,) = diff_hunks(CODE, "".join(candidate.texts.values()))
    assert (hunk.start, hunk.lines) == (2, ("    twice = 2 * x\n",))


async def test_a_refinement_edits_the_attempt_that_the_model_was_shown():
    wrong = "<<<<<<< SEARCH\n    twice = x + 1\n=======\n    twice = x + 3\n>>>>>>> REPLACE\n"
    right = "<<<<<<< SEARCH\n    twice = x + 3\n=======\n    twice = x * 2\n>>>>>>> REPLACE\n"
    simulated_run = SimulatedRun([wrong, right], WRITTEN, **{"preset": "plain", "answer.format": "search-replace"})
    outcome = await simulated_run.run()
    assert outcome.solved
    assert "twice = x + 3" in simulated_run.log[1][1].messages[-2].content


async def test_a_new_beginning_shows_no_code_and_is_written_whole():
    again = ANSWERS["unified-diff"].replace("2 * x", "x + 1")
    simulated_run = SimulatedRun(
        [again, f"```python\n{RIGHT}```"], WRITTEN, **{"preset": "tenet", "answer.format": "unified-diff"}
    )
    outcome = await simulated_run.run()
    assert outcome.solved
    told = ["\n".join(message.content for message in request.messages) for _name, request in simulated_run.log]
    assert [[words for words in ASKED.values() if words in text] for text in told] == [["unified diff"], ["code block"]]


@pytest.mark.parametrize("wanted", ["auto", "search-replace", "unified-diff"])
def test_what_is_yet_to_be_written_is_written_whole(wanted):
    assert choose_format(wanted, PROBLEM, 1024) == "whole"
    created = replace(WRITTEN, regions=(replace(WRITTEN.regions[0], created=True),))
    assert choose_format(wanted, created, 1024) == "whole"


def test_auto_asks_for_edits_where_the_whole_does_not_fit_into_an_answer():
    def sized(rows: int) -> Problem:
        text = "def double(x):\n" + "    x += 1\n" * rows
        region = Region(path="m.py", qualname="double", start=1, end=rows + 1)
        return replace(PROBLEM, regions=(region,), files={"m.py": text})

    assert [choose_format("auto", sized(rows), 1024) for rows in (10, 3000)] == ["whole", "search-replace"]
    assert choose_format("whole", sized(3000), 1024) == "whole"


@pytest.mark.parametrize("preset", ["default", "plain", "self_critique"])
@pytest.mark.parametrize("form", ["search_replace", "unified_diff"])
def test_no_template_asks_for_two_forms(preset, form):
    asked = adapt_templates(templates.preset_templates(preset), templates.preset_templates(form))
    for name, text in asked.items():
        if name not in ("task", "infill", "reask"):
            assert "code block" not in text, name
    assert "$feedback" in asked["refine"]


def test_a_stub_is_no_code():
    assert choose_format("unified-diff", replace(PROBLEM, files={"m.py": STUB}), 1024) == "whole"

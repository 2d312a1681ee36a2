"""Prompts as files: the user's own take the place of the built-in ones."""

from __future__ import annotations

import argparse
from pathlib import Path
from string import Template
from types import SimpleNamespace

import pytest

from greenloop.cli import options
from greenloop.core.records.attempt import Attempt, Draft, FeedbackNote, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.prompt import assemble
from greenloop.lsp.client_settings import SettingsLoader
from greenloop.project import configuration, templates

HOUSE = Path(__file__).resolve().parents[3]
PACKAGE = HOUSE / "server/greenloop"
# What the laboratory adds to the preset `default`.
LABORATORY = PACKAGE.parents[1] / "lab/greenloop_lab/prompts/default"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Writes files into the user's folder of prompts."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def write(name: str, text: str | bytes) -> Path:
        file = tmp_path / "greenloop/prompts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return write


def built_in() -> list[str]:
    prompts = PACKAGE / "drafting/prompts"
    return sorted(file.relative_to(prompts).as_posix() for file in prompts.glob("*/*.txt"))


def test_built_in_prompts_are_read(own):
    assert (
        templates.preset_templates("default")["draft"] == (PACKAGE / "drafting/prompts/default/draft.txt").read_text()
    )
    assert templates.list_unusable() == []


def test_a_users_prompt_takes_the_place_of_the_built_in_one(own):
    own("default/draft.txt", "Mine: $feedback")
    own("feedback/algorithms.txt", "Mine too: $code $failure")
    assert templates.preset_templates("default")["draft"] == "Mine: $feedback"
    assert (
        templates.preset_templates("default")["refine"] == (PACKAGE / "drafting/prompts/default/refine.txt").read_text()
    )
    assert templates.part_template("feedback/algorithms").template == "Mine too: $code $failure"
    assert templates.list_unusable() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Do $nonsense", "the unknown variable $nonsense (known: $feedback, $hint,"),
        ("costs 5 $ or so", "a `$` that does not start a variable (write `$$` for a literal `$`)"),
        (b"\xff\xfe\x00", "cannot be read"),
        ("x" * 70_000, "more than 64 KiB"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_named_and_the_built_in_one_serves(own, text, said):
    file = own("default/draft.txt", text)
    (sentence,) = templates.list_unusable()
    assert str(file) in sentence
    assert said in sentence
    assert sentence.endswith("the built-in prompt is used.")
    assert (
        templates.preset_templates("default")["draft"] == (PACKAGE / "drafting/prompts/default/draft.txt").read_text()
    )


def test_a_prompt_that_takes_the_place_of_none_is_named(own):
    own("defualt/draft.txt", "$feedback")
    (sentence,) = templates.list_unusable()
    assert sentence.endswith("defualt/draft.txt does not replace any built-in prompt; did you mean default/draft.txt?")


def test_the_system_prompt_is_sent_as_it_stands(own):
    own("default/system.txt", "Earn 5 $ by $nothing")
    assert templates.list_unusable() == []
    assert templates.preset_templates("default")["system"] == "Earn 5 $ by $nothing"


def test_every_built_in_prompt_may_stand_in_the_users_folder(own):
    for name in built_in():
        own(name, (PACKAGE / "drafting/prompts" / name).read_text())
    assert templates.list_unusable() == []


def test_what_templates_of_moves_may_use_is_what_a_prompt_offers():
    every = " ".join(f"${name}" for name in sorted(templates._MOVE))
    task = " ".join(f"${name}" for name in sorted(templates._OFFERED["task"]))
    texts = {"system": "", "task": task, "draft": every, "refine": every, "restart": every}
    region = Region(path="m.py", qualname="f", start=1, end=2)
    source = {"m.py": "def f():\n    pass\n"}
    problem = Problem(
        root=Path("/w"), spec=Spec(cases=(), selectors=()), regions=(region,), originals=source, files=source
    )
    baseline = Attempt(number=0, verdict=Verdict(status=Status.FAILED), notes=(FeedbackNote(text="failed"),))
    for move in (Move.DRAFT, Move.REFINE, Move.RESTART):
        draft = Draft(parent=0, move=move, role=Role.DRAFTER)
        messages = assemble(
            texts, problem, [Excerpt(title="t", text="x", value=1.0)], [baseline], draft, budget=900, count=len
        )
        assert "$" not in "".join(message.content for message in messages)


@pytest.mark.parametrize("name", [*built_in(), *(f"default/{file.name}" for file in LABORATORY.glob("*.txt"))])
def test_built_in_prompts_are_valid_and_short(name):
    own = PACKAGE / "drafting/prompts" / name
    text = (own if own.is_file() else LABORATORY / own.name).read_text()
    assert Template(text).is_valid()
    assert len(text.split()) <= (220 if name == "conversation/system.txt" else 110)  # a capable model reads it once


def test_the_command_line_says_which_prompt_is_not_used(own, capsys):
    file = own("default/draft.txt", "Do $nonsense")
    options.load(argparse.Namespace(assignments=[]), None, cwd=Path())
    assert f"The prompt {file} uses the unknown variable $nonsense" in capsys.readouterr().err


def test_the_editor_is_told_once_which_prompt_is_not_used(own):
    told = []
    file = own("feedback/algorithms.txt", "Do $nonsense")
    loader = SettingsLoader(SimpleNamespace(show_warning=told.append), None)
    loader.load(None)
    loader.load(None)
    assert [text.startswith(f"The prompt {file} uses the unknown variable") for text in told] == [True]


def test_a_repository_has_no_say_in_prompts(own, tmp_path, monkeypatch):
    workspace = tmp_path / "workspace"
    for place in (workspace / "prompts", workspace / "greenloop/prompts", workspace / ".config/greenloop/prompts"):
        (place / "default").mkdir(parents=True)
        (place / "default/draft.txt").write_text("evil")
    monkeypatch.chdir(workspace)
    (workspace / "pyproject.toml").write_text('[tool.greenloop]\nprompts = "prompts"\nfeedback.logic = ["raw"]\n')
    found, warnings = configuration.load(workspace, environ={})
    assert found.feedback.logic == []
    assert len(warnings) == 2
    assert (
        templates.preset_templates("default")["draft"] == (PACKAGE / "drafting/prompts/default/draft.txt").read_text()
    )


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("default/draft", "$feedback ${names}", ""),
        ("default/draft", "$feedback $names $hint", ""),  # offered to every move
        ("default/draft", "$names", "it lacks the variable $feedback"),
        ("default/draft", "$feedback $names $spec", "it uses the unknown variable $spec (known: "),
        ("default/draft", " \n", "it is empty"),
        ("default/system", "5$", ""),
    ],
)
def test_a_text_that_cannot_replace_a_template_has_a_fault(own, name, text, fault):
    found = templates.find_fault(name, text)
    assert found.startswith(fault)
    assert bool(found) is bool(fault)


def test_another_package_adds_templates_to_a_preset_and_replaces_none(install):
    files = {"more/__init__.py": "", "more/default/more.txt": "More of $names", "more/default/draft.txt": "Other"}
    install("more", "[greenloop.parts]\nprompts = more\n", files)
    own = (PACKAGE / "drafting/prompts/default/draft.txt").read_text()
    found = templates.preset_templates("default")
    assert (found["more"], found["draft"]) == ("More of $names", own)

"""The prompts of the laboratory's parts: valid, short, and each named by a part, a preset or the harness."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from string import Template

import pytest

import greenloop_lab
from greenloop.project import templates

PROMPTS = Path(str(files(greenloop_lab) / "prompts"))
NAMES = sorted(file.relative_to(PROMPTS).as_posix() for file in PROMPTS.rglob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_valid_and_short_and_found_by_its_name(name):
    text = (PROMPTS / name).read_text()
    assert Template(text).is_valid()
    assert len(text.split()) <= 120
    assert templates.part_template(name.removesuffix(".txt")).template == text

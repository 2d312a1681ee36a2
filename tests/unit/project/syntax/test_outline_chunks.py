"""Texts that are kept give the same answers as fresh ones."""

from __future__ import annotations

import ast
import random
import warnings

import pytest

from greenloop.project.syntax import definitions, outline
from syntax_shapes import SHAPES

PIECES = [
    "",
    "x",
    "\n",
    "    ",
    "(",
    ")",
    ":",
    '"""',
    "#",
    "\\",
    "@d\n",
    "def g():\n    pass\n",
    "\nelse:\n    y\n",
    "; y = 1",
]


@pytest.mark.parametrize("seed", range(12))
def test_pieces_kept_from_the_last_text_answer_like_fresh_ones(seed):
    typed_at_random(random.Random(seed), SHAPES, PIECES)


def typed_at_random(rng, text, pieces):
    definitions.find_definitions(text, "kept")
    sound = 0
    for _step in range(60):
        at = rng.randrange(len(text) + 1)
        changed = text[:at] + rng.choice(pieces) + text[at + rng.choice([0, 0, 0, 1, 7]) :]
        kept = definitions.find_definitions(changed, "kept")
        if is_sound(changed):
            sound += 1
            assert kept == fresh(changed)
            text = changed
        elif rng.random() < 0.7:
            # Mended at once, as somebody types; sometimes the damage stays for a while.
            assert definitions.find_definitions(text, "kept") == fresh(text)
    assert sound > 5


def fresh(text):
    return outline.parse_outline(text).definitions


def test_a_keystroke_parses_its_surroundings_only(monkeypatch):
    """Also while something else in the file is broken."""
    functions = "".join(f"def test_{n}():\n    assert f({n}) == {n}\n\n\n" for n in range(400))
    for text in (functions, functions + "last = [1, 2\n"):
        definitions.find_definitions(text, "measured")
        parsed = []
        monkeypatch.setattr(outline, "parse", lambda part, parsed=parsed: parsed.append(len(part)) or parse(part))
        for typed in ("x", "x = g(", "x = g(1, [", "x = g(1, [2])", "x = g(1, [2])\n    y = 1"):
            changed = text.replace("f(200)", f"f(200)  # {typed}").replace("# x = g(", "\n        x = g(")
            assert any(item.name == "test_300" for item in definitions.find_definitions(changed, "measured"))
        assert sum(parsed) < 0.3 * len(text)


parse = outline.parse


def is_sound(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError:
            return False
    return True

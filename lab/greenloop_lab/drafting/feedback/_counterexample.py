"""Reads a property's counterexample from a failure: inputs shrunk by Hypothesis, and outcome. Pure.

A property test's own message names both; Hypothesis adds the inputs to any other exception ("Falsifying example").
"""

from __future__ import annotations

import ast
import re

from greenloop.core.python.ast_source import UNPARSABLE
from greenloop_sandbox import Failure

LONGEST = 20_000  # characters of a failure that are read
_BLOCK = re.compile(r"^E? *Falsifying (?:explicit )?example: \w+\(", re.MULTILINE)
CLAIM = re.compile(r"`(?P<name>[^`\n]+)` does not hold: ")
_GAVE = ") gave "


def counterexample(failure: Failure) -> dict[str, str]:
    """The arguments that break a property, as source text by name; empty where the failure names none.

    A value without a source form (`<object at …>`) is returned as printed, but only from the test's own message; a
    caller that evaluates the values must expect this.
    """
    stated, _gave = stated_arguments(failure.message[:LONGEST])
    return _from_block(failure.text[-LONGEST:]) or _arguments(stated) or {}


def _from_block(text: str) -> dict[str, str]:
    """The arguments that Hypothesis lists below `Falsifying example`."""
    match = next(_BLOCK.finditer(text), None)
    if match is None:
        return {}
    rows = [re.sub(r"^E ? ? ?", "", row) for row in text[match.start() :].split("\n")]
    rows[0] = rows[0].strip().split("example: ", 1)[1]
    for end in (number for number, row in enumerate(rows, 1) if row.rstrip().endswith(")")):
        if (found := _arguments("\n".join(rows[:end]))) is not None:
            return found
    return {}


def stated_arguments(message: str) -> tuple[str, str]:
    """The call and its result from the test's own message; both empty for any other message."""
    match = CLAIM.search(message)
    if match is None:
        return "", ""
    statement = message[match.end() :]
    positions = [place.start() for place in re.finditer(re.escape(_GAVE), statement)]
    if not positions:
        return "", ""
    # A value may contain the same words: the first place that ends a complete call is the right one.
    end = next((place for place in positions if _arguments(statement[: place + 1]) is not None), positions[0])
    return statement[: end + 1], statement[end + len(_GAVE) :].split("\nassert ", 1)[0].strip()


def _arguments(call: str) -> dict[str, str] | None:
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except UNPARSABLE:
        return None
    if not isinstance(node, ast.Call):
        return None
    return {word.arg: ast.unparse(word.value) for word in node.keywords if word.arg}

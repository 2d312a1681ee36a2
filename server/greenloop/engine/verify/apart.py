"""A requirement of a verification beyond a pass: that the tests were judged apart from the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Require = Literal["", "apart"]
APART: Require = "apart"


def unmet(require: Require, not_apart: Mapping[str, str]) -> str:
    """Why a pass does not have what is required; "" if it does. `not_apart` has a reason for each case that is not."""
    if require != APART or not not_apart:
        return ""
    case, why = next(iter(not_apart.items()))
    some = "1 test was" if len(not_apart) == 1 else f"{len(not_apart)} tests were"
    return f"All passed, but {some} not judged apart from the code (`--require apart`): {case} ({why})."

"""Runs tests that newly pass alone, and without the environment variables that the change sets.

Honest tests may depend on either, so what fails then is a doubt and no accusation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop_sandbox import Session, case_results

MOST = 20  # tests
_VARIABLE = re.compile(r"""["']([A-Z][A-Z0-9_]{2,})["']""")
_SETS = re.compile(r"\b(?:environ|putenv)\b")
# pytest imports it before the tests, which import what sets the variables.
_FILE = "test_greenloop_environment.py"
_TEXT = """import os

BEFORE = dict(os.environ)


def test_restored():
    for name in {names!r}:
        os.environ.pop(name, None)
        if name in BEFORE:
            os.environ[name] = BEFORE[name]
"""


async def find_conditions(
    inputs: VerificationInputs,
    session: Session,
    files: Mapping[str, str],
    cases: Sequence[str],
    *,
    own: Mapping[str, str],
    new: Mapping[str, str],
) -> tuple[str, ...]:
    """Says of these tests, by id, which pass only under a condition. Raises `SandboxBrokenError`."""
    if not cases:
        return ()
    run = replace(inputs.test_run(files), selectors=tuple(reversed(cases[:MOST])))
    conditions = ["the tests that run before it"]
    before, after = " ".join(own.values()), " ".join(new.values())
    names = sorted({*_VARIABLE.findall(after)} - {*_VARIABLE.findall(before)}) if _SETS.search(after) else []
    if names:
        conditions.append(f"what the change sets in the environment ({', '.join(names)})")
        selectors = (f"{_FILE}::test_restored", *run.selectors)
        run = replace(run, selectors=selectors, files={**run.files, _FILE: _TEXT.format(names=names).encode()})
    execution = await session.run(run)
    check_sandbox(execution)
    failing = [result.id for result in case_results(execution) if result.outcome in ("failed", "error")]
    return tuple(f"`{case}` fails without {' and '.join(conditions)}" for case in failing)

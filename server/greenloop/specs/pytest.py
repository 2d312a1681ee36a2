"""The user's own tests: pytest collects the target with the user's own code, before any candidate exists.

A part's `collect(target, text, tools)`: what was pointed at, the text of its file, the open session.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.nouns import Case, Execution, Provenance, Run, Spec, Target
from greenloop.core.ports import Tools
from greenloop.core.records import collected


async def collect(target: Target, text: str, tools: Tools, *, files: Mapping[str, bytes] | None = None) -> Spec:
    """Each collected test as a case; no cases when nothing could be collected (the runner knows why).

    `files` (unsaved texts, stubs) are laid over the workspace.
    """
    del text  # pytest reads the file itself.
    execution = await tools.session.run(Run(selectors=(target.selector,), files=dict(files or {}), collect=True))
    return read(execution, target)


def read(execution: Execution, target: Target) -> Spec:
    """The specification in what a collecting execution reported. Pure."""
    cases = tuple(
        Case(id=item.id, path=item.path, line=item.line, provenance=Provenance.USER, confirmed=True)
        for item in collected(execution)
    )
    return Spec(cases=cases, selectors=(target.selector,) if cases else ())

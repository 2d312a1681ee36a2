"""Says what has changed around the tests since a result was verified, and refuses changed tests."""

from __future__ import annotations

from collections.abc import Collection

from greenloop.core.errors import CannotVerifyError
from greenloop.engine.history.provenance import Basis, changed_tests
from greenloop.wording.notes import list_some


def refuse_changed_tests(before: Basis, now: Basis, sentence: str, remedy: str) -> None:
    """Raises `CannotVerifyError` with the sentence and the files, where trusted files changed."""
    if changed := changed_tests(before, now):
        raise CannotVerifyError(f"{sentence}: {list_some(changed, 5)}.", remedy=remedy)


def describe_changes(then: Basis, now: Basis, *, except_files: Collection[str] = ()) -> tuple[str, ...]:
    """Describes each change around the tests in a sentence; `except_files` are reported elsewhere."""
    sentences = []
    changed = sorted(path for path in {*then.code, *now.code} if then.code.get(path) != now.code.get(path))
    if other_changed := [path for path in changed if path not in except_files]:
        sentences.append(f"Other code has changed since: {list_some(other_changed, 10)}.")
    if (then.python, then.version) != (now.python, now.version):
        sentences.append(f"The interpreter was {then.python} ({then.version}) and is {now.python} ({now.version}).")
    gone, new = sorted({*then.packages} - {*now.packages}), sorted({*now.packages} - {*then.packages})
    if gone or new:
        differences = [f"-{name}" for name in gone] + [f"+{name}" for name in new]
        sentences.append(f"The packages changed: {list_some(differences, 10)}.")
    if then.network != now.network:
        sentences.append("Tests can reach the network now." if now.network else "Tests could reach the network then.")
    if then.variables != now.variables:
        described = [", ".join(names) or "none" for names in (then.variables, now.variables)]
        sentences.append(f"The variables that tests see were {described[0]} and are {described[1]}.")
    if then.seeds != now.seeds:
        sentences.append(f"The hash seeds were {then.seeds} and are {now.seeds}.")
    return tuple(sentences)

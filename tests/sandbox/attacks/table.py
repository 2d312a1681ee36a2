"""What came out, family by family: the table of tests/sandbox/attacks/README.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .attack import Attack, Fake

_counts: Counter[tuple[str, str, str]] = Counter()


def count(backend: str, attack: Attack | Fake, *, won: object) -> None:
    _counts[backend, attack.family, "attacks"] += 1
    _counts[backend, attack.family, "won" if won else "held"] += 1
    if won and attack.documented:
        _counts[backend, attack.family, "documented"] += 1


def count_twin(backend: str, fake: Fake, *, accepted: bool) -> None:
    _counts[backend, fake.family, "twins"] += 1
    _counts[backend, fake.family, "accepted"] += accepted


def lines() -> Iterator[str]:
    """Markdown, one table a back end; nothing where nothing ran."""
    for backend in dict.fromkeys(backend for backend, _, _ in _counts):
        yield f"| {backend} | attacks | held | documented wins | escaped or forged | honest twins accepted |"
        yield "|---|---|---|---|---|---|"
        families = list(dict.fromkeys(family for name, family, _ in _counts if name == backend))
        for family in families:
            yield _line(family, {kind: _counts[backend, family, kind] for kind in _KINDS})
        yield _line("**together**", {kind: sum(_counts[backend, each, kind] for each in families) for kind in _KINDS})


_KINDS = ("attacks", "held", "won", "documented", "twins", "accepted")


def _line(name: str, of: dict[str, int]) -> str:
    twins = f"{of['accepted']} of {of['twins']}" if of["twins"] else ""
    return (
        f"| {name} | {of['attacks']} | {of['held']} | {of['documented']} | {of['won'] - of['documented']} | {twins} |"
    )

"""Lists the tests that are frozen before a candidate is accepted, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.cli import render
from greenloop.core import spec_summary
from greenloop.core.events import Specified

MAX_LISTED = 40  # tests that are listed at once


class FrozenTestLister:
    """Lists all tests once, and afterwards only the changes."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._doubts: set[str] = set()

    def lines(self, event: Specified) -> Iterator[str]:
        """The lines of an event: `?` has a vote, `=` must pass, `x` no longer counts."""
        listed = spec_summary.list_rows(event.spec, has_votes=bool(self._known))
        changed = [each for each in listed if self._known.get(each.source) != each.why]
        if not self._known:
            yield f"tests, fixed before the first attempt: {spec_summary.count_tests(event.spec)}"
        elif event.reason:
            yield render.escape_controls(event.reason)
        for each in changed[:MAX_LISTED]:
            mark = "x" if each.is_discarded else "=" if each.binding else "?"
            yield render.escape_controls(f"  {mark} {each.source}  ({each.why})")
        if len(changed) > MAX_LISTED:
            yield f"  … {len(changed) - MAX_LISTED} more"
        for doubt in event.spec.doubts:
            if doubt not in self._doubts:
                yield render.escape_controls(f"  in doubt: {doubt}")
        self._known = {each.source: each.why for each in listed}
        self._doubts.update(event.spec.doubts)

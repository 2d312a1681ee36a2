"""Functions that failures name, and that did not run: their arguments do not fit, or they were not called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from greenloop_sandbox import Failure

_CALLED = re.compile(r"(?:^|: )([\w.<>]+)\(\) (?:takes|missing|got)\b")
_SHOWN = re.compile(r"<(?:bound method|function|coroutine object|generator object|async_generator object) ([\w.<>]+) ")


def named_functions(failures: Iterable[Failure | None]) -> list[str]:
    """The qualified names of functions that the failures name as ones that they could not call, or did not."""
    return list(dict.fromkeys(name for failure in failures if failure for name in _names(failure)))


def _names(failure: Failure) -> Iterator[str]:
    if failure.type == "TypeError" and (match := _CALLED.search(failure.message)):
        yield match[1]
    # Only the first line: those below it show the functions that did run, and those that were given to them.
    for text in (failure.observed or "", failure.message.partition("\n")[0]):
        yield from _SHOWN.findall(text)

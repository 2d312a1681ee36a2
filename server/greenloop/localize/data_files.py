"""Finds the data files that failing cases read, and the value in them that a failed assertion shows.

It must not know who changes them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from greenloop.core.reach import ALL_CASES, Reach
from greenloop.core.records.problem import DataFile
from greenloop.core.text.diff import split_lines
from greenloop.project.editable import why_not_editable
from greenloop.project.revisions.judging import EXPECTED, find_role
from greenloop.project.sources import is_trusted
from greenloop_sandbox import Failure

MOST_FILES = 5
LONGEST_FILE = 200_000  # characters
LONGEST_VALUE = 200

TextOf = Callable[[str], str | None]


def find_data_files(
    reach: Reach,
    failing: Mapping[str, Failure | None],
    text_of: TextOf,
    root: Path,
    *,
    patterns: Sequence[str],
    masked: Sequence[str],
) -> tuple[DataFile, ...]:
    """Returns the data files that were read in these cases, those with an observed value first.

    A file that a test reads itself holds expected results.
    """
    opened = {pair for case in (*failing, ALL_CASES) for pair in reach.opened.get(case, ())}
    of_tests = {path for path, module in opened if is_trusted(module, patterns)}
    found = []
    for path, reader in dict(sorted(opened)).items():
        text = text_of(path)
        if text is None or len(text) > LONGEST_FILE or why_not_editable(path, root, patterns=patterns, masked=masked):
            continue
        if role := EXPECTED if path in of_tests else find_role(path, root, text_of, patterns):
            found.append(DataFile(path=path, reader=reader, role=role))
        else:
            found.append(_with_value(path, reader, text, failing.values()))
    return tuple(sorted(found, key=lambda each: not each.line)[:MOST_FILES])


def _with_value(path: str, reader: str, text: str, failures: Iterable[Failure | None]) -> DataFile:
    """The data file with the line that has the value of a failure, and that line with the expected one."""
    rows = split_lines(text)
    for failure in failures:
        for old, new in _corrections(failure):
            places = [(number, match) for number, row in enumerate(rows) for match in re.finditer(_whole(old), row)]
            if len(places) == 1:
                ((number, match),) = places
                corrected = match.string[: match.start()] + new + match.string[match.end() :]
                return DataFile(path=path, reader=reader, line=number + 1, observed=old, corrected=corrected)
    return DataFile(path=path, reader=reader)


def _corrections(failure: Failure | None) -> Iterator[tuple[str, str]]:
    """The texts that an observed value may have in a file, each with that of the expected one."""
    if failure is None or failure.expected is None or failure.observed is None:
        return
    try:
        expected, observed = ast.literal_eval(failure.expected), ast.literal_eval(failure.observed)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return
    plain = (str, int, float, bool)
    if not isinstance(expected, plain) or not isinstance(observed, plain) or expected == observed:
        return
    for write in (json.dumps, repr, str):
        old, new = write(observed), write(expected)
        if old and "\n" not in old + new and len(old + new) <= LONGEST_VALUE:
            yield old, new
    if isinstance(expected, str) and isinstance(observed, str):
        old_words, new_words = observed.split(), expected.split()
        differing = [pair for pair in zip(old_words, new_words, strict=False) if pair[0] != pair[1]]
        if len(old_words) == len(new_words) and len(differing) == 1:
            yield differing[0]


def _whole(value: str) -> str:
    """A pattern of the value where it is not a part of a longer word or number."""
    return rf"(?<![\w.]){re.escape(value)}(?!\w|\.\w)"

"""Finds the lines of texts that match a pattern; as a program, in a process that can be ended.

A regular expression may take for ever, and nothing can interrupt it inside its process. It must not know where the
texts come from, and imports nothing of greenloop, so that it starts at once.
"""

import json
import re
import sys
from collections.abc import Iterable

MOST = 40  # lines that are shown
LONGEST = 160  # characters of one


def find_lines(texts: Iterable[tuple[str, str]], pattern: re.Pattern[str]) -> tuple[list[str], int]:
    """Returns the first lines that match, each as `path:line: text`, and how many there are."""
    shown: list[str] = []
    count = 0
    for path, text in texts:
        for number, row in enumerate(text.split("\n"), 1):
            if pattern.search(row):
                count += 1
                if len(shown) < MOST:
                    line = row.strip()
                    shown.append(f"{path}:{number}: {line if len(line) <= LONGEST else line[:LONGEST] + '…'}")
    return shown, count


def main() -> None:
    """Reads `[pattern, [[path, text], …]]`, and writes `[lines, count]`, or why it is not a regular expression."""
    pattern, texts = json.load(sys.stdin)
    try:
        found: object = find_lines(texts, re.compile(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        found = str(error)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

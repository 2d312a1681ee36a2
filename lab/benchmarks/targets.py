"""Measures `targets.target_at` on a file of 5,000 lines: cold, unchanged, after a keystroke, while it is broken;
then the same where all of it is one class, and how long a list of every target takes.

Run: python lab/benchmarks/targets.py [LINES]
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

from greenloop.project import targets
from greenloop.project.syntax import definitions

CLASS = '''\
class TestThing{n}:
    """Things number {n}."""

    @pytest.mark.parametrize(("value", "expected"), [(1, "one"), (2, "two"), (3, None)])
    def test_value_{n}(self, value, expected):
        found = convert(value, table={{"a": [1, 2, 3], "b": (4, 5)}})
        if found is None:
            assert expected is None, f"nothing for {{value!r}}"
        else:
            assert found == expected  # the usual case

    async def test_later_{n}(self):
        async with opened("x") as file:
            assert [row async for row in file] == ["a\\n", "b\\n"]


def helper_{n}(a, *rest, key=None, **more):
    text = """
    Some text of several lines.
    """
    return {{name: value for name, value in more.items() if name != key}} or text


'''


def make_test_file(lines: int) -> str:
    pieces, count = ["import pytest\n\n\n"], 3
    while count < lines:
        pieces.append(CLASS.format(n=len(pieces)))
        count += CLASS.count("\n")
    return "".join(pieces)


def measure_milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def show(name: str, values: list[float]) -> None:
    values.sort()
    p95 = values[int(len(values) * 0.95) - 1]
    print(f"{name:34} p50 {statistics.median(values):7.2f} ms   p95 {p95:7.2f} ms   n {len(values)}")


def make_one_class(lines: int) -> str:
    """All of it as the methods of a single class."""
    rows = make_test_file(lines).splitlines(keepends=True)[3:]
    return "import pytest\n\n\nclass TestAll:\n" + "".join(f"    {row}" if row.strip() else row for row in rows)


def measure_keystrokes(rng: random.Random, text: str, path: str, typed: str, times: int) -> list[float]:
    """`typed` at the end of random lines, each on top of the last."""
    targets.target_at(text, path, 1)
    result = []
    for _ in range(times):
        place = text.index("\n", rng.randrange(len(text) - 200))
        text = f"{text[:place]}{typed}{text[place:]}"
        line = rng.randrange(1, text.count("\n"))
        result.append(measure_milliseconds(lambda text=text, line=line: targets.target_at(text, path, line)))
    return result


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    rng = random.Random(1)
    text = make_test_file(lines)
    total = text.count("\n")
    print(f"{total} lines, {len(text)} characters, {len(definitions.find_definitions(text))} definitions")

    def make_lookup(source: str, path: str) -> Callable[[], object]:
        line = rng.randrange(1, total)
        return lambda: targets.target_at(source, path, line)

    show("cold (first look at the file)", [measure_milliseconds(make_lookup(text, f"test_{n}.py")) for n in range(40)])
    targets.target_at(text, "test_m.py", 1)
    show("unchanged", [measure_milliseconds(make_lookup(text, "test_m.py")) for _ in range(400)])
    show("after a keystroke", measure_keystrokes(rng, text, "test_m.py", "  # a", 400))
    show("after a new line", measure_keystrokes(rng, text, "test_n.py", "\n", 400))
    show("while a bracket is open", measure_broken(rng, text, "test_m.py"))
    show("the same, another open elsewhere", measure_broken(rng, text + "\nlast = [1, 2\n", "test_b.py"))
    large = make_one_class(lines)
    show("after a keystroke in one class", measure_keystrokes(rng, large, "test_c.py", "  # a", 100))
    show("while a bracket is open in it", measure_broken(rng, large, "test_c.py"))
    show("every target, after a keystroke", measure_full_list(rng, text))


def measure_broken(rng: random.Random, text: str, path: str) -> list[float]:
    result = []
    for _ in range(100):
        place = text.index("async def", rng.randrange(len(text) // 2))
        place = text.rindex("\n", 0, place)
        targets.target_at(text, path, 1)
        for typed in ("\n    x = foo(", "\n    x = foo(a", "\n    x = foo(a, ["):
            damaged = text[:place] + typed + text[place:]
            line = rng.randrange(1, damaged.count("\n"))
            result.append(measure_milliseconds(lambda text=damaged, line=line: targets.target_at(text, path, line)))
    return result


def measure_full_list(rng: random.Random, text: str) -> list[float]:
    result = []
    for _ in range(100):
        place = text.index("\n", rng.randrange(len(text) - 200))
        text = f"{text[:place]}\n{text[place:]}"
        result.append(measure_milliseconds(lambda text=text: targets.list_targets(text, "test_a.py")))
    return result


if __name__ == "__main__":
    main()

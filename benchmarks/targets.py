"""How fast `targets.at` answers on a file of 5,000 lines: cold, unchanged, after a keystroke, while it is broken.

Run: PYTHONPATH=server python benchmarks/targets.py [LINES]
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

from greenloop import syntax, targets

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


def text_of(lines: int) -> str:
    pieces, count = ["import pytest\n\n\n"], 3
    while count < lines:
        pieces.append(CLASS.format(n=len(pieces)))
        count += CLASS.count("\n")
    return "".join(pieces)


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def show(name: str, values: list[float]) -> None:
    values.sort()
    p95 = values[int(len(values) * 0.95) - 1]
    print(f"{name:34} p50 {statistics.median(values):7.2f} ms   p95 {p95:7.2f} ms   n {len(values)}")


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    rng = random.Random(1)
    text = text_of(lines)
    total = text.count("\n")
    print(f"{total} lines, {len(text)} characters, {len(syntax.definitions(text))} definitions")

    def at(source: str, path: str) -> Callable[[], object]:
        line = rng.randrange(1, total)
        return lambda: targets.at(source, path, line)

    show("cold (first look at the file)", [milliseconds(at(text, f"test_{n}.py")) for n in range(40)])
    targets.at(text, "test_m.py", 1)
    show("unchanged", [milliseconds(at(text, "test_m.py")) for _ in range(400)])
    typed = []
    for _ in range(400):
        place = text.index("\n", rng.randrange(len(text) - 200))
        text = f"{text[:place]}  # {rng.choice('abc')}{text[place:]}"
        typed.append(milliseconds(at(text, "test_m.py")))
    show("after a keystroke", typed)
    broken = []
    for _ in range(150):
        place = text.index("\n    async def", rng.randrange(len(text) // 2))
        targets.at(text, "test_m.py", 1)
        for typed_so_far in ("\n    x = foo(", "\n    x = foo(a", "\n    x = foo(a, ["):
            damaged = text[:place] + typed_so_far + text[place:]
            broken.append(milliseconds(at(damaged, "test_m.py")))
    show("while a bracket is open", broken)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes the pictures of terminals in docs/media: what greenloop shows, each from a run of the product.

    scripts/pictures.py [NAME ...]      all, or these

The model's answers come from files; everything else is real: tests, sandbox (bubblewrap), proofs. The pictures of
VS Code are in vscode-client/media, taken by its tests.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import terminal_svg

ROOT = Path(__file__).resolve().parents[1]
MEDIA = ROOT / "docs" / "media"
WIDTH = 112
SLOW = """\
def unique(items):
    result = []
    for item in items:
        if item not in result:
            result.append(item)
    return result
"""
FAST = "def unique(items):\n    return list(dict.fromkeys(items))\n"
TEST_UNIQUE = """\
from unique import unique


def test_the_first_of_each_stays():
    assert unique([2, 1, 2, 3, 1]) == [2, 1, 3]


def test_many():
    assert unique(list(range(3000)) * 2) == list(range(3000))
"""
STATISTICS = """\
def mean(numbers):
    if not numbers:
        return 0
    return sum(numbers) / len(numbers)


def median(numbers):
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return mean(ordered[middle - 1 : middle + 1])


def clamp(number, low, high):
    if number < low:
        return low
    return min(number, high)
"""
TEST_STATISTICS = """\
from statistics_of import clamp, mean, median


def test_mean():
    assert mean([1, 2, 6]) == 3
    assert mean([]) == 0


def test_median():
    assert median([9, 1, 5]) == 5
    assert median([4, 1, 2, 9]) == 3


def test_clamp():
    assert [clamp(number, 2, 4) for number in (1, 3, 5)] == [2, 3, 4]
"""
FAKE = """\
class Anything(list):
    def __eq__(self, other):
        return True


def fibonacci(n):
    return Anything()
"""


SHOP = """\
import json
from pathlib import Path

RATES = json.loads((Path(__file__).parent / "rates.json").read_text())


def price(kind):
    return RATES[kind.strip()]
"""
TEST_SHOP = """\
from shop import price


def test_price():
    assert price(" Pen ") == 19


def test_other_kinds():
    assert price("INK") == 7


def test_plain():
    assert price("pen") == 19
"""
LOOKS = {
    "calls": [
        ["read", {"path": "rates.json"}],
        ["references", {"symbol": "price"}],
        ["run", {"tests": ["test_shop.py"]}],
    ],
    "text": "",
}
EDIT = """\
shop.py
<<<<<<< SEARCH
    return RATES[kind.strip()]
=======
    return RATES[kind.strip().lower()]
>>>>>>> REPLACE
"""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """`lines` are typed one after another in the folder that `prepare` fills; only the last one is shown.

    `model` answers with these texts, or looks at the project. A `moving` picture shows all lines, and how their
    answers came.
    """

    lines: tuple[str, ...]
    prepare: Callable[[Path], None]
    model: tuple[str | dict[str, object], ...] = ()
    media: Path = MEDIA
    moving: bool = False
    width: int = WIDTH


def fibonacci(folder: Path) -> None:
    shutil.copytree(ROOT / "examples" / "fibonacci", folder, dirs_exist_ok=True)


def faked(folder: Path) -> None:
    """A commit with the tests, and a working tree whose code only pretends."""
    fibonacci(folder)
    git = ["git", "-c", "user.name=you", "-c", "user.email=you@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "tests"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    (folder / "fibonacci.py").write_text(FAKE, encoding="utf-8")


def claimed(folder: Path) -> None:
    """Two examples under git: one with a bug, one with a change that a coding agent calls a fix."""
    for name in ("age_limit", "shipping"):
        shutil.copytree(ROOT / "examples" / name, folder, dirs_exist_ok=True)
    git = ["git", "-c", "user.name=you", "-c", "user.email=you@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    shutil.copy(folder / "claimed.py", folder / "shipping.py")


def slow(folder: Path) -> None:
    (folder / "unique.py").write_text(SLOW, encoding="utf-8")
    (folder / "test_unique.py").write_text(TEST_UNIQUE, encoding="utf-8")


def shop(folder: Path) -> None:
    texts = {"shop.py": SHOP, "test_shop.py": TEST_SHOP, "rates.json": '{"pen": 19, "ink": 7}\n'}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def correct(folder: Path) -> None:
    (folder / "statistics_of.py").write_text(STATISTICS, encoding="utf-8")
    (folder / "test_statistics.py").write_text(TEST_STATISTICS, encoding="utf-8")


ANSWER = json.loads((ROOT / "examples/answers/fibonacci.jsonl").read_text(encoding="utf-8").splitlines()[0])
FIX = "greenloop fix test_fibonacci.py --apply --preset plain --model scripted:answers.jsonl"
BENCH = "greenloop bench mutants:. --arm default --arm plain --model reference --sample 4 --out results.jsonl"
PICTURES = {
    "start": Picture(lines=("greenloop",), prepare=fibonacci),
    "fix": Picture(lines=(FIX,), prepare=fibonacci, model=(ANSWER,)),
    "looks": Picture(
        lines=(
            "greenloop fix test_shop.py::test_price --apply --set model.kind=capable --model scripted:answers.jsonl",
        ),
        prepare=shop,
        model=(LOOKS, EDIT),
    ),
    "verify": Picture(lines=("greenloop verify",), prepare=faked),
    "improve": Picture(
        lines=("greenloop improve unique.py::unique --for time --apply --model scripted:answers.jsonl",),
        prepare=slow,
        model=(f"```python\n{FAST}```",) * 9,
    ),
    "history": Picture(lines=(FIX, "greenloop history show 1"), prepare=fibonacci, model=(ANSWER,)),
    "bench": Picture(
        lines=(BENCH, "greenloop bench report results.jsonl"), prepare=correct, media=ROOT / "lab" / "docs" / "media"
    ),
    "tour": Picture(
        lines=(
            "greenloop fix test_age_limit.py::test_birthday --apply",
            "pytest -q test_shipping.py",
            "greenloop verify test_shipping.py",
        ),
        prepare=claimed,
        moving=True,
        width=96,
    ),
}


def make_picture(name: str, picture: Picture, place: Path) -> None:
    """Runs the lines in a folder below `place`, and draws what the last one showed."""
    folder = place / name
    folder.mkdir()
    (place / "homes" / name).mkdir(parents=True)
    picture.prepare(folder)
    (place / f"{name}.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in picture.model), encoding="utf-8")
    typed = []
    for line in picture.lines:
        words = shlex.split(line.replace("scripted:answers.jsonl", f"scripted:{place / name}.jsonl"))
        screens = run_on_terminal([str(place / ".venv/bin/python"), "-m", *words], folder, place, picture.width)
        typed.append(terminal_svg.Typed(line=line, screens=screens))
    if picture.moving:
        text = terminal_svg.moving(typed, "greenloop", picture.width)
    else:
        text = terminal_svg.still(typed[-1], f"greenloop: {name}", name, picture.width)
    picture.media.mkdir(exist_ok=True)
    lines = "".join(f"{row.rstrip()}\n" for row in text.splitlines())
    (picture.media / f"{name}.svg").write_text(lines, encoding="utf-8")
    print(f"{name}: {len(text) >> 10} kB")


def run_on_terminal(words: list[str], folder: Path, place: Path, width: int) -> list[tuple[float, str]]:
    """Everything that a program has written to its terminal, at each time that it wrote something."""
    main, inside = os.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {
        "HOME": str(place / "homes" / folder.name),
        "PATH": f"{place / '.venv/bin'}:/usr/bin:/bin",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # plugins of development have nothing to say here
    }
    begin = time.monotonic()
    process = subprocess.Popen(words, stdin=inside, stdout=inside, stderr=inside, cwd=folder, env=environment)
    os.close(inside)
    data, screens = b"", []
    try:
        while piece := os.read(main, 65536):
            data += piece
            screens.append((time.monotonic() - begin, data.decode(errors="replace")))
    except OSError:
        pass  # Linux says so at the end
    process.wait()
    os.close(main)
    if "Traceback (most recent call last)" in screens[-1][1]:
        raise RuntimeError(screens[-1][1])
    return screens


def make_environment(place: Path) -> None:
    """An environment that has this checkout and its packages, so that no picture shows where they are."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / ".venv"], check=True)
    (packages,) = (place / ".venv").glob("lib/python*/site-packages")
    folders = [*(str(ROOT / name) for name in ("server", "sandbox", "lab")), sysconfig.get_path("purelib")]
    (packages / "checkout.pth").write_text("".join(f"{folder}\n" for folder in folders), encoding="utf-8")
    for metadata in Path(sysconfig.get_path("purelib")).glob("greenloop*.dist-info"):
        (packages / metadata.name).symlink_to(
            metadata
        )  # plugins are found by it, in the environment's own folder alone


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names or list(PICTURES)
    if unknown := set(names) - set(PICTURES):
        parser.error(f"There is no picture {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}.")
    # Always the same, because pictures show it.
    place = Path(tempfile.gettempdir()) / "greenloop-demo"
    place.mkdir(mode=0o755)
    try:
        make_environment(place)
        for name in names:
            make_picture(name, PICTURES[name], place)
    finally:
        shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())

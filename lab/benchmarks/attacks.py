#!/usr/bin/env python3
"""Wrong changes by attackers who have read how a pass is proven: which of them does `greenloop verify` believe?

    lab/benchmarks/attacks.py [--select TEXT] [--jobs N] [--out FILE]

`attacks.txt` has small projects by the mechanism of their attack: code before, code after, tests. Each change is wrong,
leaves the tests as they are and makes them pass; a `twin_` is honest code of the same form. Some attacks only use what
weak tests leave open, or know the tests' answers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from greenloop_lab.bench.reporting.figures import wilson

FILE = Path(__file__).with_name("attacks.txt")
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
TWINS = "honest twins"


@dataclass(kw_only=True)
class Attack:
    """A project: texts by path, for `before`, `after` and `test`."""

    name: str
    mechanism: str
    texts: dict[str, dict[str, str]] = field(default_factory=lambda: {"before": {}, "after": {}, "test": {}})


def read_attacks(text: str) -> Iterator[Attack]:
    mechanism, attack, place = "", None, None
    for line in text.splitlines(keepends=True):
        head, _space, rest = line.rstrip("\n").partition(" ")
        if head == "***":
            mechanism = rest
        elif head == "===":
            if attack:
                yield attack
            place, attack = None, Attack(name=rest, mechanism=mechanism)
        elif head == "---" and attack:
            kind, path = rest.split()
            place, attack.texts[kind][path] = (kind, path), ""
        elif place and attack:
            attack.texts[place[0]][place[1]] += line
    if attack:
        yield attack


def judge(attack: Attack) -> str:
    """The state that `greenloop verify` gives the change, or the end of what it says in place of one."""
    with tempfile.TemporaryDirectory(prefix="greenloop-attack-") as name:
        root = Path(name)
        _write(root, attack.texts["before"] | attack.texts["test"])
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "red"]):
            subprocess.run([*GIT, *words], cwd=root, check=True)
        _write(root, attack.texts["after"])
        command = [str(Path(sys.executable).with_name("greenloop")), "verify", "--json"]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    try:
        return str(json.loads(done.stdout)["state"])
    except ValueError:
        return (done.stderr.strip().splitlines() or ["it says nothing"])[-1]


def _write(root: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--select", default="", help="only those with this text in the name or the mechanism")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a file for one line of JSON for each")
    options = parser.parse_args()
    attacks = [
        each for each in read_attacks(FILE.read_text("utf-8")) if options.select in f"{each.name} {each.mechanism}"
    ]
    states = defaultdict[str, Counter[str]](Counter)
    with ThreadPoolExecutor(options.jobs) as pool:
        for attack, state in zip(attacks, pool.map(judge, attacks), strict=True):
            states[attack.mechanism][state] += 1
            print(f"{state:20} {attack.name}", flush=True)
            if options.out:
                with options.out.open("a", encoding="utf-8") as stream:
                    stream.write(
                        json.dumps({"name": attack.name, "mechanism": attack.mechanism, "state": state}) + "\n"
                    )
    print("\n| mechanism | changes | verified | partially | others |\n|---|---:|---:|---:|---:|")
    for mechanism, counts in states.items():
        verified, partially, total = counts["verified"], counts["partially_verified"], counts.total()
        print(f"| {mechanism} | {total} | {verified} | {partially} | {total - verified - partially} |")
    believed = sum(counts["verified"] for mechanism, counts in states.items() if mechanism != TWINS)
    total = sum(counts.total() for mechanism, counts in states.items() if mechanism != TWINS)
    low, high = wilson(believed, total) if total else (0.0, 1.0)
    print(f"\nBelieved: {believed} of {total} ({low:.1%} to {high:.1%}).")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How often does finished code look unfinished? Functions of installed packages, each as if it were written now.

    lab/benchmarks/unfinished.py [--functions N] [--seed N]

The body of a function is replaced by `raise NotImplementedError`; the change puts it back. Only the signs of its text
are counted, for nothing is run. Tests, and copies of other packages, are left out.
"""

from __future__ import annotations

import argparse
import ast
import random
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from greenloop.core.python.ast_source import FUNCTIONS, compile_error, docstring_statement, find_definitions
from greenloop.plugins.other_inputs.unfinished import find_unfinished
from greenloop_lab.bench.reporting.figures import wilson

FROM_ONE_FILE = 3
LARGEST = 60_000  # bytes
KINDS = {"never reads": "a parameter that is never read", "lacks": "a list of which a part is missing"}
TODO = "a TODO comment"


def functions(root: Path, rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yields name, own text and new text of functions with more than one statement."""
    files = [path for path in sorted(root.rglob("*.py")) if "test" not in str(path.relative_to(root))]
    files = [path for path in files if "_vendor" not in path.parts and path.stat().st_size < LARGEST]
    rng.shuffle(files)
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        if compile_error(text) is not None:
            continue
        module = ast.parse(text)
        found = [(name, node) for name, node in find_definitions(module.body) if isinstance(node, FUNCTIONS)]
        rng.shuffle(found)
        for name, node in found[:FROM_ONE_FILE]:
            body = node.body[1:] if docstring_statement(node) else node.body
            if len(body) < 2 or body[0].lineno <= node.lineno:
                continue
            rows = text.split("\n")
            rows[body[0].lineno - 1 : node.end_lineno] = [f"{' ' * body[0].col_offset}raise NotImplementedError"]
            if compile_error("\n".join(rows)) is None:
                yield f"{path.relative_to(root)}: {name}", "\n".join(rows), text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=11, metavar="N")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    tried = 0
    for name, own, new in functions(Path(sysconfig.get_paths()["purelib"]), random.Random(arguments.seed)):
        tried += 1
        signs = find_unfinished({"m.py": own}, {"m.py": new})
        counts.update({next((kind for words, kind in KINDS.items() if words in sign), TODO) for sign in signs})
        counts["any"] += bool(signs)
        if signs:
            print(f"{name}: {'; '.join(signs)}")
        if tried == arguments.functions:
            break
    for kind, count in counts.most_common():
        low, high = wilson(count, tried)
        print(f"{kind}: {count} of {tried} ({100 * low:.1f} to {100 * high:.1f} %)")


if __name__ == "__main__":
    main()

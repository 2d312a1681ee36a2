"""Counts the runs that a loaded machine loses: `greenloop fix` without a model, between processes that never rest.

    python lab/benchmarks/load.py [--runs 50] [--load 12] [--nice 10] [--seconds 3000]

Each run refines a fresh project in bubblewrap. A run counts as lost unless its result is verified. `--nice` is that of
the processes; 0 lets them share the processors with the runs as equals.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = {
    "m.py": "def double(n):\n    return n + 2\n",
    "test_m.py": "from m import double\n\n\ndef test_it():\n    assert double(4) == 8\n    assert double(-1) == -2\n",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("runs", 50), ("load", 12), ("nice", 10), ("seconds", 3000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    ends = time.monotonic() + options.seconds
    spin = "import time; end = time.monotonic() + float(__import__('sys').argv[1])\nwhile time.monotonic() < end: pass"
    # One process less than the load: the run is the last one.
    busy = [
        subprocess.Popen(["nice", "-n", str(options.nice), sys.executable, "-c", spin, str(options.seconds)])
        for _number in range(options.load - 1)
    ]
    lost, seconds, loads = [], [], []
    try:
        for number in range(options.runs):
            if time.monotonic() > ends:
                break
            began = time.monotonic()
            output = fix()
            seconds.append(time.monotonic() - began)
            loads.append(os.getloadavg()[0])
            if "Verified" not in output:
                lost.append(output)
            print(f"{number + 1}: {seconds[-1]:.1f} s, load {loads[-1]:.1f}, {len(lost)} lost", flush=True)
    finally:
        for process in busy:
            process.send_signal(signal.SIGKILL)
            process.wait()
    print(f"{len(seconds)} runs, {len(lost)} lost; median {statistics.median(seconds):.1f} s, {max(seconds):.1f} s "
          f"at most; loads from {min(loads):.1f} to {max(loads):.1f}")  # fmt: skip
    print(*lost, sep="\n---\n")


def fix() -> str:
    """Refines a fresh project; returns what the command printed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "w"
        root.mkdir()
        for name, text in FILES.items():
            (root / name).write_text(text)
        command = [sys.executable, "-m", "greenloop", "fix", "test_m.py", "--model", "none", "--sandbox", "bubblewrap"]
        environment = {**os.environ, "XDG_STATE_HOME": f"{folder}/state", "GREENLOOP_INTERPRETER": sys.executable}
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        return f"exit {done.returncode}\n{done.stdout}{done.stderr}"


if __name__ == "__main__":
    main()

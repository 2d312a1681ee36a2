#!/usr/bin/env python3
"""Runs every example with a real model: solved or not, attempts, tokens, seconds, under each sandbox that is asked for.

    lab/benchmarks/examples.py --model local --sandbox bubblewrap docker

Works on copies; an example with packages of its own has its environment made first and runs under bubblewrap only.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Outcome
from greenloop.engine import refine
from greenloop.project import configuration

HERE = Path(__file__).resolve().parents[2] / "examples"


async def run_example(name: str, about: dict[str, str], kind: str, arguments: argparse.Namespace) -> str:
    """The row of one example. What the engine refuses is shown in its place."""
    with tempfile.TemporaryDirectory(prefix="greenloop-example-") as folder:
        project = Path(folder) / name
        shutil.copytree(HERE / name, project, ignore=shutil.ignore_patterns(".venv", "__pycache__"))
        if "setup" in about:
            subprocess.run(  # noqa: ASYNC221 - nothing else is waiting
                about["setup"], cwd=project, shell=True, check=True
            )
        values = {"model": arguments.model, "preset": arguments.preset, "sandbox.kind": kind}
        loaded_settings, _warnings = configuration.load(project, command_line=values)
        began = time.monotonic()
        request = refine.RefineRequest(root=project, target=about["target"])
        try:
            outcome = await refine.refine(request, settings=loaded_settings, emit=lambda _event: None)
        except GreenloopError as error:
            return f"| {name} | {kind} | refused: {error} | | | |"
        return format_row(name, kind, outcome, time.monotonic() - began)


def format_row(name: str, kind: str, outcome: Outcome, seconds: float) -> str:
    tried = len(outcome.attempts) - 1
    word = "solved" if outcome.solved else f"not solved ({outcome.attempts[-1].error_class})"
    usage = outcome.usage
    return f"| {name} | {kind} | {word} | {tried} | {usage.tokens} | {seconds:.0f} ({usage.model_seconds:.0f} model) |"


async def run(arguments: argparse.Namespace) -> None:
    examples = tomllib.loads((HERE / "targets.toml").read_text(encoding="utf-8"))
    print("| example | sandbox | result | attempts | tokens | seconds |\n|---|---|---|---|---|---|", flush=True)
    for kind in arguments.sandbox:
        for name, about in examples.items():
            if kind == "docker" and "setup" in about:
                continue
            print(await run_example(name, about, kind, arguments), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="local")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--sandbox", nargs="+", default=["bubblewrap"])
    asyncio.run(run(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

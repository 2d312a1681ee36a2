#!/usr/bin/env python3
"""Records runs of the embedded model that tests play again.

    scripts/transcripts.py list                      what is recorded
    scripts/transcripts.py record [NAME ...]         what is missing, or these anew

What was recorded stays when this is interrupted. A run that does not show what it is kept for is tried with the
definition's next project; where none does, that is reported (exit code 1) and nothing is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from greenloop.core.errors import GreenloopError
from greenloop.plugins.embedded.providers import local
from greenloop.plugins.recordings.providers.replay import record_model
from greenloop.project import configuration
from transcript_claims import missing
from transcripts import PYTHON, Played, Transcript, load, play, replayed


async def record(transcript: Transcript, python: Path) -> bool:
    """Keeps the first run that shows what it should."""
    for project in transcript.projects:
        print(f"{transcript.name}: {project} …", flush=True)
        with tempfile.TemporaryDirectory(prefix="greenloop-transcript-") as temporary:
            folder = make_readable(Path(temporary))
            answers = folder / "answers.jsonl"
            model = record_model(local.create("local", configuration.load(None)[0]), answers)
            played = await play(transcript, project, _make_folder(folder / "live"), python, model)
            reasons = ["No question was asked."]
            if played.asked:
                played = await play(transcript, project, _make_folder(folder / "again"), python, replayed(answers))
                reasons = missing(transcript.name, played)
            if not reasons:
                shutil.move(answers, transcript.answers)
                expected = json.dumps({"python": PYTHON, **played.summary()}, indent=2, ensure_ascii=False)
                transcript.expected.write_text(expected + "\n", encoding="utf-8")
        print("".join(f"  {line}\n" for line in summary(played)), end="")
        if not reasons:
            print("  kept")
            return True
        print("".join(f"  not kept: {sentence}\n" for sentence in reasons), end="")
    return False


def summary(played: Played) -> list[str]:
    seconds = sum(attempt.spent.model_seconds for attempt in played.attempts)
    ended = f"{played.outcome.reason}, {seconds:.0f} s of the model: {played.outcome.message}"
    return [*played.summary()["attempts"], ended]


def make_readable(folder: Path) -> Path:
    """A folder that the tests of root, which run as somebody else, may read."""
    folder.chmod(0o755)
    return folder


def _make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def main() -> int:
    """0: everything asked for is recorded; 1: something is not."""
    parser = argparse.ArgumentParser(description="Runs of the embedded model that tests play again.")
    parser.add_argument("action", choices=["list", "record"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    known = load()
    if unknown := set(arguments.names) - set(known):
        parser.error(f"There is no transcript {', '.join(sorted(unknown))}; there are {', '.join(known)}.")
    chosen = [known[name] for name in arguments.names or known]
    if arguments.action == "list":
        for transcript in chosen:
            state = "recorded" if transcript.recorded else "missing"
            print(f"{transcript.name:24} {state:9} {transcript.about}")
        return 0
    with tempfile.TemporaryDirectory(prefix="greenloop-python-") as folder:
        python = make_readable(Path(folder)) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        good = True
        for transcript in chosen:
            if arguments.names or not transcript.recorded:
                try:
                    good = asyncio.run(record(transcript, python)) and good
                except GreenloopError as error:
                    print(f"  {error} {error.remedy}")
                    good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Runs of the embedded model, kept and played again: the same attempts, and what each of them shows."""

from __future__ import annotations

import pytest

from transcript_claims import CLAIMS, missing
from transcripts import PYTHON, TARGETS, kept, load, play, replayed

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

TRANSCRIPTS = load()


@pytest.mark.story("kept runs of the embedded model go the same way")
def test_every_transcript_has_a_claim_and_a_target():
    assert set(TRANSCRIPTS) == set(CLAIMS)
    assert {name for transcript in TRANSCRIPTS.values() for name in transcript.projects} <= set(TARGETS)


@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_the_same_run_again(name, tmp_path, bare_python):
    transcript = TRANSCRIPTS[name]
    if not transcript.recorded:
        pytest.fail(f"'{name}' was never recorded: run scripts/transcripts.py record {name}")
    expected = kept(transcript)
    if (python := expected.pop("python")) != PYTHON:
        pytest.skip(f"'{name}' was recorded with Python {python}, which its prompts may name")
    played = await play(transcript, expected["project"], tmp_path, bare_python, replayed(transcript.answers))
    assert played.summary() == expected, f"It went another way: run scripts/transcripts.py record {name}"
    assert missing(name, played) == []

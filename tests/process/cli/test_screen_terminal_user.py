"""A signal during a question."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

ASKING = """
import asyncio, sys
from greenloop.cli import interrupt
from greenloop.cli.screen import TerminalUser

async def ask():
    print("ready", flush=True)
    await TerminalUser(lambda ask: ask()).choose("Is it right?", ["Yes", "No"])

try:
    interrupt.run(ask())
except asyncio.CancelledError:
    print("cancelled", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_signal_while_the_user_thinks_cancels(project):
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", ASKING], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "ready\n"
    while process.stderr.read(1) != ":":  # so the question ends
        pass
    process.send_signal(signal.SIGINT)
    out, _err = process.communicate()
    assert (process.returncode, out) == (0, "cancelled\n")

"""Signals: the first cancels, the second ends the process at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

STUBBORN = """
import asyncio
from greenloop.cli import interrupt

async def stubborn():
    while True:
        try:
            print("ready", flush=True)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue

interrupt.run(stubborn(), before_exit=lambda: print("last words", flush=True))
"""
PATIENT = STUBBORN.replace("before_exit=", "cleanup_seconds=0.2, before_exit=")
ASKING = """
import asyncio, sys
from greenloop.cli import interrupt

async def ask():
    with interrupt.interruptible():
        print("ready", flush=True)
        sys.stdin.readline()

try:
    interrupt.run(ask())
except KeyboardInterrupt:
    print("broke off", flush=True)
"""


def started(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_second_signal_ends_the_process_after_its_last_words(project):
    process = started(STUBBORN)
    assert process.stdout is not None
    for _ in range(2):
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "last words\n")
    assert "stopped immediately" in err


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_what_does_not_let_itself_be_cancelled_ends_when_patience_does(project):
    process = started(PATIENT)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.communicate()[0] == "ready\nlast words\n"
    assert process.returncode == 130


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_question_can_be_broken_off(project, number):
    process = started(ASKING)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.communicate()[0] == "broke off\n"

"""The facts that the Python of an image reports."""

from __future__ import annotations

import json

from greenloop_sandbox.container import image_python


def answer(machine: str = "x86_64", libc: tuple[str, str] = ("glibc", "2.36")) -> str:
    return json.dumps(["3.11.2", machine, "6.1", "#1", libc])


FACTS = image_python.parse("a warning\n" + answer())

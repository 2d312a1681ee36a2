"""What a forgery is: changed code that is wrong and has to fail, while its tests are judged apart from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .attack import text

OWN = "def f(x):\n    return None\n"
TEST = "from m import f\n\n\ndef test_f():\n    assert f(3) == 6\n"

# For code that speaks to the judge directly: the peer of its own process, and messages of any form.
PEER = """\
import json
import os
import struct
import sys
import time


def peer():
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "wire"):
        frame = frame.f_back
    return frame.f_locals["self"]


def send(kind, *values, states=None, **fields):
    body = json.dumps({"k": kind, "v": list(values), "o": states or {}, **fields}).encode()
    wire = peer().wire
    wire.write(struct.pack(">I", len(body)) + body)
    wire.flush()


def answer(value, states=None, **fields):
    send("return", value, states=states, **fields)
    time.sleep(0.5)
    os._exit(0)


def ask(*values, kind="op"):
    me = peer()
    send(kind, *values)
    return me.receive()


"""


@dataclass(frozen=True, kw_only=True)
class Forgery:
    """The user's own files, the changed ones, and the tests (with what lies next to them), by path.

    An honest change has the same mechanism, and is proven.
    """

    family: str
    name: str
    own: Mapping[str, str]
    new: Mapping[str, str]
    tests: Mapping[str, str]

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"


@dataclass(frozen=True, kw_only=True)
class Family:
    """Makes the forgeries of a family from short texts. `own` and `tests` are those of forgeries that give none."""

    name: str
    own: str = OWN
    tests: str = TEST
    helpers: Mapping[str, str] = field(default_factory=dict)

    def forgery(
        self,
        name: str,
        code: str,
        own: str = "",
        tests: str = "",
        *,
        prelude: str = "",
        more: Mapping[str, str] | None = None,
        beside: Mapping[str, str] | None = None,
        test_path: str = "test_m.py",
    ) -> Forgery:
        """`more` are other new files, `beside` those next to the tests; `prelude` stands before the code."""
        return Forgery(
            family=self.name,
            name=name,
            own={"m.py": text(own) or self.own},
            new={"m.py": prelude + text(code), **(more or {})},
            tests={test_path: text(tests) or self.tests, **self.helpers, **(beside or {})},
        )

"""What an attack is: a program, how one sees that it won, and what the product promises about it.

One rule keeps attacks short and the judge of them simple: **a program returns only when it got what it wanted**.
Whatever else happens (an exception, a kill, a crash) is no win.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import StrEnum

# What a test of honest code looks like; most fakes and twins are judged by it.
TESTS = """\
from m import double


def test_literal():
    assert double(5) == 10


def test_computed():
    given = 21
    assert double(given) == given + given
"""
# The user's own code, with which these tests are red.
RED = "def double(x):\n    raise NotImplementedError\n"
GREEN = "def double(x):\n    return x * 2\n"


class Wins(StrEnum):
    """How one sees that a program won."""

    RETURNS = "returns"  # its last step came to its end
    BREAKS = "breaks"  # plain pytest neither passed nor failed: it crashed, hung or broke down
    SHOWS = "shows"  # an escape sequence reached what is shown


class Promise(StrEnum):
    """What docs/security.md promises about a faked pass."""

    TAMPERED = "tampered"  # rejected, and named so
    REJECTED = "rejected"  # not accepted; an honest mistake could look the same
    UNPROVEN = "unproven"  # never verified, and so never written by itself; it may be offered
    DOCUMENTED = "documented"  # can win in one process, and the page says so


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A program against the wall. `code` is the body of a function which may use the module `aim`.

    `after` is the body for the next run of the same session, where what was planted is looked for; with it, only
    that second step counts as a win. `seconds` is the time limit of the run, `root` says that the control needs to
    be root, `tame` that it needs no namespaces, `documented` (by back end) is the sentence of docs/security.md that admits the win.
    """

    family: str
    name: str
    code: str
    after: str = ""
    seconds: float = 8.0
    wins: Wins = Wins.RETURNS
    root: bool = False
    tame: bool = False
    documented: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"


@dataclass(frozen=True, kw_only=True)
class Twin:
    """An innocent program with the same mechanism: it must be accepted.

    `verified` is False where it newly defines comparisons, or reaches for what runs it: such a program is offered.
    """

    code: str
    tests: str = TESTS
    verified: bool = True


@dataclass(frozen=True, kw_only=True)
class Fake:
    """A whole module `m.py` that makes the tests pass without doing what they ask for.

    `red` is the user's own module. `examples` says that the examples of its function `double` are the tests; with a
    `score` (the text of `score.py`, whose `rate` is the scorer) or a `trace` (recorded calls of `double`) these are.
    """

    family: str
    name: str
    code: str
    twin: Twin
    promise: Promise = Promise.TAMPERED
    tests: str = TESTS
    documented: str = ""
    red: str = RED
    examples: bool = False
    score: str = ""
    trace: str = ""

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"


@dataclass(frozen=True, kw_only=True)
class CostFake:
    """A whole module `m.py` that does what the user's own does, `own`, and seems to cost less where it does not.

    `believed` says what took the seeming for the cost, as long as the process of the code was asked for its time: its
    `clock`, the test alone (the `test` did not compare), or nothing (""). `memory`: bytes are to be saved, not seconds.
    `calls` are measured in place of the test.
    """

    name: str
    code: str
    own: str
    test: str
    believed: str = ""
    memory: bool = False
    calls: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.name


def module(body: str) -> str:
    """The body as the function `strike` of a module."""
    return "import aim\n\n\ndef strike():\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def text(code: str) -> str:
    """A module written as an indented string."""
    return textwrap.dedent(code).lstrip("\n")

"""A failure and what is known about where it happened: what every check for a fault of the environment looks at."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from greenloop import sources, syntax
from greenloop.core.nouns import Environment, Failure, Frame
from greenloop.interpreters import site_packages

TextOf = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the environment lacks, in one sentence, and the one cure."""

    sentence: str
    remedy: str


def because(clause: str, remedy: str) -> Fault:
    return Fault(sentence=f"This fails because {clause}.", remedy=remedy)


def said(failure: Failure) -> str:
    """The exception's message; from the rendering when the runner had only that."""
    if failure.message:
        return failure.message
    return "\n".join(re.findall(r"^E +(.*)$", failure.text, re.MULTILINE))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One failure in its surroundings; the fields are those of `environment_fault`."""

    failure: Failure
    environment: Environment
    root: Path | None
    network: bool
    masked: tuple[str, ...]
    text_of: TextOf | None

    @cached_property
    def message(self) -> str:
        return said(self.failure)

    @property
    def python(self) -> str:
        return str(self.environment.executable)

    @property
    def version(self) -> str:
        return ".".join(map(str, self.environment.version))

    @property
    def asserted(self) -> bool:
        """Did a test say so itself? Then the message is about what it compared."""
        return self.failure.type in {"AssertionError", "Failed"}

    @cached_property
    def own(self) -> Frame | None:
        """The innermost frame of the workspace's own code."""
        return next((frame for frame in reversed(self.failure.frames) if _is_own(frame.path)), None)

    @property
    def deepest(self) -> str:
        """The file of the innermost frame."""
        return self.failure.frames[-1].path if self.failure.frames else ""

    @cached_property
    def raised(self) -> bool:
        """Did a `raise` in the workspace's own code raise it? Then the environment did not."""
        frame = self.own
        if frame is None or frame is not self.failure.frames[-1]:
            return False
        return _raises(self.text(frame.path), frame.line)

    @property
    def importing(self) -> bool:
        """Did it happen while a module of the workspace was imported?"""
        return self.own is not None and self.own.function == "<module>"

    @property
    def by_test(self) -> bool:
        """Was it the tests' own code, which no candidate changes?"""
        return self.own is not None and sources.is_trusted(self.own.path)

    def text(self, path: str) -> str:
        if self.text_of is not None:
            return self.text_of(path) or ""
        return (sources.text(self.root, path) if self.root else None) or ""

    def around(self) -> str:
        """The text of the function that the innermost own frame is in (of the whole module at its top level)."""
        if self.own is None:
            return ""
        text = self.text(self.own.path)
        inside = syntax.enclosing(text, self.own.line, self.own.path) if not self.importing else None
        return syntax.span(text, inside.start, inside.end) if inside else text

    def line(self) -> str:
        """The line of the innermost own frame and the two after it, where a call may go on."""
        if self.own is None:
            return ""
        return "\n".join(self.text(self.own.path).splitlines()[max(0, self.own.line - 2) : self.own.line + 2])

    @cached_property
    def sites(self) -> list[Path]:
        return site_packages(self.environment.prefix, self.environment.version)

    def installed(self, distribution: str) -> str:
        """The version of an installed distribution, or empty."""
        wanted = normal(distribution)
        for site in self.sites:
            for folder in site.glob("*.dist-info"):
                name, _dash, version = folder.name.removesuffix(".dist-info").partition("-")
                if normal(name) == wanted:
                    return version
        return ""


def normal(name: str) -> str:
    """The one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_installed_path(path: str) -> bool:
    return "site-packages" in path or "dist-packages" in path


def _is_own(path: str) -> bool:
    return not path.startswith(("/", "<")) and not is_installed_path(path)


def _raises(text: str, line: int) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        rows = text.splitlines()
        return 0 < line <= len(rows) and rows[line - 1].strip().startswith("raise ")
    return any(
        isinstance(node, ast.Raise) and node.exc is not None and node.lineno <= line <= (node.end_lineno or line)
        for node in ast.walk(tree)
    )

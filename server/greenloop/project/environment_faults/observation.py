"""A failure with its surroundings: the input of every check for an environment fault."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from greenloop.core.records.sandbox import Environment
from greenloop.core.records.verdict import Failure, Frame
from greenloop.project import sources
from greenloop.project.interpreters import site_packages
from greenloop.project.syntax import definitions

TextOf = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One sentence saying what the environment lacks, and the remedy."""

    sentence: str
    remedy: str


def because(clause: str, remedy: str) -> Fault:
    """Makes a fault with the sentence "This fails because …."."""
    return Fault(sentence=f"This fails because {clause}.", remedy=remedy)


def said(failure: Failure) -> str:
    """The exception's message, taken from pytest's rendering if the runner reported nothing else."""
    if failure.message:
        return failure.message
    return "\n".join(re.findall(r"^E +(.*)$", failure.text, re.MULTILINE))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One failure in its surroundings; the fields are the parameters of `find_environment_fault`."""

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
        """Did a test's own assertion fail? Then the message is about the values it compared."""
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
        """Did a `raise` in the workspace's own code raise it? Then the environment is not to blame."""
        frame = self.own
        if frame is None or frame is not self.failure.frames[-1]:
            return False
        return _raises(self.text(frame.path), frame.line)

    @property
    def importing(self) -> bool:
        """Did it happen while a module of the workspace was being imported?"""
        return self.own is not None and self.own.function == "<module>"

    @property
    def by_test(self) -> bool:
        """Did it happen in the tests' own code, which no candidate changes?"""
        return self.own is not None and sources.is_trusted(self.own.path)

    def text(self, path: str) -> str:
        """The text of a workspace file, or empty."""
        if self.text_of is not None:
            return self.text_of(path) or ""
        return (sources.text(self.root, path) if self.root else None) or ""

    def around(self) -> str:
        """The source of the function that contains the innermost own frame (at top level: the whole module)."""
        if self.own is None:
            return ""
        text = self.text(self.own.path)
        function = definitions.enclosing(text, self.own.line, self.own.path) if not self.importing else None
        return definitions.span(text, function.start, function.end) if function else text

    def line(self) -> str:
        """The innermost own frame's line, the one before and the two after it, over which a call may extend."""
        if self.own is None:
            return ""
        return "\n".join(self.text(self.own.path).splitlines()[max(0, self.own.line - 2) : self.own.line + 2])

    @cached_property
    def sites(self) -> list[Path]:
        return site_packages(self.environment.prefix, self.environment.version)

    def installed(self, distribution: str) -> str:
        """The version of an installed distribution, or empty."""
        normalised = normal(distribution)
        for site in self.sites:
            for metadata in site.glob("*.dist-info"):
                name, _dash, version = metadata.name.removesuffix(".dist-info").partition("-")
                if normal(name) == normalised:
                    return version
        return ""


def normal(name: str) -> str:
    """A distribution's name in its normalised spelling (PEP 503)."""
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

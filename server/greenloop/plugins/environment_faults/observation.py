"""A failure with its surroundings: the input of every check for an environment fault."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.core.classify import is_of_workspace
from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.project import sources
from greenloop.project.environment.faults import ReadText, failure_message
from greenloop.project.environment.interpreters import site_packages
from greenloop.project.syntax import definitions
from greenloop_sandbox import Environment, Failure, Frame


@dataclass(frozen=True)
class ObservedFailure:
    """One failure in its surroundings; the fields are the parameters of `explain_failure`."""

    failure: Failure
    environment: Environment
    root: Path | None
    network: bool
    masked: tuple[str, ...]
    read_text: ReadText | None

    @cached_property
    def message(self) -> str:
        return failure_message(self.failure)

    @property
    def python(self) -> str:
        return str(self.environment.executable)

    @property
    def version(self) -> str:
        return ".".join(map(str, self.environment.version))

    @property
    def is_assertion(self) -> bool:
        """Did a test's own assertion fail? Then the message is about the values it compared."""
        return self.failure.type in {"AssertionError", "Failed"}

    @cached_property
    def own_frame(self) -> Frame | None:
        """The innermost frame of the workspace's own code."""
        return next(filter(is_of_workspace, reversed(self.failure.frames)), None)

    @property
    def innermost_path(self) -> str:
        """The file of the innermost frame."""
        return self.failure.frames[-1].path if self.failure.frames else ""

    @cached_property
    def is_raised_by_project(self) -> bool:
        """Did a `raise` in the workspace's own code raise it? Then the environment is not to blame."""
        frame = self.own_frame
        if frame is None or frame is not self.failure.frames[-1]:
            return False
        return _raises(self.text(frame.path), frame.line)

    @property
    def is_import(self) -> bool:
        """Did it happen while a module of the workspace was being imported?"""
        return self.own_frame is not None and self.own_frame.function == "<module>"

    @property
    def is_in_tests(self) -> bool:
        """Did it happen in the tests' own code, which no candidate changes?"""
        return self.own_frame is not None and sources.is_trusted(self.own_frame.path)

    def text(self, path: str) -> str:
        """The text of a workspace file, or empty."""
        if self.read_text is not None:
            return self.read_text(path) or ""
        return (sources.read_text(self.root, path) if self.root else None) or ""

    def surrounding_source(self) -> str:
        """The source of the function that contains the innermost own frame (at top level: the whole module)."""
        if self.own_frame is None:
            return ""
        text = self.text(self.own_frame.path)
        if self.is_import:
            return text
        function = definitions.enclosing_definition(text, self.own_frame.line, self.own_frame.path)
        return definitions.line_span(text, function.start, function.end) if function else text

    def nearby_lines(self) -> str:
        """The innermost own frame's line, the one before and the two after it, over which a call may extend."""
        if self.own_frame is None:
            return ""
        lines = self.text(self.own_frame.path).splitlines()
        return "\n".join(lines[max(0, self.own_frame.line - 2) : self.own_frame.line + 2])

    @cached_property
    def sites(self) -> list[Path]:
        return site_packages(self.environment.prefix, self.environment.version)

    def installed_version(self, distribution: str) -> str:
        """The version of an installed distribution, or empty."""
        normalised = canonicalize_name(distribution)
        for site in self.sites:
            for metadata in site.glob("*.dist-info"):
                name, _dash, version = metadata.name.removesuffix(".dist-info").partition("-")
                if canonicalize_name(name) == normalised:
                    return version
        return ""


def is_installed_path(path: str) -> bool:
    return "site-packages" in path or "dist-packages" in path


def _raises(text: str, line: int) -> bool:
    try:
        tree = parse_module_strictly(text)
    except UNPARSABLE:
        rows = text.splitlines()
        return 0 < line <= len(rows) and rows[line - 1].strip().startswith("raise ")
    raises = [node for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    return any(node.lineno <= line <= (node.end_lineno or line) for node in raises)

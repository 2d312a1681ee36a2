"""Annotations as workflow commands of GitHub Actions, one in each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from greenloop.cli.render import escape_controls
from greenloop.plugins.pipelines.reports.annotations import Annotation, Level, by_severity

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def command_lines(annotations: Iterable[Annotation], prefix: str = "") -> Iterator[str]:
    """One command for each annotation, the most serious first: GitHub shows ten of each kind.

    `prefix` is the path of the workspace in the repository, with a slash at its end.
    """
    for each in by_severity([*annotations]):
        properties = {"title": f"greenloop {each.rule}"}
        if each.path:
            properties["file"] = prefix + each.path
            if each.line:
                properties["line"] = str(each.line)
                properties["endLine"] = str(max(each.line, each.end_line))
        words = ",".join(f"{name}={_escape_property(value)}" for name, value in properties.items())
        yield f"::{_COMMANDS[each.level]} {words}::{_escape(escape_controls(each.message))}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")

"""Renders a failure as text: the chain of exceptions, with the code of each frame and the values of locals.

It must not know how much room there is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.drafting.report.shortening import head_and_tail
from greenloop_sandbox import CaseResult
from greenloop_sandbox.report.inspections import InspectedFailure, Raised, ShownFrame

LED = {
    "cause": "That was the direct cause of:",
    "context": "While that was handled, another exception was raised:",
}


_RUN = re.compile(r"(.)\1{30,}")  # of one character, in a value


@dataclass(frozen=True, kw_only=True)
class Detail:
    """Detail of a shown failure: lines of its message, frames of the project, characters of their locals.

    `inner` frames, the innermost, show `values` characters each; the others a third of that.
    """

    message: int = 60
    frames: int = 12
    values: int = 1200
    inner: int = 3
    sections: int = 12


FULL, SHORT = Detail(), Detail(message=20, frames=6, values=300, inner=2, sections=0)


def render_failure(failure: InspectedFailure, detail: Detail = FULL) -> str:
    """The failure as a traceback, innermost last; what the test printed follows."""
    parts = [_render_link(link, detail if link is failure.chain[-1] else SHORT) for link in failure.chain]
    if failure.when != "call":
        parts.insert(0, f"It fails in its {failure.when}.")
    for title, text in failure.sections if detail.sections else ():
        parts.append(f"{title}:\n{head_and_tail(text, detail.sections)}")
    return "\n".join(parts)


def _render_link(link: Raised, detail: Detail) -> str:
    parts = list(_render_frames(link.frames, detail))
    message = head_and_tail(link.message, detail.message)
    parts.append(f"{link.type}: {message}" if message else link.type)
    if link.led:
        parts.append(f"\n{LED[link.led]}\n")
    return "\n".join(parts)


def _render_frames(frames: Sequence[ShownFrame], detail: Detail) -> list[str]:
    own = [frame for frame in frames if frame.values or not _is_foreign(frame)]
    shown = own[-detail.frames :]
    inner = shown[-detail.inner :]
    parts: list[str] = []
    known: set[tuple[str, str]] = set()
    skipped = 0
    for frame in frames:
        if frame in shown:
            parts += _skipped(skipped)
            skipped = 0
            parts.append(_render_frame(frame, detail.values if frame in inner else detail.values // 3, known))
        elif frame is frames[-1]:  # where a library raised
            parts += _skipped(skipped)
            parts.append(f"{_library(frame)}:{frame.place.line} in {frame.place.function}\n    {frame.code}")
        else:
            skipped += 1
    return parts


def _skipped(count: int) -> list[str]:
    return [f"  … {count} {'frame' if count == 1 else 'frames'} of libraries or further out"] if count else []


def _is_foreign(frame: ShownFrame) -> bool:
    return frame.place.path.startswith(("/", "<")) or "site-packages" in frame.place.path


def _library(frame: ShownFrame) -> str:
    _before, marker, inside = frame.place.path.rpartition("site-packages/")
    return inside if marker else "/".join(frame.place.path.split("/")[-2:])


def _render_frame(frame: ShownFrame, room: int, known: set[tuple[str, str]]) -> str:
    """A frame with at most `room` characters of values, but for those that are `known` from frames further out."""
    rows = [f"{frame.place.path}:{frame.place.line} in {frame.place.function}", f"    {frame.code}"]
    for name, value in frame.values.items():
        shown = _RUN.sub(lambda run: f"{run[1] * 10}…{run[1] * 10}", value)
        room -= len(name) + len(shown)
        if room < 0:
            break
        if (name, value) not in known:
            known.add((name, value))
            rows.append(f"      {name} = {shown}")
    return "\n".join(rows)


def summarize_case(case: CaseResult) -> str:
    """`test_m.py::test_f: ValueError: no total`: a failing case in one line."""
    if case.failure is None:
        return f"{case.id}: {case.outcome}"
    line = next((row.strip() for row in case.failure.message.split("\n") if row.strip()), "")
    line = line if len(line) <= 160 else f"{line[:159]}…"
    return f"{case.id}: {case.failure.type}: {line}".rstrip(": ")

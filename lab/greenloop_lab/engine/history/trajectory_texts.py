"""Texts of a trajectory: the code of a step, the problem in words, and what a model was asked.

It must not know in which format they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from greenloop.core.records.spec import Region
from greenloop.drafting.prompt import fenced
from greenloop_lab.engine.history.trajectories import Message, Step, Trajectory


def changed_regions(*steps: Step | None) -> list[Region]:
    """The regions that any of these steps changes, in the order of their files."""
    regions = {region for step in steps if step for region in step.code}
    return sorted(regions, key=lambda region: (region.path, region.start))


def code_of(run: Trajectory, step: Step | None, regions: Sequence[Region] = ()) -> str:
    """The code of a step: its imports and helpers, then these regions (default: those that it changes).

    Attempt 0, or no step, is the user's own code. Regions that the step leaves are the user's.
    """
    changed = step.code if step else {}
    shown = regions or changed_regions(step) or list(run.code)
    texts = [(region.path, changed.get(region, run.own_code(region)).strip("\n")) for region in shown]
    return _join((*(step.added if step else ()),), texts)


def code_by_path(run: Trajectory, step: Step | None, regions: Iterable[Region]) -> dict[str, str]:
    """The code of a step for each file; imports and helpers are in the first one."""
    paths = dict.fromkeys(region.path for region in regions)
    result = {}
    for number, path in enumerate(paths):
        changed = step.code if step else {}
        texts = [(path, changed.get(each, run.own_code(each)).strip("\n")) for each in regions if each.path == path]
        result[path] = _join(step.added if step and number == 0 else (), texts)
    return result


def problem_of(run: Trajectory) -> str:
    """The problem in words, with the user's code; the same for every attempt of the run."""
    names = run.names or "the code"
    if run.goal:
        sentence = f"Change {names} so that its tests still pass, with this goal: {run.goal}."
    elif not run.names and "::" not in run.target:
        sentence = f"Solve the task {run.target}."
    elif run.target.endswith(f"::{names}"):
        sentence = f"Write {names} so that it does what its docstring says."
    else:
        sentence = f"Change {names} so that {run.target} passes."
    code = fenced(code_of(run, None)) if any(run.code.values()) else ""
    return "\n\n".join(text for text in (sentence, run.instruction, code) if text)


def request_of(run: Trajectory, step: Step) -> tuple[Message, ...]:
    """The messages that the step answers: as sent, where they were kept; else the problem and what failed before."""
    if step.messages:
        return step.messages
    parent = run.step(step.parent)
    problem = Message(role="user", content=problem_of(run))
    if parent is None or not parent.number:
        feedback = parent.feedback if parent else ""
        return (Message(role="user", content="\n\n".join(text for text in (problem.content, feedback) if text)),)
    if not parent.code:
        return (problem,)
    faulty = Message(role="assistant", content=fenced(code_of(run, parent)))
    return (problem, faulty, Message(role="user", content=parent.feedback or f"It fails: {parent.error_class}."))


def answer_of(run: Trajectory, step: Step) -> str:
    """Returns the answer that a model should give to `request_of`: its own for the messages as sent, else the code."""
    return step.answer if step.messages else fenced(code_of(run, step))


def _join(added: Sequence[str], texts: Sequence[tuple[str, str]]) -> str:
    has_several = len({path for path, _text in texts}) > 1
    pieces = [text.strip("\n") for text in added]
    seen = ""
    for path, text in texts:
        head = f"# {path}\n" if has_several and path != seen else ""
        pieces.append(head + text)
        seen = path
    joined = "\n\n".join(piece for piece in pieces if piece)
    return f"{joined}\n" if joined else ""

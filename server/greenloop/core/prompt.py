"""Puts a prompt together under a token budget: the stable part first, so that prompt caches hit, history last.

Templates are text files beside the preset's name; a missing variable is an error.
When the budget is short, the least valuable excerpt goes first; the newest error, the code and the tests always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from string import Template

from greenloop.core.compose import region_text
from greenloop.core.nouns import Attempt, Draft, Excerpt, Message, Move, Problem, Region

Count = Callable[[str], int]
NEEDED = 0.9  # the value from which an excerpt stays in the prompt, cut if it must be
LONGEST_TOKEN = 40  # characters; longer ones are spaces and rules


def assemble(
    templates: Mapping[str, str],
    problem: Problem,
    excerpts: Sequence[Excerpt],
    attempts: Sequence[Attempt],
    draft: Draft,
    *,
    budget: int,
    count: Count,
) -> tuple[Message, ...]:
    """Messages for one draft: system, the task (the same for every attempt of a run), then what the move needs.

    `templates` has the keys system, task, draft, refine and restart, and any other that a draft's `prompt` names; they
    may use `$names`, `$feedback`, `$tried`, `$hint` and `$others`.
    """
    system = templates["system"].strip()
    names = ", ".join(dict.fromkeys(region.qualname for region in problem.regions))
    half = budget // 2  # whatever the tail is this time: a task of another length is another prefix for every cache
    tail = _tail(templates, problem, attempts, draft, names=names, room=half, count=count)
    room = budget - half - count(system)
    shell = Template(templates["task"])
    variables = {"names": names, "instruction": problem.instruction}
    frame = count(shell.substitute(context="", **variables))
    task = shell.substitute(context=fit(excerpts, room - frame, count), **variables).strip()
    if tail[0].role == "user":
        task, tail = f"{task}\n\n{tail[0].content}".strip(), tail[1:]
    return (Message(role="system", content=system), Message(role="user", content=task), *tail)


def _tail(
    templates: Mapping[str, str],
    problem: Problem,
    attempts: Sequence[Attempt],
    draft: Draft,
    *,
    names: str,
    room: int,
    count: Count,
) -> tuple[Message, ...]:
    """What comes after the task: the parent's code as the model's own answer, then the error it led to."""
    parent = attempts[draft.parent]
    notes = "\n\n".join(note.text for note in parent.notes if note.text)
    refining = draft.move is Move.REFINE
    values = {
        "names": names,
        "hint": draft.hint,
        "others": cut(beside(problem, [attempts[number] for number in draft.others]), room // 2, count),
        "feedback": cut(notes, room // 2 if refining else room, count),
        "tried": "" if draft.move is Move.DRAFT else earlier(attempts, besides=parent.number if refining else None),
    }
    template = templates[draft.prompt or (draft.move if draft.move in templates else Move.DRAFT)]
    told = Message(role="user", content=Template(template).substitute(values).strip())
    if not refining:
        return (told,)
    return (Message(role="assistant", content=cut(answer_of(problem, parent), room // 2, count)), told)


def beside(problem: Problem, attempts: Sequence[Attempt]) -> str:
    """Other attempts' code, each under how many of its tests passed."""
    return "\n\n".join(
        f"{attempt.verdict.passed} of {attempt.verdict.total} tests passed:\n{answer_of(problem, attempt)}"
        for attempt in attempts
    )


def answer_of(problem: Problem, attempt: Attempt) -> str:
    """The attempt's code as a fenced block, without the prose around it; an unreadable answer as it came."""
    if attempt.candidate is None:
        return attempt.answer or fenced("\n".join(region_text(problem, region) for region in problem.regions))
    pieces = [*attempt.candidate.imports, *attempt.candidate.helpers]
    pieces += [text.strip("\n") for text in _in_order(attempt.candidate.texts)]
    return fenced("\n\n".join(pieces))


def _in_order(texts: Mapping[Region, str]) -> list[str]:
    return [texts[region] for region in sorted(texts, key=lambda region: (region.path, region.start))]


def earlier(attempts: Sequence[Attempt], *, besides: int | None) -> str:
    """One line for each model attempt so far: its error class and what was said of it."""
    rows = [
        f"- attempt {attempt.number}: {attempt.error_class or attempt.verdict.status}"
        + (f" ({one_line(attempt.verdict.reason)})" if attempt.verdict.reason else "")
        for attempt in attempts
        if attempt.number > 0 and attempt.number != besides
    ]
    return "\n".join(rows)


def one_line(text: str, limit: int = 120) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def fenced(text: str, language: str = "python") -> str:
    """A fence longer than any run of backticks in the text."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def fit(excerpts: Sequence[Excerpt], room: int, count: Count) -> str:
    """The excerpts in their own order, so that they fit `room` tokens.

    What says nothing that the others do not say is left out; then the least valuable, one by one; of what must be there
    (a value of `NEEDED` or more) the longest are cut.
    """
    kept = _telling(excerpts)
    while count(_render(kept)) > room and (spare := [excerpt for excerpt in kept if excerpt.value < NEEDED]):
        kept.remove(min(spare, key=lambda excerpt: excerpt.value))
    if count(text := _render(kept)) <= room:
        return text
    needed = [excerpt for excerpt in excerpts if excerpt.value >= NEEDED] or kept
    sizes = {index: count(_render([excerpt])) for index, excerpt in enumerate(needed)}
    parts, left = dict[int, str](), room
    for done, index in enumerate(sorted(sizes, key=lambda index: sizes[index])):
        part = _cut_excerpt(needed[index], left // (len(sizes) - done), count)
        parts[index] = part
        left -= count(part)
    return cut("\n\n".join(parts[index] for index in sorted(parts)), room, count)


def _telling(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """Those that say something which the others leave out."""
    rows = [{row.strip() for row in excerpt.text.split("\n")} - {""} for excerpt in excerpts]
    kept = list(range(len(excerpts)))
    for index in sorted(kept, key=lambda index: len(rows[index])):
        others = [other for other in kept if other != index]
        if rows[index] and rows[index] <= set().union(*(rows[other] for other in others)):
            kept = others
    return [excerpts[index] for index in kept]


def _cut_excerpt(excerpt: Excerpt, room: int, count: Count) -> str:
    frame = count(_render([replace(excerpt, text="-")])) if excerpt.text else 0
    return _render([replace(excerpt, text=cut(excerpt.text, room - frame, count))])


def _render(excerpts: Sequence[Excerpt]) -> str:
    """A title without a text is all there is to say."""
    return "\n\n".join(
        f"{excerpt.title}\n{fenced(excerpt.text, excerpt.language)}" if excerpt.text else excerpt.title
        for excerpt in excerpts
    )


def _clipped(text: str, most: int) -> str:
    """The two ends of a text that cannot fit: nobody counts the tokens of ten megabytes."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n…\n{text[len(text) - half :]}"


def cut(text: str, room: int, count: Count) -> str:
    """Head and tail of the text with the number of left-out lines between, so that it fits `room` tokens."""
    text = _clipped(text, LONGEST_TOKEN * max(room, 0))
    if count(text) <= room:
        return text
    rows = text.split("\n")
    keep = len(rows)
    while keep > 2 and count(text) > room:
        keep = int(keep * 0.8)
        head = keep // 2
        text = "\n".join([*rows[:head], f"… {len(rows) - keep} lines left out …", *rows[len(rows) - (keep - head) :]])
    while count(text) > room and len(text) > 40:
        text = text[: int(len(text) * 0.8)]
    return text

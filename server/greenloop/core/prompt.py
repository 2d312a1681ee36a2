"""Puts a prompt together under a token budget: the stable part first, so that prompt caches hit, history last.

Templates are text files beside the preset's name; a missing variable is an error.
When the budget is short, the least valuable excerpt goes first; tests, newest error and code always stay, if shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from string import Template

from greenloop.core.compose import region_text
from greenloop.core.nouns import Attempt, Draft, Excerpt, Message, Move, Problem, Region

Count = Callable[[str], int]
ESSENTIAL = 0.9  # value from which on an excerpt is shortened, never left out: the code and its tests
KINDS = 8  # of earlier failures that are told
NUMBERS = 6  # attempts that are named one by one
SHORTEST = 4  # characters of either end below which a text is left out


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
    variables = {"names": names, "instruction": cut(problem.instruction, budget // 4, count)}
    frame = count(shell.substitute(context="", **variables))
    # A small model copies the code that it is shown: to begin anew it must not see the failing one.
    shown = [replace(one, text=one.bare) if one.bare and draft.move is Move.RESTART else one for one in excerpts]
    task = shell.substitute(context=fit(shown, room - frame, count), **variables).strip()
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
    """What comes after the task: the parent's code as the model's own answer, then the error it led to.

    Beside what stands in for other attempts, the code and the error share the room.
    """
    parent = attempts[draft.parent]
    refining = draft.move is Move.REFINE
    template = Template(templates[draft.prompt or (draft.move if draft.move in templates else Move.DRAFT)])
    used = template.get_identifiers()
    tried = "" if draft.move is Move.DRAFT else earlier(attempts, besides=parent.number if refining else None)
    values = dict.fromkeys(("names", "hint", "others", "feedback", "tried"), "") | {
        "names": names,
        "hint": cut(draft.hint, room // 4, count),
        "tried": cut(tried, room // 4, count),
        "others": cut(beside(problem, [attempts[number] for number in draft.others]), room // 4, count),
    }
    left = room - count(template.substitute({name: values[name] for name in used}))
    code = cut(answer_of(problem, parent), left // 2, count) if refining else ""
    notes = "\n\n".join(note.text for note in parent.notes if note.text)
    values["feedback"] = cut(notes, left - count(code), count)
    told = Message(role="user", content=template.substitute(values).strip())
    return (Message(role="assistant", content=code), told) if refining else (told,)


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
    """One line for each kind of failure of whole answers so far: error class and what was said; newest kinds last."""
    kinds: dict[str, list[int]] = {}
    for attempt in attempts:
        cheap = attempt.draft is not None and attempt.draft.move in (Move.MUTATE, Move.INFILL)
        if attempt.number in (0, besides) or cheap:
            continue
        reason = f" ({one_line(attempt.verdict.reason)})" if attempt.verdict.reason else ""
        kind = f"{attempt.error_class or attempt.verdict.status}{reason}"
        kinds[kind] = [*kinds.pop(kind, []), attempt.number]
    return "\n".join(f"- {_numbered(numbers)}: {kind}" for kind, numbers in list(kinds.items())[-KINDS:])


def _numbered(numbers: Sequence[int]) -> str:
    if len(numbers) > NUMBERS:
        return f"{len(numbers)} attempts"
    return f"attempt{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def one_line(text: str, limit: int = 120) -> str:
    flat = " ".join(text[: 10 * limit].split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def fenced(text: str, language: str = "python") -> str:
    """A fence longer than any run of backticks in the text."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def fit(excerpts: Sequence[Excerpt], room: int, count: Count) -> str:
    """The excerpts in their own order, at most `room` tokens long.

    What others say too is left out as long as these are whole, then the least valuable; essential ones (and the most
    valuable) never: they share what room there is.
    """
    kept = _telling(excerpts)
    needed = {id(excerpt) for excerpt in excerpts if excerpt.value >= ESSENTIAL}
    needed |= {id(max(excerpts, key=lambda excerpt: excerpt.value))} if excerpts else set()
    sizes = {id(excerpt): count(_render([excerpt])[: _most(room)]) + 1 for excerpt in excerpts}
    while sum(sizes[id(excerpt)] for excerpt in kept) > room:
        spare = [excerpt for excerpt in kept if id(excerpt) not in needed]
        if not spare:
            return _shared([excerpt for excerpt in excerpts if id(excerpt) in needed], room, count)
        kept.remove(min(spare, key=lambda excerpt: excerpt.value))
    text = _render(kept)
    return text if count(text) <= room else _shared(kept, room, count)


def _telling(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """Those that say something which the others do not, as long as these are whole."""
    rows = [{row.strip() for row in excerpt.text.split("\n")} - {""} for excerpt in excerpts]
    kept = list(range(len(excerpts)))
    for index in sorted(kept, key=lambda index: len(rows[index])):
        others = [other for other in kept if other != index]
        if rows[index] and rows[index] <= set().union(*(rows[other] for other in others)):
            kept = others
    return [excerpts[index] for index in kept]


def _shared(excerpts: Sequence[Excerpt], room: int, count: Count) -> str:
    """Each excerpt cut to an equal share of the room; what short ones leave goes to the others."""
    texts = [_render([excerpt]) for excerpt in excerpts]
    pieces: dict[int, str] = {}
    for done, number in enumerate(sorted(range(len(texts)), key=lambda number: len(texts[number]))):
        pieces[number] = cut(texts[number], (room - 2) // (len(texts) - done), count)
        room -= count(pieces[number]) + 1  # the blank line between two
    return "\n\n".join(pieces[number] for number in sorted(pieces))


def _render(excerpts: Sequence[Excerpt]) -> str:
    """A title without a text is all there is to say."""
    return "\n\n".join(
        f"{excerpt.title}\n{fenced(excerpt.text, excerpt.language)}" if excerpt.text else excerpt.title
        for excerpt in excerpts
    )


def cut(text: str, room: int, count: Count) -> str:
    """Head and tail of the text with the number of left-out lines between, so that it fits `room` tokens."""
    most = _most(room)
    if len(text) <= most and count(text) <= room:
        return text
    lines = text.count("\n") + 1
    if len(text) > most:  # never count what cannot fit: it may be megabytes
        text = f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"
    rows = text.split("\n")
    keep = len(rows)
    while keep > 2 and count(text) > room:
        keep = int(keep * 0.8)
        head = keep // 2
        text = "\n".join([*rows[:head], f"… {lines - keep} lines left out …", *rows[len(rows) - (keep - head) :]])
    while text and count(text) > room:
        half = int(len(text) * 0.4)
        text = f"{text[:half]}…{text[-half:]}" if half > SHORTEST else ""
    return text


def _most(room: int) -> int:
    """Characters that so many tokens have at most, generously."""
    return max(room, 1) * 16

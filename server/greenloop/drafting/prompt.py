"""Assembles a prompt under a token budget: the stable part first, for prompt caches, history last.

Templates are text files in a folder named after the preset; a missing variable is an error.
When the budget is short, the least valuable excerpt is dropped first; tests, newest error and code are only shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from string import Template

from greenloop.core.compose import region_text
from greenloop.core.election import CHEAP
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Message
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.tokens import Count, estimate_tokens, max_characters, truncate

ESSENTIAL = 0.9  # excerpts of at least this value are shortened, never left out: the code and its tests
KINDS = 8  # of earlier failures that the prompt lists
NUMBERS = 6  # attempts of one kind that are listed by number; more are counted
AUTO, WHOLE, SEARCH_REPLACE = "auto", "whole", "search-replace"
SHARE = 0.8  # of the answer's token limit that whole regions may take
OTHERS = ("system", "task", "infill", "reask")  # templates that ask for no code, or always for whole code


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
    """Messages for one draft: system, the task (the same for every attempt of a run), then those of the move.

    `templates` has the keys system, task, draft, refine and restart, and any other that a draft's `prompt` names; they
    may use `$names`, `$feedback`, `$tried`, `$hint` and `$written`, the parent's code without the regions that are
    asked for. `budget` is in tokens.
    """
    system = templates["system"].strip()
    names = problem.names
    tail_limit = budget // 2  # a constant, since a task of another length would miss every prompt cache
    tail = _tail(templates, problem, attempts, draft, names=names, room=tail_limit, count=count)
    task_limit = budget - tail_limit - count(system)
    task_template = Template(templates["task"])
    variables = {"names": names, "instruction": truncate(problem.instruction, budget // 4, count)}
    frame_tokens = count(task_template.substitute(context="", **variables))
    # Small models copy the code that they are shown, so a restart must not show the failing code.
    shown = [
        replace(excerpt, text=excerpt.bare) if excerpt.bare and draft.move is Move.RESTART else excerpt
        for excerpt in vary(excerpts, draft.variant)
    ]
    task = task_template.substitute(context=fit(shown, task_limit - frame_tokens, count), **variables).strip()
    if tail[0].role == "user":
        task, tail = f"{task}\n\n{tail[0].content}".strip(), tail[1:]
    return (Message(role="system", content=system), Message(role="user", content=task), *tail)


def tail_name(templates: Mapping[str, str], draft: Draft) -> str:
    """The name of the template that a draft's last message is made from."""
    return draft.prompt or (draft.move.value if draft.move in templates else Move.DRAFT.value)


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
    """The messages after the task: the parent's code as the model's own answer, then the error that it led to.

    Code and error share the tokens that the summaries of other attempts leave.
    """
    parent = attempts[draft.parent]
    refining = draft.move is Move.REFINE
    template = Template(templates[tail_name(templates, draft)])
    identifiers = template.get_identifiers()
    tried = (
        "" if draft.move is Move.DRAFT else list_failures(attempts, except_number=parent.number if refining else None)
    )
    texts: dict[str, Callable[[], str]] = {
        "hint": lambda: draft.hint,
        "tried": lambda: tried,
        "written": lambda: render_attempts(problem, [parent], without=draft.regions),
    }
    values = {"names": names, "feedback": ""}
    shares = {"hint": room // (4 if refining else 2)}  # a draft shows no code of its own
    values |= {
        name: truncate(text(), shares.get(name, room // 4), count)
        for name, text in texts.items()
        if name in identifiers
    }
    remaining = room - count(template.substitute({name: values[name] for name in identifiers}))
    code = truncate(answer_of(problem, parent), remaining // 2, count) if refining else ""
    notes = "\n\n".join(note.text for note in parent.notes if note.text)
    values["feedback"] = truncate(notes, remaining - count(code), count)
    request = Message(role="user", content=template.substitute(values).strip())
    return (Message(role="assistant", content=code), request) if refining else (request,)


def list_failures(attempts: Sequence[Attempt], *, except_number: int | None) -> str:
    """One line for each kind of failure of whole answers so far: error class and reason; newest kinds last."""
    kinds: dict[str, list[int]] = {}
    for attempt in attempts:
        cheap = attempt.draft is not None and attempt.draft.move in CHEAP
        if attempt.number in (0, except_number) or cheap:
            continue
        reason = f" ({one_line(attempt.verdict.reason)})" if attempt.verdict.reason else ""
        kind = f"{attempt.error_class or attempt.verdict.status}{reason}"
        kinds[kind] = [*kinds.pop(kind, []), attempt.number]
    return "\n".join(f"- {_attempt_numbers(numbers)}: {kind}" for kind, numbers in list(kinds.items())[-KINDS:])


def _attempt_numbers(numbers: Sequence[int]) -> str:
    if len(numbers) > NUMBERS:
        return f"{len(numbers)} attempts"
    return f"attempt{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def one_line(text: str) -> str:
    """The text in a row of at most 120 characters."""
    squeezed = " ".join(text[:1200].split())
    return squeezed if len(squeezed) <= 120 else squeezed[:119] + "…"


def fit(excerpts: Sequence[Excerpt], room: int, count: Count) -> str:
    """The excerpts in their own order, limited to a number of tokens.

    Excerpts that only repeat others are left out as long as these fit whole, then the least valuable. Essential ones
    and the most valuable one always stay: if even these are too long, they are shortened to share the limit.
    """
    kept = _without_redundant(excerpts)
    needed = {id(excerpt) for excerpt in excerpts if excerpt.value >= ESSENTIAL}
    needed |= {id(max(excerpts, key=lambda excerpt: excerpt.value))} if excerpts else set()
    sizes = {id(excerpt): count(_render([excerpt])[: max_characters(room)]) + 1 for excerpt in excerpts}
    while sum(sizes[id(excerpt)] for excerpt in kept) > room:
        droppable = [excerpt for excerpt in kept if id(excerpt) not in needed]
        if not droppable:
            return _share_limit([excerpt for excerpt in excerpts if id(excerpt) in needed], room, count)
        kept.remove(min(droppable, key=lambda excerpt: excerpt.value))
    text = _render(kept)
    return text if count(text) <= room else _share_limit(kept, room, count)


def _without_redundant(excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """The excerpts without those whose lines all occur in the other ones."""
    line_sets = [{row.strip() for row in excerpt.text.split("\n")} - {""} for excerpt in excerpts]
    kept = list(range(len(excerpts)))
    for index in sorted(kept, key=lambda index: len(line_sets[index])):
        others = [other for other in kept if other != index]
        if line_sets[index] and line_sets[index] <= set().union(*(line_sets[other] for other in others)):
            kept = others
    return [excerpts[index] for index in kept]


def _share_limit(excerpts: Sequence[Excerpt], room: int, count: Count) -> str:
    """The excerpts cut to equal shares of the limit; what short ones leave goes to the others."""
    texts = [_render([excerpt]) for excerpt in excerpts]
    pieces: dict[int, str] = {}
    for done, number in enumerate(sorted(range(len(texts)), key=lambda number: len(texts[number]))):
        pieces[number] = truncate(texts[number], (room - 2) // (len(texts) - done), count)
        room -= count(pieces[number]) + 1  # the blank line between two excerpts
    return "\n\n".join(pieces[number] for number in sorted(pieces))


def _render(excerpts: Sequence[Excerpt]) -> str:
    """Titles and fenced texts; an excerpt without text is its title alone."""
    return "\n\n".join(
        f"{excerpt.title}\n{fenced(excerpt.text, excerpt.language)}" if excerpt.text else excerpt.title
        for excerpt in excerpts
    )


def vary(excerpts: Sequence[Excerpt], variant: int) -> list[Excerpt]:
    """The excerpts with other texts, where they have some, and begun at another one; 0: as they are."""
    texts = [replace(each, text=(each.text, *each.others)[variant % (1 + len(each.others))]) for each in excerpts]
    turn = variant % len(texts) if texts else 0
    return [*texts[turn:], *texts[:turn]]


def choose_format(setting: str, problem: Problem, tokens: int) -> str:
    """The format to ask for, given the answer's token limit.

    Code that does not exist yet can only be written whole. `auto` means whole functions, which small models do best, as
    long as they fit into an answer.
    """
    texts = [region_text(problem, region) for region in problem.regions if not region.created]
    written = [text for text in texts if not is_unwritten(text)]
    if not written:
        return WHOLE
    if setting != AUTO:
        return setting
    return SEARCH_REPLACE if sum(map(estimate_tokens, written)) > SHARE * tokens else WHOLE


def adapt_templates(templates: Mapping[str, str], edit_format: Mapping[str, str]) -> dict[str, str]:
    """A preset's templates, changed to ask for another edit format."""
    adapted = dict(templates) | {"system": edit_format["system"]}
    for name in templates.keys() - set(OTHERS):
        instructions = templates[name].strip().rpartition("\n\n")[0]
        adapted[name] = f"{instructions}\n\n{edit_format['answer']}".strip()
    return adapted


# -- the attempts that a prompt shows ---------------------------------------------------------------------------------


def answer_of(problem: Problem, attempt: Attempt, without: Sequence[Region] = ()) -> str:
    """The attempt's code as a fenced block, without the prose around it and these regions; an unreadable answer
    unchanged.
    """
    if attempt.candidate is None:
        return attempt.answer or fenced("\n".join(region_text(problem, region) for region in problem.regions))
    pieces = [*attempt.candidate.imports, *attempt.candidate.helpers]
    texts = attempt.candidate.texts
    shown = sorted({*texts} - {*without}, key=lambda region: (region.path, region.start))
    pieces += [texts[region].strip("\n") for region in shown]
    return fenced("\n\n".join(pieces))


def fenced(text: str, language: str = "python") -> str:
    """The text in a Markdown fence that is longer than any run of backticks in it."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def render_attempts(problem: Problem, attempts: Sequence[Attempt], without: Sequence[Region] = ()) -> str:
    """The attempts' code, each below the number of tests that it passed; `without` regions that are to be written."""
    return "\n\n".join(
        f"{attempt.verdict.passed} of {attempt.verdict.total} tests passed:\n{answer_of(problem, attempt, without)}"
        for attempt in attempts
    )

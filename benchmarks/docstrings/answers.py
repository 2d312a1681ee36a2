"""What the model answers to each task, once: candidates, designed tests, properties. A run that was cut short goes on.

The prompts are the product's own. Nothing is judged here.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.docstrings import task
from benchmarks.docstrings.task import Docstring

from greenloop.core import registry
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import ChatRequest, Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.tokens import estimate_tokens
from greenloop.drafting.prompt import assemble
from greenloop.models.providers import local
from greenloop.project import templates
from greenloop.project.settings import Settings
from greenloop.specs.kinds import designer, properties
from greenloop.specs.kinds._stub_view import build_stub_view
from greenloop.specs.properties import signature

CONTEXT = ("source", "examples")
TEMPERATURES = (0.0, 0.6, 0.75, 0.9, 1.0)  # of the candidates
TOKENS = 500  # of a candidate
SEED = 7


async def questions(wanted: Docstring, problem: Problem) -> list[tuple[str, ChatRequest]]:
    """Each with its name."""
    found = [(f"designer-{number}", asked) for number, asked in enumerate(_designed(wanted), 1)]
    head = signature.read_header(wanted.region, wanted.text)
    found += [("properties-1", properties.question(head))] if head else []
    tools: Any = Tools(ask=None, run=None, session=None, user=NoUser(), rng=random.Random(0))  # type: ignore[arg-type]
    excerpts = [each for name in CONTEXT for each in await registry.load_part("context", name).gather(problem, tools)]
    first = [Attempt(number=0, verdict=Verdict(status=Status.FAILED))]
    settings = Settings()
    for number, temperature in enumerate(TEMPERATURES):
        draft = Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=temperature)
        messages = assemble(
            {**templates.preset_templates("default"), "restart": templates.preset_templates("default")["draft"]},
            problem,
            excerpts,
            first,
            draft,
            budget=settings.prompt.tokens,
            count=estimate_tokens,
        )
        asked = ChatRequest(messages=messages, role=Role.DRAFTER, temperature=temperature, max_tokens=TOKENS)
        found.append((f"candidate-{number}", asked))
    return [(name, replace(asked, seed=SEED + number)) for number, (name, asked) in enumerate(found)]


def _designed(wanted: Docstring) -> Iterator[ChatRequest]:
    about = build_stub_view(wanted.region, wanted.text)
    if about is not None:
        yield from designer.requests(about)


async def main(out: Path) -> None:
    settings = Settings()
    model = local.create("local", replace(settings, embedded=replace(settings.embedded, nice=0)))
    file = out / "answers.jsonl"
    known = {(row["task"], row["name"]) for row in task.rows(file)}
    for wanted in task.read(out / "tasks.jsonl"):
        seconds = 0.0
        for name, asked in await questions(wanted, wanted.problem(out / "work")):
            if (wanted.id, name) in known:
                continue
            reply = await model.complete(asked, lambda _text: None)
            usage = reply.usage
            seconds += usage.model_seconds
            told = {
                "task": wanted.id,
                "name": name,
                "temperature": asked.temperature,
                "prompt": [{"role": each.role, "content": each.content} for each in asked.messages],
                "answer": reply.text,
                "finish": reply.finish,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "seconds": round(usage.model_seconds, 2),
            }
            task.append(file, told)
        print(f"{wanted.id}: {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

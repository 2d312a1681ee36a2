"""Records the answers of the model to each task, once: candidates, generated tests, properties.

An interrupted run is continued. The prompts are the product's own. Nothing is judged here.
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
from greenloop.plugins.embedded.providers import local
from greenloop.plugins.function_calls import signature
from greenloop.plugins.written_tests.kinds import designer
from greenloop.plugins.written_tests.stub_view import build_stub_view
from greenloop.project import templates
from greenloop.project.settings import Settings
from greenloop_lab.specs.kinds import stated_properties

CONTEXT = ("source", "examples")
TEMPERATURES = (0.0, 0.6, 0.75, 0.9, 1.0)  # of the candidates
TOKENS = 500  # of a candidate
SEED = 7


async def build_requests(docstring: Docstring, problem: Problem) -> list[tuple[str, ChatRequest]]:
    """Each with its name."""
    requests = [(f"designer-{number}", request) for number, request in enumerate(_designer_requests(docstring), 1)]
    head = signature.read_header(docstring.region, docstring.text)
    requests += [("properties-1", stated_properties.question(head))] if head else []
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
        request = ChatRequest(messages=messages, role=Role.DRAFTER, temperature=temperature, max_tokens=TOKENS)
        requests.append((f"candidate-{number}", request))
    return [(name, replace(request, seed=SEED + number)) for number, (name, request) in enumerate(requests)]


def _designer_requests(docstring: Docstring) -> Iterator[ChatRequest]:
    about = build_stub_view(docstring.region, docstring.text)
    if about is not None:
        yield from designer.requests(about)


async def main(out: Path) -> None:
    settings = Settings()
    model = local.create("local", replace(settings, embedded=replace(settings.embedded, nice=0)))
    file = out / "answers.jsonl"
    known = {(row["task"], row["name"]) for row in task.read_rows(file)}
    for docstring in task.read_tasks(out / "tasks.jsonl"):
        seconds = 0.0
        for name, request in await build_requests(docstring, docstring.problem(out / "work")):
            if (docstring.id, name) in known:
                continue
            reply = await model.complete(request, lambda _text: None)
            usage = reply.usage
            seconds += usage.model_seconds
            new_row = {
                "task": docstring.id,
                "name": name,
                "temperature": request.temperature,
                "prompt": [{"role": each.role, "content": each.content} for each in request.messages],
                "answer": reply.text,
                "finish": reply.finish,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "seconds": round(usage.model_seconds, 2),
            }
            task.append_row(file, new_row)
        print(f"{docstring.id}: {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))

"""Asking the critic about an attempt's code, with bounded prompts and answers."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop import templates
from greenloop.core.nouns import Attempt, Completion, Message, Note, Problem, Reply, Role
from greenloop.core.ports import Tools
from greenloop.core.prompt import answer_of, cut
from greenloop.core.tokens import estimate
from greenloop.feedback._values import short

CODE = 1000  # tokens of code shown to the critic
FAILURES = 700  # tokens of failures shown to the critic
WORDS = 1200  # characters kept of what it says


async def ask(tools: Tools, name: str, most: int, **values: str) -> Reply:
    """The critic's answer, of at most so many tokens, to the prompt of this name. Lets `Spent` pass."""
    text = templates.part(name).substitute(values).strip()
    message = Message(role="user", content=text)
    return await tools.ask(Completion(messages=(message,), role=Role.CRITIC, max_tokens=most))


def worth_asking(attempts: Sequence[Attempt]) -> bool:
    """Is there a model's code that ran? The user's own code and refused answers are described without a model."""
    newest = attempts[-1]
    return newest.number > 0 and newest.candidate is not None and newest.finding is None


def code_of(problem: Problem, attempt: Attempt) -> str:
    return cut(answer_of(problem, attempt), CODE, estimate)


def fitting(failures: str) -> str:
    return cut(failures, FAILURES, estimate)


def words(reply: Reply) -> str:
    """What the critic said, as one bounded paragraph without fences."""
    rows = [row for row in reply.text[: 8 * WORDS].split("\n") if not row.lstrip().startswith("```")]
    return short(" ".join(rows), WORDS)


def with_failures(failures: str, title: str, said: str, reply: Reply) -> Note:
    """The failures and, below them, the critic's explanation, which is also what users are shown."""
    text = f"{failures}\n\n{title}: {said}" if said else failures
    return Note(text=text, fields={"explanation": said} if said else {}, usage=reply.usage)

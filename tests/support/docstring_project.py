"""A whole request for a docstring in the real sandbox: a model that answers by role, a user that answers from a list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from greenloop.core.events import Specified, Tested
from greenloop.core.records.model import ChatRequest, Reply, Role, Usage
from greenloop.core.records.outcome import Outcome
from greenloop.engine import refine
from greenloop.project import configuration
from project_files import write_files


class RoleModel:
    """Answers each role from its own list, the last one again and again; remembers every request."""

    name = "cast"

    def __init__(self, tester: Sequence[str], drafter: Sequence[str]) -> None:
        self.lists = {Role.TESTER: list(tester), Role.DRAFTER: list(drafter), Role.REFINER: []}
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest, on_token) -> Reply:
        self.requests.append(request)
        answers = self.lists[request.role]
        if request.role is Role.REFINER and not answers:
            answers = self.lists[Role.DRAFTER]
        text = answers.pop(0) if len(answers) > 1 else answers[0]
        return Reply(text=text, usage=Usage(prompt_tokens=10, completion_tokens=5), model=self.name)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def close(self) -> None:
        """Nothing is open."""

    def asked(self, role: Role) -> list[str]:
        """The whole text of each request of a role."""
        return [
            "\n".join(each.content for each in request.messages) for request in self.requests if request.role is role
        ]


class ScriptedUser:
    """A user who gives these answers to `choose`, in order, and these texts to `correct`; afterwards none."""

    def __init__(self, *answers: str, texts: Sequence[str] = ()) -> None:
        self.answers = list(answers)
        self.texts = list(texts)
        self.questions: list[tuple[str, list[str]]] = []

    async def confirm(self, question: str) -> bool | None:
        raise AssertionError(question)

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        self.questions.append((question, list(options)))
        return self.answers.pop(0) if self.answers else None

    async def correct(self, question: str, text: str) -> str | None:
        self.questions.append((question, [text]))
        return self.texts.pop(0) if self.texts else None


class ReferenceUser(ScriptedUser):
    """A user who knows what the function does, by a reference, and answers truthfully."""

    def __init__(self, reference: str) -> None:
        super().__init__()
        self.names: dict = {}
        exec(reference, self.names)

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        self.questions.append((question, list(options)))
        said = question.split("`")[1]
        if eval(said, self.names):
            return "Yes"
        value = repr(eval(said.partition(" == ")[0], self.names))
        return f"It is {value}" if f"It is {value}" in options else "The right value is …"

    async def correct(self, question: str, text: str) -> str | None:
        self.questions.append((question, [text]))
        return repr(eval(question.split("`")[1], self.names))


class DocstringProject:
    """One request for a function of `m.py`; what came out, and every event."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list = []

    async def __call__(
        self, text: str, model: RoleModel, *, name: str = "rle", user=None, files: dict[str, str] | None = None, **told
    ) -> Outcome:
        write_files(self.root, {"m.py": text, **(files or {})})
        found, warnings = configuration.load(
            self.root, command_line={"model": "local", "sandbox.kind": "bubblewrap", **told}, environ={}
        )
        assert not warnings
        request = refine.RefineRequest(root=self.root, target=f"m.py::{name}")
        return await refine.refine(request, settings=found, emit=self.events.append, user=user, model=model)

    @property
    def specified(self) -> list[Specified]:
        return [event for event in self.events if isinstance(event, Specified)]

    @property
    def attempts(self) -> list:
        found: list = []
        for event in self.events:
            if isinstance(event, Tested):
                found[event.attempt.number - 1 : event.attempt.number] = [event.attempt]
        return found

"""The engine's questions about generated tests, asked as permissions: the only question that every client can show."""

from __future__ import annotations

from collections.abc import Sequence

from acp.schema import PermissionOption

from greenloop.acp.updates import Updates


class ClientUser:
    """A user who did not answer one question is not asked again in the turn."""

    def __init__(self, updates: Updates) -> None:
        self._updates, self._can_answer = updates, True

    async def confirm(self, question: str) -> bool | None:
        answer = await self.choose(question, ("Yes", "No"))
        return None if answer is None else answer == "Yes"

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        if not self._can_answer:
            return None
        call = self._updates.start(question, kind="think", status="pending")
        choices = [
            PermissionOption(option_id=str(number), name=text, kind="reject_once" if text == "No" else "allow_once")
            for number, text in enumerate(options)
        ]
        chosen = await self._updates.choose(call, choices)
        self._can_answer = chosen is not None
        answer = next((text for number, text in enumerate(options) if str(number) == chosen), None)
        self._updates.change(call, answer or "No answer.", status="completed" if answer else "failed")
        return answer

    async def correct(self, question: str, text: str) -> str | None:  # noqa: ARG002 - no client can be asked for a text
        return None

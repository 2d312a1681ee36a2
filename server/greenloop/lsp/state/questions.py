"""A question that a run waits for; the first answer closes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

# The end of an option that needs a typed value; editors have no dialogue for that.
TYPED = "…"
LONGEST = 120  # maximum characters of a question in a title


@dataclass(frozen=True, kw_only=True)
class UserReply:
    """The chosen option, and the value typed for it; no option: the question ended without an answer."""

    option: str | None = None
    value: str = ""


@dataclass(eq=False, kw_only=True)
class Question:
    """A question with the options that the engine accepts as answers; without options it expects a value."""

    text: str
    options: Sequence[str] = ()
    answered: asyncio.Future[UserReply] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def simple_options(self) -> list[str]:
        """The options that need no typed value."""
        return [option for option in self.options if not option.endswith(TYPED)]

    @property
    def typed_option(self) -> str | None:
        """The option that needs a typed value."""
        return next((option for option in self.options if option.endswith(TYPED)), None)

    def title(self, option: str) -> str:
        """The question with one answer, for a menu."""
        text = self.text if len(self.text) <= LONGEST else self.text[: LONGEST - 1] + "…"
        return f"{text} {option}"

    def close(self, answer: UserReply) -> None:
        if not self.answered.done():
            self.answered.set_result(answer)

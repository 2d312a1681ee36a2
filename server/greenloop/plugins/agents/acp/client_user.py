"""The engine's questions about generated tests, asked of the user as forms where the client has them (elicitation).

Never as permissions: a client that grants those automatically would confirm tests that nobody has read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp.interfaces import Client
from acp.schema import (
    AcceptElicitationResponse,
    ClientCapabilities,
    ElicitationFormSessionMode,
    ElicitationSchema,
    ElicitationStringPropertySchema,
)

from greenloop.core.text.redact import clean_for_display
from greenloop.plugins.agents.acp.updates import PERSON, with_timeout

_FIELD = "answer"


class AcpUser:
    """A user who did not answer one question is not asked again."""

    def __init__(
        self, client: Client, capabilities: ClientCapabilities | None, session_id: str, seconds: float = PERSON
    ) -> None:
        forms = capabilities.elicitation if capabilities is not None else None
        self.can_answer = forms is not None and forms.form is not None
        self._client, self._session_id, self._seconds = client, session_id, seconds

    async def confirm(self, question: str) -> bool | None:
        answer = await self.choose(question, ("Yes", "No"))
        return None if answer is None else answer == "Yes"

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        answer = await self._ask(question, ElicitationStringPropertySchema(type="string", enum=list(options)))
        return answer if answer in options else None

    async def correct(self, question: str, text: str) -> str | None:
        return await self._ask(question, ElicitationStringPropertySchema(type="string", default=text)) or None

    async def _ask(self, question: str, answer: ElicitationStringPropertySchema) -> str | None:
        if not self.can_answer:
            return None
        schema = ElicitationSchema(type="object", properties={_FIELD: answer}, required=[_FIELD])
        mode = ElicitationFormSessionMode(session_id=self._session_id, requested_schema=schema)
        reply: Any = await with_timeout(
            self._client.create_elicitation(clean_for_display(question), mode), self._seconds
        )
        self.can_answer = reply is not None
        if not isinstance(reply, AcceptElicitationResponse) or reply.content is None:
            return None
        given = reply.content.get(_FIELD)
        return given if isinstance(given, str) else None

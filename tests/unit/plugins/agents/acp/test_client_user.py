"""Questions about generated tests are asked as forms, of clients that have them."""

from __future__ import annotations

import asyncio
from typing import Any

import acp
import pytest
from acp.schema import (
    AcceptElicitationResponse,
    CancelElicitationResponse,
    ClientCapabilities,
    DeclineElicitationResponse,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
)

from greenloop.plugins.agents.acp.client_user import AcpUser

FORMS = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))


class Forms:
    """Answers forms in turn; an exception is raised, and None never comes."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, Any]] = []

    async def create_elicitation(self, message: str, mode: Any) -> Any:
        self.asked.append((message, mode))
        answer = self.answers.pop(0)
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        return answer


def accepted(answer: Any) -> AcceptElicitationResponse:
    return AcceptElicitationResponse(action="accept", content={"answer": answer})


def user_of(forms: Any, capabilities: ClientCapabilities | None = FORMS, seconds: float = 10.0) -> AcpUser:
    return AcpUser(forms, capabilities, "s", seconds)


async def test_an_answer_is_one_of_the_options():
    forms = Forms(accepted("No"), accepted("Yes"), accepted("Perhaps"), accepted(3))
    user = user_of(forms)
    assert await user.choose("Is it right?", ("Yes", "No")) == "No"
    assert await user.confirm("Is it right?") is True
    assert await user.confirm("Is it right?") is None
    assert await user.confirm("Is it right?") is None
    message, mode = forms.asked[0]
    assert (message, mode.session_id) == ("Is it right?", "s")
    assert mode.requested_schema.properties["answer"].enum == ["Yes", "No"]


async def test_a_value_is_corrected_from_the_one_that_was_found():
    forms = Forms(accepted("[2]"))
    assert await user_of(forms).correct("What is `f(1)`?", "[1]") == "[2]"
    assert forms.asked[0][1].requested_schema.properties["answer"].default == "[1]"


@pytest.mark.parametrize(
    "reply", [DeclineElicitationResponse(action="decline"), CancelElicitationResponse(action="cancel")]
)
async def test_a_declined_form_is_no_answer(reply):
    assert await user_of(Forms(reply)).confirm("Is it right?") is None


@pytest.mark.parametrize("reply", [None, acp.RequestError.method_not_found("elicitation/create"), ConnectionError()])
async def test_a_client_that_does_not_answer_is_not_asked_again(reply):
    forms = Forms(reply, accepted("Yes"))
    user = user_of(forms, seconds=0.01)
    assert await user.confirm("Is it right?") is None
    assert await user.confirm("Is it right?") is None
    assert len(forms.asked) == 1


@pytest.mark.parametrize(
    "capabilities", [None, ClientCapabilities(), ClientCapabilities(elicitation=ElicitationCapabilities())]
)
async def test_a_client_without_forms_is_never_asked(capabilities):
    forms = Forms()
    user = user_of(forms, capabilities)
    assert not user.can_answer
    assert await user.confirm("Is it right?") is None
    assert forms.asked == []

"""The client's own model in a conversation with tools, which sampling lacks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mcp_types as types
from mcp.server.validation import validate_tool_use_result_messages

from greenloop.core.ports import calls_tools
from greenloop.core.records.model import ChatRequest, Message, ToolCall, ToolSpec
from greenloop.plugins.agents.mcp.client_model import ClientModel
from greenloop.project.settings import Settings


class Session:
    """Takes requests as the SDK's session does, and answers each with the same text."""

    def __init__(self) -> None:
        self.requests: list[types.CreateMessageRequestParams] = []

    async def create_message(self, messages: list[types.SamplingMessage], **more: Any) -> types.CreateMessageResult:
        validate_tool_use_result_messages(messages)
        more.pop("related_request_id")
        self.requests.append(types.CreateMessageRequestParams(messages=messages, **more))
        text = types.TextContent(type="text", text="x * 2")
        return types.CreateMessageResult(role="assistant", content=text, model="agent")


def client_model(session: Session) -> ClientModel:
    tools = types.SamplingCapability(tools=types.SamplingToolsCapability())
    capabilities = types.ClientCapabilities(sampling=tools)
    context: Any = SimpleNamespace(client_capabilities=capabilities, session=session, request_id=1)
    return ClientModel(context, Settings())


async def test_a_conversation_with_tools_is_text():
    session, streamed = Session(), []
    client = client_model(session)
    assert not calls_tools(client)
    call = ToolCall(id="1", name="read", arguments='{"path": "m.py"}')
    messages = (
        Message(role="system", content="You repair."),
        Message(role="user", content="Double x."),
        Message(role="assistant", content="", calls=(call,)),
        Message(role="tool", content="x + 1", call_id="1"),
    )
    tool = ToolSpec(name="read", description="Reads a file.", parameters={})
    reply = await client.complete(ChatRequest(messages=messages, tools=(tool,)), streamed.append)
    assert (reply.text, reply.calls, streamed) == ("x * 2", (), ["x * 2"])
    (request,) = session.requests
    assert request.tools is None
    assert request.system_prompt == "You repair."
    assert [(each.role, each.content) for each in request.messages] == [
        ("user", types.TextContent(type="text", text="Double x.")),
        ("assistant", types.TextContent(type="text", text='LOOK read {"path": "m.py"}')),
        ("user", types.TextContent(type="text", text="x + 1")),
    ]

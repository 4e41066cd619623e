"""LangChain messages on their way down: ids of the provider, options, and no key anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.load import dumps
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from domain.llm.chat import StreamChunk, WireMessage, WireToolCall
from infrastructure.llm_adapters.chat_model import ClientChatModel, wire_messages
from tests.fakes.scripted_chat_client import ScriptedChatClient

END = StreamChunk(finish_reason="stop")
SCHEMA = {"type": "function", "function": {"name": "read_file", "description": "d", "parameters": {}}}


def ai(*calls: tuple[str, str], text: str = "", **extra: Any) -> AIMessage:
    """An answer that called read_file, `calls` being (our id, the provider's id)."""
    return AIMessage(
        text,
        tool_calls=[{"id": own, "name": "read_file", "args": {"path": "放.cir"}} for own, _ in calls],
        additional_kwargs={"provider_ids": {own: theirs for own, theirs in calls if theirs}, **extra},
    )


def result(call_id: str) -> ToolMessage:
    return ToolMessage("R1 1k", tool_call_id=call_id, name="read_file")


def ids(messages: list[BaseMessage]) -> list[tuple[str, ...]]:
    """The ids that go out, message by message."""
    return [
        tuple(call.provider_id for call in message.tool_calls) or (message.tool_call_id,)
        for message in wire_messages(messages)
    ]


def test_a_conversation_goes_out_as_it_was() -> None:
    messages = [
        SystemMessage("You design circuits."),
        HumanMessage("read it"),
        ai(("01A", "call_7"), text="I read.", reasoning_content="What is in it?"),
        result("01A"),
        AIMessage([{"type": "text", "text": "R1 "}, {"type": "text", "text": "is 1k."}]),
    ]
    call = WireToolCall(provider_id="call_7", name="read_file", arguments='{"path": "放.cir"}')
    assert wire_messages(messages) == (
        WireMessage(role="system", text="You design circuits."),
        WireMessage(role="user", text="read it"),
        WireMessage(role="assistant", text="I read.", reasoning="What is in it?", tool_calls=(call,)),
        WireMessage(role="tool", text="R1 1k", tool_call_id="call_7", name="read_file"),
        WireMessage(role="assistant", text="R1 is 1k."),
    )


def test_without_an_id_of_the_provider_ours_goes_out() -> None:
    assert ids([ai(("01A", "")), result("01A")]) == [("01A",), ("01A",)]


def test_repeated_provider_ids_are_replaced_where_they_repeat() -> None:
    messages = [
        ai(("01A", "call_1"), ("01B", "call_1")),
        result("01B"),
        result("01A"),
        ai(("01C", "call_1")),
        result("01C"),
    ]
    assert ids(messages) == [("call_1", "01B"), ("01B",), ("call_1",), ("01C",), ("01C",)]


def test_an_empty_answer_is_left_out() -> None:
    assert [
        message.role for message in wire_messages([HumanMessage("a"), AIMessage(""), HumanMessage("b")])
    ] == [
        "user",
        "user",
    ]


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage([{"type": "audio", "base64": "AA"}]),
        AIMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]),
        ChatMessage("x", role="critic"),
    ],
)
def test_what_cannot_be_sent_is_not_dropped_silently(message: BaseMessage) -> None:
    with pytest.raises(TypeError, match="cannot be sent"):
        wire_messages([message])


async def test_options_reach_the_client() -> None:
    client = ScriptedChatClient([END], [END])
    model = ClientChatModel(client=client)
    await model.ainvoke("hi", tools=[SCHEMA], temperature=0.2, max_tokens=50)
    bound = model.bind_tools([SCHEMA], tool_choice="auto")
    assert [chunk async for chunk in bound.astream("hi")]
    first, second = client.requests
    assert (first.tools, first.temperature, first.max_tokens) == ((SCHEMA,), 0.2, 50)
    assert (second.tools, second.temperature, second.max_tokens) == ((SCHEMA,), None, None)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"stop": ["\n"]}, ValueError),
        ({"tool_choice": "required"}, ValueError),
        ({"top_k": 3}, TypeError),
    ],
)
async def test_options_no_client_knows_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    client = ScriptedChatClient([END])
    with pytest.raises(error):
        await ClientChatModel(client=client).ainvoke("hi", **options)
    assert client.opened == 0


class _ClientWithKey(ScriptedChatClient):
    """One that would show its key, were it ever asked for its repr."""

    def __init__(self, *scripts: Any) -> None:
        super().__init__(*scripts)
        self.api_key = "sk-very-secret"

    def __repr__(self) -> str:
        return f"client({self.api_key})"


async def test_the_key_never_shows() -> None:
    model = ClientChatModel(client=_ClientWithKey([RuntimeError("broken")]), provider="p", model="m")
    with pytest.raises(RuntimeError) as caught:
        await model.ainvoke("hi")
    shown = [
        repr(model),
        str(model),
        dumps(model),
        json.dumps(model.model_dump(), default=str),
        model.model_dump_json(),
        json.dumps(model.to_json(), default=str),
        str(model.__getstate__()["__dict__"]),
        str(model._identifying_params),
        str(model._get_ls_params()),
        str(caught.value),
        repr(model.bind_tools([SCHEMA])),
    ]
    assert not [text for text in shown if "secret" in text]
    assert "model='m'" in repr(model)

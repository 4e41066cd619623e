"""Servers and models without native tool calling, through the client: found out and met in the other form."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from domain.llm.chat import ChatRequest, ModelAbilities, ProviderError, StreamChunk, WireMessage
from infrastructure.llm_adapters.ollama import OllamaClient
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from tests.fakes.llm_protocols import ollama_answer, ollama_chunk, ollama_error
from tests.fakes.llm_server import FakeLLMServer, OllamaSide, Script, answer, chunk, error

TOOL = {"type": "function", "function": {"name": "run_sim", "description": "Run.", "parameters": {}}}
REQUEST = ChatRequest(messages=(WireMessage(role="user", text="hi"),), tools=(TOOL,))
CALL = '{"tool": "run_sim", "arguments": {"n": 1}}'
VLLM = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'


async def told(
    client: OpenAICompatibleClient | OllamaClient,
    request: ChatRequest = REQUEST,
    shown: list[str] | None = None,
) -> list[StreamChunk]:
    chunks = []
    async with aclosing(client.stream(request)) as stream:
        async for piece in stream:
            chunks.append(piece)
            if shown is not None:
                shown.append(piece.text)
    return chunks


async def test_a_vllm_without_its_flag_is_asked_in_the_other_form_and_so_from_then_on() -> None:
    with FakeLLMServer([error(400, VLLM), answer(CALL), answer("Done.")]) as server:
        client = OpenAICompatibleClient(base_url=server.base_url, model="m")
        first, second = await told(client), await told(client)
        await client.close()
        native, prompted, again = server.requests
    assert [call.name for call in first[-1].tool_calls] == ["run_sim"]
    assert "".join(piece.text for piece in first) == ""
    assert second[-1].finish_reason == "stop"
    assert "tools" in native
    assert not {"tools", "tool_choice"} & (prompted.keys() | again.keys())


async def test_a_model_without_any_tools_is_offered_none() -> None:
    with FakeLLMServer([answer(CALL)]) as server:
        client = OpenAICompatibleClient(
            base_url=server.base_url, model="m", abilities=ModelAbilities(tools="no")
        )
        chunks = await told(client)
        await client.close()
        (body,) = server.requests
    assert "tools" not in body
    assert len(body["messages"]) == 1
    assert "".join(piece.text for piece in chunks) == CALL


async def test_what_was_held_back_is_kept_when_the_connection_breaks() -> None:
    script = Script(pieces=(chunk({"content": "Look.\n" + CALL[:20]}),), ending="drop")
    with FakeLLMServer([script]) as server:
        client = OpenAICompatibleClient(
            base_url=server.base_url, model="m", abilities=ModelAbilities(tools="prompted")
        )
        shown: list[str] = []
        with pytest.raises(ProviderError) as caught:
            await told(client, shown=shown)
        await client.close()
    assert caught.value.kind == "connection_lost"
    assert "".join(shown) == "Look.\n" + CALL[:20]


async def test_a_model_that_can_not_think_is_asked_again_without() -> None:
    refusal = ollama_error(400, '"m" does not support thinking')
    side = OllamaSide(capabilities=None)
    with FakeLLMServer([refusal, ollama_answer("Yes.")], models=["m"], ollama=side) as server:
        client = OllamaClient(
            base_url=server.root_url, model="m", provider="ollama", dialect=PROVIDERS["ollama"].dialect
        )
        request = ChatRequest(messages=REQUEST.messages, thinking="on")
        assert (await told(client, request))[-1].finish_reason == "stop"
        await client.close()
        first, second = server.requests
    assert first["think"] is True
    assert "think" not in second


async def test_leaving_an_ollama_stream_closes_its_socket() -> None:
    stalled = Script(
        pieces=(ollama_chunk(content="He"),), ending="stall", content_type="application/x-ndjson"
    )
    with FakeLLMServer([stalled], models=["m"]) as server:
        client = OllamaClient(base_url=server.root_url, model="m", provider="ollama")
        async with aclosing(client.stream(REQUEST)) as stream:
            assert (await anext(stream)).text == "He"
        await asyncio.to_thread(server.wait_until_left)
        await client.close()

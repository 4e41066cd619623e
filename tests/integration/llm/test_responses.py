"""The client of OpenAI's Responses API through a socket: stopping, objections, and a server without it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from domain.llm.chat import (
    ChatRequest,
    ProviderChoice,
    ProviderError,
    StreamChunk,
    WebSource,
    WireMessage,
    WireToolCall,
)
from infrastructure.llm_adapters.model_facts import abilities_of
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from infrastructure.llm_adapters.registry import ModelRegistry
from infrastructure.llm_adapters.responses import ResponsesClient
from tests.fakes.llm_protocols import openai_error
from tests.fakes.llm_responses import ResponseEvents, reasoning_item, responses_answer
from tests.fakes.llm_server import FakeLLMServer, Script, answer, error

OPENAI = PROVIDERS["openai"]
CALL = WireToolCall(provider_id="call_a", name="run_sim", arguments='{"n": 1}')
HISTORY = (
    WireMessage(role="user", text="Simulate."),
    WireMessage(
        role="assistant", tool_calls=(CALL,), output_items=(reasoning_item(), {"type": "function_call"})
    ),
    WireMessage(role="tool", tool_call_id="call_a", name="run_sim", text="1 V"),
)
REQUEST = ChatRequest(messages=HISTORY, thinking="off", search=True)


def client_of(server: FakeLLMServer) -> ResponsesClient:
    return ResponsesClient(
        base_url=server.base_url,
        model="gpt-5-mini",
        api_key="sk-canary",
        provider="openai",
        dialect=OPENAI.dialect,
        completions_dialect=OPENAI.completions_dialect,
    )


async def ask(client: ResponsesClient, request: ChatRequest = REQUEST) -> list[StreamChunk]:
    async with aclosing(client.stream(request)) as stream:
        return [chunk async for chunk in stream]


def text_of(chunks: list[StreamChunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


@pytest.mark.parametrize(
    "script",
    [
        ResponseEvents().created().reasoning("hm").text("Hello", is_done=False).script(ending="stall"),
        ResponseEvents().created().script(ending="stall"),
        Script(ending="silent"),
    ],
)
async def test_a_stop_closes_the_socket_and_what_came_stays(script: Script) -> None:
    seen: list[StreamChunk] = []

    async def read() -> None:
        async with aclosing(client.stream(REQUEST)) as stream:
            async for chunk in stream:
                seen.append(chunk)
                has_all.set()

    has_all = asyncio.Event()
    with FakeLLMServer([script, responses_answer("Again.")]) as server:
        client = client_of(server)
        task = asyncio.create_task(read())
        await asyncio.to_thread(server.wait_for_requests, 1)
        while len(script.pieces) > 2 and text_of(seen) != "Hello":
            await has_all.wait()
            has_all.clear()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.wait_until_left)
        assert text_of(await ask(client)) == "Again."
        await client.close()


OBJECTIONS: Mapping[str, tuple[str, str, Any]] = {
    "reasoning of another organisation": (
        "The encrypted content for item rs_0 could not be verified.",
        "include",
        ["web_search_call.action.sources"],
    ),
    "a model with another word for the least reasoning": (
        "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. "
        "Supported values are: 'none', 'low', 'medium', and 'high'.",
        "reasoning",
        {"effort": "none"},
    ),
    "a model that does not reason": (
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        "reasoning",
        None,
    ),
}


@pytest.mark.parametrize("name", OBJECTIONS)
async def test_what_a_server_objects_to_is_left_out(name: str) -> None:
    complaint, field, value = OBJECTIONS[name]
    with FakeLLMServer(
        [openai_error(complaint), responses_answer("Yes."), responses_answer("Yes.")]
    ) as server:
        client = client_of(server)
        assert text_of(await ask(client)) == text_of(await ask(client)) == "Yes."
        await client.close()
        bodies = server.requests
    assert [body.get(field) for body in bodies[1:]] == [value, value]
    assert bodies[0][field] != value
    if field == "include":
        kinds = [item.get("type", item.get("role")) for item in bodies[1]["input"]]
        assert kinds == ["user", "function_call", "function_call_output"]


async def test_a_model_that_does_not_reason_gets_no_reasoning_of_another() -> None:
    with FakeLLMServer([responses_answer("Yes.")]) as server:
        choice = ProviderChoice(provider="openai", model="gpt-4.1", base_url=server.base_url)
        items = [reasoning_item(), {"type": "message"}]
        history = [HumanMessage("hi"), AIMessage("Hello.", additional_kwargs={"output_items": items})]
        async with ModelRegistry(environment={}, abilities=abilities_of).open(choice) as model:
            await model.ainvoke([*history, HumanMessage("And now?")])
        (body,) = server.requests
    assert "include" not in body
    assert [item["role"] for item in body["input"]] == ["user", "assistant", "user"]


async def test_an_unverified_organisation_gets_no_summaries_but_an_answer() -> None:
    complaint = "Your organization must be verified to generate reasoning summaries."
    with FakeLLMServer([openai_error(complaint), responses_answer("Yes.")]) as server:
        client = client_of(server)
        assert text_of(await ask(client, replace(REQUEST, thinking="high"))) == "Yes."
        await client.close()
        assert [body["reasoning"] for body in server.requests] == [
            {"effort": "high", "summary": "auto"},
            {"effort": "high"},
        ]


@pytest.mark.parametrize("refuses", ["by its path", "by what it asks for"])
async def test_a_server_without_this_api_is_asked_by_chat_completions(refuses: str) -> None:
    completions = ("/chat/completions",)
    scripts = [answer("Yes."), answer("Yes.")]
    if refuses == "by what it asks for":
        completions = ("/chat/completions", "/responses")
        scripts.insert(0, error(422, "body.messages: Field required"))
    with FakeLLMServer(scripts, completions=completions) as server:
        client = client_of(server)
        plain = replace(REQUEST, search=False)
        assert text_of(await ask(client, plain)) == text_of(await ask(client, plain)) == "Yes."
        with pytest.raises(ProviderError, match="without web search"):
            await ask(client)
        await client.close()
        paths = [one.path for one in server.exchanges]
        body = server.requests[-1]
    assert paths == ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]
    assert body["reasoning_effort"] == "minimal"
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool"]


async def test_errors_are_those_of_every_provider_and_hold_no_key() -> None:
    with FakeLLMServer([error(429, "slow sk-canary", headers={"Retry-After": "7"})]) as server:
        client = client_of(server)
        with pytest.raises(ProviderError) as caught:
            await ask(client)
        await client.close()
    told = caught.value
    assert (told.error_type, told.retryable, told.retry_after_s) == ("rate_limited", True, 7.0)
    assert "sk-canary" not in f"{told}{told.advice}"


async def test_what_was_found_and_what_goes_back_come_with_the_message() -> None:
    found = [{"type": "url_citation", "url": "https://example.org/a", "title": "A"}]
    script = responses_answer("Yes.", reasoning="hm", annotations=found)
    with FakeLLMServer([script]) as server:
        choice = ProviderChoice(provider="openai", model="gpt-5-mini", base_url=server.base_url, search=True)
        async with ModelRegistry(environment={}).open(choice) as model:
            told = await model.ainvoke("hi")
    assert told.response_metadata["sources"] == [WebSource(title="A", url="https://example.org/a").to_plain()]
    assert told.response_metadata["output_items"] == [reasoning_item(0, "hm"), {"type": "message"}]
    assert told.usage_metadata is not None
    assert told.usage_metadata["total_tokens"] == 127
    assert not {"openai", "langchain_openai"} & sys.modules.keys()

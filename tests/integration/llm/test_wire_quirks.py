"""Every quirk of tests/fakes/llm_quirks.py through a real socket."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from domain.llm.chat import ChatRequest, ProviderError, StreamChunk, WireMessage
from infrastructure.llm_adapters.answer_reader import parse_json
from infrastructure.llm_adapters.ollama import OllamaClient
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.responses import ResponsesClient
from tests.fakes.llm_quirks import QUIRKS as COMMON_QUIRKS
from tests.fakes.llm_quirks import TOOLS, Quirk
from tests.fakes.llm_quirks_providers import PROVIDER_QUIRKS
from tests.fakes.llm_quirks_responses import RESPONSES_QUIRKS
from tests.fakes.llm_server import FakeLLMServer
from tests.ground.campaign import campaigns

RESPONSES = {f"responses: {name}": quirk for name, quirk in RESPONSES_QUIRKS.items()}
QUIRKS = COMMON_QUIRKS | PROVIDER_QUIRKS | RESPONSES
REQUEST = ChatRequest(
    messages=(WireMessage(role="user", text="hi"),),
    tools=tuple({"type": "function", "function": {"name": name, "parameters": {}}} for name in TOOLS),
)


async def _ask(server: FakeLLMServer, protocol: str) -> tuple[list[StreamChunk], ProviderError | None]:
    kinds = {"openai": OpenAICompatibleClient, "responses": ResponsesClient, "ollama": OllamaClient}
    url = server.root_url if protocol == "ollama" else server.base_url
    client = kinds[protocol](base_url=url, model="m", api_key="sk-test-key")
    chunks: list[StreamChunk] = []
    try:
        async with aclosing(client.stream(REQUEST)) as stream:
            async for chunk in stream:
                chunks.append(chunk)
    except ProviderError as error:
        return chunks, error
    finally:
        await client.close()
    return chunks, None


async def check(quirk: Quirk, name: str) -> None:
    with FakeLLMServer([quirk.script], models=["m"]) as server:
        chunks, error = await _ask(server, quirk.protocol)
    assert "".join(chunk.text for chunk in chunks) == quirk.text
    assert "".join(chunk.reasoning for chunk in chunks) == quirk.reasoning
    if quirk.finish is None:
        assert error is not None, name
        assert error.error_type == quirk.error, error
        assert str(error)
        assert error.advice is not None
        assert error.exit_code == 3
        return
    assert error is None
    last = chunks[-1]
    assert last.finish_reason == quirk.finish
    assert not any(chunk.tool_calls or chunk.finish_reason for chunk in chunks[:-1])
    assert [(call.provider_id, call.name, _value(call.arguments)) for call in last.tool_calls] == [
        *quirk.calls
    ]
    for field_name, value in (quirk.usage or {}).items():
        assert getattr(last.usage, field_name) == value


def _value(arguments: str) -> Any:
    value = parse_json(arguments)
    return value if isinstance(value, dict) else arguments


@pytest.mark.parametrize("name", [*COMMON_QUIRKS, *PROVIDER_QUIRKS, *list(RESPONSES)[::5]])
async def test_quirk(name: str) -> None:
    await check(QUIRKS[name], name)


@pytest.mark.torture
@pytest.mark.parametrize("name", RESPONSES)
async def test_quirk_of_responses(name: str) -> None:
    await check(RESPONSES[name], name)


@campaigns(fast=25, whole=1000)
async def test_quirk_in_random_pieces(campaign) -> None:
    for rng in campaign.cases():
        name = rng.choice(list(QUIRKS))
        quirk = QUIRKS[name]
        cuts = sorted(rng.randrange(len(quirk.body) + 1) for _ in range(rng.randrange(8)))
        edges = [0, *cuts, len(quirk.body)]
        pieces = tuple(quirk.body[begin:end] for begin, end in pairwise(edges))
        await check(replace(quirk, script=replace(quirk.script, pieces=pieces)), name)

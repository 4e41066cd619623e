"""Ollama's native protocol: its context, what its models can do, and what to do when it is not there."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from domain.llm.chat import (
    ChatRequest,
    ModelAbilities,
    ProviderChoice,
    ProviderError,
    StreamChunk,
    WireImage,
    WireMessage,
)
from infrastructure.llm_adapters import ollama
from infrastructure.llm_adapters.ollama import OllamaClient, read_abilities
from infrastructure.llm_adapters.ollama_service import OllamaService
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from infrastructure.llm_adapters.registry import ModelRegistry
from tests.fakes.llm_protocols import ollama_answer, ollama_error
from tests.fakes.llm_server import FakeLLMServer, OllamaSide, Script, call, json_answer

TOOL = {"type": "function", "function": {"name": "run_sim", "description": "Run.", "parameters": {}}}
MODEL = "qwen3:4b"


def asking(text: str = "hi", **more: Any) -> ChatRequest:
    return ChatRequest(messages=(WireMessage(role="user", text=text),), **more)


@asynccontextmanager
async def client_of(base_url: str, model: str = MODEL) -> AsyncIterator[OllamaClient]:
    client = OllamaClient(
        base_url=base_url, model=model, provider="ollama", dialect=PROVIDERS["ollama"].dialect
    )
    try:
        yield client
    finally:
        await client.close()


async def told(
    client: OllamaClient, request: ChatRequest, shown: list[str] | None = None
) -> list[StreamChunk]:
    """The chunks; their texts in `shown` also when an error follows."""
    chunks = []
    async with aclosing(client.stream(request)) as stream:
        async for chunk in stream:
            chunks.append(chunk)
            if shown is not None:
                shown.append(chunk.text)
    return chunks


def serving(scripts: Sequence[Script], **side: Any) -> FakeLLMServer:
    return FakeLLMServer(scripts, models=[MODEL, "llama3:8b"], ollama=OllamaSide(**side))


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/api", "/api/chat"])
async def test_any_address_of_the_server_will_do(suffix: str) -> None:
    with serving([ollama_answer("Yes.")]) as server:
        async with client_of(server.root_url + suffix, model="") as client:
            assert await client.models() == (MODEL, "llama3:8b")
            chunks = await told(client, asking())
        assert server.completions[0].path == "/api/chat"
        assert server.requests[0]["model"] == MODEL
    assert "".join(chunk.text for chunk in chunks) == "Yes."


async def test_the_context_fits_the_conversation_and_never_shrinks() -> None:
    with serving([ollama_answer("Yes.")] * 3, context_length=131_072) as server:
        async with client_of(server.root_url) as client:
            for text in ("hi", "word " * 32_000, "hi"):
                await told(client, asking(text))
        sizes = [body["options"]["num_ctx"] for body in server.requests]
    assert sizes == [32_768, 65_536, 65_536]


@pytest.mark.parametrize("line", ["R12 n3 out 4.7k tc=1e-3,2e-6\n", "把负载电容改为二十皮法，重新仿真。"])
async def test_netlists_and_chinese_get_the_context_they_take(line: str) -> None:
    """Of a netlist more than half of the characters are tokens, of Chinese all: four a token cut both."""
    with serving([ollama_answer("Yes.")], context_length=131_072) as server:
        async with client_of(server.root_url) as client:
            await told(client, asking((line * 3_000)[: 50_000 if line.isascii() else 45_000]))
    assert server.requests[0]["options"]["num_ctx"] == 65_536


async def test_what_can_not_fit_is_said_before_it_is_sent() -> None:
    with serving([], context_length=8192) as server:
        async with client_of(server.root_url) as client:
            with pytest.raises(ProviderError, match=r"120\d\d tokens; its context window is 8192") as caught:
                await told(client, asking("word " * 12_000))
        assert server.requests == []
    assert caught.value.kind == "context_too_long"
    assert "larger context" in str(caught.value.advice)


async def test_a_model_loaded_with_less_than_asked_for_has_cut_the_prompt() -> None:
    with serving([ollama_answer("Garbled.", read=4090, written=3)], loaded_context=4096) as server:
        async with client_of(server.root_url) as client:
            shown: list[str] = []
            with pytest.raises(ProviderError, match="its context window is 4096") as caught:
                await told(client, asking("word " * 4800), shown)
    assert caught.value.kind == "context_too_long"
    assert "".join(shown) == "Garbled."


async def test_a_full_context_makes_an_answer_incomplete_whatever_the_server_says() -> None:
    with serving(
        [ollama_answer("Long.", reason="stop", read=4000, written=96)], loaded_context=4096
    ) as server:
        async with client_of(server.root_url) as client:
            chunks = await told(client, asking())
    assert chunks[-1].finish_reason == "length"


async def test_a_model_without_tools_writes_its_calls_and_nobody_sees_the_json() -> None:
    written = 'I shall look.\n{"tool": "run_sim", "arguments": {"n": 1}}'
    with serving([ollama_answer(written), ollama_answer("Done.")], capabilities=("completion",)) as server:
        async with client_of(server.root_url) as client:
            first = await told(client, asking(tools=(TOOL,), thinking="on"))
            (one,) = first[-1].tool_calls
            history = (
                WireMessage(role="user", text="hi"),
                WireMessage(role="assistant", text="I shall look.", tool_calls=(one,)),
                WireMessage(role="tool", text="gain 20 dB", name="run_sim"),
            )
            second = await told(client, ChatRequest(messages=history, tools=(TOOL,)))
        before, after = server.requests
    assert "".join(chunk.text for chunk in first).strip() == "I shall look."
    assert (one.name, one.arguments) == ("run_sim", '{"n": 1}')
    assert first[-1].finish_reason == "tool_calls"
    assert "tools" not in before
    assert "think" not in before
    assert "run_sim(): Run." in before["messages"][0]["content"]
    assert [message["role"] for message in after["messages"]] == ["system", "user", "assistant", "user"]
    assert '{"tool": "run_sim", "arguments": {"n": 1}}' in after["messages"][2]["content"]
    assert "gain 20 dB" in after["messages"][3]["content"]
    assert second[-1].finish_reason == "stop"


async def test_an_older_server_that_does_not_tell_is_asked_again_in_the_other_form() -> None:
    refusal = ollama_error(400, f"registry.ollama.ai/library/{MODEL} does not support tools")
    scripts = [refusal, ollama_answer('{"tool": "run_sim", "arguments": {}}')]
    with serving(scripts, capabilities=None) as server:
        async with client_of(server.root_url) as client:
            chunks = await told(client, asking(tools=(TOOL,)))
    assert [call.name for call in chunks[-1].tool_calls] == ["run_sim"]


async def test_a_model_that_can_not_see_is_not_sent_a_picture() -> None:
    with serving([]) as server:
        request = ChatRequest(messages=(WireMessage(role="user", text="?", images=(WireImage(data=b"x"),)),))
        async with client_of(server.root_url) as client:
            with pytest.raises(ProviderError, match="cannot see pictures"):
                await told(client, request)
        assert server.requests == []


async def test_a_missing_model_comes_with_the_command_that_gets_it() -> None:
    with serving([]) as server:
        async with client_of(server.root_url, model="phi4:14b") as client:
            with pytest.raises(ProviderError) as caught:
                await told(client, asking())
    assert caught.value.kind == "unknown_model"
    assert str(caught.value.advice) == "Get it with: ollama pull phi4:14b"


async def test_too_little_memory() -> None:
    refusal = ollama_error(500, "model requires more system memory (9.1 GiB) than is available (3.2 GiB)")
    with serving([refusal]) as server:
        async with client_of(server.root_url) as client:
            with pytest.raises(ProviderError, match=r"9\.1 GiB") as caught:
                await told(client, asking())
    assert "smaller model" in str(caught.value.advice)


def unused_url() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize(
    ("program", "state", "command"),
    [("/usr/bin/ollama", "not_running", "ollama serve"), (None, "not_installed", "ollama.com/download")],
)
async def test_no_server(
    program: str | None, state: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ollama.shutil, "which", lambda _name: program)
    url = unused_url()
    async with client_of(url) as client:
        with pytest.raises(ProviderError) as caught:
            await told(client, asking())
    assert caught.value.kind == "unreachable"
    assert command in str(caught.value.advice)
    status = await OllamaService(url).status()
    assert status.state == state
    assert command in str(status.advice)


async def test_status_of_a_server() -> None:
    with serving([ollama_answer("Yes.")]) as server:
        service = OllamaService(server.root_url)
        status = await service.status()
        assert (status.state, status.version) == ("running", "0.12.6")
        assert [(model.name, model.parameters) for model in status.models] == [
            (MODEL, "4.0B"),
            ("llama3:8b", "4.0B"),
        ]
        assert status.running == ()
        async with client_of(server.root_url) as client:
            await told(client, asking())
        assert (await service.status()).running == (MODEL,)
    with FakeLLMServer([], models=[]) as empty:
        status = await OllamaService(empty.root_url).status()
    assert status.state == "running"
    assert "ollama pull" in str(status.advice)


async def test_abilities_are_asked_of_the_server_and_nobody_waits_for_one_that_is_away() -> None:
    registry = ModelRegistry(environment={}, abilities=lambda _provider, _model: ModelAbilities(tools="yes"))
    with serving([ollama_answer("Yes.")], context_length=131_072, loaded_context=32_768) as server:
        choice = ProviderChoice(provider="ollama", model=MODEL, base_url=server.root_url)
        assert (await registry.abilities(choice)).loaded_tokens is None, "it is not in memory yet"
        async with client_of(server.root_url) as client:
            await told(client, asking())
        found = await registry.abilities(choice)
        missing = await registry.abilities(replace(choice, model="not-there"))
    assert (found.context_tokens, found.loaded_tokens) == (131_072, 32_768)
    for known in (missing, await registry.abilities(replace(choice, base_url=unused_url()))):
        assert known == ModelAbilities(tools="yes")
    assert (await registry.abilities(ProviderChoice(provider="zhipu", model="glm-4.6"))).vision
    assert (await registry.abilities(ProviderChoice())).vision is False


async def test_something_else_at_the_address() -> None:
    with FakeLLMServer([], models_script=json_answer({"x": 1})) as server:
        status = await OllamaService(f"{server.root_url}/elsewhere").status()
    assert status.state == "error"
    assert status.message is not None


async def test_the_watch_tells_changes_and_pauses_longer_while_it_is_away() -> None:
    pauses: list[float] = []
    with serving([]) as server:

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 5:
                service.base_url = server.root_url

        service = OllamaService(unused_url(), sleep=sleep)
        states = []
        async with aclosing(service.watch()) as statuses:
            async for status in statuses:
                states.append(status.state)
                if status.state == "running":
                    break
    assert states[-1] == "running"
    assert len(states) == 2  # only changes are told
    assert pauses == [5.0, 10.0, 30.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({}, (None, None, None, None)),
        ("x", (None, None, None, None)),
        ({"capabilities": []}, (None, None, None, None)),
        ({"capabilities": ["completion"]}, ("prompted", False, False, None)),
        (
            {"capabilities": ["tools", "vision", "thinking"], "model_info": {"q.context_length": 4096}},
            ("yes", True, True, 4096),
        ),
        ({"model_info": {"q.context_length": "many"}}, (None, None, None, None)),
    ],
)
def test_abilities(payload: Any, expected: tuple[Any, ...]) -> None:
    told = read_abilities(payload)
    assert (told.tools, told.vision, told.thinking, told.context_tokens) == expected


def test_calls_of_the_script_are_objects() -> None:
    """The fake speaks as Ollama does."""
    script = ollama_answer(calls=[call("run_sim", {"n": 1})])
    assert b'"arguments": {"n": 1}' in script.pieces[0]

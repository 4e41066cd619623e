"""Our clients against servers written by others: aimock (three protocols) and llama.cpp (real inference).

Only in `make torture`, and only where the counterpart is there; nothing is installed from here:

    COUNTERPART_AIMOCK  the program of npm's @copilotkit/aimock, ``.../dist/cli.cjs`` (else `aimock` on the
                        path); node runs it
    COUNTERPART_LLAMA   a Python that has llama-cpp-python[server] and gguf
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from domain.llm.chat import ChatRequest, ProviderError, StreamChunk, WireMessage
from infrastructure.llm_adapters.ollama import OllamaClient
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from infrastructure.llm_adapters.responses import ResponsesClient
from infrastructure.llm_adapters.wire_client import WireClient

pytestmark = pytest.mark.torture

AIMOCK = os.environ.get("COUNTERPART_AIMOCK", "")
LLAMA = os.environ.get("COUNTERPART_LLAMA", "")
TINY_LLAMA = Path(__file__).parents[2] / "ground" / "tiny_llama.py"
START_S = 60.0
TEXT = "Grüße: 12 kΩ, 增益 40 dB, 𝄞."
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}
    for name in ("read_file", "run_sim")
)
FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "plain"}, "response": {"content": TEXT}},
    {"match": {"userMessage": "think"}, "response": {"content": "Yes.", "reasoning": "Let me see. "}},
    {
        "match": {"userMessage": "tools", "hasToolResult": False},
        "response": {
            "toolCalls": [
                {"name": "read_file", "arguments": {"path": "a.cir"}},
                {"name": "run_sim", "arguments": {"n": 1}},
            ]
        },
    },
    {"match": {"userMessage": "tools", "hasToolResult": True}, "response": {"content": "Done."}},
    {
        "match": {"userMessage": "busy"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
]


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: Sequence[str], port: int, log: Path) -> Iterator[int]:
    """The server, once it takes connections; ended at the end."""
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as server:
        try:
            until = time.monotonic() + START_S
            while not _answers(port):
                assert server.poll() is None, log.read_text(errors="replace")[-2000:]
                assert time.monotonic() < until, log.read_text(errors="replace")[-2000:]
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()


def _answers(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def aimock_with(folder: Path, *options: str) -> Iterator[int]:
    """aimock with our fixtures, three characters a piece."""
    node, program = shutil.which("node"), AIMOCK or shutil.which("aimock")
    if node is None or not program:
        pytest.skip("no aimock here: set COUNTERPART_AIMOCK to its dist/cli.cjs (npm i @copilotkit/aimock)")
    fixtures = folder / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}), encoding="utf-8")
    port = free_port()
    command = [node, program, "-p", str(port), "-f", str(fixtures), "-c", "3", "--log-level", "warn"]
    with running([*command, *options], port, folder / "log") as started:
        yield started


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with aimock_with(tmp_path_factory.mktemp("aimock")) as port:
        yield port


@pytest.fixture(scope="module")
def breaking_aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    kinds = [f"--chaos-{name}" for name in ("drop", "malformed", "disconnect", "ratelimit")]
    with aimock_with(
        tmp_path_factory.mktemp("chaos"), *(word for kind in kinds for word in (kind, "0.15"))
    ) as port:
        yield port


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    if not LLAMA:
        pytest.skip(
            "no llama.cpp here: set COUNTERPART_LLAMA to a Python with llama-cpp-python[server], gguf"
        )
    folder = tmp_path_factory.mktemp("llama")
    model, port = folder / "tiny.gguf", free_port()
    subprocess.run([LLAMA, str(TINY_LLAMA), str(model)], check=True, timeout=START_S)
    command = [LLAMA, "-m", "llama_cpp.server", "--model", str(model), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--n_ctx", "2048", "--chat_format", "chatml"]
    with running(command, port, folder / "log") as started:
        yield started


def client_of(kind: str, port: int, model: str = "") -> WireClient:
    root = f"http://127.0.0.1:{port}"
    match kind:
        case "ollama":
            return OllamaClient(base_url=root, model="m", provider="ollama")
        case "responses":
            row = PROVIDERS["openai"]
            return ResponsesClient(
                base_url=f"{root}/v1", model="gpt-5-mini", provider="openai", dialect=row.dialect
            )
        case _:
            return OpenAICompatibleClient(base_url=f"{root}/v1", model=model, provider=kind)


async def ask(client: WireClient, text: str, *more: WireMessage, **options: Any) -> list[StreamChunk]:
    request = ChatRequest(messages=(WireMessage(role="user", text=text), *more), **options)
    async with aclosing(client.stream(request)) as stream:
        return [chunk async for chunk in stream]


def text_of(chunks: Sequence[StreamChunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


@pytest.mark.parametrize("kind", ["openai-compatible", "responses", "ollama"])
async def test_aimock_is_understood_in_every_protocol(kind: str, aimock: int) -> None:
    client = client_of(kind, aimock)
    try:
        assert text_of(await ask(client, "plain")) == TEXT
        thought = await ask(client, "think")
        assert text_of(thought) == "Yes."
        if kind != "ollama":  # it leaves the reasoning out there
            assert "".join(chunk.reasoning for chunk in thought) == "Let me see. "
        called = (await ask(client, "tools", tools=TOOLS))[-1]
        assert called.finish_reason == "tool_calls"
        assert [(one.name, json.loads(one.arguments)) for one in called.tool_calls] == [
            ("read_file", {"path": "a.cir"}),
            ("run_sim", {"n": 1}),
        ]
        answered = [
            WireMessage(role="assistant", tool_calls=called.tool_calls, output_items=called.output_items),
            *(
                WireMessage(role="tool", tool_call_id=one.provider_id, name=one.name, text="ok")
                for one in called.tool_calls
            ),
        ]
        assert text_of(await ask(client, "tools", *answered, tools=TOOLS)) == "Done."
        with pytest.raises(ProviderError) as caught:
            await ask(client, "busy")
        assert (caught.value.kind, caught.value.retryable) == ("rate_limited", True)
        assert await client.models()
    finally:
        await client.close()


@pytest.mark.parametrize("kind", ["openai-compatible", "responses", "ollama"])
async def test_aimock_when_it_breaks(kind: str, breaking_aimock: int) -> None:
    """Each answer is whole, or ends in a typed error; none hangs."""
    seen: Counter[str] = Counter()
    client = client_of(kind, breaking_aimock, model="m")
    try:
        for _ in range(150):
            seen[await outcome(client)] += 1
    finally:
        await client.close()
    assert seen.keys() >= {"whole", "rate_limited"}, seen
    known = {"whole", "rate_limited", "server_error", "connection_lost", "bad_response", "empty_answer"}
    assert seen.keys() <= known, seen


async def outcome(client: WireClient) -> str:
    try:
        async with asyncio.timeout(20):
            chunks = await ask(client, "plain")
    except ProviderError as error:
        return error.kind
    return "whole" if text_of(chunks) == TEXT else f"wrong: {text_of(chunks)!r}"


async def test_real_inference_streams_stops_and_keeps_its_grammar(llama: int) -> None:
    client = client_of("llama-cpp", llama)
    try:
        assert len(await client.models()) == 1
        short = await ask(client, "hi", max_tokens=40)
        assert (len(text_of(short)), short[-1].finish_reason) == (40, "length")
        told = await ask(client, "hi", json_mode=True, max_tokens=400)
        if told[-1].finish_reason == "stop":
            assert isinstance(json.loads(text_of(told)), dict)
        seen: list[str] = []
        has_some = asyncio.Event()

        async def endless() -> None:
            request = ChatRequest(messages=(WireMessage(role="user", text="go"),), max_tokens=1900)
            async with aclosing(client.stream(request)) as stream:
                async for chunk in stream:
                    seen.append(chunk.text)
                    if len(seen) >= 20:
                        has_some.set()

        task = asyncio.create_task(endless())
        await asyncio.wait_for(has_some.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(seen) < 1900
        assert len(text_of(await ask(client, "hi", max_tokens=5))) == 5
        with pytest.raises(ProviderError) as caught:
            await ask(client, "x" * 5000, max_tokens=10)
        # Streamed, this server answers 200 and then nothing; not streamed it would say what is wrong.
        assert caught.value.kind in {"context_too_long", "empty_answer", "connection_lost"}
    finally:
        await client.close()


async def test_openai_at_a_server_without_its_api_falls_back(llama: int) -> None:
    row = PROVIDERS["openai"]
    client = ResponsesClient(
        base_url=f"http://127.0.0.1:{llama}/v1",
        model="tiny",
        provider="openai",
        dialect=row.dialect,
        completions_dialect=row.completions_dialect,
    )
    try:
        assert len(text_of(await ask(client, "hi", max_tokens=20))) > 0
    finally:
        await client.close()

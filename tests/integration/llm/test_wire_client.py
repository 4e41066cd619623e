"""The client against a real server on the loopback: retries, time-outs, stopping, proxies, keys."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from application.ports.conversation import ChatClient
from domain.llm.chat import ChatRequest, ProviderError, StreamChunk, WireMessage, WireToolCall
from infrastructure.llm_adapters.answer_reader import parse_json
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.service_manager import ServiceManager
from infrastructure.llm_adapters.sse import MAX_FRAME_BYTES
from infrastructure.llm_adapters.timing import RetryPolicy, Timeouts
from tests.fakes.llm_server import (
    DONE,
    PATIENCE_S,
    USAGE,
    FakeLLMServer,
    Script,
    answer,
    call,
    chunk,
    error,
    frame,
    json_answer,
)
from tests.ground.campaign import campaigns

KEY = "sk-live-0123456789abcdef"
HI = ChatRequest(messages=(WireMessage(role="user", text="hi"),))
TOOL = {
    "type": "function",
    "function": {
        "name": "run_sim",
        "strict": True,
        "parameters": {
            "type": "object",
            "title": "Arguments",
            "properties": {"title": {"type": "string", "title": "Title"}},
            "additionalProperties": False,
        },
    },
}
WITH_TOOL = replace(HI, tools=(TOOL,))


class Pauses:
    """In place of sleeping: remembers how long it should have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@asynccontextmanager
async def client_of(
    base_url: str, *, retries: RetryPolicy | None = None, **options: Any
) -> AsyncIterator[ChatClient]:
    """A client; with `retries` one whose calls go through a service manager, as the program's do."""
    options = {"model": "m", "api_key": KEY, **options}
    client = OpenAICompatibleClient(base_url=base_url, **options)
    try:
        yield (
            client
            if retries is None
            else ServiceManager(retries=retries).guard(
                client, provider="openai-compatible", server="test", is_local=True
            )
        )
    finally:
        await client.close()


async def ask(client: ChatClient, request: ChatRequest = HI) -> list[StreamChunk]:
    async with aclosing(client.stream(request)) as chunks:
        return [chunk async for chunk in chunks]


async def collect(client: ChatClient, request: ChatRequest, into: list[StreamChunk]) -> None:
    """Like `ask`, but what came before an error is kept."""
    async with aclosing(client.stream(request)) as chunks:
        async for one in chunks:
            into.append(one)


def text_of(chunks: list[StreamChunk]) -> str:
    return "".join(chunk.text for chunk in chunks)


# The request


async def test_request_and_headers() -> None:
    with FakeLLMServer([answer("Hello")]) as server:
        async with client_of(server.base_url + "/chat/completions/") as client:
            await ask(client, replace(WITH_TOOL, temperature=0.2, max_tokens=50))
    (exchange,) = server.exchanges
    assert exchange.path == "/v1/chat/completions"
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert exchange.headers["content-type"] == "application/json"
    assert exchange.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [TOOL],
        "tool_choice": "auto",
        "temperature": 0.2,
        "max_tokens": 50,
    }


async def test_without_key_tools_and_numbers_none_are_sent() -> None:
    with FakeLLMServer([answer("Hello")]) as server:
        async with client_of(server.base_url, api_key="") as client:
            await ask(client)
    (exchange,) = server.exchanges
    assert "authorization" not in exchange.headers
    assert set(exchange.body) == {"model", "messages", "stream", "stream_options"}


async def test_first_listed_model_is_used_and_asked_for_once() -> None:
    with FakeLLMServer([answer("a"), answer("b")], models=("first", "second")) as server:
        async with client_of(server.base_url, model="") as client:
            await ask(client)
            await ask(client)
    assert [one.path for one in server.exchanges] == ["/v1/models", *["/v1/chat/completions"] * 2]
    assert [body["model"] for body in server.requests] == ["first", "first"]


@pytest.mark.parametrize("script", [json_answer({"data": []}), error(404, "no such path")])
async def test_server_that_lists_no_models(script: Script) -> None:
    with FakeLLMServer(models_script=script) as server:
        async with client_of(server.base_url, model="") as client:
            with pytest.raises(ProviderError) as caught:
                await ask(client)
    assert caught.value.error_type == "unknown_model"
    assert "--model" in str(caught.value.advice)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}, {}, None]}, ("a", "b")),
        ({"models": [{"name": "a", "model": "x"}]}, ("a",)),
        (["a", "b"], ("a", "b")),
        ([{"id": "a"}], ("a",)),
    ],
)
async def test_models(body: Any, names: tuple[str, ...]) -> None:
    with FakeLLMServer(models_script=json_answer(body)) as server:
        async with client_of(server.base_url) as client:
            assert await client.models() == names


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (error(401, code="invalid_api_key"), "auth"),
        (json_answer({"error": {"message": "no", "code": "insufficient_quota"}}), "quota"),
        (Script(pieces=(b"<title>Hello</title>",), content_type="text/html"), "bad_response"),
        (json_answer({"ok": True}), "bad_response"),
        (Script(ending="stall", content_type="application/json"), "timeout"),
        (Script(ending="silent"), "timeout"),
        (Script(ending="drop", pieces=(b"{",), content_type="application/json"), "connection_lost"),
    ],
)
async def test_models_fail_with_a_kind(script: Script, kind: str) -> None:
    with FakeLLMServer(models_script=script) as server:
        patience = Timeouts(listing_s=0.3 if kind == "timeout" else 30.0)
        async with client_of(server.base_url, timeouts=patience) as client:
            with pytest.raises(ProviderError) as caught:
                await client.models()
    assert caught.value.error_type == kind


async def test_a_connection_serves_the_next_request() -> None:
    with FakeLLMServer([answer("Hello")] * 3) as server:
        async with client_of(server.base_url) as client:
            for _ in range(3):
                assert text_of(await ask(client)) == "Hello"
    assert server.connections == 1


# What a server objects to is left out, once and for all


@pytest.mark.parametrize(
    ("complaint", "is_met"),
    [
        ("Unknown parameter: stream_options", lambda body: "stream_options" not in body),
        ("tool_choice is not supported", lambda body: "tool_choice" not in body and len(body["tools"]) == 1),
        (
            'Unknown name "additionalProperties" at tools[0]',
            lambda body: (
                body["tools"][0]["function"]
                == {
                    "name": "run_sim",
                    "parameters": {"type": "object", "properties": {"title": {"type": "string"}}},
                }
            ),
        ),
        ("Use max_completion_tokens instead", lambda body: body.get("max_completion_tokens") == 9),
        ("temperature does not support 0.5", lambda body: "temperature" not in body),
    ],
)
async def test_objections(complaint: str, is_met: Callable[[Any], bool]) -> None:
    def script(body: Any) -> Script:
        return answer("Hello") if is_met(body) else error(400, complaint)

    with FakeLLMServer(script) as server:
        async with client_of(server.base_url) as client:
            for _ in range(2):
                chunks = await ask(client, replace(WITH_TOOL, temperature=0.5, max_tokens=9))
                assert text_of(chunks) == "Hello"
    assert [is_met(body) for body in server.requests] == [False, True, True]


async def test_several_objections_one_after_the_other() -> None:
    def script(body: Any) -> Script:
        for name in ("stream_options", "tool_choice"):
            if name in body:
                return json_answer({"detail": [{"loc": ["body", name], "msg": "extra fields"}]}, 422)
        return answer("Hello")

    with FakeLLMServer(script) as server:
        async with client_of(server.base_url) as client:
            assert text_of(await ask(client, WITH_TOOL)) == "Hello"
    assert len(server.requests) == 3


async def test_an_objection_that_stays_is_an_error() -> None:
    with FakeLLMServer(lambda _: error(400, "stream_options, tool_choice, strict, temperature")) as server:
        async with client_of(server.base_url) as client:
            with pytest.raises(ProviderError) as caught:
                await ask(client, WITH_TOOL)
    assert caught.value.error_type == "bad_request"
    assert len(server.requests) == 4


async def test_deepseek_gets_its_reasoning_back_after_tool_calls() -> None:
    def script(body: Any) -> Script:
        if "reasoning_content" in body["messages"][1]:
            return answer("Hello")
        return error(400, "The reasoning_content in the thinking mode must be passed back")

    calls = (WireToolCall(provider_id="c", name="run_sim", arguments="{}"),)
    asked = WireMessage(role="assistant", reasoning="hm", tool_calls=calls)
    tool = WireMessage(role="tool", text="ok", tool_call_id="c", name="run_sim")
    with FakeLLMServer(script) as server:
        async with client_of(server.base_url) as client:
            chunks = await ask(client, replace(HI, messages=(*HI.messages, asked, tool)))
        async with client_of(server.base_url, dialect=Dialect(reasoning_back="tool_turns")) as client:
            await ask(client, replace(HI, messages=(*HI.messages, asked, tool)))
    assert text_of(chunks) == "Hello"
    assert ["reasoning_content" in body["messages"][1] for body in server.requests] == [False, True, True]


@pytest.mark.parametrize("status", [400, 500])  # LM Studio and vLLM; llama.cpp
async def test_a_template_that_demands_turns_gets_them(status: int) -> None:
    def script(body: Any) -> Script:
        roles = [message["role"] for message in body["messages"]]
        if ("user", "user") in itertools.pairwise(roles):
            return error(status, "Conversation roles must alternate user/assistant/user/assistant/...")
        return answer("Hello")

    with FakeLLMServer(script) as server:
        async with client_of(server.base_url) as client:
            chunks = await ask(client, replace(HI, messages=(*HI.messages, *HI.messages)))
            await ask(client, replace(HI, messages=(*HI.messages, *HI.messages)))
    assert text_of(chunks) == "Hello"
    assert [len(body["messages"]) for body in server.requests] == [2, 1, 1]


# Retries


async def test_retries_are_told_and_waited_for() -> None:
    pauses = Pauses()
    policy = RetryPolicy(sleep=pauses, uniform=lambda low, high: high)
    with FakeLLMServer([error(503), error(500, "boom"), answer("Hello")]) as server:
        async with client_of(server.base_url, retries=policy) as client:
            chunks = await ask(client)
    notices = [chunk.retry for chunk in chunks if chunk.retry]
    assert [notice.attempt for notice in notices] == [1, 2]
    assert [notice.wait_s for notice in notices] == pauses.seconds == [2.0, 4.0]
    assert "boom" in str(notices[1].error.message)
    assert text_of(chunks) == "Hello"


async def test_after_three_tries_the_last_error_is_raised() -> None:
    pauses = Pauses()
    with FakeLLMServer([error(503), error(503), error(502, "last")]) as server:
        async with client_of(server.base_url, retries=RetryPolicy(sleep=pauses)) as client:
            with pytest.raises(ProviderError, match="last") as caught:
                await ask(client)
    assert caught.value.status == 502
    assert len(server.requests) == 3
    assert all(1.0 <= seconds <= 30.0 for seconds in pauses.seconds)


@pytest.mark.parametrize(
    "script",
    [
        error(400),
        error(401),
        error(402),
        error(403),
        error(404),
        error(429, code="insufficient_quota"),
        json_answer({"error": {"code": "1113", "message": "no balance"}}, 429),
        json_answer({"error": {"code": "1304", "message": "daily quota"}}, 429),
        error(400, code="context_length_exceeded"),
        error(429, headers={"Retry-After": "3600"}),
        error(501),
    ],
)
async def test_what_would_fail_again_is_not_tried_again(script: Script) -> None:
    with FakeLLMServer([script, answer("Hello")]) as server:
        async with client_of(server.base_url, retries=RetryPolicy(sleep=Pauses())) as client:
            with pytest.raises(ProviderError):
                await ask(client)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "opening",
    [
        chunk({"content": "He"}),
        chunk({"reasoning_content": "hm"}),
        chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "run_sim", "arguments": ""}}]}),
    ],
)
@pytest.mark.parametrize("ending", ["drop", "reset"])
async def test_nothing_is_asked_twice_once_it_has_begun(opening: bytes, ending: Any) -> None:
    with FakeLLMServer([Script(pieces=(opening,), ending=ending), answer("again")]) as server:
        async with client_of(server.base_url, retries=RetryPolicy(sleep=Pauses())) as client:
            with pytest.raises(ProviderError) as caught:
                await ask(client)
    assert caught.value.error_type == "connection_lost"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "script",
    [
        Script(ending="refuse"),
        Script(ending="drop", pieces=(b": wait\n\n", chunk({"role": "assistant", "content": ""}))),
        Script(pieces=(frame({"error": {"message": "busy", "type": "overloaded_error"}}),)),
        json_answer({"error": {"code": "1302", "message": "slow"}}, 429),
        Script(pieces=(b"<title>Bad gateway</title>",), status=502, content_type="text/html"),
    ],
)
async def test_failures_before_the_first_piece_are_retried(script: Script) -> None:
    with FakeLLMServer([script, answer("Hello")]) as server:
        async with client_of(server.base_url, retries=RetryPolicy(sleep=Pauses())) as client:
            chunks = await ask(client)
    assert text_of(chunks) == "Hello"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0"}, 1.0),
        ({"Retry-After": "soon"}, 1.0),
        ({"retry-after-ms": "2500", "Retry-After": "9"}, 2.5),
        (
            {
                "Date": format_datetime(datetime(2030, 1, 1, tzinfo=UTC), usegmt=True),
                "Retry-After": format_datetime(datetime(2030, 1, 1, 0, 0, 12, tzinfo=UTC), usegmt=True),
            },
            12.0,
        ),
    ],
)
async def test_retry_after(headers: dict[str, str], expected_s: float) -> None:
    pauses = Pauses()
    policy = RetryPolicy(sleep=pauses, uniform=lambda low, high: low)
    with FakeLLMServer([error(429, headers=headers), answer("Hello")]) as server:
        async with client_of(server.base_url, retries=policy) as client:
            await ask(client)
    assert pauses.seconds == [expected_s]


async def test_retry_after_as_a_date_in_the_past() -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)
    with FakeLLMServer([error(429, headers={"Retry-After": past})]) as server:
        async with client_of(server.base_url) as client:
            with pytest.raises(ProviderError) as caught:
                await ask(client)
    assert caught.value.retry_after_s == 0.0


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    usage = frame({"choices": [], "usage": USAGE})
    empty = Script(pieces=(chunk({}, "stop"), usage, DONE))
    with FakeLLMServer([empty, answer("Hello")]) as server:
        async with client_of(server.base_url, retries=RetryPolicy(sleep=Pauses())) as client:
            chunks = await ask(client)
    assert text_of(chunks) == "Hello"
    assert chunks[0].retry is not None
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 2 * USAGE["total_tokens"]


async def test_a_second_empty_answer_is_an_error() -> None:
    with FakeLLMServer(lambda _: Script(pieces=(chunk({}, "stop"), DONE))) as server:
        async with client_of(server.base_url, retries=RetryPolicy(sleep=Pauses())) as client:
            with pytest.raises(ProviderError) as caught:
                await ask(client)
    assert caught.value.error_type == "empty_answer"
    assert len(server.requests) == 2


# Silence

QUICK = Timeouts(
    first_piece_local_s=0.2,
    thinking_s=0.2,
    content_s=0.2,
    tool_call_s=0.2,
    keep_alive_s=0.6,
    after_finish_s=0.2,
)
ONCE_BEGUN = replace(QUICK, first_piece_local_s=30.0)
"""Of a server that does begin, which takes a while on a machine with other work."""


@pytest.mark.parametrize(
    ("script", "text", "reasoning"),
    [
        (Script(ending="silent"), "", ""),
        (Script(ending="stall"), "", ""),
        (answer("Hello", stall=True), "Hello", ""),
        (answer(reasoning="hm", stall=True), "", "hm"),
        (Script(pieces=(b": still here\n\n",) * 200, piece_delay_s=0.02, ending="stall"), "", ""),
        (
            Script(pieces=(chunk({"content": "Hello"}), *[chunk({"content": ""})] * 200), piece_delay_s=0.02),
            "Hello",
            "",
        ),
    ],
)
async def test_silence_ends_as_a_timeout(script: Script, text: str, reasoning: str) -> None:
    chunks: list[StreamChunk] = []
    with FakeLLMServer([script]) as server:
        timeouts = ONCE_BEGUN if text or reasoning else QUICK
        async with client_of(server.base_url, timeouts=timeouts) as client:
            with pytest.raises(ProviderError) as caught:
                await collect(client, WITH_TOOL, chunks)
            await asyncio.to_thread(server.wait_until_left)
    assert caught.value.error_type == "timeout"
    assert caught.value.retryable
    assert text_of(chunks) == text
    assert "".join(chunk.reasoning for chunk in chunks) == reasoning


@pytest.mark.parametrize("pieces", [(chunk({}, "stop"),), (chunk({}, "stop"), DONE)])
async def test_a_server_that_does_not_close_after_the_end(pieces: tuple[bytes, ...]) -> None:
    with FakeLLMServer([Script(pieces=(chunk({"content": "Hello"}), *pieces), ending="stall")]) as server:
        async with client_of(server.base_url, timeouts=ONCE_BEGUN) as client:
            chunks = await ask(client)
    assert text_of(chunks) == "Hello"
    assert chunks[-1].finish_reason == "stop"


async def test_a_slow_consumer_is_not_taken_for_silence() -> None:
    with FakeLLMServer([answer("Hello, this is an answer in many pieces")]) as server:
        timeouts = replace(ONCE_BEGUN, content_s=1.0, after_finish_s=1.0, keep_alive_s=1.0)
        async with client_of(server.base_url, timeouts=timeouts) as client:
            chunks = []
            async with aclosing(client.stream(HI)) as stream:
                async for piece in stream:
                    chunks.append(piece)
                    if len(chunks) == 3:
                        await asyncio.sleep(1.2)  # longer than any silence is borne
    assert text_of(chunks) == "Hello, this is an answer in many pieces"


# Stopping


def _consuming(client: OpenAICompatibleClient, began: asyncio.Event | None = None) -> asyncio.Task[None]:
    async def consume() -> None:
        async with aclosing(client.stream(HI)) as stream:
            async for _ in stream:
                if began is not None:
                    began.set()

    return asyncio.create_task(consume())


@pytest.mark.parametrize(
    "script",
    [
        Script(ending="silent"),
        Script(ending="stall"),
        Script(status=400, ending="stall"),
        Script(pieces=(b'data: {"choices',), ending="stall"),
        Script(pieces=(b"{",), ending="stall", content_type="application/json"),
    ],
)
async def test_cancelled_while_waiting(script: Script) -> None:
    with FakeLLMServer([script]) as server:
        async with client_of(server.base_url) as client:
            task = _consuming(client)
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(server.wait_until_left)


async def test_cancelled_in_mid_stream_and_asked_again_at_once() -> None:
    with FakeLLMServer([answer("Hello", stall=True), answer("again")]) as server:
        async with client_of(server.base_url) as client:
            began = asyncio.Event()
            task = _consuming(client, began)
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(server.wait_until_left)
            assert text_of(await ask(client)) == "again"


async def test_closed_between_two_pieces() -> None:
    with FakeLLMServer([answer("Hello", stall=True)]) as server:
        async with client_of(server.base_url) as client:
            stream = client.stream(HI)
            await anext(stream)
            await stream.aclose()
            await asyncio.to_thread(server.wait_until_left)


async def test_cancelled_while_models_are_listed() -> None:
    with FakeLLMServer(models_script=Script(ending="silent")) as server:
        async with client_of(server.base_url, model="") as client:
            task = _consuming(client)
            await asyncio.to_thread(server.wait_for, lambda: len(server.exchanges) == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(server.wait_for, lambda: server.exchanges[0].client_left)


async def test_cancelled_in_the_pause_before_a_retry() -> None:
    with FakeLLMServer([error(503), answer("never")]) as server:
        async with client_of(server.base_url, retries=RetryPolicy(shortest_s=30.0)) as client:
            began = asyncio.Event()
            task = _consuming(client, began)
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert len(server.requests) == 1


async def test_cancelled_while_connecting() -> None:
    """A server that accepts the connection and never answers the TLS handshake."""
    with _listening() as (port, connections):
        async with client_of(f"https://127.0.0.1:{port}/v1") as client:
            task = _consuming(client)
            with await asyncio.to_thread(connections) as peer:
                assert await asyncio.to_thread(peer.recv, 1)  # the client is inside the handshake
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert await asyncio.to_thread(_is_closed, peer)


@contextmanager
def _listening() -> Iterator[tuple[int, Callable[[], socket.socket]]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)

        def accept() -> socket.socket:
            peer = listener.accept()[0]
            peer.settimeout(PATIENCE_S)
            return peer

        yield listener.getsockname()[1], accept


def _is_closed(peer: socket.socket) -> bool:
    try:
        while peer.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


@campaigns(fast=15, whole=400)
async def test_cancelled_at_random_moments(campaign) -> None:
    script = answer("Hello, this is an answer in many pieces", reasoning="Let me think", piece_delay_s=0.002)
    with FakeLLMServer(lambda _: script) as server:
        async with client_of(server.base_url) as client:
            for rng in campaign.cases():
                task = _consuming(client)
                await asyncio.sleep(rng.uniform(0, 0.06))
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await asyncio.to_thread(server.wait_for, lambda: server.open_answers == 0)
            assert text_of(await ask(client)) == "Hello, this is an answer in many pieces"


# The loop


async def test_big_frames_do_not_hold_the_loop() -> None:
    """While a frame of 6 MB is parsed, other tasks run: parsing is in a thread."""
    seen: list[str] = []
    text = "x" * 6_000_000

    def parse(data: str) -> Any:
        seen.append(threading.current_thread().name)
        return parse_json(data)

    with FakeLLMServer([Script(pieces=(chunk({"content": text}), chunk({}, "stop"), DONE))]) as server:
        async with client_of(server.base_url) as client:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("infrastructure.llm_adapters.wire_client.parse_json", parse)
                chunks = await ask(client)
    assert text_of(chunks) == text
    assert seen[0] != threading.main_thread().name
    assert seen[1] == threading.main_thread().name


async def test_an_endless_error_is_not_read_to_its_end() -> None:
    script = Script(status=400, pieces=(b"stream_options ",) * 50_000, content_type="text/plain")
    with FakeLLMServer([script, answer("Hello")]) as server:
        async with client_of(server.base_url) as client:
            assert text_of(await ask(client)) == "Hello"
    assert server.exchanges[0].client_left


async def test_a_frame_beyond_the_cap_is_refused() -> None:
    half = b"x" * (MAX_FRAME_BYTES // 2 + 1)
    script = Script(pieces=(chunk({"content": "He"}), b"data: ", half, half), ending="stall")
    with FakeLLMServer([script]) as server:
        async with client_of(server.base_url) as client:
            chunks: list[StreamChunk] = []
            with pytest.raises(ProviderError) as caught:
                await collect(client, HI, chunks)
    assert caught.value.error_type == "bad_response"
    assert text_of(chunks) == "He"


# Where it goes


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_loopback_goes_through_no_proxy(monkeypatch, variable: str, host: str) -> None:
    with FakeLLMServer([answer("proxied")]) as proxy, FakeLLMServer([answer("direct")]) as server:
        monkeypatch.setenv(variable, proxy.root_url)
        monkeypatch.setenv("NO_PROXY", "example.org")
        async with client_of(server.base_url.replace("127.0.0.1", host)) as client:
            assert text_of(await ask(client)) == "direct"
    assert proxy.exchanges == []


async def test_other_hosts_go_through_the_proxy_of_the_environment(monkeypatch) -> None:
    with FakeLLMServer([answer("proxied")]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.root_url)
        async with client_of("http://models.invalid/v1") as client:
            assert text_of(await ask(client)) == "proxied"
    assert proxy.exchanges[0].path == "http://models.invalid/v1/chat/completions"


@pytest.mark.parametrize("address", ["ftp://127.0.0.1:1", "socks://127.0.0.1:1"])
async def test_a_proxy_that_cannot_be_used(monkeypatch, address: str) -> None:
    monkeypatch.setenv("ALL_PROXY", address)
    async with client_of("http://models.invalid/v1") as client:
        with pytest.raises(ProviderError) as caught:
            await ask(client)
    assert caught.value.error_type == "unreachable"
    assert "ALL_PROXY" in str(caught.value.advice)


async def test_the_key_does_not_follow_a_redirect() -> None:
    with FakeLLMServer([answer("other")]) as other:
        moved = Script(status=307, headers={"Location": f"{other.base_url}/chat/completions"})
        with FakeLLMServer([moved]) as server:
            async with client_of(server.base_url) as client:
                with pytest.raises(ProviderError) as caught:
                    await ask(client)
    assert other.exchanges == []
    assert other.base_url in str(caught.value.advice)


# What the network does


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with client_of(f"http://127.0.0.1:{port}/v1") as client:
        with pytest.raises(ProviderError) as caught:
            await ask(client)
    assert caught.value.error_type == "unreachable"
    assert caught.value.retryable
    assert caught.value.status is None
    assert f"127.0.0.1:{port}" in str(caught.value)
    assert "Start the server" in str(caught.value.advice)


@pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9\r\n", b"\x15\x03\x01\x00\x02\x02\x50"])
async def test_a_server_that_speaks_no_http(greeting: bytes) -> None:
    with _listening() as (port, accept):
        async with client_of(f"http://127.0.0.1:{port}/v1") as client:
            task = asyncio.create_task(ask(client))
            with await asyncio.to_thread(accept) as peer:
                await asyncio.to_thread(peer.recv, 65536)
                peer.sendall(greeting + b"\r\n\r\n")
                with pytest.raises(ProviderError) as caught:
                    await task
    assert caught.value.error_type == "bad_response"


async def test_https_to_a_server_without_it() -> None:
    with _listening() as (port, accept):
        async with client_of(f"https://127.0.0.1:{port}/v1") as client:
            task = asyncio.create_task(ask(client))
            with await asyncio.to_thread(accept) as peer:
                await asyncio.to_thread(peer.recv, 65536)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                with pytest.raises(ProviderError) as caught:
                    await task
    assert caught.value.error_type == "unreachable"
    assert not caught.value.retryable
    assert "https" in str(caught.value.advice)


@pytest.mark.parametrize("url", ["models:8000/v1", "ftp://127.0.0.1/v1", "http:///v1"])
async def test_an_address_that_is_none(url: str) -> None:
    async with client_of(url) as client:
        with pytest.raises(ProviderError) as caught:
            await ask(client)
    assert caught.value.error_type == "bad_request"


# Keys


@pytest.mark.parametrize(
    "script",
    [
        error(401, f"Incorrect API key provided: {KEY}"),
        error(400, "x" * 280 + KEY),
        Script(pieces=(f"Bearer {KEY}".encode(),), status=500),
        Script(pieces=(frame({"error": {"message": "no", "code": KEY}}),)),
        Script(pieces=(b'data: {"key": "' + KEY.encode() + b"\n\n",)),
        Script(pieces=(f"<title>{KEY}</title>".encode(),), content_type="text/html"),
        Script(status=302, headers={"Location": f"http://127.0.0.1:9/?k={KEY}"}),
        Script(pieces=(f'{{"nothing": "{KEY}"}}'.encode(),), content_type="application/json"),
    ],
)
async def test_a_key_never_shows(script: Script, caplog) -> None:
    caplog.set_level("DEBUG", "infrastructure")
    with FakeLLMServer([script]) as server:
        async with client_of(server.base_url) as client:
            with pytest.raises(ProviderError) as caught:
                await ask(client)
            shown = (
                f"{caught.value} {caught.value.advice} {caught.value.provider_code} {client!r} {caplog.text}"
            )
    for length in range(8, len(KEY)):
        assert KEY[:length] not in shown


async def test_a_key_that_cannot_be_sent() -> None:
    async with client_of("http://127.0.0.1:1/v1", api_key="sk-geheim-é\r\nX: y") as client:
        with pytest.raises(ProviderError) as caught:
            await ask(client)
    assert caught.value.error_type == "auth"
    assert "geheim" not in str(caught.value)


async def test_calls_arrive_through_the_fake_server() -> None:
    calls = [call("run_sim", {"n": 1}, id="a"), call("run_sim", {"n": 2}, id="b")]
    with FakeLLMServer([answer("Two runs.", calls=calls)]) as server:
        async with client_of(server.base_url) as client:
            chunks = await ask(client, WITH_TOOL)
    assert [(one.provider_id, json.loads(one.arguments)) for one in chunks[-1].tool_calls] == [
        ("a", {"n": 1}),
        ("b", {"n": 2}),
    ]
    assert chunks[-1].finish_reason == "tool_calls"
    assert chunks[-1].model == "fake-model"

"""A server that packs what it was not asked to pack, or sends without measure, costs nobody the memory."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from application.ports.conversation import ChatClient
from domain.llm.agent_limits import MOST_CALLS_OF_ANSWER
from domain.llm.answers import calls_in_text
from domain.llm.chat import ChatRequest, ProviderError, StreamChunk, WireMessage
from domain.search.embedding import EmbeddingSettings
from infrastructure.llm_adapters import answer_reader, wire_client
from infrastructure.llm_adapters.bounded_answers import bounded
from infrastructure.llm_adapters.connections import Connections
from infrastructure.llm_adapters.embeddings import EmbeddingClient
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.ollama import OllamaClient
from infrastructure.llm_adapters.openai_compatible import OpenAICompatibleClient
from infrastructure.llm_adapters.responses import ResponsesClient
from infrastructure.llm_adapters.sse import Frame
from infrastructure.llm_adapters.timing import RetryPolicy, Timeouts
from tests.fakes.llm_server import DONE, FakeLLMServer, Script, answer, chunk, frame, json_answer

REQUEST = ChatRequest(messages=(WireMessage(role="user", text="hello"),))
BLANKS = b": " + b" " * 3_000_000 + b"\n"
BODY = b'{"object": "list", "data": [' + b" " * 3_000_000 + b"]}"

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: data[:100],  # what a library would make of it does not matter: it is not looked at
    "zstd": lambda data: data[:100],
    "gzip, gzip": lambda data: gzip.compress(gzip.compress(data)),
    "X-GZIP": gzip.compress,
}
CLIENTS: dict[str, type[Any]] = {
    "completions": OpenAICompatibleClient,
    "responses": ResponsesClient,
    "ollama": OllamaClient,
}


@asynccontextmanager
async def opened(server: FakeLLMServer, kind: str = "completions", **more: Any) -> AsyncIterator[ChatClient]:
    base = server.root_url if kind == "ollama" else server.base_url
    client = CLIENTS[kind](base_url=base, **{"model": "fake-model", **more})
    try:
        yield client
    finally:
        await client.close()


async def said(client: ChatClient) -> list[StreamChunk]:
    return [piece async for piece in client.stream(REQUEST)]


async def refusal(work: Awaitable[Any]) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await work
    return caught.value


def packed(how: str, body: bytes, *, status: int = 200, content_type: str = "application/json") -> Script:
    return Script(
        pieces=(PACKINGS[how](body),),
        status=status,
        content_type=content_type,
        headers={"Content-Encoding": how},
    )


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("how", PACKINGS)
async def test_a_packed_stream_is_refused_unread(how: str, kind: str) -> None:
    script = packed(how, BLANKS, content_type="text/event-stream")
    with FakeLLMServer([script]) as server:
        async with opened(server, kind) as client:
            error = await refusal(said(client))
    assert error.kind == "bad_response"
    assert f"compressed as {how}" in str(error)
    assert server.exchanges[-1].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("how", PACKINGS)
async def test_a_packed_answer_that_is_not_streamed_is_refused_unread(how: str) -> None:
    with FakeLLMServer([packed(how, BODY)]) as server:
        async with opened(server) as client:
            assert f"compressed as {how}" in str(await refusal(said(client)))


@pytest.mark.parametrize("how", PACKINGS)
async def test_a_packed_list_of_models_is_refused_unread(how: str) -> None:
    with FakeLLMServer([], models_script=packed(how, BODY)) as server:
        async with opened(server) as client:
            assert f"compressed as {how}" in str(await refusal(client.models()))


@pytest.mark.parametrize("how", PACKINGS)
async def test_the_packed_body_of_an_error_is_left_unread_and_its_status_told(how: str) -> None:
    body = json.dumps({"error": {"message": "a secret word" + " " * 2_000_000}}).encode()
    with FakeLLMServer([packed(how, body, status=403)]) as server:
        async with opened(server) as client:
            error = await refusal(said(client))
    assert error.status == 403
    assert "secret" not in str(error)


@pytest.mark.parametrize("status", [200, 403])
@pytest.mark.parametrize("how", PACKINGS)
async def test_packed_vectors_are_refused_unread(how: str, status: int) -> None:
    vectors = json.dumps({"data": [{"embedding": [1.0, 0.0]}], "pad": " " * 2_000_000}).encode()
    with FakeLLMServer([packed(how, vectors, status=status)], completions=("/embeddings",)) as server:
        settings = EmbeddingSettings(provider="openai-compatible", model="m", base_url=server.base_url)
        client = EmbeddingClient(settings, environment={}, retries=RetryPolicy(tries=0))
        try:
            error = await refusal(client.embed(["x"]))
        finally:
            await client.close()
    assert server.exchanges[-1].headers["accept-encoding"] == "identity"
    assert error.status == (None if status == 200 else 403)
    assert status != 200 or f"compressed as {how}" in str(error)


async def test_vectors_are_bounded_by_the_texts_that_were_sent() -> None:
    body = b'{"data": [{"embedding": [' + b"1," * 400_000 + b"1]}]}"
    script = Script(pieces=(body,), content_type="application/json")
    with FakeLLMServer([script], completions=("/embeddings",)) as server:
        settings = EmbeddingSettings(provider="openai-compatible", model="m", base_url=server.base_url)
        client = EmbeddingClient(settings, environment={}, retries=RetryPolicy(tries=0))
        try:
            assert "more than" in str(await refusal(client.embed(["x"])))
        finally:
            await client.close()


def calls_apart(count: int) -> list[bytes]:
    """Each call in a frame of its own."""
    return [
        chunk({"tool_calls": [{"index": n, "id": f"c{n}", "function": {"name": "f", "arguments": "{}"}}]})
        for n in range(count)
    ]


def calls_at_once(count: int) -> list[bytes]:
    entry = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    return [chunk({"tool_calls": [{**entry, "index": n, "id": f"c{n}"} for n in range(count)]})]


def calls_of_responses(count: int) -> list[bytes]:
    return [
        frame(
            {
                "type": "response.output_item.added",
                "output_index": n,
                "item": {
                    "type": "function_call",
                    "id": f"i{n}",
                    "call_id": f"c{n}",
                    "name": "f",
                    "arguments": "{}",
                },
            }
        )
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("kind", "frames"),
    [
        pytest.param("completions", calls_apart, id="one a frame"),
        pytest.param("completions", calls_at_once, id="in one frame"),
        pytest.param("responses", calls_of_responses, id="responses"),
    ],
)
async def test_calls_without_number_are_refused(kind: str, frames: Callable[[int], list[bytes]]) -> None:
    script = Script(pieces=(*frames(MOST_CALLS_OF_ANSWER + 1), DONE))
    with FakeLLMServer([script]) as server:
        async with opened(server, kind) as client:
            error = await refusal(said(client))
    assert f"more than {MOST_CALLS_OF_ANSWER} tool calls" in str(error)


async def test_calls_of_an_answer_that_is_not_streamed_are_counted_too() -> None:
    entry = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "tool_calls": [entry] * 5_000}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    with FakeLLMServer([json_answer(body)]) as server:
        async with opened(server) as client:
            assert "tool calls" in str(await refusal(said(client)))


def test_calls_written_as_text_without_number_are_text() -> None:
    ones = [json.dumps({"tool": "f", "arguments": {"n": n}}) for n in range(5_000)]
    for text in (
        "\n".join(ones),
        f"[{', '.join(ones)}]",
        "".join(f"<tool_call>{one}</tool_call>" for one in ones),
    ):
        assert calls_in_text(text, {"f"}) == ((), text)
    assert len(calls_in_text("\n".join(ones[:2]), {"f"})[0]) == 2


@pytest.mark.parametrize(
    "delta",
    [
        pytest.param({"content": "x" * 1_000}, id="text"),
        pytest.param({"reasoning_content": "x" * 1_000}, id="reasoning"),
        pytest.param({"tool_calls": [{"index": 0, "function": {"arguments": "x" * 1_000}}]}, id="arguments"),
        pytest.param({"function_call": {"name": "f", "arguments": "x" * 1_000}}, id="the older form"),
    ],
)
async def test_an_answer_without_measure_is_refused(delta: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setattr(answer_reader, "MOST_CHARACTERS", 1_000_000)
    with FakeLLMServer([Script(pieces=(chunk(delta) * 1_100, DONE))]) as server:
        async with opened(server) as client:
            assert "more than 1 million characters" in str(await refusal(said(client)))


async def test_frames_without_words_are_bounded_too(monkeypatch: Any) -> None:
    monkeypatch.setattr(wire_client, "MOST_ANSWER_BYTES", 2**20)
    with FakeLLMServer([Script(pieces=(b": nothing\n\n" * 200_000, *answer("done").pieces))]) as server:
        async with opened(server) as client:
            assert "more than 1 MB" in str(await refusal(said(client)))


def test_a_text_that_is_told_whole_again_and_again_is_joined_once() -> None:
    """Steps are counted, not seconds: each event once joined all pieces that had come."""
    from infrastructure.llm_adapters.responses import ResponsesAnswer

    peer = Peer(server="s", provider="p", model="m", key="", is_loopback=True)
    reader = ResponsesAnswer(peer, frozenset())

    def feed(kind: str, **more: Any) -> None:
        event = {"type": f"response.output_text.{kind}", "item_id": "a", "content_index": 0, **more}
        list(reader.take(Frame(data=""), event))

    for _ in range(2_000):
        feed("delta", delta="x")
    feed("done", text="y")
    assert all(len(parts) == 1 for parts in reader._shown.values())


@pytest.mark.parametrize(
    "unit",
    [b"\n", b"\r", b": nothing\n", b"event: ping\n\n", b"data:\n\n", b"id: 1\nretry: 1\n", chunk({})],
    ids=["LF", "CR", "comments", "events", "empty data", "ids", "empty chunks"],
)
async def test_lines_without_words_are_bounded(unit: bytes, monkeypatch: Any) -> None:
    monkeypatch.setattr(wire_client, "MOST_EMPTY_LINES", 3_000)
    first = chunk({"content": "It"})
    script = Script(pieces=(first, unit * 2_900, chunk({"content": " is"}), unit * 3_100, DONE))
    with FakeLLMServer([script]) as server:
        async with opened(server) as client:
            error = await refusal(said(client))
    assert "3000 lines without any part" in str(error)


async def test_lines_with_words_are_bounded_too(monkeypatch: Any) -> None:
    monkeypatch.setattr(wire_client, "MOST_ANSWER_LINES", 3_000)
    with FakeLLMServer([Script(pieces=(chunk({"content": "x"}) * 1_600, DONE))]) as server:
        async with opened(server) as client:
            assert "more than 3000 lines" in str(await refusal(said(client)))


async def test_cookies_are_not_kept() -> None:
    told = Script(pieces=answer("hello").pieces, headers={"Set-Cookie": "who=you; Max-Age=99999999; Path=/"})
    with FakeLLMServer([told, told]) as server:
        async with opened(server) as client:
            await said(client)
            await said(client)
    assert len(server.exchanges) == 2
    assert not any("cookie" in exchange.headers for exchange in server.exchanges)


INTERIM = b"HTTP/1.1 102 Processing\r\nX-Part: 1\r\n\r\n"


async def test_interim_answers_without_end_are_no_answer() -> None:
    script = Script(status=100, ending="unmarked", pieces=(INTERIM * 7, INTERIM[:30], INTERIM[30:]) * 5)
    with FakeLLMServer([script]) as server:
        async with opened(server) as client:
            error = await refusal(said(client))
    assert "more than 20 interim responses" in str(error)


async def test_some_interim_answers_are_read_over() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    body = b"".join(answer("hello").pieces) + b": " + b"HTTP/1.1 102 no head\r\n\r\n" * 30
    script = Script(status=100, ending="unmarked", pieces=(INTERIM * 15, head, body))
    with FakeLLMServer([script]) as server:
        async with opened(server) as client:
            assert "".join(piece.text for piece in await said(client)) == "hello"


@pytest.mark.parametrize(
    ("status", "place", "is_advised"),
    [
        (301, "{other}/chat/completions", True),
        (302, "/v2/chat", True),
        (303, "//localhost.evil.example/v1", False),
        (307, "file:///etc/passwd", False),
        (308, "https://127.0.0.1@evil.example/v1", False),
        (302, "", False),
    ],
)
async def test_a_redirect_is_told_and_not_followed(status: int, place: str, is_advised: bool) -> None:
    """Only another address of the same host is one to use: elsewhere the key would be somebody else's."""
    with FakeLLMServer([answer("stolen")]) as other:
        place = place.format(other=other.base_url)
        with FakeLLMServer([Script(status=status, headers={"Location": place})]) as server:
            async with opened(server, api_key="sk-of-the-user") as client:
                error = await refusal(said(client))
    assert error.status == status
    assert not other.exchanges
    assert ("give that as the base URL" in str(error.advice)) is is_advised
    assert place.partition("@")[2] in str(error.advice)


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([frame({"error": {"code": "0400" + "0" * 5_000, "message": "x"}})], id="a code"),
        pytest.param([b'data: {"error": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n\n"], id="a deep error"),
    ],
)
async def test_an_error_without_measure_is_an_error(frames: list[bytes]) -> None:
    with FakeLLMServer([Script(pieces=tuple(frames))]) as server:
        async with opened(server) as client:
            assert len(str(await refusal(said(client)))) < 2_000


async def test_an_index_of_thousands_of_digits_is_none() -> None:
    entry = {"index": "9" * 5_000, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    with FakeLLMServer([Script(pieces=(chunk({"tool_calls": [entry]}, "tool_calls"), DONE))]) as server:
        async with opened(server) as client:
            pieces = await said(client)
    assert [call.name for call in pieces[-1].tool_calls] == ["f"]


async def test_names_of_calls_and_models_can_be_shown_and_stored() -> None:
    nasty = "del\x1b[2J\u202e\nAllowed: yes" + "n" * 100_000
    entry = {"index": 0, "id": "i" * 100_000, "function": {"name": nasty, "arguments": "{}"}}
    script = Script(pieces=(chunk({"tool_calls": [entry]}, "tool_calls", model=nasty), DONE))
    listed = json_answer({"data": [{"id": nasty}, {"id": "a\nb"}, {"id": "good"}]})
    with FakeLLMServer([script], models_script=listed) as server:
        async with opened(server) as client:
            last = (await said(client))[-1]
            assert await client.models() == ("good",)
    (made,) = last.tool_calls
    assert (made.provider_id, len(made.name)) == ("", 200)
    assert made.name.startswith("del\u241b[2J\ufffd\u240aAllowed: yes")
    assert len(last.model) == 200
    assert "\n" not in last.model


# --- what a library reads over our connections (LangChain's classes for OpenAI's protocol) --------------

FOR_OTHERS: dict[str, tuple[Script, str]] = {
    "an answer": (Script(pieces=(b": x\n\n", *answer("hello").pieces)), "hello"),
    "a packed one": (packed("gzip", BLANKS, content_type="text/event-stream"), "compressed as gzip"),
    "a packed error": (packed("gzip", BLANKS, status=500), ""),
    "a line without end": (Script(pieces=(b"data: ", *[b"x" * 2**20] * 9)), "a frame is larger"),
    "a frame without end": (Script(pieces=((b"data: " + b"x" * 400 + b"\n") * 30_000,)), "a frame is larger"),
    "comments": (Script(pieces=(b": nothing\n\n" * 120_000,)), "200000 lines without"),
    "a whole body": (
        Script(pieces=(b" " * 2**20,) * 9, content_type="application/json"),
        "a frame is larger",
    ),
    "an error without end": (Script(pieces=(b"x" * 70_000,) * 9, status=500), "x" * 65_536),
    "interim answers": (Script(status=100, ending="unmarked", pieces=(INTERIM * 50,)), "interim answers"),
}


@pytest.mark.parametrize("kind", FOR_OTHERS)
async def test_what_a_library_reads_is_bounded_too(kind: str) -> None:
    script, expected = FOR_OTHERS[kind]
    peer = Peer(server="s", provider="p", model="m", key="", is_loopback=True)
    with FakeLLMServer([script]) as server:
        connections = Connections(peer, Timeouts(), is_local=True, network=None)
        http = bounded(await connections.opened(), peer)
        try:
            response = await http.post(f"{server.base_url}/chat/completions", json={})
            read = response.text
        except (ProviderError, httpx.HTTPError) as error:
            read = str(error)
        finally:
            await connections.close()
    assert server.exchanges[-1].headers["accept-encoding"] == "identity"
    if kind == "an answer":
        words = [json.loads(line[6:]) for line in read.splitlines() if line.startswith("data: {")]
        read = "".join(each["choices"][0]["delta"].get("content", "") for each in words if each["choices"])
    assert (read == expected) if expected in ("", "hello", "x" * 65_536) else (expected in read)

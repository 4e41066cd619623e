"""What servers of the Responses API send, through reader and parser: right however the bytes are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from domain.llm.chat import ChatRequest, ProviderError, StreamChunk, WebSource
from domain.llm.messages import create_ai_message, dict_to_message, message_to_dict
from infrastructure.llm_adapters.answer_reader import parse_json
from infrastructure.llm_adapters.chat_model import wire_messages
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from infrastructure.llm_adapters.responses import ResponsesAnswer
from infrastructure.llm_adapters.responses_request import render_responses
from infrastructure.llm_adapters.sse import BodyReader
from tests.fakes.llm_quirks import TOOLS, Quirk
from tests.fakes.llm_quirks_responses import RESPONSES_QUIRKS, RUN
from tests.fakes.llm_responses import SECRET, ResponseEvents, reasoning_item, responses_answer
from tests.fakes.llm_server import Script
from tests.ground.campaign import campaigns

PEER = Peer(server="127.0.0.1:1", provider="openai", model="m", key="sk-test-key")
STREAMS = {name: quirk for name, quirk in RESPONSES_QUIRKS.items() if quirk.is_stream}


def read(pieces: list[bytes], content_type: str = "text/event-stream") -> tuple[list[StreamChunk], str]:
    """The chunks, and the kind of the error that ended them."""
    chunks: list[StreamChunk] = []
    reader, answer = BodyReader(content_type), ResponsesAnswer(PEER, TOOLS)
    try:
        for piece in pieces:
            for frame in reader.feed(piece):
                chunks += answer.take(frame, parse_json(frame.data))
        for frame in reader.end():
            chunks += answer.take(frame, parse_json(frame.data), is_torn=not reader.is_whole_body)
        chunks += answer.finish()
    except ProviderError as error:
        return chunks, error.error_type
    return chunks, ""


def outcome(chunks: list[StreamChunk], error: str) -> tuple[Any, ...]:
    calls = [
        (
            call.provider_id,
            call.name,
            value if isinstance(value := parse_json(call.arguments), dict) else None,
        )
        for chunk in chunks
        for call in chunk.tool_calls
    ]
    text, reasoning = ("".join(getattr(chunk, name) for chunk in chunks) for name in ("text", "reasoning"))
    return text, reasoning, calls, chunks[-1].finish_reason if chunks and not error else None, error


def expected(quirk: Quirk) -> tuple[Any, ...]:
    return quirk.text, quirk.reasoning, [*quirk.calls], quirk.finish, quirk.error


@campaigns(fast=100, whole=20_000)
def test_quirks_in_random_pieces(campaign) -> None:
    for rng in campaign.cases():
        name = rng.choice(list(STREAMS))
        quirk = STREAMS[name]
        cuts = sorted(rng.randrange(len(quirk.body) + 1) for _ in range(rng.randrange(40)))
        edges = [0, *cuts, len(quirk.body)]
        pieces = [quirk.body[begin:end] for begin, end in pairwise(edges)]
        assert outcome(*read(pieces, quirk.script.content_type)) == expected(quirk), (name, edges)


def test_every_quirk_byte_by_byte() -> None:
    for name, quirk in STREAMS.items():
        pieces = [bytes([byte]) for byte in quirk.body]
        assert outcome(*read(pieces, quirk.script.content_type)) == expected(quirk), name


@pytest.mark.torture
@pytest.mark.parametrize("name", STREAMS)
def test_cut_at_every_byte(name: str) -> None:
    quirk = STREAMS[name]
    for at in range(len(quirk.body) + 1):
        pieces = [quirk.body[:at], quirk.body[at:]]
        assert outcome(*read(pieces, quirk.script.content_type)) == expected(quirk), at


def test_a_shorter_stream_is_never_taken_for_a_whole_one() -> None:
    body = b"".join(responses_answer("Hello", reasoning="hm", calls=[RUN]).pieces)
    end = body.index(b"response.completed")
    for at in range(0, end, 7):
        text, _, _, finish, error = outcome(*read([body[:at]]))
        assert "Hello".startswith(text)
        assert finish == "cut" or error in {"empty_answer", "bad_response"}, (at, finish, error)


def items_of(script: Script) -> list[Any]:
    return list(read([*script.pieces])[0][-1].output_items)


def test_reasoning_goes_back_whole_and_in_its_place() -> None:
    events = ResponseEvents().created().reasoning("hm").text("I look.").reasoning("").call(RUN).completed()
    first, message, second, call = items_of(events.script())
    assert (message, call) == ({"type": "message"}, {"type": "function_call"})
    assert first == {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": SECRET,
    }
    assert second == {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": SECRET}


@pytest.mark.parametrize(
    "events",
    [
        ResponseEvents().created().reasoning("hm").text("He"),  # cut off
        ResponseEvents().created().reasoning("hm", secret="").text("He").completed(),  # kept at the server
        ResponseEvents().created().reasoning("hm", secret="x" * 1_000_001).text("He").completed(),  # too much
        ResponseEvents().created().text("He").completed(),
    ],
)
def test_what_can_not_go_back_is_not_kept(events: ResponseEvents) -> None:
    assert items_of(events.script()) == []


def test_half_a_character_in_what_goes_back_can_be_stored_and_sent() -> None:
    item = {**reasoning_item(0), "summary": [{"type": "summary_text", "text": "a\ud83d"}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    escaped = b"data: " + json.dumps(done).encode() + b"\n\n"
    rest = ResponseEvents().say("response.output_text.delta", output_index=1, content_index=0, delta="He")
    items = list(read([escaped, *rest.completed().frames])[0][-1].output_items)
    message = create_ai_message("He", output_items=items)
    stored = json.loads(json.dumps(message_to_dict(message), ensure_ascii=False).encode())
    (sent,) = wire_messages([dict_to_message(stored)])
    body = render_responses(ChatRequest(messages=(sent,)), "m", PROVIDERS["openai"].dialect)
    assert json.loads(body)["input"][0]["encrypted_content"] == SECRET


def test_sources_are_told_once_with_their_titles() -> None:
    cited = {
        "type": "url_citation",
        "url": "https://a.example/",
        "title": "A",
        "start_index": 0,
        "end_index": 2,
    }
    events = ResponseEvents().created().search(["https://a.example/", "https://b.example/"])
    script = events.text("He", annotations=[cited]).completed().script()
    assert read([*script.pieces])[0][-1].sources == (
        WebSource(title="A", url="https://a.example/"),
        WebSource(title="", url="https://b.example/"),
    )

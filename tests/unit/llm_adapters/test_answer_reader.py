"""What servers send, through reader and parser without a connection: right however the bytes are cut."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.llm.chat import ProviderError, StreamChunk, Usage
from infrastructure.llm_adapters.answer_reader import AnswerReader, parse_json, read_usage
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.ollama import OllamaAnswer
from infrastructure.llm_adapters.sse import BodyReader, NDJSONReader
from tests.fakes.llm_quirks import QUIRKS, TOOLS, Quirk
from tests.fakes.llm_quirks_providers import PROVIDER_QUIRKS
from tests.fakes.llm_server import DONE, chunk, frame
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

PEER = Peer(server="127.0.0.1:1", provider="openai-compatible", model="m", key="sk-test-key")
STREAMS = {name: quirk for name, quirk in (QUIRKS | PROVIDER_QUIRKS).items() if quirk.is_stream}


@dataclass
class Outcome:
    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    finish: str | None = None
    error: str = ""
    usage: Usage | None = None

    def add(self, piece: StreamChunk) -> None:
        assert self.finish is None, "a piece after the last"
        self.text += piece.text
        self.reasoning += piece.reasoning
        self.finish = piece.finish_reason
        self.usage = piece.usage
        for call in piece.tool_calls:
            value = parse_json(call.arguments)
            known = value if isinstance(value, dict) else call.arguments
            self.calls.append((call.provider_id, call.name, known))


def outcome_of(pieces: list[bytes], content_type: str, protocol: str = "openai") -> Outcome:
    """What the bytes say, read as the client reads them when the body ends cleanly."""
    outcome = Outcome()
    reader: BodyReader | NDJSONReader = BodyReader(content_type)
    answer = AnswerReader(PEER, TOOLS)
    if protocol == "ollama":
        reader, answer = NDJSONReader(), OllamaAnswer(PEER, TOOLS)
    try:
        for piece in pieces:
            for one in reader.feed(piece):
                for part in answer.take(one, parse_json(one.data)):
                    outcome.add(part)
        for one in reader.end():
            for part in answer.take(one, parse_json(one.data), is_torn=not reader.is_whole_body):
                outcome.add(part)
        for part in answer.finish():
            outcome.add(part)
    except ProviderError as error:
        outcome.error = error.error_type
    return outcome


def agrees(outcome: Outcome, quirk: Quirk) -> bool:
    seen = (outcome.text, outcome.reasoning, outcome.finish, outcome.error)
    return seen == (quirk.text, quirk.reasoning, quirk.finish, quirk.error) and (
        outcome.calls == list(quirk.calls)
    )


@for_each("name", STREAMS)
def test_every_quirk_as_sent(name: str) -> None:
    quirk = STREAMS[name]
    outcome = outcome_of(list(quirk.script.pieces), quirk.script.content_type, quirk.protocol)
    assert agrees(outcome, quirk), outcome
    for field_name, value in (quirk.usage or {}).items():
        assert getattr(outcome.usage, field_name) == value


@for_each("name", STREAMS)
def test_every_quirk_byte_by_byte(name: str) -> None:
    quirk = STREAMS[name]
    outcome = outcome_of([bytes([byte]) for byte in quirk.body], quirk.script.content_type, quirk.protocol)
    assert agrees(outcome, quirk), outcome


@for_each("name", list(STREAMS)[::4])
def test_a_sample_cut_at_every_byte(name: str) -> None:
    cut_everywhere(name)


@pytest.mark.torture
@pytest.mark.parametrize("name", STREAMS)
def test_all_cut_at_every_byte(name: str) -> None:
    cut_everywhere(name)


def cut_everywhere(name: str) -> None:
    quirk = STREAMS[name]
    body = quirk.body
    for at in range(len(body) + 1):
        outcome = outcome_of([body[:at], body[at:]], quirk.script.content_type, quirk.protocol)
        assert agrees(outcome, quirk), (at, body[max(at - 30, 0) : at], outcome)


@campaigns(fast=300, whole=20_000)
def test_quirks_in_random_pieces(campaign) -> None:
    names = list(STREAMS)
    for rng in campaign.cases():
        quirk = STREAMS[rng.choice(names)]
        cuts = sorted(rng.randrange(len(quirk.body) + 1) for _ in range(rng.randrange(40)))
        edges = [0, *cuts, len(quirk.body)]
        pieces = [quirk.body[begin:end] for begin, end in pairwise(edges)]
        assert agrees(outcome_of(pieces, quirk.script.content_type, quirk.protocol), quirk), (quirk, edges)


ENDINGS = [name for name, quirk in STREAMS.items() if quirk.finish == "stop" and quirk.script.content_type]


@for_each("name", ENDINGS[::6])
def test_a_sample_broken_off_at_every_byte(name: str) -> None:
    broken_off_everywhere(name)


@pytest.mark.torture
@pytest.mark.parametrize("name", ENDINGS)
def test_all_broken_off_at_every_byte(name: str) -> None:
    broken_off_everywhere(name)


def broken_off_everywhere(name: str) -> None:
    """A shorter stream gives a beginning of the answer and never calls itself whole too early."""
    quirk = STREAMS[name]
    body = quirk.body
    for at in range(len(body)):
        outcome = outcome_of([body[:at]], quirk.script.content_type, quirk.protocol)
        assert quirk.text.startswith(outcome.text.rstrip("�")), (at, outcome)
        assert outcome.finish in {"cut", "stop", None}, (at, outcome)
        if outcome.finish == "stop":
            assert outcome.text == quirk.text, (at, outcome)
        if outcome.finish is None:
            assert outcome.error in {"empty_answer", "bad_response", "server_error"}, (at, outcome)


@given(
    st.text(max_size=60),
    st.text(max_size=60),
    st.lists(st.integers(min_value=1, max_value=9), min_size=1, max_size=30),
)
def test_any_text_arrives_whatever_the_pieces(text: str, reasoning: str, lengths: list[int]) -> None:
    body = chunk({"reasoning_content": reasoning}) + chunk({"content": text}) + chunk({}, "length") + DONE
    pieces, at = [], 0
    while at < len(body):
        length = lengths[len(pieces) % len(lengths)]
        pieces.append(body[at : at + length])
        at += length
    outcome = outcome_of(pieces, "text/event-stream")
    assert (outcome.text, outcome.reasoning, outcome.finish) == (text, reasoning, "length")


def test_a_text_and_its_end_in_separate_frames_of_any_escape() -> None:
    text = "µ增𝄞"
    body = b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"
    assert outcome_of([body, chunk({}, "stop")], "text/event-stream").text == text


def test_deeply_nested_json_is_a_broken_frame() -> None:
    body = b'data: {"a":' + b"[" * 100_000 + b"\n\n"
    assert outcome_of([body], "text/event-stream").error == "bad_response"


def test_numbers_beyond_all_limits_do_no_harm() -> None:
    body = b'data: {"choices":[],"usage":{"prompt_tokens":1e400,"total_tokens":-4}}\n\n' + chunk({}, "length")
    outcome = outcome_of([body], "text/event-stream")
    assert outcome.finish == "length"
    assert outcome.usage == Usage()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 3, "completion_tokens": 4},
            Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7),
        ),
        ({"prompt_tokens": None, "total_tokens": "5", "completion_tokens": True}, Usage()),
        ({"prompt_tokens": 2.0, "cached_tokens": 1}, Usage(prompt_tokens=2, total_tokens=2, cached_tokens=1)),
    ],
)
def test_usage_is_read_tolerantly(usage: dict[str, Any], expected: Usage) -> None:
    assert read_usage(usage) == expected


def test_a_key_in_a_broken_frame_is_not_shown() -> None:
    answer = AnswerReader(Peer(server="s", provider="p", key="secret-key-1"), TOOLS)
    reader = BodyReader("text/event-stream")
    (one,) = reader.feed(b'data: {"echo": "secret-key-1"\n\n')
    with pytest.raises(ProviderError) as caught:
        list(answer.take(one, parse_json(one.data)))
    assert "secret-key-1" not in str(caught.value)


def test_an_error_in_a_list_is_seen_in_mid_stream() -> None:
    body = chunk({"content": "a"}) + frame([{"error": {"code": 429, "message": "x"}}])
    outcome = outcome_of([body], "text/event-stream")
    assert (outcome.text, outcome.error) == ("a", "rate_limited")

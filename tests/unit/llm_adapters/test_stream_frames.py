"""Frames out of byte pieces: server-sent events, NDJSON, and bodies that may be either."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.llm_adapters.sse import BodyReader, Frame, FrameTooLarge, NDJSONReader, SSEReader
from tests.ground.campaign import campaigns
from tests.ground.cases import for_each

SSE_CASES = [
    (b"data: a\n\n", [("", "a")]),
    (b"data:a\n\ndata:  b\n\n", [("", "a"), ("", " b")]),
    (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", [("", "a"), ("", "b"), ("", "c")]),
    (b"data: a\ndata: b\n\n", [("", "a\nb")]),
    (b"data: a", [("", "a")]),
    (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
    (b"event: error\ndata: a\n\ndata: b\n\n", [("error", "a"), ("", "b")]),
    (b"data: a\nevent: error\n\n", [("error", "a")]),
    (b": comment\n\n:\ndata: a\n: inside\n\n\n\n", [("", "a")]),
    (b"data\ndata:\n\n", [("", "\n")]),
    (b"event: ping\n\n", []),
    (b"id: 1\nretry: 5\ndata: a\n\n", [("", "a")]),
    (b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n', [("", '{"a":1}'), ("", '{"b":2}'), ("", "[DONE]")]),
    (b'data: {\ndata: "a": [1,\ndata: {}]}\n\n', [("", '{\n"a": [1,\n{}]}')]),
    ("data: 增益\u2028x\x85\x0b\x0c\n\n".encode(), [("", "增益\u2028x\x85\x0b\x0c")]),
    (b"data: a\xffb\n\n", [("", "a�b")]),
    (b"", []),
]


def read(reader: SSEReader | NDJSONReader | BodyReader, *pieces: bytes) -> list[Frame]:
    found = [frame for piece in pieces for frame in reader.feed(piece)]
    return [*found, *reader.end()]


def plain(frames: list[Frame]) -> list[tuple[str, str]]:
    assert not any(frame.is_stray for frame in frames)
    return [(frame.event, frame.data) for frame in frames]


@for_each(("body", "expected"), SSE_CASES)
def test_events_cut_anywhere(body: bytes, expected: list[tuple[str, str]]) -> None:
    for at in range(len(body) + 1):
        assert plain(read(SSEReader(), body[:at], body[at:])) == expected
    assert plain(read(SSEReader(), *(bytes([byte]) for byte in body))) == expected


def test_a_frame_is_given_as_soon_as_it_is_complete() -> None:
    reader = SSEReader()
    assert [frame.data for frame in reader.feed(b"data: a\n\ndata: b\r\n\r")] == ["a", "b"]
    assert list(reader.feed(b"\n")) == []
    assert [frame.data for frame in reader.feed(b"data: c\n\n")] == ["c"]


def test_lines_without_a_field_are_stray() -> None:
    body = b'data: a\n{"error":\n "x"}\n\n<html>\ndata: b\n'
    assert read(SSEReader(), body) == [
        Frame(data="a"),
        Frame(data='{"error":\n "x"}', is_stray=True),
        Frame(data="<html>", is_stray=True),
        Frame(data="b"),
    ]


def test_bare_json_lines_are_frames_of_their_own() -> None:
    assert [frame.data for frame in read(SSEReader(), b'{"a":1}\n{"b":2}\n')] == ['{"a":1}', '{"b":2}']


@pytest.mark.parametrize("reader_type", [SSEReader, NDJSONReader])
@pytest.mark.parametrize("body", [b"x" * 200, b"data: " + b"x" * 200, b"data: 0123456789\n" * 20])
def test_memory_is_bounded(reader_type: type[SSEReader | NDJSONReader], body: bytes) -> None:
    if reader_type is NDJSONReader:
        body = body.replace(b"\n", b" ")
    reader = reader_type(max_frame_bytes=100)
    with pytest.raises(FrameTooLarge):
        read(reader, *(body[at : at + 7] for at in range(0, len(body), 7)))


def test_frames_before_one_that_is_too_large_are_given() -> None:
    frames = SSEReader(max_frame_bytes=20).feed(b"data: a\n\ndata: " + b"x" * 50)
    assert next(frames).data == "a"
    with pytest.raises(FrameTooLarge):
        next(frames)


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=5
    ),
    st.data(),
)
def test_texts_survive_any_line_end_and_any_pieces(texts: list[str], data: st.DataObject) -> None:
    end = data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    body = b"".join(b"data: " + text.encode() + end + end for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=10)))
    edges = [0, *cuts, len(body)]
    pieces = [body[begin:stop] for begin, stop in pairwise(edges)]
    assert [frame.data for frame in read(SSEReader(), *pieces)] == texts


@campaigns(fast=300, whole=100_000)
def test_noise_never_fails(campaign) -> None:
    for rng in campaign.cases():
        body = bytes(rng.choice(b'dat:ev {}[]"\n\r\x00\xff\xef\xbb\xbf') for _ in range(rng.randrange(200)))
        at = rng.randrange(len(body) + 1)
        for reader_type in (SSEReader, NDJSONReader):
            whole = read(reader_type(), body)
            assert read(reader_type(), body[:at], body[at:]) == whole
        for kind in ("application/json", "text/event-stream"):
            assert read(BodyReader(kind), body[:at], body[at:]) == read(BodyReader(kind), body)


NDJSON = (
    b'{"message":{"content":"\xe5\xa2\x9e"},"done":false}\r\n\n'
    b'{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"n":1}}}]},"done":false}\n'
    b'{"done":true,"done_reason":"stop"}'
)


def test_ndjson_cut_anywhere() -> None:
    for at in range(len(NDJSON) + 1):
        frames = read(NDJSONReader(), NDJSON[:at], NDJSON[at:])
        assert [json.loads(frame.data) for frame in frames] == [
            {"message": {"content": "增"}, "done": False},
            {
                "message": {
                    "content": "",
                    "tool_calls": [{"function": {"name": "f", "arguments": {"n": 1}}}],
                },
                "done": False,
            },
            {"done": True, "done_reason": "stop"},
        ]


@for_each(
    ("content_type", "body", "is_whole"),
    [
        ("application/json", b'{"a":\n\n1}', True),
        ("application/json; charset=utf-8", b" \n\xef\xbb\xbf"[:2] + b'"x"', True),
        ("application/problem+json", b"[1]", True),
        ("application/json", b"\xef\xbb\xbf{}", True),
        ("application/json", b"data: {}\n\n", False),
        ("application/json", b": wait\n\ndata: {}\n\n", False),
        ("application/x-ndjson", b"{}\n{}\n", False),
        ("text/event-stream", b"{}", False),
        ("", b"{}", False),
    ],
)
def test_a_body_is_one_text_or_events(content_type: str, body: bytes, is_whole: bool) -> None:
    for at in range(len(body) + 1):
        reader = BodyReader(content_type)
        frames = read(reader, body[:at], body[at:])
        assert reader.is_whole_body == is_whole
        assert len(frames) == (2 if "ndjson" in content_type else 1)


def test_a_whole_body_is_capped() -> None:
    reader = BodyReader("application/json", max_frame_bytes=50)
    with pytest.raises(FrameTooLarge):
        list(reader.feed(b"{" + b" " * 60))

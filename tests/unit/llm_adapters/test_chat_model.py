"""Answers on their way up: merged, kept apart, complete, and closed whenever nobody reads on."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref
from contextlib import aclosing, suppress
from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import LLMResult

from domain.llm.chat import ProviderError, RetryNotice, StreamChunk, Usage, WireToolCall
from infrastructure.llm_adapters.chat_model import ClientChatModel
from shared.message import msg
from tests.fakes.scripted_chat_client import ScriptedChatClient
from tests.ground.campaign import Campaign, campaigns

QUESTION = [HumanMessage("hello")]
BUSY = ProviderError(msg("Busy ({code}).", code=503), kind="rate_limit", advice=msg("Try again later."))
END = StreamChunk(finish_reason="stop", model="m1")


def text(piece: str) -> StreamChunk:
    return StreamChunk(text=piece)


def thought(piece: str) -> StreamChunk:
    return StreamChunk(reasoning=piece)


def lost() -> ProviderError:
    return ProviderError(msg("The connection broke."), kind="connection_lost", advice=msg("Try again."))


def retry(attempt: int, wait_s: float) -> StreamChunk:
    return StreamChunk(retry=RetryNotice(attempt=attempt, wait_s=wait_s, error=BUSY))


def model_of(*scripts: Any, window_s: float = 0.04) -> tuple[ClientChatModel, ScriptedChatClient]:
    client = ScriptedChatClient(*scripts)
    return ClientChatModel(client=client, provider="scripted", model="m", merge_window_s=window_s), client


async def read(model: ClientChatModel, into: list[AIMessageChunk], **options: Any) -> None:
    async for chunk in model.astream(QUESTION, **options):
        into.append(chunk)


def shown(chunks: list[AIMessageChunk]) -> list[tuple[str, str]]:
    """(kind, text) of the chunks that show something."""
    pairs = [
        ("reasoning", chunk.additional_kwargs["reasoning_content"])
        if "reasoning_content" in chunk.additional_kwargs
        else ("text", str(chunk.content))
        for chunk in chunks
    ]
    return [pair for pair in pairs if pair[1]]


async def test_pieces_of_a_window_are_merged_and_kinds_kept_apart() -> None:
    pieces = [thought("Let "), thought("me"), text("It "), text("is "), text("1k."), thought("Done?"), END]
    model, _ = model_of(pieces, window_s=60)
    chunks: list[AIMessageChunk] = []
    await read(model, chunks)
    assert shown(chunks) == [("reasoning", "Let me"), ("text", "It is 1k."), ("reasoning", "Done?")]
    whole = reduce(add, chunks)
    assert (whole.content, whole.additional_kwargs) == ("It is 1k.", {"reasoning_content": "Let meDone?"})


async def test_one_piece_with_both_kinds_gives_reasoning_first() -> None:
    model, _ = model_of([StreamChunk(text="a", reasoning="b"), END])
    chunks: list[AIMessageChunk] = []
    await read(model, chunks)
    assert shown(chunks) == [("reasoning", "b"), ("text", "a")]


async def test_text_is_not_held_until_more_comes() -> None:
    """The last piece before a long pause is shown although nothing follows."""
    more = asyncio.Event()
    model, _ = model_of([text("first"), more, text(" second"), END])
    async with aclosing(model.astream(QUESTION)) as stream:
        assert (await anext(stream)).content == "first"
        more.set()
        assert (await anext(stream)).content == " second"


async def test_pieces_without_a_pause_are_shown_while_they_come() -> None:
    more = asyncio.Event()
    model, client = model_of([*[text("x")] * 1000, more, END], window_s=0)
    async with aclosing(model.astream(QUESTION)) as stream:
        await anext(stream)
        assert client.given < 1000
        more.set()


async def test_only_the_last_chunk_has_calls_usage_and_reason() -> None:
    calls = (
        WireToolCall(provider_id="call_1", name="read_file", arguments='{"path": "a"'),
        WireToolCall(provider_id="", name="run_simulation", arguments=""),
        WireToolCall(provider_id="call_1", name="read_file", arguments="{}"),
    )
    usage = Usage(
        prompt_tokens=90, completion_tokens=7, total_tokens=97, cached_tokens=64, reasoning_tokens=3
    )
    last = StreamChunk(tool_calls=calls, finish_reason="tool_calls", usage=usage, model="m1")
    model, _ = model_of([StreamChunk(text="a", usage=Usage(prompt_tokens=50), model="m1"), last])
    chunks: list[AIMessageChunk] = []
    await read(model, chunks)
    *before, end = chunks
    assert all(not chunk.tool_call_chunks and chunk.usage_metadata is None for chunk in before)
    assert all("finish_reason" not in chunk.response_metadata for chunk in before)
    assert [(c["index"], c["id"], c["name"], c["args"]) for c in end.tool_call_chunks] == [
        (0, "call_1", "read_file", '{"path": "a"'),
        (1, None, "run_simulation", ""),
        (2, "call_1", "read_file", "{}"),
    ]
    assert end.response_metadata == {"finish_reason": "tool_calls", "model_name": "m1"}
    whole = reduce(add, chunks)
    assert whole.tool_call_chunks == end.tool_call_chunks
    assert whole.usage_metadata == {
        "input_tokens": 90,
        "output_tokens": 7,
        "total_tokens": 97,
        "input_token_details": {"cache_read": 64},
        "output_token_details": {"reasoning": 3},
    }


async def test_stream_without_an_end_is_cut() -> None:
    model, _ = model_of([text("half an ans")])
    chunks: list[AIMessageChunk] = []
    await read(model, chunks)
    assert chunks[-1].response_metadata["finish_reason"] == "cut"


async def test_partial_text_comes_before_the_error() -> None:
    model, client = model_of([thought("hm"), text("half"), text(" an ans"), lost()], window_s=60)
    chunks: list[AIMessageChunk] = []
    with pytest.raises(ProviderError) as caught:
        await read(model, chunks)
    assert caught.value.error_type == "connection_lost"
    assert shown(chunks) == [("reasoning", "hm"), ("text", "half an ans")]
    assert client.ended == 1


async def test_error_before_anything_is_only_an_error() -> None:
    model, _ = model_of([lost()])
    chunks: list[AIMessageChunk] = []
    with pytest.raises(ProviderError):
        await read(model, chunks)
    assert chunks == []


async def test_time_out_inside_a_client_is_no_end_of_the_window() -> None:
    model, _ = model_of([text("a"), TimeoutError("a bug of a client")])
    chunks: list[AIMessageChunk] = []
    with pytest.raises(TimeoutError, match="a bug"):
        await read(model, chunks)
    assert shown(chunks) == [("text", "a")]


async def test_retries_are_told_and_can_be_added() -> None:
    model, _ = model_of([retry(1, 1.5), retry(2, 3.25), text("ok"), END])
    chunks: list[AIMessageChunk] = []
    await read(model, chunks)  # LangChain adds the chunks up at the end
    told = [chunk.response_metadata["retry"] for chunk in chunks if "retry" in chunk.response_metadata]
    assert [each["notice"] for each in told] == [
        RetryNotice(attempt=1, wait_s=1.5, error=BUSY),
        RetryNotice(attempt=2, wait_s=3.25, error=BUSY),
    ]
    assert reduce(add, chunks).response_metadata["retry"] == told[1]


async def test_ainvoke_takes_only_whole_arguments() -> None:
    calls = (
        WireToolCall(provider_id="c1", name="read_file", arguments='{"path": "a.cir",}'),
        WireToolCall(provider_id="c2", name="read_file", arguments='{"path": "a.c'),
    )
    model, _ = model_of([text("I "), text("read"), StreamChunk(tool_calls=calls, finish_reason="tool_calls")])
    message = await model.ainvoke(QUESTION)
    assert type(message) is AIMessage
    assert message.content == "I read"
    assert [(call["id"], call["args"]) for call in message.tool_calls] == [("c1", {"path": "a.cir"})]
    [invalid] = message.invalid_tool_calls
    assert (invalid["args"], "cut off" in (invalid["error"] or "")) == ('{"path": "a.c', True)


def test_synchronous_use_says_what_to_use() -> None:
    model, _ = model_of([END])
    with pytest.raises(NotImplementedError, match="astream"):
        model.invoke(QUESTION)


async def test_closing_ends_the_call_before_it_returns() -> None:
    model, client = model_of([text("a"), asyncio.Event(), END])
    stream = model.astream(QUESTION)
    assert (await anext(stream)).content == "a"
    await stream.aclose()
    assert (client.opened, client.ended) == (1, 1)
    assert len(asyncio.all_tasks()) == 1


async def test_nothing_of_a_piece_that_was_shown_is_kept() -> None:
    """An answer of an hour costs no more memory than its text; LangChain's own stream keeps every chunk."""
    model, _ = model_of([*[text("x"), thought("y")] * 100, END], window_s=0)
    shown = [weakref.ref(chunk) async for chunk in model.astream(QUESTION)]
    gc.collect()
    assert len(shown) > 200
    assert sum(one() is not None for one in shown) <= 1


async def test_callbacks_are_told_of_pieces_and_of_the_whole() -> None:
    class Listener(AsyncCallbackHandler):
        def __init__(self) -> None:
            self.told: list[str] = []

        async def on_llm_new_token(self, token: str, **_: Any) -> None:
            self.told.append(token)

        async def on_llm_end(self, response: LLMResult, **_: Any) -> None:
            self.told.append(f"end: {response.generations[0][0].text}")

        async def on_llm_error(self, error: BaseException, **_: Any) -> None:
            self.told.append(type(error).__name__)

    for last, told in ((END, "end: one two"), (lost(), "ProviderError")):
        listener = Listener()
        model, _ = model_of([text("one "), 0.01, text("two"), last], window_s=0)
        with suppress(ProviderError):
            _ = [chunk async for chunk in model.astream(QUESTION, {"callbacks": [listener]})]
        assert [one for one in listener.told if one] == ["one ", "two", told]


async def test_slow_reader_holds_the_client_back() -> None:
    model, client = model_of([*[thought("x"), text("y")] * 2000, END])
    stream = model.astream(QUESTION)
    await anext(stream)
    for _ in range(100):
        await asyncio.sleep(0)
    assert client.given < 600
    chunks = [chunk async for chunk in stream]
    assert len(shown(chunks)) == 3999


@campaigns(fast=60, whole=3000)
async def test_cancel_at_any_moment_leaves_nothing(campaign: Campaign) -> None:
    for rng in campaign.cases():
        pieces: list[Any] = [rng.choice([text, thought])(str(number)) for number in range(rng.randint(0, 6))]
        for _ in range(rng.randint(0, 4)):
            pieces.insert(rng.randint(0, len(pieces)), rng.choice([0.0, 0.0, 0.001]))
        pieces.append(asyncio.Event())  # it never ends by itself
        model, client = model_of(pieces, window_s=rng.choice([0, 0.0005, 60]))
        chunks: list[AIMessageChunk] = []
        task = asyncio.create_task(read(model, chunks))
        for _ in range(rng.randint(0, 40)):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert client.ended == client.opened
        assert len(asyncio.all_tasks()) == 1


@campaigns(fast=40, whole=2000)
async def test_no_character_is_lost_or_moved(campaign: Campaign) -> None:
    for rng in campaign.cases():
        pieces = [_piece(rng) for _ in range(rng.randint(0, 60))]
        script: list[Any] = list(pieces)
        for _ in range(rng.randint(0, 5)):
            script.insert(rng.randint(0, len(script)), rng.choice([0.0, 0.001]))
        fails = rng.random() < 0.3
        model, _ = model_of([*script, lost() if fails else END], window_s=rng.choice([0, 0.0005, 60]))
        chunks: list[AIMessageChunk] = []
        with suppress(ProviderError):
            await read(model, chunks)
        assert _joined(shown(chunks)) == _joined(
            [pair for piece in pieces for pair in (("reasoning", piece.reasoning), ("text", piece.text))]
        )


def _piece(rng: random.Random) -> StreamChunk:
    letters = "abc \n放é😀\u2028"
    pieces = ["".join(rng.choices(letters, k=rng.randint(0, 4))) for _ in range(2)]
    return StreamChunk(text=pieces[0] * rng.randint(0, 1), reasoning=pieces[1] * rng.randint(0, 1))


def _joined(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one kind put together."""
    joined: list[tuple[str, str]] = []
    for kind, piece in pairs:
        if piece and joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + piece)
        elif piece:
            joined.append((kind, piece))
    return joined


@given(st.lists(st.text(max_size=3), max_size=8))
def test_what_stands_alone_is_not_changed(pieces: list[str]) -> None:
    async def run() -> str:
        model, _ = model_of([*map(text, pieces), END])
        return "".join([str(chunk.content) async for chunk in model.astream(QUESTION)])

    assert asyncio.run(run()) == "".join(pieces)

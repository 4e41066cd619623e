"""Answers that a library reads over our connections: plain, and with the measure of a model's answers.

Libraries ask for packed bodies, unpack what comes, and gather a line, and the lines of a frame, without end:
a few kilobytes would become gigabytes, and the loop would stand still.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from typing import cast

import httpx

from infrastructure.llm_adapters.connections import bound_interim, run_out
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.sse import MAX_FRAME_BYTES, Frame, FrameTooLarge, SSEReader, portions_of
from infrastructure.llm_adapters.timing import Breath
from infrastructure.llm_adapters.wire_client import (
    EXPLANATION_BYTES,
    MOST_ANSWER_BYTES,
    MOST_ANSWER_LINES,
    MOST_EMPTY_LINES,
)
from infrastructure.llm_adapters.wire_errors import bad_response, packed, too_large, wordless
from shared.message import msg

Cut = Callable[[AsyncIterator[bytes]], AsyncGenerator[bytes, None]]


def bounded(http: httpx.AsyncClient, peer: Peer) -> httpx.AsyncClient:
    """`http`, of whose answers no more is given to whoever reads them than a model's answer can be.

    The reader gets ProviderError, or an error of its own with that as the cause.
    """
    hooks = http.event_hooks
    hooks["request"], hooks["response"] = [_ask_plainly], [partial(_bound, peer)]
    return http


async def _ask_plainly(request: httpx.Request) -> None:
    request.headers["Accept-Encoding"] = "identity"
    request.extensions["trace"] = bound_interim


async def _bound(peer: Peer, response: httpx.Response) -> None:
    body = cast("httpx.AsyncByteStream", response.stream)
    refused = packed(peer, response.headers)
    if refused is not None and response.is_success:
        await response.aclose()
        raise refused
    if refused is not None:  # the status has said it already
        del response.headers["Content-Encoding"]
    if not response.is_success:
        cut: Cut = partial(_beginning, most=0 if refused else EXPLANATION_BYTES)
    elif "event-stream" in response.headers.get("content-type", ""):
        cut = partial(_frames, peer=peer)
    else:
        cut = partial(_whole, peer=peer)
    response.stream = _Body(body, cut)


class _Body(httpx.AsyncByteStream):
    def __init__(self, source: httpx.AsyncByteStream, cut: Cut) -> None:
        self._source = source
        self._cut = cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with (
            run_out(aiter(self._source), self._source.aclose) as pieces,
            aclosing(self._cut(pieces)) as cut,
        ):
            async for piece in cut:
                yield piece

    async def aclose(self) -> None:
        await self._source.aclose()


async def _beginning(body: AsyncIterator[bytes], *, most: int) -> AsyncGenerator[bytes, None]:
    async for piece in body:
        yield piece[:most]
        most -= len(piece)
        if most <= 0:
            return


async def _whole(body: AsyncIterator[bytes], *, peer: Peer) -> AsyncGenerator[bytes, None]:
    size = 0
    async for piece in body:
        size += len(piece)
        if size > MAX_FRAME_BYTES:
            raise bad_response(peer, str(FrameTooLarge(MAX_FRAME_BYTES)))
        yield piece


async def _frames(body: AsyncIterator[bytes], *, peer: Peer) -> AsyncGenerator[bytes, None]:
    """A stream of events, cut by our own reader and written anew: what says nothing is left out."""
    reader, breath = SSEReader(), Breath()
    size = lines = lines_at_frame = 0
    try:
        async for piece in body:
            size += len(piece)
            if size > MOST_ANSWER_BYTES:
                raise too_large(peer, msg("more than {size} MB", size=MOST_ANSWER_BYTES >> 20))
            lines += max(piece.count(b"\n"), piece.count(b"\r"))
            if lines > MOST_ANSWER_LINES:
                raise too_large(peer, msg("more than {count} lines", count=MOST_ANSWER_LINES))
            for part in portions_of(piece):
                await breath.take()
                for frame in reader.feed(part):
                    lines_at_frame = lines
                    yield _written(frame)
            if lines - lines_at_frame > MOST_EMPTY_LINES:
                raise wordless(peer, MOST_EMPTY_LINES)
    except FrameTooLarge as error:
        raise bad_response(peer, str(error)) from error
    for frame in reader.end():
        yield _written(frame)


def _written(frame: Frame) -> bytes:
    """The frame in one line of data; its JSON has no line ends but between its parts."""
    data = frame.data.replace("\r", " ").replace("\n", " ")
    name = "".join(f"event: {word}\n" for word in frame.event.splitlines())
    return f"{name}data: {data}\n\n".encode()

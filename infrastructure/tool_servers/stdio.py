"""A server that is a program of ours, on its standard input and output: a message a line.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio. The library's own transport
keeps lines of any length and outlives a killed parent; this one bounds them, and the program dies with us.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from shared.processes import ProcessManager, Talk

LARGEST_MESSAGE = 1 << 20
"""Bytes of one message; a server that sends more is left."""
_MOST_WAITING = 64
"""Messages that may wait to be understood; until then the server is not read any further."""
_logger = logging.getLogger(__name__)


class Streams(NamedTuple):
    """Both directions, as a session of the library takes them."""

    read: MemoryObjectReceiveStream[SessionMessage | Exception]
    write: MemoryObjectSendStream[SessionMessage]


class StdioLink:
    """The connection to one program."""

    def __init__(self) -> None:
        self.is_too_large = False
        """It sent a message that is larger than allowed, and was left for that."""
        self.is_odd = False
        """It sent an object that is no message (or nested too deep), and was left for that."""
        self.talk: Talk | None = None
        self._partial = bytearray()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def take(self, data: bytes) -> None:
        """A piece of what the server writes."""
        if self.is_too_large:
            return
        self._partial += data
        *lines, rest = bytes(self._partial).split(b"\n") if b"\n" in data else [bytes(self._partial)]
        self._partial = bytearray(rest)
        if any(len(line) > LARGEST_MESSAGE for line in (*lines, rest)):
            self.is_too_large = True
            self._partial.clear()
            self._lines.put_nowait(None)
            return
        for line in lines:
            if line.strip():
                self._lines.put_nowait(line)
        if self._lines.qsize() > _MOST_WAITING and self.talk is not None:
            self.talk.listen(is_on=False)

    async def read_into(self, stream: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Hand the messages on until the server is over."""
        assert self.talk is not None
        async with stream:
            while (line := await self._lines.get()) is not None:
                if self._lines.qsize() < _MOST_WAITING:
                    self.talk.listen(is_on=True)
                message = _message_of(line)
                if message is None and line.lstrip().startswith(b"{"):  # else who waits for it waits on
                    self.is_odd = True
                    return
                if message is not None:
                    try:
                        await stream.send(message)
                    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                        return

    async def watch_end(self) -> None:
        """Note when nothing more can come."""
        assert self.talk is not None
        await self.talk.until_ended()
        self._lines.put_nowait(None)

    async def write_from(self, stream: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send what the session has to say."""
        assert self.talk is not None
        async with stream:
            async for message in stream:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                self.talk.write(text.encode() + b"\n")


@asynccontextmanager
async def stdio_streams(
    processes: ProcessManager, argv: Sequence[str], environment: Mapping[str, str], link: StdioLink
) -> AsyncIterator[Streams]:
    """The program for as long as the block lasts. Raises OSError when it can't be started."""
    into, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, out_of = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with processes.talk(argv, on_data=link.take, env=environment) as talk:
            link.talk = talk
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(link.read_into, into)
                tasks.start_soon(link.write_from, out_of)
                tasks.start_soon(link.watch_end)
                try:
                    yield Streams(read, write)
                finally:
                    tasks.cancel_scope.cancel()
    finally:
        for stream in (into, read, write, out_of):
            stream.close()


def _message_of(line: bytes) -> SessionMessage | None:
    """The message of a line; None for what is none (programs greet, warn and log where they should not)."""
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        _logger.info("A tool server wrote a line that is no message (%d bytes).", len(line))
        return None

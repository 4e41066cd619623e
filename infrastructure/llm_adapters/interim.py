"""Interim answers (HTTP 1xx): a few are read over, an endless row of them is none (RFC 9110, 15.2)."""

from __future__ import annotations

import re
from typing import Any

import httpcore

MOST = 20
"""Before one answer. We ask for none; "102 Processing" comes every 20 s from those who send it."""
_STATUS = re.compile(rb"HTTP/1\.\d 1\d\d\b")
_END = re.compile(rb"\n\r?\n")


class EndlessInterim(httpcore.RemoteProtocolError):
    """More than `MOST` of them, and no answer."""


class _Heads:
    """Counts the interim answers among the bytes that follow a request."""

    def __init__(self) -> None:
        self._count = 0
        self._rest: bytearray | None = None

    def begin(self) -> None:
        """Something was sent: what comes now begins with a head."""
        self._count, self._rest = 0, bytearray()

    def take(self, data: bytes) -> None:
        if self._rest is None:
            return
        self._rest += data
        while (end := _END.search(self._rest)) is not None:
            if not _STATUS.match(self._rest):
                self._rest = None
                return
            self._count += 1
            if self._count > MOST:
                raise EndlessInterim(f"more than {MOST} interim answers")
            del self._rest[: end.end()]


def bound(stream: Any) -> None:
    """Have a connection (httpcore's network stream) raise EndlessInterim when it is read.

    h11 reads over them without end, and nothing of httpx is told of them.
    """
    heads, read, write = _Heads(), stream.read, stream.write

    async def read_counting(*args: Any, **kwargs: Any) -> bytes:
        data: bytes = await read(*args, **kwargs)
        heads.take(data)
        return data

    async def write_counting(*args: Any, **kwargs: Any) -> None:
        heads.begin()
        await write(*args, **kwargs)

    stream.read, stream.write = read_counting, write_counting
